"""Write Table 2: rows per dataset, split and label, beside the paper's numbers."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from excam.core import tables
from excam.core.provenance import read_json, write_text
from excam.excam40k.publishing import counts
from scripts import run

VERSION = 4
PAGE = {
    "result": "results/paper/table-2",
    "outputs": ["numbers", "page"],
    "category": "Data",
    "target": "paper",
    "inputs": {"counts": "split_counts", "printed": "paper/table-2.csv", "printed_claims": "paper/claims.csv"},
    "more": {"claims": "results/paper/table-2-claims.csv"},
}


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--counts", type=Path, nargs="+", required=True, help="<dataset>/counts.json")
    parser.add_argument("--printed", type=Path, required=True, help="paper/table-2.csv")
    parser.add_argument("--printed-claims", type=Path, required=True, help="paper/claims.csv")
    parser.add_argument("--numbers", type=Path, required=True)
    parser.add_argument("--claims", type=Path, required=True)
    parser.add_argument("--page", type=Path, required=True)
    args = parser.parse_args(argv)

    own = [counts.dataset_counts(path.parent.name, read_json(path)) for path in args.counts]
    lines = counts.with_reported_numbers(own, tables.read_lines(args.printed))
    said = counts.claims(lines[-1], tables.read_lines(args.printed_claims))
    tables.write_lines(args.numbers, counts.COLUMNS, lines)
    tables.write_lines(args.claims, counts.CLAIM_COLUMNS, said)
    write_text(args.page, counts.page(lines, said))


if __name__ == "__main__":
    run(main)
