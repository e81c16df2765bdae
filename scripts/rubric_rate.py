"""Ask one model to rate every response; write a transcript of every request and answer."""

from __future__ import annotations

from typing import Annotated, Literal

from excam.core import provenance
from excam.rubric import asks
from excam.rubric.manual import DIMENSIONS
from scripts import run, step
from scripts._asking import RecordedOptions, Recorder
from scripts._rubric import RatingOptions, responses_of, rubric_of

VERSION = 1


@step
def main(
    asking: RecordedOptions,
    rating: RatingOptions,
    name: Annotated[str, "the key of the model in config.yaml"],
    ask: Literal["text", "choose"],
) -> None:
    asker = Recorder(asking, name, f"{name} rates")
    known, rubric = responses_of(rating), rubric_of(rating)
    requests = len(known) * (len(DIMENSIONS) if ask == "choose" else 1)
    asker.record(f"rating by {name}, requests", asks.rater(ask, rubric, name), known, requests)
    asker.write_manifest(rating.responses_paths, rubric=rubric.signature, rubric_hash=rubric.hash, seed=asking.seed)
    provenance.say(f"{name}: {len(known)} responses rated in {asker.seconds:.0f} s")


if __name__ == "__main__":
    run(main)
