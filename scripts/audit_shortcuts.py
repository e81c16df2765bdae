"""Check that a classifier cannot predict the label from templates, lead-ins, lengths, letters or copied text."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from excam.excam40k.audits import page, shortcuts
from scripts import run

VERSION = 4
PAGE = {
    "result": "results/audits/shortcuts",
    "outputs": ["numbers", "page"],
    "local": False,
    "category": "Audits",
    "inputs": {"samples": "all_splits"},
}


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=Path, nargs="+", required=True, help="<dataset>/<split>.parquet")
    parser.add_argument("--numbers", type=Path, required=True)
    parser.add_argument("--page", type=Path, required=True)
    args = parser.parse_args(argv)

    page.write(shortcuts.audit(page.read_parts(args.samples)), args.numbers, args.page)


if __name__ == "__main__":
    run(main)
