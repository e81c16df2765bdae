"""Judgements of one system and their gold rows -> how alike explanations are to the gold ones, row by row."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import polars as pl

from excam import provenance, tables
from excam.evaluation import explanation_similarity, report_quality
from excam.inference import embeddings
from scripts import run


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judgements", type=Path, nargs="+", required=True)
    parser.add_argument("--samples", type=Path, nargs="+", required=True, help="the rows that were judged")
    parser.add_argument("--embedder", type=Path, required=True, help="models/<name>/manifest.json of the encoder")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--similarities", type=Path, required=True)
    args = parser.parse_args(argv)

    judgements = pl.concat([tables.read_frame(path) for path in args.judgements])
    samples = pl.concat([tables.read_frame(path).select(report_quality.NEEDED) for path in args.samples])
    encoder = embeddings.load(args.embedder.parent / "files")
    rows = explanation_similarity.compare(judgements, samples, partial(embeddings.embed, encoder), args.seed)
    detected = rows.filter(outcome="detected")
    cut = detected.filter((pl.col("cut") > 0) | (pl.col("gold_cut") > 0)).height
    provenance.say(
        f"{detected.height} of {rows.height} erroneous rows compared, {cut} of them cut after {encoder.limit} tokens"
    )
    tables.write_frame(args.similarities, rows)


if __name__ == "__main__":
    run(main)
