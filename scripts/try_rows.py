"""Measure the longest rows of every benchmark in tokens of one model; keep some of them for a training step."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from excam.config import Recipe
from excam.core import tables
from excam.inference import backend_factory, chat
from excam.preflight import rows, trial
from scripts import run, step

VERSION = 1


@step
def main(
    name: Annotated[str, "the model"],
    model_json: Annotated[str, "the model's entry of config.yaml as JSON"],
    weights_path: Annotated[Path, "manifest of the fetched base model"],
    recipe: Annotated[str, "max_length and overflow of `training` as JSON"],
    rows_path: Annotated[Path, "rows to train on for a step"],
    trial_path: Annotated[Path, "how it ended, as JSON"],
    asked: Annotated[Sequence[str], "judges, and soft-errors for the generator"] = (),
    samples_paths: Annotated[Sequence[Path], "right pairs: <dataset>.parquet"] = (),
) -> None:
    tables.write_frame(rows_path, rows.no_training_rows())
    trial.apart(trial_path, name, sys.argv[1:])
    model, files = backend_factory.parse_model_spec(model_json, 0), weights_path.parent / "files"
    limits = rows.limits(
        Recipe.model_validate_json(recipe), chat.max_positions(files), model.context, model.sampling.max_tokens
    )
    result, drawn = rows.try_rows(files, {path.stem: path for path in samples_paths}, asked, limits)
    tables.write_frame(rows_path, drawn)
    trial.report_result(result)


if __name__ == "__main__":
    run(main)
