"""Translate every item with one model; write the translations and a transcript of every request and answer."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import get_args

from excam.acre import items, translate, translations
from excam.core import provenance, tables
from excam.inference import transcript
from scripts import run
from scripts._asking import Asker, add_asking_options

VERSION = 2


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--name", required=True, help="the key of the model in config.yaml")
    add_asking_options(parser)
    parser.add_argument("--form", choices=get_args(translate.Form), required=True)
    parser.add_argument("--expressions", type=Path, required=True)
    parser.add_argument("--example", type=Path, help="one item that is not in the test set, for a one-shot prompt")
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument("--transcript", type=Path, required=True)
    parser.add_argument("--manifest", type=Path, required=True, help="what it was made of, and what it cost")
    args = parser.parse_args(argv)

    started = time.monotonic()
    asker = Asker(args, args.name, f"{args.name} translates")
    found = items.read(args.expressions)
    example = items.held_out(found, args.example) if args.example else None
    flow = partial(translate.translate, system=args.name, form=args.form, example=example)
    ask = asker.ask_with_progress(f"translating with {args.name}, items", len(found))
    rows, entries = transcript.record(flow, list(found.values()), ask)
    transcript.write(args.transcript, entries)
    tables.write_frame(args.rows, translations.to_frame(rows))
    provenance.write_manifest(
        args.manifest,
        inputs=[path for path in (args.expressions, args.example, args.weights) if path],
        outputs=[args.transcript, args.rows],
        settings=json.loads(args.model) | {"form": args.form},
        seconds=time.monotonic() - started,
        **asker.facts(answer for entry in entries for one in entry.rounds for answer in one.answers),
        seed=args.seed,
    )
    provenance.say(f"{args.name}: {len(rows)} translations in {time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    run(main)
