"""Rows to train and to measure a reader on: passages, questions, and answers that are right or wrong by the passage.

A line of a file is a JSON object with `id`, `paragraph` (of the passage, the same in all its languages), `language` (a
code), `passage`, `instruction` (the question), `output` (an answer) and `label`, right or wrong. A file NAME.LANG.json
is one of SQuAD's form (`data`, `paragraphs`, `qas`), as XQuAD's are: of each question, the first answer is right, and
the answer to another question of the paragraph, of the most similar length, is wrong.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Literal

import polars as pl
from pydantic import BaseModel, ConfigDict, ValidationError

from excam.config import first_error
from excam.core.exceptions import InputInvalid
from excam.core.hash_order import digest
from excam.core.languages import language_name
from excam.error_reports import floors
from excam.error_reports.readers import lift, words
from excam.error_reports.readers.base import Task
from excam.training.contrast import Example

Split = Literal["train", "dev", "test"]
TENTHS: tuple[Split, ...] = ("test", "test", "test", "test", "test", "dev", "train", "train", "train", "train")


class ReadingLine(BaseModel):
    """A line of a file."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    id: str
    paragraph: int | str
    language: str
    passage: str
    instruction: str
    output: str
    label: Literal["right", "wrong"]


@dataclass(frozen=True, slots=True)
class ReadingRow:
    """A row of one split. `text` is the answer as it is read; `unread` says why it is not, if it is not.

    An adapter is trained beside the whole `passage`, which its answers share, and reads beside `sentences` of it.

    `by_words` and `overlap` are the floors: the probability that it is right by the judge `words` (.5: not known), and
    how much more of the question stands in the sentence with the answer than elsewhere.
    """

    id: str
    paragraph: str
    split: Split
    passage: str
    sentences: Sequence[str]
    question: str
    text: str
    right: bool
    unread: str
    by_words: float
    overlap: float


def rows_of(paths: Sequence[Path], language: str, seed: int) -> Iterator[ReadingRow]:
    """Yield the rows of files in a language (its code). Raises InputInvalid for a line that is none."""
    for line in lines(paths):
        if line.language != language:
            continue
        name = language_name(language)
        task = Task(line.instruction, line.output, (line.passage,), language=name)
        standing = words.standing(task, {language})
        answer = standing if isinstance(standing, words.StandingAnswer) else None
        where = (line.instruction, line.output, task.passages, name)
        yield ReadingRow(
            id=line.id,
            paragraph=str(line.paragraph),
            split=TENTHS[int(digest(seed, "reader", str(line.paragraph))[:8], 16) % 10],
            passage=line.passage,
            sentences=answer.sentences() if answer else [],
            question=answer.question if answer else line.instruction,
            text=answer.text if answer else line.output,
            right=line.label == "right",
            unread=standing.because if isinstance(standing, words.Support) else "",
            by_words=answer.right if answer else 0.5,
            overlap=floors.question_where_answer_stands(*where),
        )


def lines(paths: Sequence[Path]) -> Iterator[ReadingLine]:
    """Yield the lines of files. Raises InputInvalid for a line that is no such row."""
    for path in paths:
        with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8") as stream:
            numbered = _of_squad(path, stream.read()) if path.suffix == ".json" else enumerate(stream, 1)
            for number, text in numbered:
                try:
                    yield ReadingLine.model_validate_json(text)
                except ValidationError as problem:
                    raise InputInvalid(f"{path}:{number}: {first_error(problem)}; expected a row to read") from None


def _of_squad(path: Path, text: str) -> Iterator[tuple[str, str]]:
    """Yield the lines of a file of SQuAD's form, each with the id of its question."""
    try:
        paragraphs = [paragraph for article in json.loads(text)["data"] for paragraph in article["paragraphs"]]
        for number, paragraph in enumerate(paragraphs):
            answers = [(qa["id"], qa["question"], qa["answers"][0]["text"]) for qa in paragraph["qas"]]
            for id, question, right in answers:
                others = [answer for _, _, answer in answers if answer not in right and right not in answer]
                wrong = min(others, key=lambda answer: (abs(len(answer) - len(right)), answer), default=None)
                for label, output in (("right", right), ("wrong", wrong)) if wrong else ():
                    shared = {"id": f"{id}-{label}", "paragraph": number, "language": path.stem.rpartition(".")[2]}
                    texts = {"passage": paragraph["context"], "instruction": question, "output": output}
                    yield id, json.dumps(shared | texts | {"label": label})
    except (ValueError, KeyError, TypeError, IndexError) as problem:
        raise InputInvalid(f"{path}: {type(problem).__name__}; expected a file of SQuAD's form") from None


def as_frame(rows: Iterable[ReadingRow]) -> pl.DataFrame:
    """Return rows as a table, in order of paragraph and id; the columns are the fields."""
    return pl.DataFrame([asdict(row) for row in rows]).sort("paragraph", "id")


def of_frame(frame: pl.DataFrame) -> list[ReadingRow]:
    """Return the rows of a table that `as_frame` made."""
    return [ReadingRow(**row) for row in frame.iter_rows(named=True)]


def groups(rows: Iterable[ReadingRow]) -> list[list[Example]]:
    """Return the examples of rows that follow each other and have the same passage together, to train on."""
    return [[_example(row, [row.passage]) for row in group] for _, group in groupby(rows, attrgetter("passage"))]


def alone(rows: Iterable[ReadingRow]) -> list[list[Example]]:
    """Return the example of each row as it is read."""
    return [[_example(row, row.sentences)] for row in rows]


def _example(row: ReadingRow, sentences: Sequence[str]) -> Example:
    asked, unasked = (lift.messages(question, sentences) for question in (row.question, ""))
    return Example(asked, unasked, row.text, row.right)
