"""Parse a transcript into answers. A new parser needs no model."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from excam.core import tables
from excam.core.provenance import say
from excam.inference import transcript
from excam.macaron import answers, asks, derive
from scripts import run

VERSION = 2


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--name", required=True, help="the model")
    parser.add_argument("--mode", choices=asks.MODES, required=True)
    parser.add_argument("--instances", type=Path, required=True)
    parser.add_argument("--transcript", type=Path, required=True)
    parser.add_argument("--answers", type=Path, required=True)
    args = parser.parse_args(argv)

    instances = derive.read(args.instances)
    given = transcript.replay(partial(asks.answer, mode=args.mode), instances, args.transcript)
    tables.write_frame(args.answers, answers.to_frame(instances, args.name, args.mode, given))
    say(f"{args.name}/{args.mode}: {len(given)} answers; failures: {answers.failure_counts(given)}")


if __name__ == "__main__":
    run(main)
