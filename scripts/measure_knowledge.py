"""Measure what a base model knows, fact by fact: how much likelier the right answer is than each wrong one."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path

from excam.core import provenance, tables
from excam.error_reports import record_files
from excam.excam40k import knowledge
from excam.inference import transcript
from scripts import run
from scripts._asking import Asker, add_asking_options

VERSION = 2


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--name", required=True, help="the model's, for progress lines")
    add_asking_options(parser)
    parser.add_argument("--bases", type=Path, nargs="+", required=True, help="<dataset>.bases.jsonl")
    parser.add_argument("--samples", type=Path, nargs="+", required=True, help="the test sets: their facts are asked")
    parser.add_argument("--transcript", type=Path, required=True)
    parser.add_argument("--knowledge", type=Path, required=True)
    parser.add_argument("--manifest", type=Path, required=True)
    args = parser.parse_args(argv)

    started = time.monotonic()
    asker = Asker(args, args.name, f"knowledge of {args.name}")
    judged = {sample.base for path in args.samples for sample in record_files.read_samples(path)}
    bases = [base for path in args.bases for base in record_files.read_bases(path) if base.id in judged and base.wrong]
    ask = asker.ask_with_progress(f"asking {args.name}, facts", len(bases))
    preferences, entries = transcript.record(knowledge.preference, bases, ask)
    transcript.write(args.transcript, entries)
    tables.write_frame(args.knowledge, knowledge.table(bases, preferences))
    provenance.write_manifest(
        args.manifest,
        inputs=[*args.bases, *args.samples, *filter(None, [args.weights])],
        outputs=[args.transcript, args.knowledge],
        settings=json.loads(args.model),
        seconds=time.monotonic() - started,
        **asker.facts(answer for entry in entries for one in entry.rounds for answer in one.answers),
    )


if __name__ == "__main__":
    run(main)
