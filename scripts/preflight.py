"""Try a model, its rows and its training before a long run."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

from excam.config import Experiment, Recipe
from excam.core import provenance, tables
from excam.error_reports import record_files
from excam.inference import backend_factory, chat, gpus
from excam.preflight import asking, look, page, rows, stepping, systems, trial, work
from excam.training import devices
from excam.training.layout import load_layout
from scripts import step
from scripts.asking import ModelOptions, model_of, prepare_process


@step(version=2)
def preflight(
    experiment_json: Annotated[str, "config.yaml with its overlays, as JSON"],
    results_path: Annotated[Path, "folder whose disk is looked at"],
    numbers_path: Path,
    page_path: Path,
    sources_paths: Annotated[Sequence[Path], "manifests of the benchmarks that are there"] = (),
    samples_paths: Annotated[Sequence[Path], "<dataset>.parquet"] = (),
    weights_paths: Annotated[Sequence[Path], "manifests of the models that are there"] = (),
    models_paths: Annotated[Sequence[Path], "trials of try_model"] = (),
    rows_paths: Annotated[Sequence[Path], "trials of try_rows"] = (),
    training_paths: Annotated[Sequence[Path], "trials of try_training"] = (),
) -> None:
    """Compare the trials and the local state with the needs of the experiment; count the work to come.

    Trials that ended with a problem are removed once they are reported: the next preflight makes them again.
    """
    experiment = Experiment.model_validate_json(experiment_json)
    samples = {path.stem: path for path in samples_paths}
    existing = look.Found(
        sources={path.parent.name: path for path in sources_paths},
        samples=samples,
        weights={path.parent.name: path for path in weights_paths},
        asked=look.trials(models_paths),
        rows=look.trials(rows_paths),
        trained=look.trials(training_paths),
    )
    made = look.checks(experiment, existing, results_path)
    rows, others = work.rows_of(experiment, samples), systems.requests(experiment)
    tasks = work.planned_tasks(experiment, rows, existing.asked, existing.trained, others)
    bills = work.bills(experiment, rows, others)
    looked = datetime.now(UTC).isoformat(timespec="minutes")
    numbers = {"checks": made, "work": tasks, "servers": bills}
    tried = {"asked": existing.asked, "rows": existing.rows, "trained": existing.trained}
    provenance.write_json(
        numbers_path,
        {
            "looked": looked,
            **{name: [asdict(record) for record in part] for name, part in numbers.items()},
            "trials": {name: [asdict(trial) for trial in part.values()] for name, part in tried.items()},
        },
    )
    provenance.write_text(page_path, page.page_text(made, tasks, bills, looked))
    look.forget([*models_paths, *rows_paths, *training_paths])
    for check in made:
        if check.verdict == "wrong":
            provenance.say(page.check_line(check))
    provenance.say(f"preflight: {page.verdict(made)}: {page_path}")


@step(version=2)
def try_model(
    options: ModelOptions,
    name: Annotated[str, "the model"],
    weights_path: Annotated[Path, "manifest of the fetched base model"],
    seed: int,
    trial_path: Annotated[Path, "how it ended, as JSON"],
    samples_paths: Annotated[Sequence[Path], "original rows that a generator changes"] = (),
) -> None:
    """Open one model on its GPUs and let it answer; a problem is recorded and does not stop other trials."""
    trial.apart(trial_path, name, sys.argv[1:])
    model = model_of(options)
    prepare_process(model, name)
    gpus.take_gpus(model.gpus, name)  # the engine is this process's own, also where jobs share theirs
    originals = [sample for path in samples_paths for sample in record_files.read_samples(path)]
    trial.report_result(asking.try_model(name, model, weights_path, seed, originals))


@step(version=1)
def try_rows(
    name: Annotated[str, "the model"],
    model_json: Annotated[str, "the model's entry of config.yaml as JSON"],
    weights_path: Annotated[Path, "manifest of the fetched base model"],
    recipe: Annotated[str, "max_length and overflow of `training` as JSON"],
    rows_path: Annotated[Path, "rows to train on for a step"],
    trial_path: Annotated[Path, "how it ended, as JSON"],
    asked: Annotated[Sequence[str], "judges, and soft-errors for the generator"] = (),
    samples_paths: Annotated[Sequence[Path], "right pairs: <dataset>.parquet"] = (),
) -> None:
    """Measure the longest rows of every benchmark in tokens of one model; keep some of them for a training step."""
    tables.write_frame(rows_path, rows.no_training_rows())
    trial.apart(trial_path, name, sys.argv[1:])
    model, files = backend_factory.parse_model_spec(model_json, 0), weights_path.parent / "files"
    limits = rows.limits(
        Recipe.model_validate_json(recipe), chat.max_positions(files), model.context, model.sampling.max_tokens
    )
    result, drawn = rows.try_rows(files, {path.stem: path for path in samples_paths}, asked, limits)
    tables.write_frame(rows_path, drawn)
    trial.report_result(result)


@step(version=1)
def try_training(
    name: Annotated[str, "the model"],
    weights_path: Annotated[Path, "manifest of the fetched base model"],
    rows_path: Annotated[Path, "what try_rows drew"],
    recipe: Annotated[str, "the section `training` of config.yaml as JSON"],
    layout: Annotated[str, "a file of excam/training/layouts"],
    scratch_path: Annotated[Path, "folder that is removed at the end"],
    trial_path: Annotated[Path, "how it ended, as JSON"],
) -> None:
    """Train a few steps of one model's recipe on its layout, the last on its longest rows; nothing is kept."""
    words = sys.argv[1:]
    trial.apart(trial_path, name, words, scratch=scratch_path)
    chosen = load_layout(layout)
    devices.launch_processes(chosen, "scripts", words, name)
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
