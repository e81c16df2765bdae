"""Finished runs for the workflow tests: one with a real model, one that is only planned.

`EXCAM_TEST_RUN` names a folder in which the first is kept: made where it is not there yet, used where it is.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


class Run:
    """A copy of the repository in which the workflow runs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(folder),
        }

    def command(
        self, *words: str, profile: str = "local", experiment: str | None = "tests/experiment.yaml"
    ) -> list[str]:
        overlay = ["--configfile", experiment] if experiment else []
        return ["snakemake", "--profile", profile, *overlay, "--nocolor", *words]

    def __call__(self, *words: str, **how) -> subprocess.CompletedProcess:
        done = subprocess.run(
            self.command(*words, **how),
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=500,
        )
        done.text = done.stdout + done.stderr
        return done

    def start(self, *words: str, **how) -> subprocess.Popen:
        return subprocess.Popen(
            self.command(*words, **how), cwd=self.folder, env=self.environment, start_new_session=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def planned(self, *words: str, **how) -> dict[str, int]:
        """Jobs of a dry run, by rule."""
        text = self("-n", *words, **how).text
        table = re.findall(r"^(\w+) +(\d+)$", text.split("Job stats:")[-1].split("total")[0], re.M)
        assert table or "Nothing to be done" in text, text
        return {rule: int(count) for rule, count in table if rule != "all"}

    def digest(self, *names: str) -> dict[str, str]:
        return {name: hashlib.sha256((self.folder / name).read_bytes()).hexdigest() for name in names}


def checked_out(folder: Path) -> Path:
    """A copy of all tracked files."""
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in filter(None, tracked.stdout.split("\0")):
        source, target = ROOT / name, folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_symlink():
            target.symlink_to(source.readlink())
        elif source.is_file():
            shutil.copyfile(source, target)
    return folder


@pytest.fixture(scope="session")
def run(tmp_path_factory):
    """The smallest experiment, finished."""
    kept = os.environ.get("EXCAM_TEST_RUN")
    folder = Path(kept) if kept else tmp_path_factory.mktemp("checkout")
    run = Run(folder if (folder / "results").exists() else checked_out(folder))
    done = run("all")
    assert done.returncode == 0, done.text[-4000:]
    return run


@pytest.fixture(scope="session")
def paper_run(tmp_path_factory):
    """An experiment of the paper's models, as if it were finished: each file holds its own name."""
    run = Run(checked_out(tmp_path_factory.mktemp("paper")))
    run.environment["OPENAI_API_KEY"] = "a key that nobody asks with"
    targets, how = ("--", "all", "external"), {"experiment": "tests/workflow/experiment-wide.yaml"}
    for line in re.findall(r"^    output: (.*)$", run("-n", *targets, **how).text, re.M):
        for name in line.split(", "):
            (run.folder / name).parent.mkdir(parents=True, exist_ok=True)
            (run.folder / name).write_text(name)
    done = run("--touch", "--forceall", *targets, **how)
    assert done.returncode == 0, done.text[-4000:]
    return run
