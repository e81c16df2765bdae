"""Ask one model with one judge about one file of rows; write a transcript of every request and answer."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path

from excam.core import provenance
from excam.error_reports import record_files
from excam.inference import transcript
from scripts import run
from scripts._asking import Asker, add_asking_options
from scripts._judging import add_judging_options, judge_of

VERSION = 3


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--name", required=True, help="<model>/<trained_on>/<judge>, for progress lines")
    add_asking_options(parser)
    add_judging_options(parser)
    parser.add_argument("--transcript", type=Path, required=True)
    parser.add_argument("--manifest", type=Path, required=True, help="what it was made of, and what it cost")
    args = parser.parse_args(argv)

    started = time.monotonic()
    judge = judge_of(args)
    asker = Asker(args, args.name.split("/")[0], args.name)
    samples = record_files.read_samples(args.samples)
    ask = asker.ask_with_progress(f"judging {args.name}, rows", len(samples))
    _, entries = transcript.record(judge, samples, ask)
    transcript.write(args.transcript, entries)
    provenance.write_manifest(
        args.manifest,
        inputs=[path for path in (args.samples, args.evidence, args.weights, args.adapter) if path],
        outputs=[args.transcript],
        settings=json.loads(args.model),
        seconds=time.monotonic() - started,
        **asker.facts(answer for entry in entries for one in entry.rounds for answer in one.answers),
        seed=args.seed,
    )
    provenance.say(f"{args.name}: {len(samples)} rows judged in {time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    run(main)
