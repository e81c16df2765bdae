"""Split original pairs and their corrupted versions of one dataset into train, dev and test."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

from excam.core import provenance
from excam.core.exceptions import SourceInvalid
from excam.core.splits import SPLITS
from excam.error_reports import record_files
from excam.excam40k.construction import splits, word_balance
from scripts import run, step

VERSION = 5


@step
def main(
    right_path: Path,
    wrong_path: Path,
    words: Annotated[Literal["balanced", "as-made"], "leave out pairs that words tell, or keep all"],
    seed: int,
    folder_path: Path,
    too_long_path: Annotated[Path | None, "pairs to leave out: <dataset>.too-long.json"] = None,
    cap: Annotated[int | None, "at most this many final rows"] = None,
) -> None:
    too_long = provenance.read_json(too_long_path, "pairs")["pairs"] if too_long_path else []
    originals, wrong = record_files.read_samples(right_path), record_files.read_samples(wrong_path)
    right = splits.without_pairs(originals, too_long)
    pairs, dropped = splits.pair_up(right, splits.without_pairs(wrong, too_long))
    dropped += Counter({"too-long": len(originals) - len(right)})
    if not pairs:
        raise SourceInvalid(
            f"{wrong_path}: 0 complete pairs ({dict(dropped)}); expected at least one wrong row of a pair"
        )
    telling, balance = word_balance.telling_pairs(pairs, keep_all=words == "as-made")
    pairs = splits.without_pairs(pairs, telling)
    dropped += Counter({"words-tell": balance.left_out})  # nothing if none is
    if not pairs:
        raise SourceInvalid(
            f"{wrong_path}: words alone tell every corrupted row from its original; expected pairs with the same words "
            "in right and wrong rows; write the errors in another way (docs/extending.md)"
        )
    capped = splits.cap(pairs, cap, seed) if cap else pairs
    parts = {split: [sample for sample in capped if sample.split == split] for split in SPLITS}
    cells = {split: splits.cells(samples) for split, samples in parts.items()}
    for split, samples in parts.items():
        record_files.write_samples(folder_path / f"{split}.parquet", samples)
    counts: dict[str, object] = {split: len(samples) for split, samples in parts.items()}
    counts |= {"pairs": len(pairs) // 2, "beyond_cap": len(pairs) - len(capped), "dropped": dict(dropped)}
    counts |= {"rows": len(capped), "cells": cells, "words": asdict(balance)}
    counts |= {kind: sum(cell[f"wrong_{kind}"] for cell in cells.values()) for kind in ("hard", "soft")}
    provenance.write_json(folder_path / "counts.json", counts)
    provenance.say(f"{folder_path}: {balance.as_line()}")


if __name__ == "__main__":
    run(main)
