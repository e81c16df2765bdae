"""Check the language and the repetitions of every answer. Asks no model."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from excam.calmqa import source, stages
from excam.core import tables
from scripts import run

VERSION = 1


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--answers", type=Path, required=True)
    parser.add_argument("--detector", choices=["cld2", "langid"], required=True)
    parser.add_argument("--tokens", type=int, required=True)
    parser.add_argument("--times", type=int, required=True)
    parser.add_argument("--surface", type=Path, required=True)
    parser.add_argument("--languages", type=Path, required=True, help="how well the detector knows each language")
    args = parser.parse_args(argv)

    questions, answers = source.questions_of(args.questions), source.answers_of(args.answers)
    rows, known = stages.surface_rows(questions, answers, args.detector, args.tokens, args.times)
    stages.write(args.surface, "surface", rows)
    lines = [asdict(one) | {"share": one.share, "decidable": one.decidable} for one in known]
    tables.write_lines(args.languages, ("name", "code", "questions", "right", "share", "decidable"), lines)


if __name__ == "__main__":
    run(main)
