#!/usr/bin/env bash
# Make .venv from a lock file: `./setup.sh` to run, `./setup.sh dev` to run and test.
set -euo pipefail
cd "$(dirname "$0")"
lock="requirements/${1:-core}.lock"
[ -f "$lock" ] || { echo "setup.sh: no $lock; expected core or dev" >&2; exit 2; }
python="${PYTHON:-python3}"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
  echo "setup.sh: $("$python" --version) found; expected Python 3.11 or newer; set PYTHON" >&2; exit 2; }
[ -x .venv/bin/python ] || "$python" -m venv .venv
echo "installing $lock into .venv (a few minutes)" >&2
.venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r "$lock" 2> >(grep -v '^WARNING: Location' >&2 || true)
.venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e . 2> >(grep -v '^WARNING: Location' >&2 || true)
echo "done: . .venv/bin/activate" >&2
