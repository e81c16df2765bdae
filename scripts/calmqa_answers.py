"""Gather the answers of all subjects: from transcripts of models, and from written sheets."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from excam.calmqa import asks, source
from excam.calmqa.source import Answer
from excam.core import tables
from excam.core.provenance import say
from excam.inference import transcript
from scripts import run

VERSION = 2


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--transcripts", type=Path, nargs="*", default=[], help="<subject>.jsonl each")
    parser.add_argument("--sheets", type=Path, nargs="*", default=[])
    parser.add_argument("--answers", type=Path, required=True)
    args = parser.parse_args(argv)

    questions = source.questions_of(args.questions)
    found = [one for sheet in args.sheets for one in source.read_sheet(sheet, questions)]
    for path in args.transcripts:
        said = transcript.replay(asks.answer, list(questions.values()), path)
        found += [
            Answer(f"{path.stem}/{question}", path.stem, question, one.text, one.finish)
            for question, one in zip(questions, said, strict=True)
        ]
    tables.write_frame(args.answers, source.to_frame(found, Answer))
    counts = Counter(one.subject for one in found)
    say(f"calmqa: answers: {', '.join(f'{name} {n}' for name, n in counts.items())}")


if __name__ == "__main__":
    run(main)
