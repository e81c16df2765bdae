"""All audits on one page: what failed first."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from excam.audits import checks, page
from excam.provenance import publish, say
from excam.tables import read_csv
from scripts import run


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checks", type=Path, nargs="+", required=True, help="<audit>.csv")
    parser.add_argument("--page", type=Path, required=True)
    args = parser.parse_args(argv)

    audits = {path.stem: checks.of_frame(read_csv(path, checks.CHECK_SCHEMA)) for path in args.checks}
    with publish(args.page) as temporary:
        temporary.write_text(page.summary(audits), encoding="utf-8")
    say(f"{args.page}: {page.verdict([check for own in audits.values() for check in own])}")


if __name__ == "__main__":
    run(main)
