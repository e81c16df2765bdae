"""Write every instance with the answers of one model on one page, with search and filters."""

from __future__ import annotations

from pathlib import Path

from excam.core.provenance import write_text
from excam.macaron import rows_page
from scripts import run, step
from scripts._macaron import AnswerFiles, systems

VERSION = 3


@step
def main(files: AnswerFiles, page_path: Path) -> None:
    write_text(page_path, rows_page.page(systems(files)))


if __name__ == "__main__":
    run(main)
