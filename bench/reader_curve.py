"""Whether a small model learns to read, by how many paragraphs it is trained on, beside the question overlap.

    python -m bench.reader_curve --rows results/reader/rows.parquet --weights results/models/smollm2-135m/files \\
        --to docs/results/reader_curve.csv

`snakemake ... --configfile experiments/reader.yaml -- reader` makes rows and weights, and trains with the settings that
are used here. A share of the train paragraphs is drawn by each seed; dev and test are those of the run. The area under
the curve (AUC) is of the test rows that are read, beside whole paragraphs, with the interval over paragraphs. Lines of
other programs are kept. On a card, seeds can run beside each other, each with its own `--to`.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import torch

from bench import reading
from excam.config import Recipe
from excam.core import tables
from excam.core.hash_order import digest
from excam.error_reports import reading_rows
from excam.stats.binary_gold import auroc
from excam.training import contrast

COLUMNS = ("set", "what", "share", "rows", "seed", "value", "low", "high", "n", "command", "commit_or_date")
COMMAND = "python -m bench.reader_curve"
RECIPE = Recipe(rank=8, alpha=16, learning_rate=4e-4, epochs=3, layout="cpu")


def line(
    what: str, share: float, rows: int, seed: int, scores: Sequence[float], test: Sequence[reading_rows.ReadingRow]
) -> dict[str, object]:
    """Return the AUC of scores of test rows, higher for right ones."""
    wrong, clusters = [not row.right for row in test], [row.paragraph for row in test]
    auc = auroc(wrong, scores, clusters)
    about = {"set": "XQuAD English", "what": what, "share": share, "rows": rows, "seed": seed, "n": len(test)}
    return {**about, **asdict(auc), "command": COMMAND, "commit_or_date": reading.commit()}


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument("--weights", type=Path, required=True)
    parser.add_argument("--shares", type=float, nargs="+", default=[0.25, 0.5, 1.0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--device", default="cpu", help="or cuda")
    parser.add_argument("--to", type=Path, required=True)
    args = parser.parse_args(argv)
    torch.set_default_device(args.device)
    read = [row for row in reading_rows.of_frame(tables.read_frame(args.rows)) if not row.unread]
    train, test = ([row for row in read if row.split == split] for split in ("train", "test"))
    kept = [old for old in tables.read_lines(args.to) if old["command"] != COMMAND] if args.to.exists() else []
    lines = [line("question overlap | AUC", 0.0, 0, 0, [row.overlap for row in test], test)]
    for share in args.shares:
        for seed in args.seeds:
            order = sorted({row.paragraph for row in train}, key=lambda paragraph: digest(seed, str(share), paragraph))
            chosen = set(order[: round(share * len(order))])
            own = [row for row in train if row.paragraph in chosen]
            with tempfile.TemporaryDirectory() as folder:
                _, lifts_of = contrast.train(args.weights, reading_rows.groups(own), RECIPE, seed, Path(folder))
            lines.append(
                line("SmolLM2-135M, trained | AUC", share, len(own), seed, lifts_of(reading_rows.groups(test)), test)
            )
            print(lines[-1], flush=True)
            tables.write_lines(args.to, COLUMNS, [*kept, *lines])


if __name__ == "__main__":
    main()
