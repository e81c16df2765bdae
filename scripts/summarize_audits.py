"""All audits on one page: what failed first."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from excam.audits import checks, page
from excam.provenance import say, write_text
from excam.tables import read_csv
from scripts import run


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
