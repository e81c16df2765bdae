"""Ask the model of one stage about everything that stage judges; write a transcript."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path

from excam.calmqa import asks, stages
from excam.core import provenance
from excam.inference import transcript
from scripts import run
from scripts._asking import Asker, add_asking_options
from scripts._calmqa import add_stage_options, items

VERSION = 2


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--step", choices=list(stages.FLOWS), required=True)
    parser.add_argument("--name", required=True, help="the model's key in config.yaml")
    parser.add_argument("--verdicts", choices=["binary", "trinary"], default="binary")
    add_stage_options(parser)
    add_asking_options(parser)
    parser.add_argument("--transcript", type=Path, required=True)
    parser.add_argument("--manifest", type=Path, required=True, help="what it was made of, and what it cost")
    args = parser.parse_args(argv)

    started = time.monotonic()
    asker = Asker(args, args.name, f"{args.name}/{args.step}")
    found = items(args, args.step)
    flow = asks.verify_trinary if args.step == "verdicts" and args.verdicts == "trinary" else stages.FLOWS[args.step]
    ask = asker.ask_with_progress(f"{args.step} by {args.name}, requests", len(found))
    _, entries = transcript.record(flow, found, ask)
    transcript.write(args.transcript, entries)
    given = (args.questions, args.answers, args.translations, args.claims, args.evidence, args.weights)
    provenance.write_manifest(
        args.manifest,
        inputs=[path for path in given if path],
        outputs=[args.transcript],
        settings=json.loads(args.model),
        seconds=time.monotonic() - started,
        **asker.facts(answer for entry in entries for one in entry.rounds for answer in one.answers),
        seed=args.seed,
    )


if __name__ == "__main__":
    run(main)
