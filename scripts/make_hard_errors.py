"""Make the corrupted versions of original pairs of a benchmark with options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from excam.core import provenance
from excam.error_reports import record_files
from excam.excam40k import datasets as benchmarks
from excam.excam40k.construction import hard
from scripts import run, step

VERSION = 3


@step
def main(
    dataset: str,
    bases_path: Path,
    samples_path: Path,
    seed: int,
    errors_path: Path,
    counts_path: Path,
    module: Annotated[str | None, "file of a benchmark that is not in the package"] = None,
    wrong: Annotated[str, sorted(hard.CHOICES), "how a wrong option is chosen"] = "matched",
) -> None:
    bases = {base.id: base for base in record_files.read_bases(bases_path)}
    mistake = benchmarks.load(dataset, module).MISTAKE
    samples = record_files.read_samples(samples_path)
    corrupted, dropped = hard.hard_errors(samples, bases, seed, mistake, hard.CHOICES[wrong])
    record_files.write_samples(errors_path, corrupted)
    provenance.write_json(counts_path, {"kept": len(corrupted), "dropped": dict(dropped)})


if __name__ == "__main__":
    run(main)
