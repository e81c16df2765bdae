"""Train a few steps of one model's recipe on its layout, the last on its longest rows; nothing is kept."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

from excam.config import Recipe
from excam.core import provenance, tables
from excam.preflight import stepping, trial
from excam.training import devices
from excam.training.layout import load_layout
from scripts import run, step

VERSION = 1


@step
def main(
    name: Annotated[str, "the model"],
    weights_path: Annotated[Path, "manifest of the fetched base model"],
    rows_path: Annotated[Path, "what try_rows drew"],
    recipe: Annotated[str, "the section `training` of config.yaml as JSON"],
    layout: Annotated[str, "a file of excam/training/layouts"],
    scratch_path: Annotated[Path, "folder that is removed at the end"],
    trial_path: Annotated[Path, "how it ended, as JSON"],
) -> None:
    words = sys.argv[1:]
    trial.apart(trial_path, name, words, scratch=scratch_path)
    chosen = load_layout(layout)
    devices.launch_processes(chosen, "scripts.try_training", words, name)
    if not devices.rank():
        provenance.refuse_changed(weights_path, weights_path.parent / "files")
    result = stepping.try_training(
        name=name,
        weights=weights_path,
        rows=tables.read_frame(rows_path),
        recipe=Recipe.model_validate({**json.loads(recipe), "layout": layout}),
        layout=chosen,
        scratch=scratch_path,
    )
    if result is not None:
        trial.report_result(result)


if __name__ == "__main__":
    run(main)
