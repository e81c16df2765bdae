"""Finished runs for the workflow tests: one with a real model, one that is only planned.

`EXCAM_TEST_RUN` names a folder in which the first is kept: made where it is not there yet, used where it is.
"""

import os
import re
from pathlib import Path

import pytest
from checkout import Run, copy_checkout


@pytest.fixture(scope="session")
def run(tmp_path_factory):
    """The smallest experiment, finished."""
    kept = os.environ.get("EXCAM_TEST_RUN")
    folder = Path(kept) if kept else tmp_path_factory.mktemp("checkout")
    run = Run(folder)
    if not (folder / "results").exists():
        copy_checkout(folder)
    done = run("all")
    assert done.returncode == 0, done.text[-4000:]
    return run


@pytest.fixture(scope="session")
def paper_run(tmp_path_factory):
    """An experiment of the paper's models, as if it were finished: each file holds its own name."""
    run = Run(tmp_path_factory.mktemp("paper"), OPENAI_API_KEY="a key that nobody asks with")
    copy_checkout(run.folder)
    targets, how = ("--", "all", "external", "annotation"), {"experiment": "tests/workflow/experiment-wide.yaml"}
    for line in re.findall(r"^ +output: (.*)$", run("-n", *targets, **how).text, re.M):
        for name in line.split(", "):
            (run.folder / name).parent.mkdir(parents=True, exist_ok=True)
            (run.folder / name).write_text(name)
    done = run("--touch", "--forceall", *targets, **how)
    assert done.returncode == 0, done.text[-4000:]
    return run
