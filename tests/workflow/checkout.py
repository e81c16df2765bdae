"""A copy of the repository in which tests run the workflow as its user does, and kill it."""

import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
CELL = "results/evaluation/smollm2-135m/without-blend/report/blend/test.json"
ADAPTER = "results/adapters/smollm2-135m/without-blend"

CONDA = """#!/bin/sh
case "$*" in
  *version*) echo 'conda 25.1.0' ;;
  *info*) echo '{"conda_version": "25.1.0", "conda_prefix": "/none", "root_prefix": "/none", "platform": "linux-64"}' ;;
  *) echo '{"get": {"channel_priority": "strict"}}' ;;
esac
"""


class Run:
    """A copy of the repository in which the workflow runs."""

    profile: tuple[str, ...] = ("local",)

    def __init__(self, folder: Path, **environment: str) -> None:
        self.folder = folder
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        self.environment = {**os.environ, "PATH": path, "PYTHONPATH": str(folder), **environment}

    def command(
        self, *words: str, profile: str | None = None, experiment: str | None = "tests/experiment.yaml"
    ) -> list[str]:
        overlay = ["--configfile", experiment] if experiment else []
        return ["snakemake", "--profile", *([profile] if profile else self.profile), *overlay, "--nocolor", *words]

    def __call__(self, *words: str, **how) -> subprocess.CompletedProcess:
        command = self.command(*words, **how)
        done = subprocess.run(command, cwd=self.folder, env=self.environment, capture_output=True, text=True)
        done.text = done.stdout + done.stderr
        return done

    def start(self, *words: str, said: Path | None = None, **how) -> subprocess.Popen:
        """The command in the background; `said` takes its output."""
        with Path(said or os.devnull).open("w") as output:
            return subprocess.Popen(
                self.command(*words, **how), cwd=self.folder, env=self.environment, start_new_session=True,
                stdout=output, stderr=output,
            )  # fmt: skip

    def planned(self, *words: str, **how) -> dict[str, int]:
        """Jobs of a dry run, by rule."""
        text = self("-n", *words, **how).text
        table = re.findall(r"^(\w+) +(\d+)$", text.split("Job stats:")[-1].split("total")[0], re.M)
        assert table or "Nothing to be done" in text, text
        return {rule: int(count) for rule, count in table if rule != "all"}

    def digest(self, *names: str) -> dict[str, str]:
        return {name: hashlib.sha256((self.folder / name).read_bytes()).hexdigest() for name in names}


def kill_when(process: subprocess.Popen, ready) -> None:
    """Send SIGKILL to the process group as soon as `ready()`; fail if it ends before."""
    wait_until(process, ready)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def wait_until(process: subprocess.Popen, ready):
    """What `ready()` gives as soon as it gives something; fails when the work is over before."""
    while not (result := ready()):
        assert process.poll() is None, "finished before it came to that"
        time.sleep(0.02)
    return result


def tells_of_the_run(path: Path) -> bool:
    """Manifests, cards and Snakemake's records hold times, `verified.json` and `.hashes` their sums; a journal is in asking
    order."""
    run_files = ("manifest.json", "README.md", "verified.json", ".records.json")
    return path.name.endswith((*run_files, *(f"{name}.sha256" for name in run_files))) or "journal" in path.parts


def with_conda(environment: dict[str, str], folder: Path) -> dict[str, str]:
    """The environment with a conda, in `folder`, that is enough to plan with and builds nothing."""
    (folder / "conda").write_text(CONDA)
    (folder / "conda").chmod(0o755)
    return {**environment, "PATH": f"{folder}{os.pathsep}{environment['PATH']}"}


def copy_of(run: Run, folder: Path) -> Run:
    """A copy of a finished run in which jobs may run. Large files are links: artifacts are replaced, never written into."""

    def copy_or_link(source: str, target: str) -> None:
        if Path(source).stat().st_size > 10**7:
            os.link(source, target)
        else:
            shutil.copy2(source, target)

    shutil.copytree(run.folder, folder, symlinks=True, copy_function=copy_or_link)
    return Run(folder)


def copy_checkout(folder: Path) -> None:
    """Return every tracked file of the working tree."""
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in filter(None, tracked.stdout.split("\0")):
        source, target = ROOT / name, folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_symlink():
            target.symlink_to(source.readlink())
        elif source.is_file():
            shutil.copyfile(source, target)
