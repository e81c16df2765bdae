"""Open one model on its GPUs and let it answer; a problem is recorded and does not stop other trials."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from excam.error_reports import record_files
from excam.inference import gpus
from excam.preflight import asking, trial
from scripts import run
from scripts._asking import add_model_options, model_of, prepare_process

VERSION = 2


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--name", required=True, help="the model")
    add_model_options(parser)
    parser.add_argument("--weights", type=Path, required=True, help="manifest of the fetched base model")
    parser.add_argument("--samples", type=Path, nargs="*", default=[], help="original rows that a generator changes")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--trial", type=Path, required=True, help="how it ended, as JSON")
    args = parser.parse_args(argv)

    trial.apart(args.trial, args.name, list(sys.argv[1:] if argv is None else argv))
    model = model_of(args)
    prepare_process(model, args.name)
    gpus.take_gpus(model.gpus, args.name)  # the engine is this process's own, also where jobs share theirs
    originals = [sample for path in args.samples for sample in record_files.read_samples(path)]
    trial.report_result(asking.try_model(args.name, model, args.weights, args.seed, originals))


if __name__ == "__main__":
    run(main)
