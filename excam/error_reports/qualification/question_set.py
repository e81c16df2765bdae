"""The rows of the qualification set, each with the passages that a search finds for it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from excam.core.hash_order import digest
from excam.error_reports.records import Sample, unlabelled
from excam.knowledge.index import Index, in_memory
from excam.knowledge.passages import Passage

Label = Literal["right", "wrong", "undecidable"]
FOLDER = Path(__file__).parent
FILES = ("documents.jsonl", "rows.jsonl")


@dataclass(frozen=True, slots=True)
class ExamQuestion:
    """A question about a document and an answer to judge. `wrong_words` are in `text`, "" if it is not wrong.

    `wording` is "plain" where the answer states the value as a person would, "indirect" where it describes it.
    """

    id: str
    document: str
    language: str
    culture: str
    question: str
    text: str
    expected: str
    label: Label
    wrong_words: str
    kind: str
    wording: str = "plain"

    @property
    def pair(self) -> str:
        """Return the pair of documents that resemble each other: 1 and 2, 3 and 4, ... of a language."""
        language, number = self.document.rsplit("-", 1)
        return f"{language}-{(int(number) + 1) // 2}"

    @property
    def sample(self) -> Sample:
        """Return what a judge reads: question and answer."""
        return unlabelled(self.id, self.question, self.text, self.language)


def questions(seed: int = 0) -> list[ExamQuestion]:
    """Return the rows in an order by hash, so that the first n are a sample of all languages and kinds."""
    rows = [ExamQuestion(**row) for row in _lines("rows.jsonl")]
    return sorted(rows, key=lambda row: digest(seed, "qualification", row.id))


@cache
def pack() -> Index:
    """Return the index of the documents."""
    names = ("id", "title", "text", "language", "licence", "culture")
    return in_memory(
        [
            Passage(**{name: row[name] for name in names}, document=row["id"], source=row["id"])
            for row in _lines("documents.jsonl")
        ]
    )


def identity() -> str:
    """Return a digest of the set."""
    return hashlib.sha256(b"".join((FOLDER / name).read_bytes() for name in FILES)).hexdigest()[:12]


@cache
def _lines(name: str) -> Sequence[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").splitlines() if line.strip()]
