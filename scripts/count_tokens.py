"""Tokens per training row, by base model and dataset: what a card has to carry (spec 46, 48)."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from excam import markdown, tables
from excam.provenance import read_json, write_text
from scripts import run

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
        lines.append({"model": path.parts[-3], "dataset": path.parts[-2], **counted})
    tables.write_lines(args.numbers, COLUMNS, lines)
    shown = [[markdown.escaped(str(line.get(column, "–"))) for column in COLUMNS] for line in lines]
    write_text(
        args.page,
        "# Tokens per training row\n\nThe conversation and the report, as the base model's own tokenizer counts them; "
        "`report_mean` is of what carries loss; `too_long` counts the rows over training.max_length, with their pairs: "
        "nothing is trained on them.\n\n" + markdown.table(COLUMNS, shown),
    )


if __name__ == "__main__":
    run(main)
