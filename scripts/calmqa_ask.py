"""Ask one model every question; write a transcript of every request and answer."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path

from excam.calmqa import asks, source
from excam.core import provenance
from excam.inference import transcript
from scripts import run
from scripts._asking import Asker, add_asking_options

VERSION = 1


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--subject", required=True, help="the key in config.yaml")
    add_asking_options(parser)
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--transcript", type=Path, required=True)
    parser.add_argument("--manifest", type=Path, required=True, help="what it was made of, and what it cost")
    args = parser.parse_args(argv)

    started = time.monotonic()
    asker = Asker(args, args.subject, args.subject)
    questions = list(source.questions_of(args.questions).values())
    ask = asker.ask_with_progress(f"asking {args.subject}, questions", len(questions))
    _, entries = transcript.record(asks.answer, questions, ask)
    transcript.write(args.transcript, entries)
    provenance.write_manifest(
        args.manifest,
        inputs=[path for path in (args.questions, args.weights) if path],
        outputs=[args.transcript],
        settings=json.loads(args.model),
        seconds=time.monotonic() - started,
        **asker.facts(answer for entry in entries for one in entry.rounds for answer in one.answers),
        seed=args.seed,
    )


if __name__ == "__main__":
    run(main)
