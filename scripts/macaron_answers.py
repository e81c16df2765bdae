"""Parse a transcript into answers. A new parser needs no model."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

from excam.core import tables
from excam.core.provenance import say
from excam.inference import transcript
from excam.macaron import answers, asks, derive
from scripts import run, step

VERSION = 2


@step
def main(
    name: Annotated[str, "the model"],
    mode: asks.Mode,
    instances_path: Path,
    transcript_path: Path,
    answers_path: Path,
) -> None:
    instances = derive.read(instances_path)
    answered = transcript.replay(partial(asks.answer, mode=mode), instances, transcript_path)
    tables.write_frame(answers_path, answers.to_frame(instances, name, mode, answered))
    say(f"{name}/{mode}: {len(answered)} answers; failures: {answers.failure_counts(answered)}")


if __name__ == "__main__":
    run(main)
