"""Write the licence ledger: licence and source of every row, and which rows may be combined."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from excam.core.provenance import read_json
from excam.core.tables import write_frame
from excam.excam40k.audits import licences, page
from scripts import run

VERSION = 3
PAGE = {
    "result": "results/audits/licences",
    "outputs": ["numbers", "page"],
    "category": "Audits",
    "inputs": {"samples": "all_splits", "sources": "source_manifests"},
    "settings": {"licences": "licences"},
    "more": {"ledger": "results/audits/licences.parquet"},
}


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=Path, nargs="+", required=True, help="<dataset>/<split>.parquet")
    parser.add_argument("--sources", type=Path, nargs="+", required=True, help="<dataset>/manifest.json")
    parser.add_argument(
        "--licences", type=json.loads, required=True, help="of the loaders: licence, terms, module by dataset"
    )
    parser.add_argument("--ledger", type=Path, required=True)
    parser.add_argument("--numbers", type=Path, required=True)
    parser.add_argument("--page", type=Path, required=True)
    args = parser.parse_args(argv)

    manifests = {path.parent.name: read_json(path) for path in args.sources}
    lines = licences.ledger(page.read_parts(args.samples), manifests)
    write_frame(args.ledger, lines)
    expected = {dataset: licences.Licensed(*one) for dataset, one in args.licences.items()}
    page.write(licences.audit(lines, expected, manifests), args.numbers, args.page)


if __name__ == "__main__":
    run(main)
