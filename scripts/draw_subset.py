"""Draw the balanced subset of one dataset's test set, for judges that are paid per row."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from excam.core import provenance
from excam.error_reports import record_files
from excam.excam40k.construction import splits
from scripts import run, step

VERSION = 1


@step
def main(samples_path: Annotated[Path, "<dataset>/test.parquet"], rows: int, seed: int, subset_path: Path) -> None:
    drawn = splits.balanced_subset(record_files.read_samples(samples_path), rows, seed)
    record_files.write_samples(subset_path, drawn)
    provenance.say(f"{subset_path}: {len(drawn)} rows; at most {rows} were asked for")


if __name__ == "__main__":
    run(main)
