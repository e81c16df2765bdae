"""Draw the tasks for annotators: soft errors of the test sets, with the explanations of two systems."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from excam.annotation import campaign
from excam.core import provenance, tables
from excam.error_reports import record_files
from excam.excam40k.validation import sampling
from scripts import run

VERSION = 2


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=Path, nargs="+", required=True, help="test rows of the datasets")
    parser.add_argument("--systems", nargs="*", default=[], help="<model>/<trained_on>/<judge>")
    parser.add_argument("--judgements", type=Path, nargs="*", default=[], help="of the first system, then the others")
    parser.add_argument("--wanted", required=True, help="[dataset, language, rows, annotators] of each cell, as JSON")
    parser.add_argument("--spans", choices=["paper", "strict"], required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--campaign", type=Path, required=True)
    parser.add_argument("--counts", type=Path, required=True)
    args = parser.parse_args(argv)

    samples = [sample for path in args.samples for sample in record_files.read_samples(path)]
    judged = tables.judgements_by_system(args.systems, args.judgements) if args.systems else {}
    systems = {name: sampling.explanations(frame.iter_rows(named=True)) for name, frame in judged.items()}
    wanted = [sampling.Wanted(*cell) for cell in json.loads(args.wanted)]
    drawn, counts = sampling.draw("ExCAM: human validation", samples, systems, wanted, args.spans, args.seed)
    campaign.write(args.campaign, drawn)
    provenance.write_json(args.counts, {"campaign": drawn.id, "tasks": len(drawn.tasks), "cells": counts})
    for cell in counts:
        if cell["drawn"] != cell["wanted"]:
            short = {name: cell[name] for name in ("rows", *sampling.REASONS) if cell[name]}
            found = ", ".join(f"{name} {number}" for name, number in short.items())
            what = f"{cell['dataset']}, {cell['language']}"
            provenance.say(f"{what}: {cell['drawn']} rows; {cell['wanted']} wanted; found {found or 'none'}")
    provenance.say(f"campaign {drawn.id}: {len(drawn.tasks)} tasks")


if __name__ == "__main__":
    run(main)
