#!/usr/bin/env bash
# Make .venv from the lock files: `./setup.sh` to run, `./setup.sh dev` to run and test; `./setup.sh vllm` makes .venv-vllm.
# pip is used as it is configured, and the ordinary index is enough. Without a card, a page or folder of PyTorch's CPU
# builds in PIP_FIND_LINKS (PyTorch's install page names one) makes the environment 3 GB smaller.
set -euo pipefail
cd "$(dirname "$0")"
kind="${1:-core}"
case "$kind" in core | dev) venv=.venv ;; vllm) venv=.venv-vllm ;;
  *) echo "setup.sh: $kind: no such environment; expected core, dev or vllm" >&2; exit 2 ;; esac
python="${PYTHON:-python3}"
"$python" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 15))' || {
  echo "setup.sh: $("$python" --version) found; expected Python 3.11 to 3.14; set PYTHON to the one to use" >&2; exit 2; }
[ -x "$venv/bin/python" ] || "$python" -m venv "$venv"

install() { "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps "$@"; }
locked() { # without what pip says about places of its own configuration
  install --require-hashes -r "requirements/$1.lock" 2> >(grep -v '^WARNING: Location' >&2 || true)
}
echo "installing requirements/$kind.lock into $venv (some minutes)" >&2
locked "$kind"
if [ -e /dev/nvidiactl ]; then
  locked torch
  locked card
elif ! locked torch-cpu 2> /dev/null; then
  [ "$(uname -s)" != Linux ] || echo "no CPU build of torch found: CUDA's libraries (3 GB) come with the index's" >&2
  locked torch
fi
install --no-build-isolation -e .
echo "done: . $venv/bin/activate" >&2
