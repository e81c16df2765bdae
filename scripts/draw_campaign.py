"""Draw the tasks for annotators: soft errors of the test sets, with the explanations of two systems."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from excam.annotation import campaign
from excam.core import provenance, tables
from excam.error_reports import record_files
from excam.excam40k.validation import sampling
from scripts import run, step

VERSION = 2


@step
def main(
    samples_paths: Annotated[Sequence[Path], "test rows of the datasets"],
    wanted_json: Annotated[str, "[dataset, language, rows, annotators] of each cell, as JSON"],
    spans: Literal["paper", "strict"],
    seed: int,
    campaign_path: Path,
    counts_path: Path,
    systems: Annotated[Sequence[str], "<model>/<trained_on>/<judge>"] = (),
    judgements_paths: Annotated[Sequence[Path], "of the first system, then the others"] = (),
) -> None:
    samples = [sample for path in samples_paths for sample in record_files.read_samples(path)]
    judged = tables.judgements_by_system(systems, judgements_paths) if systems else {}
    explained = {name: sampling.explanations(frame.iter_rows(named=True)) for name, frame in judged.items()}
    wanted = [sampling.Wanted(*cell) for cell in json.loads(wanted_json)]
    drawn, counts = sampling.draw("ExCAM: human validation", samples, explained, wanted, spans, seed)
    campaign.write(campaign_path, drawn)
    provenance.write_json(counts_path, {"campaign": drawn.id, "tasks": len(drawn.tasks), "cells": counts})
    for cell in counts:
        if cell["drawn"] != cell["wanted"]:
            short = {name: cell[name] for name in ("rows", *sampling.REASONS) if cell[name]}
            listed = ", ".join(f"{name} {number}" for name, number in short.items())
            what = f"{cell['dataset']}, {cell['language']}"
            provenance.say(f"{what}: {cell['drawn']} rows; {cell['wanted']} wanted; found {listed or 'none'}")
    provenance.say(f"campaign {drawn.id}: {len(drawn.tasks)} tasks")


if __name__ == "__main__":
    run(main)
