"""Find the training pairs that are too long for a base model, before errors are made: they are left out for every one.

Training would drop them after a generator was paid for them, and each base model would learn from other rows.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from excam.config import Recipe
from excam.core import provenance
from excam.error_reports import record_files
from excam.error_reports.judges import report
from excam.inference import chat
from excam.training import tokens
from scripts import run, step

VERSION = 1


@step
def main(
    tokenizers_paths: Annotated[Sequence[Path], "a manifest for each base model"],
    recipes: Annotated[dict[str, Any], json.loads, "max_length and overflow of each, as JSON"],
    samples_path: Annotated[Path, "original pairs: <dataset>.parquet"],
    pairs_path: Path,
    counts_path: Path,
) -> None:
    learnt = [sample for sample in record_files.read_samples(samples_path) if sample.split == "train"]
    examples = list(report.training_examples(learnt))
    folders = [manifest.parent / "files" for manifest in tokenizers_paths]
    encoded = {folder: tokens.encode(chat.load_tokenizer(folder), examples) for folder in dict.fromkeys(folders)}
    too_long, counts = set[str](), {}
    for (name, recipe), folder in zip(recipes.items(), folders, strict=True):
        rows = encoded[folder]
        long_pairs, room = tokens.too_long_originals(rows, Recipe.model_validate(recipe), chat.max_positions(folder))
        too_long.update(long_pairs)
        counts[name] = {"too_long": len(long_pairs), "room": room, "longest": rows["input_ids"].list.len().max()}
    provenance.write_json(pairs_path, {"pairs": sorted(too_long)})
    provenance.write_json(counts_path, {"pairs": len(learnt), "too_long": len(too_long), "models": counts})
    said = ", ".join(f"{name}: {n['too_long']} over {n['room']} tokens" for name, n in counts.items())
    provenance.say(f"{pairs_path}: {len(too_long)} of {len(learnt)} training pairs are left out as too long ({said})")


if __name__ == "__main__":
    run(main)
