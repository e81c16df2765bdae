"""Benchmark rows -> right instruction-output pairs; what was dropped is counted beside them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from excam import datasets, provenance, tables
from excam.construction import wrapping
from excam.datasets.base import stratified
from excam.exceptions import SourceInvalid
from scripts import run


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--source", type=Path, required=True, help="manifest of the fetched snapshot")
    parser.add_argument("--cap", type=int, required=True)
    parser.add_argument("--cap-stage", choices=["before", "after"], required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--bases", type=Path, required=True)
    parser.add_argument("--samples", type=Path, required=True)
    parser.add_argument("--counts", type=Path, required=True)
    args = parser.parse_args(argv)

    benchmark = datasets.load(args.dataset)
    reading = benchmark.read(args.source.parent / "files")
    if not reading.samples:
        dropped = dict(reading.dropped) or "nothing dropped"
        raise SourceInvalid(f"{args.dataset}: 0 base samples from {reading.rows} rows ({dropped}); check {args.source}")
    limit = args.cap if args.cap_stage == "before" else wrapping.bases_for(args.cap, reading.samples, benchmark.ERRORS)
    bases = stratified(reading.samples, limit, args.seed)
    right = wrapping.right_samples(bases, benchmark.ERRORS, benchmark.SOURCE.licence, args.seed)
    tables.write_bases(args.bases, bases)
    tables.write_samples(args.samples, right)
    counts = {
        "rows": reading.rows,
        "dropped": dict(reading.dropped),
        "base_samples": len(reading.samples),
        "drawn": len(bases),
        "pairs": len(right),
        "lacks": list(reading.lacks),
    }
    provenance.write_json(args.counts, counts)
    provenance.say(f"{args.dataset}: {reading.rows} rows, {len(bases)} of {len(reading.samples)} base samples drawn")


if __name__ == "__main__":
    run(main)
