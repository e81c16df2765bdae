"""Write every labelled text with what people and all metrics said of it, on one page to search."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from excam.core.provenance import write_text
from excam.crossing import rows_page
from scripts import run
from scripts._crossing import Study, add_options

VERSION = 4
PAGE = {
    "result": "results/crossing/texts",
    "outputs": [],
    "target": "crossing",
    "category": "Crossing",
    "inputs": {"rows": "crossing_rows", "scores": "crossing_scores"},
    "settings": {"parts": "crossing_parts"},
    "more": {"html": "results/crossing/texts.html"},
}


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_options(parser)
    parser.add_argument("--html", type=Path, required=True)
    args = parser.parse_args(argv)

    study = Study(args)
    scored = {name: {one.id: one for one in found} for name, found in study.scores.items()}
    write_text(args.html, rows_page.page(study.rows, scored, study.parts))


if __name__ == "__main__":
    run(main)
