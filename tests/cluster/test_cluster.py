"""The experiment through a real Slurm, and what clusters do to jobs. Only with `pytest -m cluster`, as root on Debian.

Each job of Slurm costs some 15 s here, so it is one cell of the smallest experiment and all that it hangs on.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from checkout import ADAPTER, CELL, ROOT, Run, copy_checkout, tells_of_the_run, wait_until

HERE = Path(__file__).parent
WEIGHTS = f"{ADAPTER}/adapter_model.safetensors"
ON_CARDS = {"generate_soft_errors", "train_adapter", "verify_adapter", "judge"}
pytestmark = pytest.mark.cluster


class OnSlurm(Run):
    """A copy of the repository whose jobs run in the tests' Slurm."""

    profile = ("slurm", "--workflow-profile", "tests/cluster/site")

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.jobs = folder / "started.txt"
        path = f"{HERE / 'bin'}{os.pathsep}{self.environment['PATH']}"
        self.environment |= {"PATH": path, "EXCAM_STARTED": str(self.jobs), "EXCAM_PYTHON": sys.executable}

    def started(self) -> list[tuple[str, str, str]]:
        """Slurm's job id (or none), visible cards (or none) and rule of everything that was started so far."""
        if not self.jobs.exists():
            return []
        return [tuple(line.split()) for line in self.jobs.read_text().splitlines()]


def ask(*words: str) -> str:
    """What a command of Slurm says."""
    return subprocess.run(words, capture_output=True, text=True, check=True, timeout=30).stdout


def times(jobs: list[str]) -> dict[str, tuple[int, int]]:
    """When Slurm started and ended jobs, in seconds."""
    words = ("sacct", "-X", "-n", "-P", "--format=JobIDRaw,Start,End", "-j", ",".join(jobs))
    rows = [line.split("|") for line in ask("env", "SLURM_TIME_FORMAT=%s", *words).splitlines()]
    return {job: (int(start), int(end)) for job, start, end in rows}


def settings(pid: int) -> dict[str, str]:
    """The environment of a process."""
    try:
        raw = Path(f"/proc/{pid}/environ").read_bytes().decode(errors="replace")
    except OSError:  # it has ended meanwhile
        return {}
    return dict(entry.split("=", 1) for entry in raw.split("\0") if "=" in entry)


def processes(job: str, script: str) -> list[int]:
    """Process ids of a rule's script within a job of Slurm."""
    words = b"\0-m\0scripts." + script.encode() + b"\0"
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            asked = words in path.read_bytes()
        except OSError:
            continue
        if asked and settings(int(path.parent.name)).get("SLURM_JOB_ID") == job:
            found.append(int(path.parent.name))
    return found


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
def run(cluster, tmp_path_factory):
    folder = tmp_path_factory.mktemp("slurm")
    copy_checkout(folder)
    run = OnSlurm(folder)
    done = run(CELL)
    assert done.returncode == 0, done.text[-6000:]
    return run


@pytest.fixture(scope="session")
def beside(cluster, tmp_path_factory):
    """The same cell by `--profile local`, started while Slurm's jobs are waited for."""
    folder = tmp_path_factory.mktemp("local")
    copy_checkout(folder)
    run, said = Run(folder), folder / "said.txt"
    process = run.start(CELL, said=said)
    yield run, process, said
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.fixture
def training(run, tmp_path):
    """The adapter's job once more, from nothing, as it runs with a first checkpoint: process, job id, what is said."""
    kept = run.digest(WEIGHTS, f"{ADAPTER}/loss.csv")
    shutil.rmtree(run.folder / ADAPTER)
    before, said = len(run.started()), tmp_path / "said.txt"
    process = run.start(f"{ADAPTER}/manifest.json", said=said)

    def job(attempt: int = 1) -> str:
        """Id of the job of this attempt, once its script runs."""

        def begun():
            ids = [job for job, _, rule in run.started()[before:] if rule == "train_adapter"]
            return ids[attempt - 1] if len(ids) >= attempt else None

        return wait_until(process, begun)

    yield process, job, said
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        run("--unlock")
    assert process.returncode == 0, said.read_text()[-4000:]
    assert run.digest(*kept) == kept


def checkpoints(run: OnSlurm, n: int):
    folder = run.folder / "results/checkpoints/smollm2-135m/without-blend"
    return lambda: len(list(folder.glob("checkpoint-*/whole.json"))) >= n


def test_same_bytes_as_on_one_machine(beside, run):
    local, process, said = beside
    assert process.wait(timeout=240) == 0, said.read_text()[-4000:]
    names = [
        str(path.relative_to(local.folder))
        for path in sorted((local.folder / "results").rglob("*"))
        if path.is_file() and not tells_of_the_run(path)
    ]
    assert len(names) > 40
    assert run.digest(*names) == local.digest(*names)


def test_only_cheap_rules_ran_where_the_command_was_typed(run):
    text = (ROOT / "rules/common.smk").read_text().split("localrules:")[1].split("wildcard_constraints")[0]
    cheap = {name.strip() for name in text.split(",")}
    started = run.started()
    assert {rule for job, _, rule in started if job == "none"} <= cheap
    assert {rule for job, _, rule in started if job != "none"} & cheap == set()
    assert {rule for job, _, rule in started if job != "none"} >= ON_CARDS | {"build_samples", "mix_samples"}


def test_each_job_on_a_card_has_it_alone(run):
    cards = {job: card for job, card, rule in run.started() if rule in ON_CARDS}
    assert all(job != "none" and card in {"0", "1", "2", "3"} for job, card in cards.items())
    assert {card for _, card, rule in run.started() if rule not in ON_CARDS} == {"none"}
    span = times(list(cards))
    at_once = [
        (a, b) for a in cards for b in cards if a < b and max(span[a][0], span[b][0]) < min(span[a][1], span[b][1])
    ]
    assert at_once, "no two jobs ran at once: nothing was shown"
    assert all(cards[a] != cards[b] for a, b in at_once)


def test_second_invocation_hands_nothing_in(run):
    before = len(run.started())
    assert run.planned(CELL) == {}
    done = run(CELL)
    assert done.returncode == 0
    assert "Nothing to be done" in done.text
    assert len(run.started()) == before


def test_lost_jobs_go_on_and_a_second_invocation_keeps_out(run, training):
    process, job, said = training
    wait_until(process, checkpoints(run, 1))
    second = run(CELL)
    assert second.returncode != 0
    assert "LockException" in second.text
    assert "submitted" not in second.text

    ask("scancel", job(1))
    (pid, *_) = wait_until(process, lambda: processes(job(2), "train_adapter"))
    time.sleep(3)  # while it loads
    os.kill(pid, signal.SIGKILL)
    assert process.wait(timeout=240) == 0, said.read_text()[-4000:]
    told = said.read_text()
    assert "SLURM status is: 'CANCELLED" in told
    assert "SLURM status is: 'FAILED'" in told
    assert told.count("Trying to restart job") == 2


def test_daemons_that_die_and_come_back_lose_no_job(cluster, run, training):
    process, job, said = training
    first = job(1)
    wait_until(process, checkpoints(run, 1))
    for name in ("slurmd", "slurmctld"):
        os.kill(int((cluster / f"run/{name}.pid").read_text()), signal.SIGKILL)
    time.sleep(60)  # the plugin's five questions, of nine seconds each, are over by then
    for name in ("slurmctld", "slurmd"):
        subprocess.run([HERE / "daemon.sh", cluster, name], check=True, timeout=30)
    assert process.wait(timeout=240) == 0, said.read_text()[-4000:]
    assert "Trying to restart job" not in said.read_text()
    assert job(1) == first
