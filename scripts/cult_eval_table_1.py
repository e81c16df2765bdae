"""Write the counts and mean lengths of the items by category (Table 1)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from excam.acre import items, pages
from excam.core import tables
from excam.core.provenance import write_text
from scripts import run, step

VERSION = 1
PAGE = {
    "result": "results/cult_eval/table-1",
    "outputs": ["numbers", "page"],
    "target": "cult_eval",
    "category": "CulT-Eval",
    "inputs": {"expressions": "cult_eval_items", "printed": "paper/cult-eval/table-1.csv"},
}


@step
def main(
    expressions_path: Path, printed_path: Annotated[Path, "what the paper prints"], numbers_path: Path, page_path: Path
) -> None:
    lines, page = pages.table_1(list(items.read(expressions_path).values()))
    tables.write_lines(numbers_path, pages.TABLE_1, lines)
    note = "Of its own 7,959 items, which are not these."
    write_text(page_path, page + pages.printed(note, tables.read_lines(printed_path)))


if __name__ == "__main__":
    run(main)
