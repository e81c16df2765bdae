"""Read the questions of a folder in the official columns."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from excam.calmqa import source
from excam.core import tables
from excam.core.provenance import say
from scripts import run

VERSION = 1


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=Path, nargs="+", required=True)
    parser.add_argument("--questions", type=Path, required=True)
    args = parser.parse_args(argv)

    found = source.read_questions(args.files)
    tables.write_frame(args.questions, source.to_frame(found, source.Question))
    counts = Counter(f"{one.language} {one.type}" for one in found)
    say(f"calmqa: {len(found)} questions: {', '.join(f'{name} {n}' for name, n in sorted(counts.items()))}")


if __name__ == "__main__":
    run(main)
