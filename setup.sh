#!/usr/bin/env bash
# Make .venv from a lock file: `./setup.sh` to run, `./setup.sh dev` to run and test; `./setup.sh vllm` makes .venv-vllm.
set -euo pipefail
cd "$(dirname "$0")"
lock="requirements/${1:-core}.lock"
[ -f "$lock" ] || { echo "setup.sh: no $lock; expected core, dev or vllm" >&2; exit 2; }
python="${PYTHON:-python3}"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
  echo "setup.sh: $("$python" --version) found; expected Python 3.11 or newer; set PYTHON" >&2; exit 2; }
venv=.venv
[ "${1:-core}" = vllm ] && venv=.venv-vllm
[ -x "$venv/bin/python" ] || "$python" -m venv "$venv"
echo "installing $lock into $venv (a few minutes)" >&2
quiet() { grep -v '^WARNING: Location' >&2 || true; }
pip=("$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps)
"${pip[@]}" --require-hashes -r "$lock" 2> >(quiet)
"${pip[@]}" --no-build-isolation -e . 2> >(quiet)
echo "done: . $venv/bin/activate" >&2
