"""Parse a transcript into ratings and settle them by the rules. A new parser, or new rules, need no model."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated, Literal

from excam.core import tables
from excam.core.provenance import say
from excam.inference import transcript
from excam.rubric import asks, ratings
from scripts import run, step
from scripts._rubric import RatingOptions, responses_of, rubric_of

VERSION = 2


@step
def main(
    rating: RatingOptions,
    name: Annotated[str, "the model"],
    ask: Literal["text", "choose"],
    transcript_path: Path,
    ratings_path: Path,
) -> None:
    known = responses_of(rating)
    model_ratings = transcript.replay(asks.rater(ask, rubric_of(rating), name), known, transcript_path)
    tables.write_frame(ratings_path, ratings.to_frame(model_ratings))
    failed = Counter(model_rating.failure for model_rating in model_ratings if model_rating.failure)
    reasons = ", ".join(f"{reason} {count}" for reason, count in sorted(failed.items())) or "none"
    corrected = sum(model_rating.corrected for model_rating in model_ratings)
    say(f"{name}: {len(model_ratings)} ratings; corrected {corrected}; failures: {reasons}")


if __name__ == "__main__":
    run(main)
