"""Write Table 2: rows per dataset, split and label, beside the paper's numbers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from excam.core import tables
from excam.core.provenance import read_json, write_text
from excam.excam40k.publishing import counts
from scripts import run, step

VERSION = 4
PAGE = {
    "result": "results/paper/table-2",
    "outputs": ["numbers", "page"],
    "category": "Data",
    "target": "paper",
    "inputs": {"counts": "split_counts", "printed": "paper/table-2.csv", "printed_claims": "paper/claims.csv"},
    "more": {"claims": "results/paper/table-2-claims.csv"},
}


@step
def main(
    counts_paths: Annotated[Sequence[Path], "<dataset>/counts.json"],
    printed_path: Annotated[Path, "paper/table-2.csv"],
    printed_claims_path: Annotated[Path, "paper/claims.csv"],
    numbers_path: Path,
    claims_path: Path,
    page_path: Path,
) -> None:
    own = [counts.dataset_counts(path.parent.name, read_json(path)) for path in counts_paths]
    lines = counts.with_reported_numbers(own, tables.read_lines(printed_path))
    said = counts.claims(lines[-1], tables.read_lines(printed_claims_path))
    tables.write_lines(numbers_path, counts.COLUMNS, lines)
    tables.write_lines(claims_path, counts.CLAIM_COLUMNS, said)
    write_text(page_path, counts.page(lines, said))


if __name__ == "__main__":
    run(main)
