"""Faults of a cluster during a training: the result has the same bytes, and few steps are repeated.

`pytest -m cluster -s` also prints how many were.
"""

import os
import signal
import subprocess
import time

import pytest
from on_slurm import HERE, ask, processes

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(1800)]  # the first test waits for the run
PATIENCE = 150  # seconds
TOO_LITTLE = 1900  # megabytes; training takes some 2,900


def state(job: str) -> tuple[str, str]:
    """What Slurm says of a job, and why."""
    said = ask("squeue", "--noheader", "--states=all", "--job", job, "--format=%T %r")
    return tuple(said.strip().split(maxsplit=1))


def becomes(job: str, *wanted: str) -> tuple[str, str]:
    """Wait until a job is in one of these states; that, and why."""
    end = time.monotonic() + PATIENCE
    while (status := state(job))[0] not in wanted:
        assert time.monotonic() < end, f"{job}: {status}; expected {wanted}"
        time.sleep(0.2)
    return status


def start_now(job: str) -> None:
    """Not two minutes later, which is how long Slurm lets a job wait that it put back."""
    ask("scontrol", "update", f"JobId={job}", "StartTime=now")


def asked_for(job: str) -> tuple[str, str]:
    """Memory and minutes of a job."""
    words = ("sacct", "-X", "-n", "-P", "--duplicates", "--format=ReqMem,TimelimitRaw,State", "-j", job)
    return tuple(ask(*words).split()[-1].split("|"))


def on_the_node(job: str) -> list[int]:
    """Process ids of all that a node runs of a job, Slurm's own part too."""
    steps = subprocess.run(["pgrep", "-f", rf"^slurmstepd: \[{job}\."], capture_output=True, text=True, check=False)
    return [*map(int, steps.stdout.split()), *processes(job)]


def kill(cluster, *daemons: str) -> None:
    for name in daemons:
        os.kill(int((cluster / f"run/{name}.pid").read_text()), signal.SIGKILL)


def start(cluster, *daemons: str) -> None:
    for name in daemons:
        subprocess.run([HERE / "daemon.sh", cluster, name], check=True, timeout=30)


def test_cancelled_then_killed_and_a_second_invocation_keeps_out(run, training):
    lost = training()
    lost.checkpoint(1)
    second = run("all")
    assert second.returncode != 0
    assert "LockException" in second.text
    assert "submitted" not in second.text

    ask("scancel", lost.job(1))
    os.kill(lost.pid(2), signal.SIGKILL)
    printed = lost.ends()
    assert "SLURM status is: 'CANCELLED" in printed
    assert "SLURM status is: 'FAILED'" in printed
    assert printed.count("Trying to restart job") == 2
    assert len({*lost.starts()}) == 3


def test_too_little_memory_then_too_little_time(run, training):
    """Each attempt asks for more of both: the first is too small to load the model, the second hangs for a minute."""
    site = ["train_adapter:gres='gpu:1'", f"train_adapter:mem_mb={TOO_LITTLE} * attempt"]
    lost = training("--set-resources", *site, "--")
    first = lost.job(1)
    second, pid = lost.job(2), lost.pid(2)
    lost.checkpoint(2)
    os.kill(pid, signal.SIGSTOP)
    ask("scontrol", "update", f"JobId={second}", "TimeLimit=1")
    printed = lost.ends()
    assert "exceeded memory limit" in printed
    assert "SLURM status is: 'FAILED'" in printed
    assert "SLURM status is: 'TIMEOUT'" in printed
    assert "goes on from checkpoint-" in (run.folder / "trained.txt").read_text()
    third = lost.job(3)
    assert [asked_for(job)[0] for job in (first, second, third)] == [f"{TOO_LITTLE * n}M" for n in (1, 2, 3)]
    assert asked_for(first)[1:] == ("360", "FAILED")
    assert asked_for(third)[1:] == (str(3 * 360), "COMPLETED")


def test_slurm_itself_puts_a_job_back(cluster, run, training):
    """An administrator's requeue, a job that comes first, a node that dies: the same job each time, and no attempt."""
    lost = training()
    lost.checkpoint(1)
    job = lost.job(1)
    ask("scontrol", "requeue", job)
    becomes(job, "PENDING")
    start_now(job)

    lost.pid(2)
    lost.checkpoint(2)
    ask("sbatch", "--partition=first", "--gres=gpu:4", "--mem=100", "--output=/dev/null", "--wrap=sleep 5")
    becomes(job, "PENDING")
    start_now(job)

    lost.pid(3)
    lost.checkpoint(3)
    kill(cluster, "slurmd")
    for pid in on_the_node(job):
        os.kill(pid, signal.SIGKILL)
    assert becomes(job, "PENDING")[1] == "BeginTime"
    assert ask("sinfo", "--noheader", "--partition=main", "--format=%t").strip().startswith("down")
    start(cluster, "slurmd")  # and two minutes, for what the controller still has to tell the node about the lost job

    printed = lost.ends()
    assert lost.starts() == [job] * 4
    assert "Trying to restart job" not in printed


def test_daemons_that_die_and_come_back_lose_no_job(cluster, run, training):
    lost = training()
    job = lost.job(1)
    lost.checkpoint(1)
    kill(cluster, "slurmd", "slurmctld", "slurmdbd")
    time.sleep(60)  # the plugin's five questions, of nine seconds each, are over by then
    start(cluster, "slurmdbd", "slurmctld", "slurmd")
    printed = lost.ends()
    assert "Trying to restart job" not in printed
    assert lost.starts() == [job]
