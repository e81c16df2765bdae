"""Checkpoints of a training run: locked by one job, marked when complete, and matched to their run."""

from __future__ import annotations

import fcntl
import json
import math
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from excam.core.exceptions import ModelInvalid
from excam.core.provenance import Progress, write_json
from excam.training import devices

if TYPE_CHECKING:
    from transformers import TrainerCallback

MARK = "whole.json"  # written into a checkpoint last: marks it as complete


@dataclass(frozen=True, kw_only=True)
class TrainingRun:
    """A training: the base it begins with, where its checkpoints and its result go, and what messages call it."""

    weights: Path  # the folder of the base
    base: str  # a digest of what is in it
    seed: int
    checkpoints: Path
    folder: Path  # the result is published here
    name: str
    version: int = 0  # of the stage: checkpoints of another one are not continued


@contextmanager
def exclusive_lock(checkpoints: Path, name: str) -> Iterator[None]:
    """Prevent other jobs from training the same adapter meanwhile. Raise ModelInvalid if one does already."""
    if devices.rank():
        yield
        return
    checkpoints.parent.mkdir(parents=True, exist_ok=True)
    lock = checkpoints.with_name(f".{checkpoints.name}.lock")
    with lock.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # released by close, also if the process is killed
        except BlockingIOError:
            raise ModelInvalid(f"{name}: another job is training it; wait for that one, or stop it first") from None
        yield


def last_complete_checkpoint(checkpoints: Path, run_id: str) -> Path | None:
    """Return the newest complete checkpoint of this run, or None; the first process removes all others."""
    newest_first = sorted(checkpoints.glob("checkpoint-*"), key=lambda path: int(path.name.split("-")[1]), reverse=True)
    chosen = None
    for path in newest_first:
        mark = path / MARK
        if chosen is None and mark.exists() and json.loads(mark.read_text(encoding="utf-8"))["run"] == run_id:
            chosen = path
        elif not devices.rank():
            shutil.rmtree(path, ignore_errors=True)
    return chosen


def progress_callback(trainer: Any, name: str, run_id: str, steps: int, last: Path | None) -> TrainerCallback:
    """Return a callback that prints progress, stops at a loss that is no number, and marks complete checkpoints.

    In training it raises ModelInvalid; checkpoints from before that step remain, none after it is written.
    """
    from transformers import TrainerCallback

    progress = Progress(f"training {name}, steps", steps)
    progress.skip(int(last.name.split("-")[1]) if last else 0)

    class _Watcher(TrainerCallback):
        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            if state.is_world_process_zero:
                progress.advance()

        def on_log(self, args: Any, state: Any, control: Any, logs: Mapping[str, Any] | None = None, **_: Any) -> None:
            for measure in ("loss", "grad_norm"):
                value = float((logs or {}).get(measure, 0))
                if not math.isfinite(value):
                    raise ModelInvalid(
                        f"{name}: {measure} is {value} at step {state.global_step} of {steps}; expected a number: the "
                        "weights are of no use; lower training.learning_rate, or use another layout or attention"
                    )

        def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            trainer.accelerator.wait_for_everyone()  # until each process has written its part
            if state.is_world_process_zero:
                write_json(Path(args.output_dir, f"checkpoint-{state.global_step}", MARK), {"run": run_id})

    return _Watcher()
