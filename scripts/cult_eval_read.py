"""Read a benchmark of translations: its items, and the translations that its folder has."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from excam.acre import items, source, translations
from excam.core import tables
from excam.core.provenance import say
from scripts import run, step

VERSION = 1


@step
def main(
    files_paths: Annotated[Sequence[Path], "items, then a file for each system"],
    expressions_path: Path,
    rows_path: Annotated[Path, "the translations, each with the texts of its item"],
) -> None:
    items_path, *sheets = files_paths
    items_by_id = items.read(items_path)
    rows = source.written(sheets, items_by_id)
    tables.write_frame(expressions_path, translations.items_frame(items_by_id.values()))
    tables.write_frame(rows_path, translations.to_frame(rows))
    say(f"cult-eval: {len(items_by_id)} items, {len(rows)} translations by {len(translations.systems(rows))} systems")


if __name__ == "__main__":
    run(main)
