"""Split original pairs and their corrupted versions of one dataset into train, dev and test."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from excam.core import provenance
from excam.core.exceptions import SourceInvalid
from excam.core.splits import SPLITS
from excam.error_reports import record_files
from excam.excam40k.construction import splits, word_balance
from scripts import run

VERSION = 5


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--right", type=Path, required=True)
    parser.add_argument("--wrong", type=Path, required=True)
    parser.add_argument("--too-long", type=Path, help="pairs to leave out: <dataset>.too-long.json")
    parser.add_argument("--cap", type=int, help="at most this many final rows")
    parser.add_argument(
        "--words", choices=["balanced", "as-made"], required=True, help="leave out pairs that words tell, or keep all"
    )
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--folder", type=Path, required=True)
    args = parser.parse_args(argv)

    too_long = provenance.read_json(args.too_long, "pairs")["pairs"] if args.too_long else []
    every, wrong = record_files.read_samples(args.right), record_files.read_samples(args.wrong)
    right = splits.without_pairs(every, too_long)
    pairs, dropped = splits.pair_up(right, splits.without_pairs(wrong, too_long))
    dropped += Counter({"too-long": len(every) - len(right)})
    if not pairs:
        raise SourceInvalid(
            f"{args.wrong}: 0 complete pairs ({dict(dropped)}); expected at least one wrong row of a pair"
        )
    telling, words = word_balance.telling_pairs(pairs, keep_all=args.words == "as-made")
    pairs = splits.without_pairs(pairs, telling)
    dropped += Counter({"words-tell": words.left_out})  # nothing if none is
    if not pairs:
        raise SourceInvalid(
            f"{args.wrong}: words alone tell every corrupted row from its original; expected pairs with the same words "
            "in right and wrong rows; write the errors in another way (docs/extending.md)"
        )
    capped = splits.cap(pairs, args.cap, args.seed) if args.cap else pairs
    parts = {split: [sample for sample in capped if sample.split == split] for split in SPLITS}
    cells = {split: splits.cells(samples) for split, samples in parts.items()}
    for split, samples in parts.items():
        record_files.write_samples(args.folder / f"{split}.parquet", samples)
    counts: dict[str, object] = {split: len(samples) for split, samples in parts.items()}
    counts |= {"pairs": len(pairs) // 2, "beyond_cap": len(pairs) - len(capped), "dropped": dict(dropped)}
    counts |= {"rows": len(capped), "cells": cells, "words": asdict(words)}
    counts |= {kind: sum(cell[f"wrong_{kind}"] for cell in cells.values()) for kind in ("hard", "soft")}
    provenance.write_json(args.folder / "counts.json", counts)
    provenance.say(f"{args.folder}: {words.as_line()}")


if __name__ == "__main__":
    run(main)
