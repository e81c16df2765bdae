"""Splits, labels, templates, positions, strata, answers and severities: what must be even, is it? (spec 5, 11-26)"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from excam import tables
from excam.audits import balance, page
from excam.construction import templates
from excam.provenance import read_json
from scripts import run


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=Path, nargs="+", required=True, help="<dataset>/<split>.parquet")
    parser.add_argument("--bases", type=Path, nargs="+", required=True, help="<dataset>.bases.jsonl")
    parser.add_argument("--counts", type=Path, nargs="+", required=True, help="<dataset>/counts.json of excam40k")
    parser.add_argument("--soft", type=Path, nargs="*", default=[], help="<dataset>.counts.json of soft errors")
    parser.add_argument("--shares", type=json.loads, required=True, help="shares of the splits, as JSON")
    parser.add_argument("--uses", type=Path, required=True, help="uses of templates per slot")
    parser.add_argument("--checks", type=Path, required=True)
    parser.add_argument("--page", type=Path, required=True)
    args = parser.parse_args(argv)

    rows = page.read_parts(args.samples)
    labels = [(row["id"], row["label"]) for path in args.bases for row in tables.jsonl(path)]
    audit = balance.audit(
        rows,
        pl.DataFrame(labels, schema={"base": pl.String, "label": pl.String}, orient="row"),
        {path.parent.name: balance.pairs_lost(read_json(path)) for path in args.counts},
        args.shares,
        {path.name.removesuffix(".counts.json"): read_json(path, "severity")["severity"] for path in args.soft},
        templates.alike(),
        templates.lint(),
    )
    tables.write_csv(args.uses, balance.uses(rows))
    page.write(audit, args.checks, args.page)


if __name__ == "__main__":
    run(main)
