"""Gather the answers of all subjects: from transcripts of models, and from written sheets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from excam.calmqa import asks, source
from excam.calmqa.source import Answer
from excam.core import tables
from excam.core.provenance import say
from excam.inference import transcript
from scripts import run, step

VERSION = 2


@step
def main(
    questions_path: Path,
    answers_path: Path,
    transcripts_paths: Annotated[Sequence[Path], "<subject>.jsonl each"] = (),
    sheets_paths: Sequence[Path] = (),
) -> None:
    questions = source.questions_of(questions_path)
    answers = [answer for sheet in sheets_paths for answer in source.read_sheet(sheet, questions)]
    for path in transcripts_paths:
        said = transcript.replay(asks.answer, list(questions.values()), path)
        answers += [
            Answer(f"{path.stem}/{question}", path.stem, question, completion.text, completion.finish)
            for question, completion in zip(questions, said, strict=True)
        ]
    tables.write_frame(answers_path, source.to_frame(answers, Answer))
    counts = Counter(answer.subject for answer in answers)
    say(f"calmqa: answers: {', '.join(f'{name} {n}' for name, n in counts.items())}")


if __name__ == "__main__":
    run(main)
