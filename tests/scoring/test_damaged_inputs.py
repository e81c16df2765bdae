"""Damaged files of every format: no traceback, and no row lost without a word. 5,000 of each in the nightly tests."""

import os
import subprocess
import sys
from pathlib import Path
from random import Random

import damaged_inputs
import pytest

SEED = 20261126
BINARY = (
    ".parquet",
    ".arrow",
)  # of these polars ends the process where a damaged length asks for more memory than there is
ABORTS = 0.005  # of 5,000 damaged files at most


def run(name, folder, cases):
    check, argument = damaged_inputs.CHECKS[name]
    for case in cases:
        try:
            check(Random(f"{SEED}/{name}/{case}"), folder, argument)
        except Exception as raised:
            raise AssertionError(f"case {case} of seed {SEED}: {raised!r}") from raised
        print(case, flush=True)


@pytest.mark.parametrize("name", [name for name in damaged_inputs.CHECKS if not name.endswith(BINARY)])
def test_a_damaged_file_is_rows_failures_or_one_line(tmp_path, name):
    run(name, tmp_path, range(60))


@pytest.mark.nightly
@pytest.mark.parametrize("name", damaged_inputs.CHECKS)
def test_five_thousand_damaged_files(tmp_path, name):
    """In processes of their own, which go on behind a file at which the library itself ends the process."""
    at, aborted = 0, []
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}  # the helpers, as pytest finds them
    while at < 5000:
        command = [sys.executable, __file__, name, str(tmp_path), str(at)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        at = int(done.stdout.split()[-1]) + 1 if done.stdout.split() else at
        if done.returncode == 0:
            break
        assert done.returncode == -6, done.stderr[-2000:]
        aborted.append(at)
        at += 1
    assert len(aborted) <= 5000 * ABORTS * name.endswith(BINARY), aborted


if __name__ == "__main__":
    run(sys.argv[1], Path(sys.argv[2]), range(int(sys.argv[3]), 5000))
