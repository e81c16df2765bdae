"""Draw the loss curves of a base model's adapters from the numbers it writes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import polars as pl

from excam.core import paths, tables
from excam.pages import plotting
from scripts import run, step

VERSION = 5
PAGE = {
    "result": "results/paper/losses/{model}",
    "outputs": ["numbers", "pictures"],
    "category": "Training",
    "target": "all",
    "inputs": {"losses": "losses"},
}
SCHEMA = {"trained_on": pl.String, "step": pl.Int64, "loss": pl.Float64, "smooth": pl.Float64}
LOSSES = {"step": pl.Int64, "loss": pl.Float64, "grad_norm": pl.Float64, "learning_rate": pl.Float64}
SHARE = 20  # a running mean reaches a twentieth of the run to either side: single steps of eight rows are mostly noise


@step
def main(
    model: str,
    losses_paths: Annotated[Sequence[Path], "adapters/<model>/<trained_on>/loss.csv"],
    numbers_path: Path,
    pictures_paths: Sequence[Path],
) -> None:
    losses = [(paths.axes(path)["trained_on"], tables.read_csv(path, LOSSES)) for path in losses_paths]
    window = 1 + 2 * (max(table.height for _, table in losses) // SHARE)
    smooth = pl.col("loss").rolling_mean(window, min_samples=1, center=True)
    curves = [
        table.select(pl.lit(name).alias("trained_on"), "step", "loss", smooth.alias("smooth")) for name, table in losses
    ]
    tables.write_csv(numbers_path, pl.concat(curves))
    drawn = tables.read_csv(numbers_path, SCHEMA)
    figure = plotting.curves(
        {
            name: part.select("step", "smooth").rows()
            for (name,), part in drawn.group_by("trained_on", maintain_order=True)
        },
        title=f"Training loss, {model}",
        across="optimizer step",
        up="loss per report token (nats)",
        note=f"Running mean over {window} steps. One line per adapter: what it was trained on.",
    )
    plotting.save(figure, pictures_paths)


if __name__ == "__main__":
    run(main)
