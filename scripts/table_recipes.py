"""Compare recipes that share a base model on the dev sets."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from excam.core import tables
from excam.core.provenance import read_json
from scripts import run

VERSION = 1
PAGE = {
    "result": "results/paper/recipes",
    "outputs": ["numbers"],
    "category": "Training",
    "inputs": {"cells": "variant_cells", "adapters": "variant_adapters"},
}
COLUMNS = (
    *("model", "rank", "alpha", "learning_rate", "epochs", "steps", "final_loss"),
    *("scaled_accuracy", "low", "high", "n", "failures", "tie_calibrated_accuracy", "cell"),
)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=Path, nargs="+", required=True)
    parser.add_argument("--adapters", type=Path, nargs="+", required=True, help="their manifests, in the same order")
    parser.add_argument("--numbers", type=Path, required=True)
    args = parser.parse_args(argv)

    lines = []
    for cell, manifest in zip(args.cells, args.adapters, strict=True):
        numbers, trained = (read_json(path) for path in (cell, manifest))
        accuracy = numbers["accuracy"]
        lines.append(
            {
                "model": trained["model"],
                **{key: trained["settings"][key] for key in ("rank", "alpha", "learning_rate", "epochs")},
                "steps": trained["steps"],
                "final_loss": round(trained["final_loss"], 4),
                "scaled_accuracy": round(accuracy["scaled"], 4),
                "low": round(accuracy["low"], 4),
                "high": round(accuracy["high"], 4),
                "n": numbers["n"],
                "failures": accuracy["failures"],
                "tie_calibrated_accuracy": numbers["correlation"]["score"]["tie_calibrated"],
                "cell": str(cell),
            }
        )
    tables.write_lines(args.numbers, COLUMNS, lines)


if __name__ == "__main__":
    run(main)
