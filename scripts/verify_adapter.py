"""Check that an adapter is active in the engine that serves it, before anything is judged with it.

Then the checkpoints of its training, of which nothing more is to be made, are removed.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from excam.core import provenance
from excam.error_reports import adapter_check
from scripts import run
from scripts._asking import add_model_options, model_of, prepare_process

VERSION = 2


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--name", required=True, help="<model>/<trained_on>")
    add_model_options(parser)
    parser.add_argument("--weights", type=Path, required=True, help="manifest of the fetched base model")
    parser.add_argument("--adapter", type=Path, required=True, help="manifest of the adapter")
    parser.add_argument("--checkpoints", type=Path, required=True, help="of its training")
    parser.add_argument("--verified", type=Path, required=True)
    args = parser.parse_args(argv)

    model = model_of(args)
    prepare_process(model, args.name, args.weights, args.adapter)
    proof = adapter_check.verify(args.name, model, args.weights, args.adapter)
    inputs = {str(path): provenance.sha256(path) for path in (args.weights, args.adapter)}
    provenance.write_json(args.verified, {"backend": model.backend, "inputs": inputs, **asdict(proof)})
    shutil.rmtree(args.checkpoints, ignore_errors=True)
    provenance.say(
        f"{args.name}: at work: it moves {proof.moved:.3f} a token, {model.backend} is {proof.apart:.4f} from PEFT "
        f"({proof.answers} fixed answers, {proof.tokens} tokens)"
    )


if __name__ == "__main__":
    run(main)
