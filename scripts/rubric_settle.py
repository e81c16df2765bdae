"""Parse a transcript into ratings and settle them by the rules. A new parser, or new rules, need no model."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from excam.core import tables
from excam.core.provenance import say
from excam.inference import transcript
from excam.rubric import asks, ratings
from scripts import run
from scripts._rubric import add_rubric_options, responses_of, rubric_of

VERSION = 2


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--name", required=True, help="the model")
    add_rubric_options(parser)
    parser.add_argument("--ask", choices=("text", "choose"), required=True)
    parser.add_argument("--transcript", type=Path, required=True)
    parser.add_argument("--ratings", type=Path, required=True)
    args = parser.parse_args(argv)

    known = responses_of(args)
    found = transcript.replay(asks.rater(args.ask, rubric_of(args), args.name), known, args.transcript)
    tables.write_frame(args.ratings, ratings.to_frame(found))
    failed = Counter(one.failure for one in found if one.failure)
    reasons = ", ".join(f"{reason} {count}" for reason, count in sorted(failed.items())) or "none"
    say(f"{args.name}: {len(found)} ratings; corrected {sum(one.corrected for one in found)}; failures: {reasons}")


if __name__ == "__main__":
    run(main)
