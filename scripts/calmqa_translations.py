"""Parse a transcript into English translations of the answers. A new parser needs no model."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from excam.calmqa import asks, stages
from excam.inference import transcript
from scripts import run
from scripts._calmqa import add_stage_options, items

VERSION = 2


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_stage_options(parser)
    parser.add_argument("--transcript", type=Path, required=True)
    parser.add_argument("--to", type=Path, required=True)
    args = parser.parse_args(argv)

    found = items(args, "translations")
    said = transcript.replay(asks.translate, found, args.transcript)
    stages.write(args.to, "translations", stages.translation_rows(found, said))


if __name__ == "__main__":
    run(main)
