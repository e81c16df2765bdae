"""Write every labelled text with what people and all metrics said of it, on one page to search."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from excam.core.provenance import write_text
from excam.crossing import rows, rows_page
from excam.scoring import scored_file
from scripts import run

VERSION = 2
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
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument("--scores", type=Path, nargs="+", required=True, help="one file for each metric, of its name")
    parser.add_argument("--parts", type=json.loads, required=True, help="the parts of each metric that are shown too")
    parser.add_argument("--html", type=Path, required=True)
    args = parser.parse_args(argv)

    scored = {path.stem: {one.id: one for one in scored_file.read(path)} for path in args.scores}
    write_text(args.html, rows_page.page(rows.read(args.rows), scored, args.parts))


if __name__ == "__main__":
    run(main)
