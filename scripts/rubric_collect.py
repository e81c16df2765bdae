"""Check the ratings of people and models, and write them as one table; a breach of the rules stops."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from excam.core import tables
from excam.core.exceptions import InputInvalid
from excam.core.provenance import say
from excam.rubric import checks, ratings
from scripts import run
from scripts._rubric import add_rubric_options, responses_of, rubric_of

VERSION = 2


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_rubric_options(parser)
    parser.add_argument(
        "--given", type=Path, nargs="+", required=True, help="ratings: .jsonl of people, .parquet of models"
    )
    parser.add_argument("--ratings", type=Path, required=True)
    args = parser.parse_args(argv)

    found = checks.read(args.given, responses_of(args), [rubric_of(args)])
    if found.breaches:
        raise InputInvalid(
            f"{found.breaches[0]} ({len(found.breaches)} breaches); expected none; see `excam rubric check`"
        )
    tables.write_frame(args.ratings, ratings.to_frame([*found.ratings, *found.superseded]))
    say(f"{len(found.ratings)} ratings; replaced by a later one of the same rater: {len(found.superseded)}")


if __name__ == "__main__":
    run(main)
