"""Rate how far every answer addresses its question: as a model said, or by the cosine of an encoder."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from excam.calmqa import asks, stages
from excam.inference import transcript
from excam.inference.encoder import cosines
from scripts import run
from scripts._calmqa import add_stage_options, items

VERSION = 3


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--name", required=True, help="the model or the encoder: its key")
    add_stage_options(parser)
    parser.add_argument("--scale", choices=["five", "binary"], required=True)
    parser.add_argument("--transcript", type=Path, help="of the model; without it, the cosine of --encoder")
    parser.add_argument("--encoder", type=Path, help="manifest of a fetched sentence encoder")
    parser.add_argument("--to", type=Path, required=True)
    args = parser.parse_args(argv)

    asked = items(args, "relevance")
    if args.transcript:
        said = transcript.replay(asks.relevance, asked, args.transcript)
        rows = stages.relevance_rows(asked, said, args.name, args.scale)
    else:
        pairs = [(one.texts["question"], one.texts["answer"]) for one in asked]
        found = cosines(args.encoder.parent / "files", pairs)
        rows = stages.relevance_by_cosine(asked, found, f"cosine:{args.name}", args.scale)
    stages.write(args.to, "relevance", rows)


if __name__ == "__main__":
    run(main)
