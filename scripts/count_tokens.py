"""Count tokens per training row, by base model and dataset: this decides the memory of a training."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from excam.core import paths, tables
from excam.core.provenance import read_json, write_text
from excam.pages import markdown
from scripts import run

VERSION = 2
PAGE = {
    "result": "results/paper/tokens",
    "outputs": ["numbers", "page"],
    "category": "Training",
    "target": "all",
    "inputs": {"counts": "token_counts"},
}
COLUMNS = ("model", "dataset", "rows", "too_long", "tokens", "mean", "median", "longest", "report_mean")


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--counts", type=Path, nargs="+", required=True, help="tokens/<model>/<dataset>/<split>.json")
    parser.add_argument("--numbers", type=Path, required=True)
    parser.add_argument("--page", type=Path, required=True)
    args = parser.parse_args(argv)

    lines = []
    for path in args.counts:
        counted = read_json(path)
        lines.append(paths.axes(path) | counted)
    tables.write_lines(args.numbers, COLUMNS, lines)
    shown = [[markdown.escape(str(line.get(column, "–"))) for column in COLUMNS] for line in lines]
    write_text(
        args.page,
        "# Tokens per training row\n\nThe conversation and the report, as the base model's own tokenizer counts them; "
        "`report_mean` is of what carries loss; `too_long` counts the rows over training.max_length, with their pairs: "
        "nothing is trained on them.\n\n" + markdown.table(COLUMNS, shown),
    )


if __name__ == "__main__":
    run(main)
