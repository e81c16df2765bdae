"""Make the corrupted versions of original pairs of a benchmark with options."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from excam.core import provenance
from excam.error_reports import record_files
from excam.excam40k import datasets as benchmarks
from excam.excam40k.construction import hard
from scripts import run

VERSION = 3


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--module", help="file of a benchmark that is not in the package")
    parser.add_argument("--bases", type=Path, required=True)
    parser.add_argument("--samples", type=Path, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--wrong", choices=sorted(hard.CHOICES), default="matched", help="how a wrong option is chosen")
    parser.add_argument("--errors", type=Path, required=True)
    parser.add_argument("--counts", type=Path, required=True)
    args = parser.parse_args(argv)

    bases = {base.id: base for base in record_files.read_bases(args.bases)}
    mistake = benchmarks.load(args.dataset, args.module).MISTAKE
    samples = record_files.read_samples(args.samples)
    wrong, dropped = hard.hard_errors(samples, bases, args.seed, mistake, hard.CHOICES[args.wrong])
    record_files.write_samples(args.errors, wrong)
    provenance.write_json(args.counts, {"kept": len(wrong), "dropped": dict(dropped)})


if __name__ == "__main__":
    run(main)
