"""Compare the trials and the local state with the needs of the experiment; count the work to come.

Trials that ended with a problem are removed once they are reported: the next preflight makes them again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

from excam.config import Experiment
from excam.core import provenance
from excam.preflight import look, page, work
from scripts import run, step

VERSION = 1


@step
def main(
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
    rows = work.rows_of(experiment, samples)
    tasks, bills = work.planned_tasks(experiment, rows, existing.asked, existing.trained), work.bills(experiment, rows)
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


if __name__ == "__main__":
    run(main)
