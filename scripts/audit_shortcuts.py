"""Can a classifier tell right from wrong by templates, lead-ins, lengths or letters? (spec 17)"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from excam.audits import page, shortcuts
from scripts import run


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=Path, nargs="+", required=True, help="<dataset>/<split>.parquet")
    parser.add_argument("--checks", type=Path, required=True)
    parser.add_argument("--page", type=Path, required=True)
    args = parser.parse_args(argv)

    page.write(shortcuts.audit(page.read_parts(args.samples)), args.checks, args.page)


if __name__ == "__main__":
    run(main)
