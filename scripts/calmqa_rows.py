"""Write every answer with the parts of its score, its claims and their verdicts on one page."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from excam.calmqa import rows_page, source, stages
from excam.core import tables
from excam.core.provenance import write_text
from scripts import run

VERSION = 3


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("questions", "answers", "surface", "claims", "verdicts", "scores", "page"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    args = parser.parse_args(argv)

    surface, verdicts, scores = (
        tables.read_frame(path).to_dicts() for path in (args.surface, args.verdicts, args.scores)
    )
    questions, answers = source.questions_of(args.questions), source.answers_of(args.answers)
    claims = stages.read_claims(args.claims)
    write_text(args.page, rows_page.page(questions, answers, surface, claims, verdicts, scores))


if __name__ == "__main__":
    run(main)
