"""Measure the longest rows of every benchmark in tokens of one model; keep some of them for a training step."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from excam.config import Recipe
from excam.core import tables
from excam.inference import backend_factory, chat
from excam.preflight import rows, trial
from scripts import run

VERSION = 1


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--name", required=True, help="the model")
    parser.add_argument("--model", required=True, help="the model's entry of config.yaml as JSON")
    parser.add_argument("--weights", type=Path, required=True, help="manifest of the fetched base model")
    parser.add_argument("--recipe", required=True, help="max_length and overflow of `training` as JSON")
    parser.add_argument("--asked", nargs="*", required=True, help="judges, and soft-errors for the generator")
    parser.add_argument("--samples", type=Path, nargs="*", required=True, help="right pairs: <dataset>.parquet")
    parser.add_argument("--rows", type=Path, required=True, help="rows to train on for a step")
    parser.add_argument("--trial", type=Path, required=True, help="how it ended, as JSON")
    args = parser.parse_args(argv)

    tables.write_frame(args.rows, rows.no_training_rows())
    trial.apart(args.trial, args.name, list(sys.argv[1:] if argv is None else argv))
    model, files = backend_factory.parse_model_spec(args.model, 0), args.weights.parent / "files"
    limits = rows.limits(
        Recipe.model_validate_json(args.recipe), chat.max_positions(files), model.context, model.sampling.max_tokens
    )
    found, drawn = rows.try_rows(files, {path.stem: path for path in args.samples}, args.asked, limits)
    tables.write_frame(args.rows, drawn)
    trial.report_result(found)


if __name__ == "__main__":
    run(main)
