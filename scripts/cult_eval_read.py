"""Read a benchmark of translations: its items, and the translations that its folder has."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from excam.acre import items, source, translations
from excam.core import tables
from excam.core.provenance import say
from scripts import run

VERSION = 1


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=Path, nargs="+", required=True, help="items, then a file for each system")
    parser.add_argument("--expressions", type=Path, required=True)
    parser.add_argument("--rows", type=Path, required=True, help="the translations, each with the texts of its item")
    args = parser.parse_args(argv)

    given, *sheets = args.files
    found = items.read(given)
    rows = source.written(sheets, found)
    tables.write_frame(args.expressions, translations.items_frame(found.values()))
    tables.write_frame(args.rows, translations.to_frame(rows))
    say(f"cult-eval: {len(found)} items, {len(rows)} translations by {len(translations.systems(rows))} systems")


if __name__ == "__main__":
    run(main)
