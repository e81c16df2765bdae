"""Judge translations without a model: by accepted equivalents, listed glosses, words of the explication."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from excam.acre import judgements, translations
from excam.core import tables
from scripts import run

VERSION = 2


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument("--judged", type=Path, required=True)
    args = parser.parse_args(argv)

    tables.write_frame(args.judged, judgements.equivalent_frame(translations.from_frame(args.rows)))


if __name__ == "__main__":
    run(main)
