"""Benchmark rows -> right instruction-output pairs; what was dropped is counted beside them."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from excam import datasets, provenance, tables
from excam.construction import duplicates, splits, wrapping
from excam.datasets.base import stratified
from scripts import run


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--source", type=Path, required=True, help="manifest of the fetched snapshot")
    parser.add_argument("--cap", type=int, required=True)
    parser.add_argument("--cap-stage", choices=["before", "after"], required=True)
    parser.add_argument("--allocation", choices=["equal", "proportional"], required=True)
    parser.add_argument("--shares", type=json.loads, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--bases", type=Path, required=True)
    parser.add_argument("--samples", type=Path, required=True)
    parser.add_argument("--counts", type=Path, required=True)
    args = parser.parse_args(argv)

    benchmark = datasets.load(args.dataset)
    reading = benchmark.read(args.source.parent / "files")
    limit = args.cap if args.cap_stage == "before" else wrapping.bases_for(args.cap, reading.task, benchmark.ERRORS)
    drawn = stratified(reading, limit, args.seed, args.allocation)
    bases = duplicates.in_one_group(drawn)
    where = splits.assign([(base.group, base.stratum) for base in bases], args.shares, args.seed)
    right = wrapping.right_samples(bases, benchmark.ERRORS, benchmark.SOURCE.licence, args.seed, where)
    tables.write_bases(args.bases, bases)
    tables.write_samples(args.samples, right)
    counts = {
        "rows": reading.rows,
        "dropped": dict(reading.dropped),
        "escaped": dict(reading.escaped),
        "base_samples": reading.frame.height,
        "drawn": len(bases),
        "groups": len({base.group for base in bases}),
        "groups_before_near_duplicates": len({base.group or base.id for base in drawn}),
        "pairs": len(right),
        "lacks": list(reading.lacks),
    }
    provenance.write_json(args.counts, counts)
    provenance.say(f"{args.dataset}: {reading.rows} rows, {len(bases)} of {reading.frame.height} base samples drawn")


if __name__ == "__main__":
    run(main)
