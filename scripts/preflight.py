"""Look at what is here before a long run."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Literal

from excam.config import Experiment
from excam.core import provenance
from excam.core.exceptions import InputInvalid
from excam.preflight import page, work
from excam.preflight.checks import checks
from scripts import step


@step(
    version=1,
    settings={"settings": "preflight_needs"},
    outputs={"needs": "results/preflight/needs.json"},
)
def write_needs(
    settings_json: Annotated[str, "the configuration, and what its benchmarks and models are fetched from"],
    needs_path: Path,
) -> None:
    """Write what `preflight` compares with: its own command stays short, which is printed where it fails."""
    provenance.write_text(needs_path, settings_json)


@step(version=5)
def preflight(
    needs_path: Path,
    results_path: Annotated[Path, "folder that a run writes into"],
    page_path: Path,
    jobs: Annotated[Literal["here", "cluster"], "where they run"] = "here",
) -> None:
    """Write a page of what is here beside what the experiment needs, and of the work; fail if anything is wrong."""
    needs = provenance.read_json(needs_path, "experiment", "sources", "weights")
    experiment = Experiment.model_validate(needs["experiment"])
    made = checks(
        experiment, needs["sources"], needs["weights"], results_path, os.environ, is_cluster=jobs == "cluster"
    )
    provenance.write_text(page_path, page.page_text(made, work.tasks(experiment, results_path)))
    for check in made:
        if check.verdict != "fine":
            provenance.say(page.check_line(check))
    summary = f"{page.verdict(made)}: {page_path}"
    if any(check.verdict == "wrong" for check in made):
        raise InputInvalid(summary)
    provenance.say(f"preflight: {summary}")
