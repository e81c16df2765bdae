"""Count tokens per training row, by base model and dataset: this decides the memory of a training."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from excam.core import paths, tables
from excam.core.provenance import read_json, write_text
from excam.pages import markdown
from scripts import run, step

VERSION = 2
PAGE = {
    "result": "results/paper/tokens",
    "outputs": ["numbers", "page"],
    "category": "Training",
    "target": "all",
    "inputs": {"counts": "token_counts"},
}
COLUMNS = ("model", "dataset", "rows", "too_long", "tokens", "mean", "median", "longest", "report_mean")


@step
def main(
    counts_paths: Annotated[Sequence[Path], "tokens/<model>/<dataset>/<split>.json"],
    numbers_path: Path,
    page_path: Path,
) -> None:
    lines = []
    for path in counts_paths:
        counted = read_json(path)
        lines.append(paths.axes(path) | counted)
    tables.write_lines(numbers_path, COLUMNS, lines)
    shown = [[markdown.escape(str(line.get(column, "–"))) for column in COLUMNS] for line in lines]
    write_text(
        page_path,
        "# Tokens per training row\n\nThe conversation and the report, as the base model's own tokenizer counts them; "
        "`report_mean` is of what carries loss; `too_long` counts the rows over training.max_length, with their pairs: "
        "nothing is trained on them.\n\n" + markdown.table(COLUMNS, shown),
    )


if __name__ == "__main__":
    run(main)
