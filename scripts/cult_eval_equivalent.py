"""Judge translations without a model: by accepted equivalents, listed glosses, words of the explication."""

from __future__ import annotations

from pathlib import Path

from excam.acre import judgements, translations
from excam.core import tables
from scripts import run, step

VERSION = 2


@step
def main(rows_path: Path, judged_path: Path) -> None:
    tables.write_frame(judged_path, judgements.equivalent_frame(translations.from_frame(rows_path)))


if __name__ == "__main__":
    run(main)
