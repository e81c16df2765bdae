"""Write Figure 1: two wrong rows with their gold reports and those that ExCAM, trained on all datasets, writes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from excam.core import tables
from excam.core.provenance import write_text
from excam.error_reports.evaluation.cells import System
from excam.error_reports.record_files import read_samples
from excam.excam40k.publishing import example_reports
from scripts import run, step

VERSION = 1
PAGE = {
    "result": "results/paper/figure-1",
    "outputs": ["page"],
    "category": "Results",
    "target": "paper",
    "inputs": {"judgements": "judgements_of_excam_reports", "samples": "test_sets"},
}


@step
def main(
    judgements_paths: Annotated[Sequence[Path], "of every test set, by each system"],
    samples_paths: Annotated[Sequence[Path], "<dataset>/test.parquet"],
    page_path: Path,
) -> None:
    judged: defaultdict[str, dict[str, example_reports.Judgement]] = defaultdict(dict)
    for path in judgements_paths:
        judged[System.from_path(path).key] |= {row["id"]: row for row in tables.read_frame(path).to_dicts()}
    samples = [sample for path in samples_paths for sample in read_samples(path)]
    write_text(page_path, example_reports.page(samples, judged))


if __name__ == "__main__":
    run(main)
