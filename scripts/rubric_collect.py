"""Check the ratings of people and models, and write them as one table; a breach of the rules stops."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from excam.core import tables
from excam.core.exceptions import InputInvalid
from excam.core.provenance import say
from excam.rubric import checks, ratings
from scripts import run, step
from scripts._rubric import RatingOptions, responses_of, rubric_of

VERSION = 2


@step
def main(
    rating: RatingOptions,
    given_paths: Annotated[Sequence[Path], "ratings: .jsonl of people, .parquet of models"],
    ratings_path: Path,
) -> None:
    reading = checks.read(given_paths, responses_of(rating), [rubric_of(rating)])
    if reading.breaches:
        raise InputInvalid(
            f"{reading.breaches[0]} ({len(reading.breaches)} breaches); expected none; see `excam rubric check`"
        )
    tables.write_frame(ratings_path, ratings.to_frame([*reading.ratings, *reading.superseded]))
    say(f"{len(reading.ratings)} ratings; replaced by a later one of the same rater: {len(reading.superseded)}")


if __name__ == "__main__":
    run(main)
