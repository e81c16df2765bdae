"""Judge translations as ACRE with one model, in every variant of the ablation; keep every request and answer."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path

from excam.acre import asks, judgements, translations
from excam.acre.quality import COMBINATIONS
from excam.core import provenance, tables
from excam.inference import transcript
from scripts import run
from scripts._asking import Asker, add_asking_options

VERSION = 2


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--name", required=True, help="the key of the model in config.yaml")
    add_asking_options(parser)
    parser.add_argument("--variants", choices=asks.VARIANTS, nargs="+", required=True)
    parser.add_argument("--by", choices=asks.MODES, required=True)
    parser.add_argument("--quality", choices=list(COMBINATIONS), required=True)
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument("--judged", type=Path, required=True)
    parser.add_argument("--transcript", type=Path, required=True)
    parser.add_argument("--manifest", type=Path, required=True, help="what it was made of, and what it cost")
    args = parser.parse_args(argv)

    started = time.monotonic()
    asker = Asker(args, args.name, f"{args.name} judges translations")
    tasks = asks.tasks(translations.from_frame(args.rows), args.variants, args.by, args.quality)
    ask = asker.ask_with_progress(f"judging translations with {args.name}, requests at most", 3 * len(tasks))
    given, entries = transcript.record(asks.flow, tasks, ask)
    transcript.write(args.transcript, entries)
    tables.write_frame(args.judged, judgements.to_frame(args.name, tasks, given))
    provenance.write_manifest(
        args.manifest,
        inputs=[path for path in (args.rows, args.weights) if path],
        outputs=[args.transcript, args.judged],
        settings=json.loads(args.model) | {"by": args.by, "quality": args.quality, "prompts": "ours"},
        seconds=time.monotonic() - started,
        **asker.facts(answer for entry in entries for one in entry.rounds for answer in one.answers),
        seed=args.seed,
    )
    failures = judgements.failure_counts(given)
    provenance.say(f"{args.name}: {len(given)} verdicts in {time.monotonic() - started:.0f} s; failures: {failures}")


if __name__ == "__main__":
    run(main)
