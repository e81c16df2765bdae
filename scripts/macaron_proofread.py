"""Let a model correct spelling and grammar of the English texts of scenarios; a guard refuses any other edit."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path

from excam.core import provenance, tables
from excam.inference import transcript
from excam.macaron import proofread, scenarios
from scripts import run
from scripts._asking import Asker, add_asking_options

VERSION = 2


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--name", required=True, help="the key of the model in config.yaml")
    add_asking_options(parser)
    parser.add_argument("--scenarios", type=Path, required=True)
    parser.add_argument("--proofread", type=Path, required=True, help="the scenarios with the accepted edits")
    parser.add_argument("--edits", type=Path, required=True, help="what was said about each field")
    parser.add_argument("--transcript", type=Path, required=True)
    parser.add_argument("--manifest", type=Path, required=True)
    args = parser.parse_args(argv)

    started = time.monotonic()
    asker = Asker(args, args.name, f"{args.name} proofreads")
    given = scenarios.read(args.scenarios)
    ask = asker.ask_with_progress("proofreading, fields", sum(len(list(proofread.fields_of(one))) for one in given))
    done, entries = transcript.record(proofread.proofread, given, ask)
    transcript.write(args.transcript, entries)
    tables.write_lines(args.edits, proofread.EDITS, proofread.edit_rows(done))
    tables.write_frame(args.proofread, scenarios.to_frame(one.scenario for one in done))
    counts = proofread.counts(done)
    provenance.write_manifest(
        args.manifest,
        inputs=[path for path in (args.scenarios, args.weights) if path],
        outputs=[args.transcript, args.edits, args.proofread],
        settings=json.loads(args.model),
        seconds=time.monotonic() - started,
        **asker.facts(answer for entry in entries for one in entry.rounds for answer in one.answers),
        fields=dict(counts),
    )
    provenance.say(f"macaron: fields proofread by {args.name}: {counts}")


if __name__ == "__main__":
    run(main)
