"""Draw accuracy by reasoning type, cultural aspect or context (Figures 3 to 5), from the numbers it writes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from excam.core import tables
from excam.core.provenance import write_text
from excam.macaron import pages
from excam.pages import plotting
from scripts import run, step
from scripts._macaron import AnswerFiles, systems

VERSION = 1
PAGE = {
    "result": "results/macaron/{by}",
    "outputs": ["numbers", "page", "pictures"],
    "target": "macaron",
    "category": "Macaron",
    "inputs": {"answers": "macaron_answers", "instances": "results/macaron/instances.parquet"},
    "settings": {"seed": "seed"},
    "wildcards": {"by": ["reasoning", "aspects", "contexts"]},
}


@step
def main(
    files: AnswerFiles,
    numbers_path: Path,
    page_path: Path,
    pictures_paths: Sequence[Path],
    by: Annotated[str, list(pages.TITLES)],
    seed: int,
) -> None:
    tables.write_lines(numbers_path, pages.BREAKDOWN, pages.breakdown(systems(files), by, seed))
    lines = pages.read_breakdown(numbers_path)
    write_text(page_path, pages.breakdown_page(lines, by))
    plotting.save(pages.figure(lines, by), pictures_paths)


if __name__ == "__main__":
    run(main)
