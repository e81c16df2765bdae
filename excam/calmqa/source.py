"""Questions and answers from files: the official columns of the data set, the authors' answer files, and one's own."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal

import polars as pl

from excam.core import row_files
from excam.core.exceptions import InputInvalid
from excam.core.language_identity import language_code
from excam.core.names import shown_name
from excam.core.text import is_text
from excam.core.typed_tables import read_typed
from excam.inference.answer_text import answers_alone
from excam.knowledge.documents import Skipped, files_of

SUFFIXES = (".jsonl", ".jsonl.gz", ".csv", ".parquet")  # of questions and answers
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
class Reply:
    """What a subject answered to a question; `finish` is stop, length, refused, or written for a sheet."""

    id: str  # <subject>/<question>
    subject: str
    question: str
    text: str
    finish: str


def files(folder: Path, where: str) -> list[Path]:
    """Return the data files of a folder. Raises InputInvalid if there is none; `where` names the setting."""
    paths = sorted(path for path in folder.glob("*") if path.name.endswith(SUFFIXES))
    if not paths:
        raise InputInvalid(f"{where}: {folder}: no file; expected {', '.join(SUFFIXES)}; see docs/calmqa.md")
    return paths


def documents(folder: Path, where: str) -> list[Path]:
    """Return the files of a folder of documents. Raises InputInvalid if there is none, or a link out of the folder;
    `where` names the setting.
    """
    skipped: list[Skipped] = []
    paths = [file for file, _ in files_of([folder], skipped)] if folder.exists() else []
    for link in skipped:
        raise InputInvalid(f"{where}: {folder / link.where}: {link.reason}")
    if not paths:
        raise InputInvalid(f"{where}: {folder}: no file; expected documents; see docs/knowledge.md")
    return paths


LOCAL_FILES = {"questions": files, "written": files, "evidence": documents}  # of each folder that a setting names


def read_questions(paths: Iterable[Path]) -> list[Question]:
    """Return the questions of files with the official columns: language, question_type, question, ...

    `question_id` is the group; without it, questions with the same `question_english` share one if they are agnostic.
    Raises InputInvalid naming an invalid row, or a group that has a language twice.
    """
    questions: dict[str, Question] = {}
    for path in paths:
        for number, row in row_files.rows(path):
            question = _question(row, f"{path}:{number}")
            if question.id in questions:
                raise InputInvalid(
                    f"{path}:{number}: question {question.id}: occurs twice; expected each language once"
                )
            questions[question.id] = question
    return list(questions.values())


def _question(row: Mapping[str, Any], where: str) -> Question:
    optional = ("question_english", "answer", "question_id", "licence")
    texts = _writable(texts_of(row, where, ("language", "question"), optional), where)
    question_type = row.get("question_type")
    kind = TYPES.get(question_type) if type(question_type) in (str, int) else None
    if kind is None:
        raise InputInvalid(
            f"{where}: question_type: found {str(question_type)[:40]}; expected culturally specific or culturally "
            "agnostic"
        )
    named = code(texts["language"], where)
    question = texts["question_english"] if kind == "agnostic" and texts["question_english"] else texts["question"]
    group = texts["question_id"] or hashlib.sha256(question.encode("utf-8", "replace")).hexdigest()[:12]
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


def texts_of(
    row: Mapping[str, Any], where: str, required: Sequence[str], optional: Sequence[str] = ()
) -> dict[str, str]:
    """Return these columns of a row as texts, "" for an absent optional one. Raises InputInvalid naming a wrong one."""
    values = {name: row.get(name) for name in (*required, *optional)}
    for name, value in values.items():
        if not (isinstance(value, str) or (value is None and name in optional)):
            columns = ", ".join(map(str, row))[:100]
            raise InputInvalid(f"{where}: {name}: found {type(value).__name__}; expected text (columns: {columns})")
    return {name: value or "" for name, value in values.items()}


def _writable(texts: dict[str, str], where: str) -> dict[str, str]:
    """Return texts unchanged. Raises InputInvalid for a lone surrogate, which no table can hold."""
    for name, text in texts.items():
        if not is_text(text):
            raise InputInvalid(f"{where}: {name}: found a lone surrogate; expected Unicode text")
    return texts


def code(language: str, where: str) -> str:
    """Return the code of a language. Raises InputInvalid, with where it stands, for an unknown one."""
    try:
        return language_code(language)
    except InputInvalid as problem:
        raise InputInvalid(f"{where}: {problem}") from None


def read_sheet(path: Path, questions: Mapping[str, Question]) -> list[Reply]:
    """Return a written answer sheet: rows of `question` (its id) and `answer`; the file's name is the subject.

    Raises InputInvalid for an unknown question, one that is answered twice, and a sheet without answers; unanswered
    questions are left out.
    """
    subject = shown_name(path.name.split(".")[0], str(path))
    answers: dict[str, Reply] = {}
    for number, row in row_files.answered_rows(path):
        texts = _writable(texts_of(row, f"{path}:{number}", ("question", "answer")), f"{path}:{number}")
        if texts["question"] not in questions or texts["question"] in answers:
            problem = "answered twice" if texts["question"] in answers else "no such question"
            raise InputInvalid(f"{path}:{number}: {texts['question'][:60]}: {problem}; expected each question once")
        answers[texts["question"]] = Reply(
            f"{subject}/{texts['question']}", subject, texts["question"], texts["answer"], "written"
        )
    if not answers:
        raise InputInvalid(f"{path}: 0 answers; expected a row of question and answer for each")
    alone = answers_alone([answer.text for answer in answers.values()], str(path))
    return [replace(answer, text=text) for answer, text in zip(answers.values(), alone, strict=True)]


def to_frame(rows: Sequence[Question] | Sequence[Reply], kind: type[Question] | type[Reply]) -> pl.DataFrame:
    """Return dataclasses as a table."""
    return pl.DataFrame([asdict(row) for row in rows], schema=dict.fromkeys((f.name for f in fields(kind)), pl.String))


def questions_of(path: Path) -> dict[str, Question]:
    """Return the questions of a table by id. Raises InputInvalid for other columns or types."""
    return {row["id"]: Question(**row) for row in _rows(path, Question, "questions, made by the workflow")}


def answers_of(path: Path) -> list[Reply]:
    """Return the answers of a table. Raises InputInvalid for other columns or types."""
    return [Reply(**row) for row in _rows(path, Reply, "answers, made by the workflow")]


def _rows(path: Path, kind: type[Question] | type[Reply], what: str) -> Iterable[dict[str, Any]]:
    """Return the rows of a table of `to_frame`."""
    names = [field.name for field in fields(kind)]
    return read_typed(path, dict.fromkeys(names, pl.String), what, names, ("id",)).iter_rows(named=True)
