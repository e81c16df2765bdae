"""The licence ledger: licence and source of every row, and what may be combined (spec 77-79)."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from excam.audits import licences, page
from excam.provenance import read_json
from excam.tables import write_frame
from scripts import run


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=Path, nargs="+", required=True, help="<dataset>/<split>.parquet")
    parser.add_argument("--sources", type=Path, nargs="+", required=True, help="<dataset>/manifest.json")
    parser.add_argument("--licences", type=json.loads, required=True, help="of the loaders, by dataset")
    parser.add_argument("--ledger", type=Path, required=True)
    parser.add_argument("--checks", type=Path, required=True)
    parser.add_argument("--page", type=Path, required=True)
    args = parser.parse_args(argv)

    manifests = {path.parent.name: read_json(path) for path in args.sources}
    lines = licences.ledger(page.read_parts(args.samples), manifests)
    write_frame(args.ledger, lines)
    page.write(licences.audit(lines, args.licences, manifests), args.checks, args.page)


if __name__ == "__main__":
    run(main)
