"""Train a few steps of one model's recipe on its layout, the last on its longest rows; nothing is kept."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from excam.config import Recipe
from excam.core import provenance, tables
from excam.preflight import stepping, trial
from excam.training import devices, layout
from scripts import run

VERSION = 1


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--name", required=True, help="the model")
    parser.add_argument("--weights", type=Path, required=True, help="manifest of the fetched base model")
    parser.add_argument("--rows", type=Path, required=True, help="what try_rows drew")
    parser.add_argument("--recipe", required=True, help="the section `training` of config.yaml as JSON")
    parser.add_argument("--layout", required=True, help="a file of excam/training/layouts")
    parser.add_argument("--scratch", type=Path, required=True, help="folder that is removed at the end")
    parser.add_argument("--trial", type=Path, required=True, help="how it ended, as JSON")
    args = parser.parse_args(argv)

    words = list(sys.argv[1:] if argv is None else argv)
    trial.apart(args.trial, args.name, words, scratch=args.scratch)
    chosen = layout.load_layout(args.layout)
    devices.launch_processes(chosen, "scripts.try_training", words, args.name)
    if not devices.rank():
        provenance.refuse_changed(args.weights, args.weights.parent / "files")
    found = stepping.try_training(
        name=args.name,
        weights=args.weights,
        rows=tables.read_frame(args.rows),
        recipe=Recipe.model_validate({**json.loads(args.recipe), "layout": args.layout}),
        layout=chosen,
        scratch=args.scratch,
    )
    if found is not None:
        trial.report_result(found)


if __name__ == "__main__":
    run(main)
