"""Tables 1, 8, 9 and 10: rows of the test splits as examples."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from excam.core.provenance import write_text
from excam.error_reports.record_files import read_samples
from excam.excam40k.publishing import EXAMPLE_TABLES, examples
from scripts import run

VERSION = 1
PAGE = {
    "result": "results/paper/table-{number}",
    "outputs": ["page"],
    "category": "Data",
    "target": "paper",
    "optional": ["samples"],
    "inputs": {"samples": "example_samples"},
    "wildcards": {"number": ["1", "8", "9", "10"]},
}


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--number", type=int, choices=(1, *EXAMPLE_TABLES), required=True, help="of the paper's table")
    parser.add_argument("--samples", type=Path, nargs="*", default=[], help="<dataset>/test.parquet")
    parser.add_argument("--page", type=Path, required=True)
    args = parser.parse_args(argv)

    samples = [sample for path in args.samples for sample in read_samples(path)]
    write_text(args.page, examples.page(args.number, samples))


if __name__ == "__main__":
    run(main)
