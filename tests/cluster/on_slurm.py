"""Control a run whose jobs go to a real Slurm: start, wait, kill, read logs."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from checkout import ADAPTER, Run, wait_until

HERE = Path(__file__).parent
CHECKPOINTS = "results/checkpoints/smollm2-135m/without-blend"
PUBLISHED = [f"{ADAPTER}/{name}" for name in ("adapter_model.safetensors", "adapter_config.json", "loss.csv")]


class OnSlurm(Run):
    """A copy of the repository whose jobs run in the tests' Slurm."""

    profile = ("slurm", "--workflow-profile", "tests/cluster/site")

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.jobs, self.trained = folder / "started.txt", folder / "trained.txt"
        self.environment |= {
            "PATH": f"{HERE / 'bin'}{os.pathsep}{self.environment['PATH']}",
            "EXCAM_STARTED": str(self.jobs),
            "EXCAM_TRAINED": str(self.trained),
            "EXCAM_PYTHON": sys.executable,
        }

    def started(self) -> list[tuple[str, str, str]]:
        """Slurm's job id (or none), visible cards (or none) and rule of everything that was started so far."""
        if not self.jobs.exists():
            return []
        return [tuple(line.split()) for line in self.jobs.read_text().splitlines()]

    def steps(self) -> list[str]:
        """The log lines of each training step so far, from all jobs."""
        return [line for line in self.trained.read_text().splitlines() if line.startswith("{'loss'")]


class Training:
    """The adapter's job once more, from nothing, while things happen to it."""

    def __init__(self, run: OnSlurm, said: Path, *words: str) -> None:
        self.run, self.said = run, said
        self.kept = run.digest(*PUBLISHED)
        self.steps = len((run.folder / ADAPTER / "loss.csv").read_text().splitlines()) - 1
        shutil.rmtree(run.folder / ADAPTER)
        shutil.rmtree(run.folder / CHECKPOINTS, ignore_errors=True)
        run.trained.write_text("")
        self.before = len(run.started())
        self.process = run.start(*words, f"{ADAPTER}/manifest.json", said=said)

    def starts(self) -> list[str]:
        """Slurm's job id of each time the script was started; a job that Slurm itself put back counts again."""
        return [job for job, _, rule in self.run.started()[self.before :] if rule == "train_adapter"]

    def job(self, start: int = 1) -> str:
        """Id of the job, once its script runs for the so-manieth time."""
        return wait_until(self.process, lambda: self.starts()[start - 1 : start] or None)[0]

    def checkpoint(self, step: int) -> None:
        """Wait for a complete checkpoint of this step or a later one."""
        folder = self.run.folder / CHECKPOINTS

        def newest() -> int:
            return max((int(path.parent.name.split("-")[1]) for path in folder.glob("*/whole.json")), default=0)

        wait_until(self.process, lambda: newest() >= step)

    def pid(self, start: int = 1) -> int:
        """Of the script, which runs for the so-manieth time."""
        job = self.job(start)
        return wait_until(self.process, lambda: processes(job, "train_adapter"))[0]

    def ends(self) -> str:
        """All that Snakemake said, once the same adapter is there; a fault costs at most the steps since a checkpoint."""
        assert self.process.wait(timeout=400) == 0, self.said.read_text()[-4000:]
        assert self.run.digest(*PUBLISHED) == self.kept
        again, faults = len(self.run.steps()) - self.steps, len(self.starts()) - 1
        print(f"{faults} faults, {again} of {self.steps} steps taken again")
        assert again <= faults, "more than save_steps (1) a fault"
        return self.said.read_text()


def ask(*words: str) -> str:
    """What a command of Slurm says."""
    return subprocess.run(words, capture_output=True, text=True, check=True, timeout=30).stdout


def settings(pid: int) -> dict[str, str]:
    """The environment of a process."""
    try:
        raw = Path(f"/proc/{pid}/environ").read_bytes().decode(errors="replace")
    except OSError:  # it has ended meanwhile
        return {}
    return dict(entry.split("=", 1) for entry in raw.split("\0") if "=" in entry)


def processes(job: str, script: str = "") -> list[int]:
    """Process ids of a job of Slurm: of one rule's script, or of all that belongs to it."""
    words = b"\0-m\0scripts\0" + script.encode() + b"\0"
    process_ids = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            asked = not script or words in path.read_bytes()
        except OSError:
            continue
        if asked and settings(int(path.parent.name)).get("SLURM_JOB_ID") == job:
            process_ids.append(int(path.parent.name))
    return process_ids


def stop(process: subprocess.Popen) -> bool:
    """Kill what still runs; whether it did."""
    if running := process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return running
