"""Ask one model every question; write a transcript of every request and answer."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated

from excam.calmqa import asks, source
from excam.core import provenance
from excam.inference import transcript
from scripts import run, step
from scripts._asking import Asker, AskingOptions

VERSION = 1


@step
def main(
    asking: AskingOptions,
    subject: Annotated[str, "the key in config.yaml"],
    questions_path: Path,
    transcript_path: Path,
    manifest_path: Annotated[Path, "what it was made of, and what it cost"],
) -> None:
    started = time.monotonic()
    asker = Asker(asking, subject, subject)
    questions = list(source.questions_of(questions_path).values())
    ask = asker.ask_with_progress(f"asking {subject}, questions", len(questions))
    _, entries = transcript.record(asks.answer, questions, ask)
    transcript.write(transcript_path, entries)
    provenance.write_manifest(
        manifest_path,
        inputs=[path for path in (questions_path, asking.weights_path) if path],
        outputs=[transcript_path],
        settings=json.loads(asking.model),
        seconds=time.monotonic() - started,
        **asker.facts(answer for entry in entries for exchange in entry.rounds for answer in exchange.answers),
        seed=asking.seed,
    )


if __name__ == "__main__":
    run(main)
