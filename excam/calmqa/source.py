"""Questions and answers from files: the official columns of the data set, the authors' answer files, and one's own."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from excam.core import tables
from excam.core.exceptions import InputInvalid
from excam.core.language_identity import language_code
from excam.scoring import pairs
from excam.scoring.evidence import SUFFIXES

if TYPE_CHECKING:
    import polars as pl

Type = Literal["specific", "agnostic"]
TYPES: Mapping[Any, Type] = {
    **{"culturally specific": "specific", "specific": "specific", "cult": "specific", 1: "specific"},
    **{"culturally agnostic": "agnostic", "agnostic": "agnostic", "non-cult": "agnostic", 0: "agnostic"},
}


@dataclass(frozen=True, slots=True)
class Question:
    """A question in one language. Translations of one question share their `group`."""

    id: str
    group: str
    language: str  # ISO 639 code
    type: Type
    question: str
    question_en: str
    human_answer: str
    licence: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What a subject answered to a question; `finish` is stop, length, refused, or written for a sheet."""

    id: str  # <subject>/<question>
    subject: str
    question: str
    text: str
    finish: str


def files(folder: Path, where: str) -> list[Path]:
    """Return the data files of a folder. Raises InputInvalid if there is none; `where` names the setting."""
    found = sorted(path for path in folder.glob("*") if path.name.endswith(SUFFIXES))
    if not found:
        raise InputInvalid(f"{where}: {folder}: no file; expected {', '.join(SUFFIXES)}; see docs/calmqa.md")
    return found


def read_questions(paths: Iterable[Path]) -> list[Question]:
    """Return the questions of files with the official columns: language, question_type, question, ...

    `question_id` is the group; without it, questions with the same `question_english` share one if they are agnostic.
    Raises InputInvalid naming an invalid row, or a group that has a language twice.
    """
    found: dict[str, Question] = {}
    for path in paths:
        for number, row in pairs.rows(path):
            one = _question(row, f"{path}:{number}")
            if one.id in found:
                raise InputInvalid(f"{path}:{number}: question {one.id}: occurs twice; expected each language once")
            found[one.id] = one
    return list(found.values())


def _question(row: Any, where: str) -> Question:
    texts = texts_of(row, where, ("language", "question"), ("question_english", "answer", "question_id", "licence"))
    kind = TYPES.get(row.get("question_type"))
    if kind is None:
        raise InputInvalid(
            f"{where}: question_type: found {str(row.get('question_type'))[:40]}; expected culturally specific or "
            "culturally agnostic"
        )
    named = code(texts["language"], where)
    own = texts["question_english"] if kind == "agnostic" and texts["question_english"] else texts["question"]
    group = texts["question_id"] or hashlib.sha256(own.encode("utf-8", "replace")).hexdigest()[:12]
    return Question(
        id=f"{group}/{named}",
        group=group,
        language=named,
        type=kind,
        question=texts["question"],
        question_en=texts["question_english"],
        human_answer=texts["answer"],
        licence=texts["licence"],
    )


def texts_of(row: Any, where: str, required: Sequence[str], optional: Sequence[str] = ()) -> dict[str, str]:
    """Return these columns of a row as texts, "" for an absent optional one. Raises InputInvalid naming a wrong one."""
    if not isinstance(row, Mapping):
        raise InputInvalid(f"{where}: found {type(row).__name__}; expected an object with {', '.join(required)}")
    found = {name: row.get(name) for name in (*required, *optional)}
    for name, value in found.items():
        if not (isinstance(value, str) or (value is None and name in optional)):
            known = ", ".join(map(str, row))[:100]
            raise InputInvalid(f"{where}: {name}: found {type(value).__name__}; expected text (columns: {known})")
    return {name: value or "" for name, value in found.items()}


def code(language: str, where: str) -> str:
    """Return the code of a language. Raises InputInvalid, with where it stands, for an unknown one."""
    try:
        return language_code(language)
    except InputInvalid as problem:
        raise InputInvalid(f"{where}: {problem}") from None


def read_sheet(path: Path, questions: Mapping[str, Question]) -> list[Answer]:
    """Return a written answer sheet: rows of `question` (its id) and `answer`; the file's name is the subject.

    Raises InputInvalid for an unknown question, or one that is answered twice; unanswered questions are left out.
    """
    subject = path.name.split(".")[0]
    found: dict[str, Answer] = {}
    for number, row in pairs.rows(path):
        texts = texts_of(row, f"{path}:{number}", ("question", "answer"))
        if texts["question"] not in questions or texts["question"] in found:
            problem = "answered twice" if texts["question"] in found else "no such question"
            raise InputInvalid(f"{path}:{number}: {texts['question'][:60]}: {problem}; expected each question once")
        found[texts["question"]] = Answer(
            f"{subject}/{texts['question']}", subject, texts["question"], texts["answer"], "written"
        )
    return list(found.values())


def to_frame(rows: Sequence[Question] | Sequence[Answer], kind: type[Question] | type[Answer]) -> pl.DataFrame:
    """Return dataclasses as a table."""
    import polars as pl

    return pl.DataFrame([asdict(one) for one in rows], schema=dict.fromkeys((f.name for f in fields(kind)), pl.String))


def questions_of(path: Path) -> dict[str, Question]:
    """Return the questions of a table by id."""
    return {row["id"]: Question(**row) for row in tables.read_frame(path).iter_rows(named=True)}


def answers_of(path: Path) -> list[Answer]:
    """Return the answers of a table."""
    return [Answer(**row) for row in tables.read_frame(path).iter_rows(named=True)]
