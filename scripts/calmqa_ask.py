"""Ask one model every question; write a transcript of every request and answer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from excam.calmqa import asks, source
from scripts import run, step
from scripts._asking import RecordedOptions, Recorder

VERSION = 1


@step
def main(
    asking: RecordedOptions,
    subject: Annotated[str, "the key in config.yaml"],
    questions_path: Path,
) -> None:
    asker = Recorder(asking, subject, subject)
    questions = list(source.questions_of(questions_path).values())
    asker.record(f"asking {subject}, questions", asks.answer, questions)
    asker.write_manifest([questions_path], seed=asking.seed)


if __name__ == "__main__":
    run(main)
