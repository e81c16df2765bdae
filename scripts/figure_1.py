"""Write Figure 1: two wrong rows with their gold reports and those that ExCAM, trained on all datasets, writes."""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from excam.core import tables
from excam.core.provenance import write_text
from excam.error_reports.evaluation.cells import System
from excam.error_reports.record_files import read_samples
from excam.excam40k.publishing import example_reports
from scripts import run

VERSION = 1
PAGE = {
    "result": "results/paper/figure-1",
    "outputs": ["page"],
    "category": "Results",
    "target": "paper",
    "inputs": {"judgements": "judgements_of_excam_reports", "samples": "test_sets"},
}


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judgements", type=Path, nargs="+", required=True, help="of every test set, by each system")
    parser.add_argument("--samples", type=Path, nargs="+", required=True, help="<dataset>/test.parquet")
    parser.add_argument("--page", type=Path, required=True)
    args = parser.parse_args(argv)

    judged: defaultdict[str, dict[str, example_reports.Judgement]] = defaultdict(dict)
    for path in args.judgements:
        judged[System.from_path(path).key] |= {row["id"]: row for row in tables.read_frame(path).to_dicts()}
    samples = [sample for path in args.samples for sample in read_samples(path)]
    write_text(args.page, example_reports.page(samples, judged))


if __name__ == "__main__":
    run(main)
