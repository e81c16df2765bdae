"""Check pairs, and the balance of splits, labels, templates, positions, strata, answers and severities."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from excam.core import tables
from excam.core.provenance import read_json
from excam.error_reports import record_files
from excam.excam40k.audits import balance, page
from excam.excam40k.construction import templates
from scripts import run

VERSION = 3
PAGE = {
    "result": "results/audits/balance",
    "outputs": ["numbers", "page"],
    "category": "Audits",
    "inputs": {"samples": "all_splits", "bases": "bases", "counts": "split_counts", "soft": "soft_counts"},
    "settings": {"shares": "shares"},
    "more": {"uses": "results/audits/balance-templates.csv"},
}


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=Path, nargs="+", required=True, help="<dataset>/<split>.parquet")
    parser.add_argument("--bases", type=Path, nargs="+", required=True, help="<dataset>.bases.jsonl")
    parser.add_argument("--counts", type=Path, nargs="+", required=True, help="<dataset>/counts.json of excam40k")
    parser.add_argument("--soft", type=Path, nargs="*", default=[], help="<dataset>.counts.json of soft errors")
    parser.add_argument("--shares", type=json.loads, required=True, help="shares of the splits, as JSON")
    parser.add_argument("--uses", type=Path, required=True, help="uses of templates per slot")
    parser.add_argument("--numbers", type=Path, required=True)
    parser.add_argument("--page", type=Path, required=True)
    args = parser.parse_args(argv)

    rows = page.read_parts(args.samples)
    bases = [base for path in args.bases for base in record_files.read_bases(path)]
    asked = [
        (base.id, base.label, "\n".join((base.role, base.context, base.question)), "\n".join(sorted(base.options)))
        for base in bases
    ]
    audit = balance.audit(
        rows,
        pl.DataFrame(asked, schema=dict.fromkeys(balance.BASES, pl.String), orient="row"),
        {path.parent.name: balance.pairs_lost(read_json(path)) for path in args.counts},
        args.shares,
        {path.name.removesuffix(".counts.json"): read_json(path, "severity", "generators") for path in args.soft},
        templates.alike(),
        templates.lint(),
    )
    tables.write_csv(args.uses, balance.template_uses(rows))
    page.write(audit, args.numbers, args.page)


if __name__ == "__main__":
    run(main)
