"""Find passages for every claim."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from excam.calmqa import stages
from excam.knowledge import index as packs
from scripts import run

VERSION = 2


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--claims", type=Path, required=True)
    parser.add_argument("--index", type=Path, required=True, help="index.json")
    parser.add_argument("--passages", type=int, required=True, help="at most so many for a claim")
    parser.add_argument("--to", type=Path, required=True)
    args = parser.parse_args(argv)

    index = packs.open_index(args.index.parent)
    stages.write(args.to, "evidence", stages.evidence_rows(stages.read_claims(args.claims), index, args.passages))


if __name__ == "__main__":
    run(main)
