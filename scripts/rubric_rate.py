"""Ask one model to rate every response; write a transcript of every request and answer."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path

from excam.core import provenance
from excam.inference import transcript
from excam.rubric import asks
from excam.rubric.manual import DIMENSIONS
from scripts import run
from scripts._asking import Asker, add_asking_options
from scripts._rubric import add_rubric_options, responses_of, rubric_of

VERSION = 1


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--name", required=True, help="the key of the model in config.yaml")
    add_asking_options(parser)
    add_rubric_options(parser)
    parser.add_argument("--ask", choices=("text", "choose"), required=True)
    parser.add_argument("--transcript", type=Path, required=True)
    parser.add_argument("--manifest", type=Path, required=True, help="what it was made of, and what it cost")
    args = parser.parse_args(argv)

    started = time.monotonic()
    asker = Asker(args, args.name, f"{args.name} rates")
    known, rubric = responses_of(args), rubric_of(args)
    requests = len(known) * (len(DIMENSIONS) if args.ask == "choose" else 1)
    ask = asker.ask_with_progress(f"rating by {args.name}, requests", requests)
    _, entries = transcript.record(asks.rater(args.ask, rubric, args.name), known, ask)
    transcript.write(args.transcript, entries)
    provenance.write_manifest(
        args.manifest,
        inputs=[path for path in (*args.responses, args.weights) if path],
        outputs=[args.transcript],
        settings=json.loads(args.model),
        seconds=time.monotonic() - started,
        **asker.facts(answer for entry in entries for one in entry.rounds for answer in one.answers),
        rubric=rubric.signature,
        rubric_hash=rubric.hash,
        seed=args.seed,
    )
    provenance.say(f"{args.name}: {len(known)} responses rated in {time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    run(main)
