"""Write how far each metric drops for each kind of error (Table 5), and draw it (Figure 5)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from excam.acre import pages
from excam.core import tables
from excam.core.provenance import write_text
from excam.pages import plotting
from scripts import run, step
from scripts._cult_eval import StudyFiles, read

VERSION = 1
PAGE = {
    "result": "results/cult_eval/table-5",
    "outputs": ["numbers", "page"],
    "target": "cult_eval",
    "category": "CulT-Eval",
    "inputs": {
        "rows": "cult_eval_rows",
        "labels": "cult_eval_labels",
        "judged": "cult_eval_judged",
        "metrics": "cult_eval_metrics",
        "scores": "cult_eval_scores",
        "printed": "paper/cult-eval/table-5.csv",
    },
    "optional": ["scores"],
    "settings": {"scored": "cult_eval_scored", "seed": "seed"},
    "more": {
        "pdf": "results/cult_eval/figure-5.pdf",
        "svg": "results/cult_eval/figure-5.svg",
        "png": "results/cult_eval/figure-5.png",
    },
}


@step
def main(
    files: StudyFiles,
    numbers_path: Path,
    page_path: Path,
    pdf_path: Path,
    svg_path: Path,
    png_path: Path,
    printed_path: Annotated[Path, "what the paper prints"],
    seed: int,
) -> None:
    lines, page = pages.table_5(read(files), seed)
    tables.write_lines(numbers_path, pages.TABLE_5, lines)
    note = "✓ penalised, ✗ not; two of its cells are blank, and three of the seven errors are absent."
    write_text(page_path, page + pages.printed(note, tables.read_lines(printed_path)))
    plotting.save(pages.figure_5(lines), [pdf_path, svg_path, png_path])


if __name__ == "__main__":
    run(main)
