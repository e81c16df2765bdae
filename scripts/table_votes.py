"""One table of what annotators answered, beside the paper's."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from excam.annotation import campaign
from excam.core import tables
from excam.core.provenance import read_json, write_text
from excam.error_reports.evaluation import claims
from excam.excam40k.validation import human_answers
from excam.excam40k.validation.human_tables import TABLES, Given
from scripts import run, step

VERSION = 2
PAGE = {
    "result": "results/paper/{table}",
    "outputs": ["numbers", "page"],
    "target": "annotation",
    "category": "Human validation",
    "optional": ["printed"],
    "inputs": {
        "campaign": "results/annotation/campaign.json",
        "answers": "results/annotation/answers.parquet",
        "counts": "results/annotation/answers.counts.json",
        "printed": "printed_votes",
        "printed_claims": "paper/claims.csv",
    },
    "settings": {"seed": "seed"},
    "wildcards": {"table": ["table-3", "table-12", "table-13", "human-ratings", "human-agreement"]},
}


@step
def main(
    table: Annotated[str, TABLES],
    campaign_path: Path,
    answers_path: Annotated[Path, "answers.parquet"],
    counts_path: Annotated[Path, "answers.counts.json"],
    printed_claims_path: Annotated[Path, "paper/claims.csv"],
    seed: int,
    numbers_path: Path,
    page_path: Path,
    printed_paths: Annotated[Sequence[Path], "paper/<table>.csv, if the paper has this table"] = (),
) -> None:
    shown, answered, paper = TABLES[table], campaign.read(campaign_path), claims.read(printed_claims_path)
    items = human_answers.items(answered, tables.read_frame(answers_path))
    printed = [line for path in printed_paths for line in tables.read_lines(path)]
    tables.write_lines(numbers_path, shown.columns, shown.lines(Given(answered, items, printed, paper, seed)))
    write_text(page_path, shown.page(tables.read_lines(numbers_path), read_json(counts_path, "annotators"), paper))


if __name__ == "__main__":
    run(main)
