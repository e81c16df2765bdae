"""Read the questions of a folder in the official columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from excam.calmqa import source
from excam.core import tables
from excam.core.provenance import say
from scripts import run, step

VERSION = 1


@step
def main(files_paths: Sequence[Path], questions_path: Path) -> None:
    questions = source.read_questions(files_paths)
    tables.write_frame(questions_path, source.to_frame(questions, source.Question))
    counts = Counter(f"{question.language} {question.type}" for question in questions)
    say(f"calmqa: {len(questions)} questions: {', '.join(f'{name} {n}' for name, n in sorted(counts.items()))}")


if __name__ == "__main__":
    run(main)
