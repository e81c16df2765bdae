"""Ask one model about every instance; write a transcript of every request and answer."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from excam.core import provenance
from excam.inference import transcript
from excam.macaron import asks, derive
from scripts import run
from scripts._asking import Asker, add_asking_options

VERSION = 1


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--name", required=True, help="<model>/<mode>: the key in config.yaml, and for progress lines")
    add_asking_options(parser)
    parser.add_argument("--mode", choices=asks.MODES, required=True)
    parser.add_argument("--instances", type=Path, required=True)
    parser.add_argument("--transcript", type=Path, required=True)
    parser.add_argument("--manifest", type=Path, required=True, help="what it was made of, and what it cost")
    args = parser.parse_args(argv)

    started = time.monotonic()
    asker = Asker(args, args.name.split("/")[0], args.name)
    instances = derive.read(args.instances)
    requests = len(instances) * (2 if args.mode == "choose" else 1)
    ask = asker.ask_with_progress(f"asking {args.name}, requests", requests)
    _, entries = transcript.record(partial(asks.answer, mode=args.mode), instances, ask)
    transcript.write(args.transcript, entries)
    provenance.write_manifest(
        args.manifest,
        inputs=[path for path in (args.instances, args.weights) if path],
        outputs=[args.transcript],
        settings=json.loads(args.model),
        seconds=time.monotonic() - started,
        **asker.facts(answer for entry in entries for one in entry.rounds for answer in one.answers),
        seed=args.seed,
    )
    provenance.say(f"{args.name}: {len(instances)} instances asked in {time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    run(main)
