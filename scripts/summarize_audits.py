"""Write all audits on one page, failed checks first."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from excam.core.provenance import say, write_text
from excam.core.tables import read_csv
from excam.excam40k.audits import checks, page
from scripts import run

VERSION = 2
PAGE = {
    "result": "results/audits/summary",
    "outputs": ["page"],
    "category": "Audits",
    "inputs": {
        "checks": [
            "results/audits/leaks.csv",
            "results/audits/shortcuts.csv",
            "results/audits/balance.csv",
            "results/audits/inventory.csv",
            "results/audits/licences.csv",
        ]
    },
}


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checks", type=Path, nargs="+", required=True, help="<audit>.csv")
    parser.add_argument("--page", type=Path, required=True)
    args = parser.parse_args(argv)

    audits = {path.stem: checks.of_frame(read_csv(path, checks.CHECK_SCHEMA)) for path in args.checks}
    write_text(args.page, page.summary(audits))
    say(f"{args.page}: {page.verdict([check for own in audits.values() for check in own])}")


if __name__ == "__main__":
    run(main)
