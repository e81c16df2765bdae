"""A real Slurm for the tests of this folder, and the experiment run through it once."""

import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from checkout import ADAPTER, Run, copy_checkout
from on_slurm import HERE, PUBLISHED, OnSlurm, Training, ask, stop

WHOLE = 1500  # seconds for the whole experiment, beside whatever else runs here


@pytest.fixture(scope="session")
def cluster():
    folder = Path(tempfile.mkdtemp(prefix="excam-slurm-", dir="/tmp"))
    up = subprocess.run([HERE / "up.sh", folder], capture_output=True, text=True, check=False)
    if up.returncode == 2:
        shutil.rmtree(folder)
        pytest.skip(up.stderr.strip().splitlines()[-1])
    try:
        assert up.returncode == 0, up.stderr
        yield folder
    finally:
        subprocess.run([HERE / "down.sh", folder], check=True, timeout=120)
        assert not folder.exists()


@pytest.fixture(scope="session")
def local(tmp_path_factory):
    """The experiment by `profiles/local`, started while Slurm's jobs are waited for: process, what it says."""
    run, said = Run(tmp_path_factory.mktemp("local")), tmp_path_factory.mktemp("said") / "local.txt"
    copy_checkout(run.folder)
    process = run.start("all", said=said)
    yield run, process, said
    stop(process)


@pytest.fixture(scope="session")
def run(cluster, local, tmp_path_factory):
    """The experiment through Slurm, from nothing."""
    run, said = OnSlurm(tmp_path_factory.mktemp("slurm")), tmp_path_factory.mktemp("said") / "slurm.txt"
    copy_checkout(run.folder)
    process = run.start("all", said=said)
    try:
        assert process.wait(timeout=WHOLE) == 0, said.read_text()[-6000:]
    finally:
        stop(process)
    return run


@pytest.fixture
def training(run, tmp_path):
    """Starts the adapter's job; whatever came of it, its folder is fit for the next test."""
    begun = []

    def start(*words: str) -> Training:
        begun.append(Training(run, tmp_path / "said.txt", *words))
        return begun[0]

    yield start
    for each in begun:
        if stop(each.process):
            ask("scancel", "--user", "root")
            run("--unlock")
        if not all((run.folder / name).exists() for name in PUBLISHED):
            run(f"{ADAPTER}/manifest.json")
