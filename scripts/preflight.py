"""Compare the trials and the local state with the needs of the experiment; count the work to come.

Trials that ended with a problem are removed once they are reported: the next preflight makes them again.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from excam.config import Experiment
from excam.core import provenance
from excam.preflight import look, page, work
from scripts import run

VERSION = 1


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--experiment", required=True, help="config.yaml with its overlays, as JSON")
    parser.add_argument(
        "--sources", type=Path, nargs="*", required=True, help="manifests of the benchmarks that are there"
    )
    parser.add_argument("--samples", type=Path, nargs="*", required=True, help="<dataset>.parquet")
    parser.add_argument("--weights", type=Path, nargs="*", required=True, help="manifests of the models that are there")
    parser.add_argument("--models", type=Path, nargs="*", required=True, help="trials of try_model")
    parser.add_argument("--rows", type=Path, nargs="*", required=True, help="trials of try_rows")
    parser.add_argument("--training", type=Path, nargs="*", required=True, help="trials of try_training")
    parser.add_argument("--results", type=Path, required=True, help="folder whose disk is looked at")
    parser.add_argument("--numbers", type=Path, required=True)
    parser.add_argument("--page", type=Path, required=True)
    args = parser.parse_args(argv)

    experiment = Experiment.model_validate_json(args.experiment)
    samples = {path.stem: path for path in args.samples}
    found = look.Found(
        sources={path.parent.name: path for path in args.sources},
        samples=samples,
        weights={path.parent.name: path for path in args.weights},
        asked=look.trials(args.models),
        rows=look.trials(args.rows),
        trained=look.trials(args.training),
    )
    made = look.checks(experiment, found, args.results)
    rows = work.rows_of(experiment, samples)
    tasks, bills = work.planned_tasks(experiment, rows, found.asked, found.trained), work.bills(experiment, rows)
    looked = datetime.now(UTC).isoformat(timespec="minutes")
    numbers = {"checks": made, "work": tasks, "servers": bills}
    tried = {"asked": found.asked, "rows": found.rows, "trained": found.trained}
    provenance.write_json(
        args.numbers,
        {
            "looked": looked,
            **{name: [asdict(one) for one in part] for name, part in numbers.items()},
            "trials": {name: [asdict(one) for one in part.values()] for name, part in tried.items()},
        },
    )
    provenance.write_text(args.page, page.page_text(made, tasks, bills, looked))
    look.forget(args.models + args.rows + args.training)
    for one in made:
        if one.verdict == "wrong":
            provenance.say(page.check_line(one))
    provenance.say(f"preflight: {page.verdict(made)}: {args.page}")


if __name__ == "__main__":
    run(main)
