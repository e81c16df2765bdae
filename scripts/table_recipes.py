"""Compare recipes that share a base model on the dev sets."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from excam.core import tables
from excam.core.provenance import read_json
from scripts import run, step

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


@step
def main(
    cells_paths: Sequence[Path],
    adapters_paths: Annotated[Sequence[Path], "their manifests, in the same order"],
    numbers_path: Path,
) -> None:
    lines = []
    for cell, manifest in zip(cells_paths, adapters_paths, strict=True):
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
    tables.write_lines(numbers_path, COLUMNS, lines)


if __name__ == "__main__":
    run(main)
