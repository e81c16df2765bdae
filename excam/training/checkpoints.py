"""Checkpoints of a run: one job at a time, marked when whole, found by their run, kept until the adapter is proven."""

from __future__ import annotations

import fcntl
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from excam.exceptions import ModelInvalid
from excam.provenance import Progress, write_json
from excam.training import devices

if TYPE_CHECKING:
    from transformers import TrainerCallback

MARK = "whole.json"  # written into a checkpoint when everything else of it is there


@contextmanager
def alone(checkpoints: Path, name: str) -> Iterator[None]:
    """No other job may train the same adapter meanwhile. Raises ModelInvalid when one does."""
    if devices.rank():
        yield
        return
    checkpoints.parent.mkdir(parents=True, exist_ok=True)
    lock = checkpoints.with_name(f".{checkpoints.name}.lock")
    with lock.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # given back by close, also when the process is killed
        except BlockingIOError:
            raise ModelInvalid(f"{name}: another job is training it; wait for that one, or stop it first") from None
        yield


def last_whole(checkpoints: Path, run_id: str) -> Path | None:
    """The newest checkpoint that is complete and belongs to this very run; the first process removes all others."""
    found = sorted(checkpoints.glob("checkpoint-*"), key=lambda path: int(path.name.split("-")[1]), reverse=True)
    chosen = None
    for path in found:
        mark = path / MARK
        if chosen is None and mark.exists() and json.loads(mark.read_text(encoding="utf-8"))["run"] == run_id:
            chosen = path
        elif not devices.rank():
            shutil.rmtree(path, ignore_errors=True)
    return chosen


def watcher(trainer: Any, name: str, run_id: str, steps: int, last: Path | None) -> TrainerCallback:
    """What a trainer tells of its steps: progress, and which run a checkpoint belongs to."""
    from transformers import TrainerCallback

    progress = Progress(f"training {name}, steps", steps)
    progress.skip(int(last.name.split("-")[1]) if last else 0)

    class Watcher(TrainerCallback):
        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            if state.is_world_process_zero:
                progress.advance()

        def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            trainer.accelerator.wait_for_everyone()  # each process has written its part
            if state.is_world_process_zero:
                write_json(Path(args.output_dir, f"checkpoint-{state.global_step}", MARK), {"run": run_id})

    return Watcher()
