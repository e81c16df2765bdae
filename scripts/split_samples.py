"""Right pairs and their wrong twins -> train, dev and test of one dataset (spec 4, 11-13)."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from excam import provenance, tables
from excam.construction import splits
from excam.exceptions import SourceInvalid
from excam.records import SPLITS
from scripts import run


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--right", type=Path, required=True)
    parser.add_argument("--wrong", type=Path, required=True)
    parser.add_argument("--cap", type=int, help="at most this many final rows")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--folder", type=Path, required=True)
    args = parser.parse_args(argv)

    pairs, dropped = splits.pair_up(tables.read_samples(args.right), tables.read_samples(args.wrong))
    if not pairs:
        raise SourceInvalid(f"{args.wrong}: 0 complete pairs ({dict(dropped)}); expected at least one wrong twin")
    kept = splits.cap(pairs, args.cap, args.seed) if args.cap else pairs
    parts = {split: [sample for sample in kept if sample.split == split] for split in SPLITS}
    cells = {split: splits.cells(samples) for split, samples in parts.items()}
    for split, samples in parts.items():
        tables.write_samples(args.folder / f"{split}.parquet", samples)
    counts: dict[str, object] = {split: len(samples) for split, samples in parts.items()}
    counts |= {"pairs": len(pairs) // 2, "beyond_cap": len(pairs) - len(kept), "dropped": dict(dropped)}
    counts |= {"rows": len(kept), "cells": cells}
    counts |= {kind: sum(cell[f"wrong_{kind}"] for cell in cells.values()) for kind in ("hard", "soft")}
    provenance.write_json(args.folder / "counts.json", counts)


if __name__ == "__main__":
    run(main)
