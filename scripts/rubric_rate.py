"""Ask one model to rate every response; write a transcript of every request and answer."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated, Literal

from excam.core import provenance
from excam.inference import transcript
from excam.rubric import asks
from excam.rubric.manual import DIMENSIONS
from scripts import run, step
from scripts._asking import Asker, AskingOptions
from scripts._rubric import RatingOptions, responses_of, rubric_of

VERSION = 1


@step
def main(
    asking: AskingOptions,
    rating: RatingOptions,
    name: Annotated[str, "the key of the model in config.yaml"],
    ask: Literal["text", "choose"],
    transcript_path: Path,
    manifest_path: Annotated[Path, "what it was made of, and what it cost"],
) -> None:
    started = time.monotonic()
    asker = Asker(asking, name, f"{name} rates")
    known, rubric = responses_of(rating), rubric_of(rating)
    requests = len(known) * (len(DIMENSIONS) if ask == "choose" else 1)
    ask_model = asker.ask_with_progress(f"rating by {name}, requests", requests)
    _, entries = transcript.record(asks.rater(ask, rubric, name), known, ask_model)
    transcript.write(transcript_path, entries)
    provenance.write_manifest(
        manifest_path,
        inputs=[path for path in (*rating.responses_paths, asking.weights_path) if path],
        outputs=[transcript_path],
        settings=json.loads(asking.model),
        seconds=time.monotonic() - started,
        **asker.facts(answer for entry in entries for exchange in entry.rounds for answer in exchange.answers),
        rubric=rubric.signature,
        rubric_hash=rubric.hash,
        seed=asking.seed,
    )
    provenance.say(f"{name}: {len(known)} responses rated in {time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    run(main)
