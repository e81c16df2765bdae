"""Loss curves of a base model's adapters, drawn from the numbers it writes."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from excam import plotting, tables
from scripts import run

SCHEMA = {"trained_on": pl.String, "step": pl.Int64, "loss": pl.Float64, "smooth": pl.Float64}
WINDOW = 20  # steps of the running mean: single steps of eight rows are mostly noise


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True)
    parser.add_argument("--losses", type=Path, nargs="+", required=True, help="adapters/<model>/<trained_on>/loss.csv")
    parser.add_argument("--numbers", type=Path, required=True)
    parser.add_argument("--pictures", type=Path, nargs="+", required=True)
    args = parser.parse_args(argv)

    smooth = pl.col("loss").rolling_mean(WINDOW, min_samples=1)
    curves = [
        pl.read_csv(path).select(pl.lit(path.parts[-2]).alias("trained_on"), "step", "loss", smooth.alias("smooth"))
        for path in args.losses
    ]
    tables.write_csv(args.numbers, pl.concat(curves))
    drawn = tables.read_csv(args.numbers, SCHEMA)
    figure = plotting.curves(
        {
            name: part.select("step", "smooth").rows()
            for (name,), part in drawn.group_by("trained_on", maintain_order=True)
        },
        title=f"Training loss, {args.model}",
        across="optimizer step",
        up="loss per report token (nats)",
        note=f"Mean of the last {WINDOW} steps. One line per adapter: what it was trained on.",
    )
    plotting.save(figure, args.pictures)


if __name__ == "__main__":
    run(main)
