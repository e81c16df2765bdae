"""Open one model on its own cards and let it answer; what goes wrong is written down and ends no other trial."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from excam import gpus
from excam.inference import opening
from excam.preflight import asking, trial
from scripts import run, settle


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--name", required=True, help="the model")
    parser.add_argument("--model", required=True, help="the model's entry of config.yaml as JSON")
    parser.add_argument("--gpus", type=int, required=True, help="how many GPUs the model may use")
    parser.add_argument("--pace", default="{}", help="how its engine is tuned, as JSON; decides no answer")
    parser.add_argument("--weights", type=Path, required=True, help="manifest of the fetched base model")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--trial", type=Path, required=True, help="how it ended, as JSON")
    args = parser.parse_args(argv)

    trial.apart(args.trial, args.name, list(sys.argv[1:] if argv is None else argv))
    model = opening.described(args.model, args.gpus, args.pace)
    settle(model, args.name)
    gpus.take(model.gpus, args.name)  # the engine is this process's own, also where jobs share theirs
    trial.told(asking.tried(args.name, model, args.weights, args.seed))


if __name__ == "__main__":
    run(main)
