"""Open one model on its GPUs and let it answer; a problem is recorded and does not stop other trials."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from excam.error_reports import record_files
from excam.inference import gpus
from excam.preflight import asking, trial
from scripts import run, step
from scripts._asking import ModelOptions, model_of, prepare_process

VERSION = 2


@step
def main(
    options: ModelOptions,
    name: Annotated[str, "the model"],
    weights_path: Annotated[Path, "manifest of the fetched base model"],
    seed: int,
    trial_path: Annotated[Path, "how it ended, as JSON"],
    samples_paths: Annotated[Sequence[Path], "original rows that a generator changes"] = (),
) -> None:
    trial.apart(trial_path, name, sys.argv[1:])
    model = model_of(options)
    prepare_process(model, name)
    gpus.take_gpus(model.gpus, name)  # the engine is this process's own, also where jobs share theirs
    originals = [sample for path in samples_paths for sample in record_files.read_samples(path)]
    trial.report_result(asking.try_model(name, model, weights_path, seed, originals))


if __name__ == "__main__":
    run(main)
