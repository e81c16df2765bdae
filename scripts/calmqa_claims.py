"""List the claims of every answer: its sentences, or what a model listed, from its transcript."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from excam.calmqa import asks, stages
from excam.core.provenance import say
from excam.inference import transcript
from scripts import run
from scripts._calmqa import add_stage_options, items, texts

VERSION = 3


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_stage_options(parser)
    parser.add_argument("--transcript", type=Path, help="of the extractor; without it, sentences are claims")
    parser.add_argument("--to", type=Path, required=True)
    args = parser.parse_args(argv)

    read = texts(args)
    if args.transcript:
        asked = items(args, "claims")
        found = stages.claims_by_model(read, asked, transcript.replay(asks.extract, asked, args.transcript))
    else:
        found = stages.claims_by_rules(read)
    stages.write(args.to, "claims", found)
    failed = sum(one.text is None for one in found)
    say(f"calmqa: {len(found) - failed} claims of {len(read)} answers; failures: {failed}")


if __name__ == "__main__":
    run(main)
