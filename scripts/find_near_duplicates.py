"""Find near-duplicate questions within and across the benchmarks of the data set, and those that leak."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Annotated

from excam.core import provenance, tables
from excam.core.splits import Split
from excam.error_reports import record_files
from excam.excam40k.construction import duplicates
from scripts import run, step

VERSION = 1


@step
def main(
    bases_paths: Sequence[Path],
    samples_paths: Annotated[Sequence[Path], "<dataset>/<split>.parquet"],
    near_duplicates_path: Path,
) -> None:
    rows = (tables.read_frame(path).select("base", "split").iter_rows() for path in samples_paths)
    splits: dict[str, Split] = dict(chain.from_iterable(rows))
    bases = (base for path in bases_paths for base in record_files.read_bases(path))
    pairs = duplicates.near_duplicate_rows(bases, splits)
    tables.write_csv(near_duplicates_path, pairs)
    provenance.say(f"{near_duplicates_path}: {pairs.height} pairs, {pairs['leak'].sum()} of them would leak")


if __name__ == "__main__":
    run(main)
