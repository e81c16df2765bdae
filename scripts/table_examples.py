"""Tables 1, 8, 9 and 10: rows of the test splits as examples."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from excam.core.provenance import write_text
from excam.error_reports.record_files import read_samples
from excam.excam40k.publishing import EXAMPLE_TABLES, examples
from scripts import run, step

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


@step
def main(
    number: Annotated[int, (1, *EXAMPLE_TABLES), "of the paper's table"],
    page_path: Path,
    samples_paths: Annotated[Sequence[Path], "<dataset>/test.parquet"] = (),
) -> None:
    samples = [sample for path in samples_paths for sample in read_samples(path)]
    write_text(page_path, examples.page(number, samples))


if __name__ == "__main__":
    run(main)
