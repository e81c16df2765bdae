"""Check pairs, and the balance of splits, labels, templates, positions, strata, answers and severities."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import polars as pl

from excam.core import tables
from excam.core.provenance import read_json
from excam.error_reports import record_files
from excam.excam40k.audits import balance, page
from excam.excam40k.construction import templates
from scripts import run, step

VERSION = 3
PAGE = {
    "result": "results/audits/balance",
    "outputs": ["numbers", "page"],
    "category": "Audits",
    "inputs": {"samples": "all_splits", "bases": "bases", "counts": "split_counts", "soft": "soft_counts"},
    "settings": {"shares": "shares"},
    "more": {"uses": "results/audits/balance-templates.csv"},
}


@step
def main(
    samples_paths: Annotated[Sequence[Path], "<dataset>/<split>.parquet"],
    bases_paths: Annotated[Sequence[Path], "<dataset>.bases.jsonl"],
    counts_paths: Annotated[Sequence[Path], "<dataset>/counts.json of excam40k"],
    shares: Annotated[dict[str, Any], json.loads, "shares of the splits, as JSON"],
    uses_path: Annotated[Path, "uses of templates per slot"],
    numbers_path: Path,
    page_path: Path,
    soft_paths: Annotated[Sequence[Path], "<dataset>.counts.json of soft errors"] = (),
) -> None:
    rows = page.read_parts(samples_paths)
    bases = [base for path in bases_paths for base in record_files.read_bases(path)]
    asked = [
        (base.id, base.label, "\n".join((base.role, base.context, base.question)), "\n".join(sorted(base.options)))
        for base in bases
    ]
    audit = balance.audit(
        rows,
        pl.DataFrame(asked, schema=dict.fromkeys(balance.BASES, pl.String), orient="row"),
        {path.parent.name: balance.pairs_lost(read_json(path)) for path in counts_paths},
        shares,
        {path.name.removesuffix(".counts.json"): read_json(path, "severity", "generators") for path in soft_paths},
        templates.alike(),
        templates.lint(),
    )
    tables.write_csv(uses_path, balance.template_uses(rows))
    page.write(audit, numbers_path, page_path)


if __name__ == "__main__":
    run(main)
