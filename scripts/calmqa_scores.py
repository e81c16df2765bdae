"""Join the stages into the score of every answer."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from excam.calmqa import numbers, source, stages
from excam.core import tables
from scripts import run

VERSION = 1


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("questions", "answers", "surface", "claims", "verdicts", "relevance", "to"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--factuality", choices=["f1@k", "precision"], required=True)
    parser.add_argument("--no-claims", choices=["zero", "skip"], required=True)
    args = parser.parse_args(argv)

    surface, verdicts, relevance = (
        tables.read_frame(path).to_dicts() for path in (args.surface, args.verdicts, args.relevance)
    )
    questions, answers = source.questions_of(args.questions), source.answers_of(args.answers)
    rows = stages.judged(questions, answers, surface, stages.read_claims(args.claims), verdicts, relevance)
    stages.write(args.to, "scores", numbers.scores(rows, args.factuality, args.no_claims))


if __name__ == "__main__":
    run(main)
