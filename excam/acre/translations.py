"""Translations of items by systems, with their labels: the rows that are judged and measured."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import polars as pl

from excam.acre import errors
from excam.acre.items import TermSentence, shown
from excam.acre.items import item as read_item
from excam.core import row_files
from excam.core.exceptions import InputInvalid
from excam.core.hash_order import digest
from excam.core.names import shown_names
from excam.core.text import id_text, is_text, plain_name
from excam.core.typed_tables import read_typed
from excam.inference.answer_text import answers_alone


@dataclass(frozen=True, slots=True)
class Label:
    """Whether the expression is right in a translation, and if not, its errors: none where it is right."""

    correct: bool
    errors: tuple[str, ...] = ()
    annotator: str = ""


@dataclass(frozen=True, slots=True)
class Translated:
    """One translation of one item by one system after `shots` examples."""

    item: TermSentence
    system: str
    translation: str
    shots: int = 0
    finish: str = "stop"
    label: Label | None = field(default=None)

    @property
    def id(self) -> str:
        """Return <item>/<system>/<shots>."""
        return f"{self.item.id}/{self.system}/{self.shots}"

    @property
    def digest(self) -> str:
        """Return a digest of all that a judge or a metric reads: an id alone does not say which texts were judged."""
        item = self.item
        texts = (item.source, item.term, item.reference, item.explication, item.equivalent or "", item.target_language)
        lists = (json.dumps(item.accepted), json.dumps(item.literal))
        return digest(0, "acre", self.translation, *texts, *lists, item.category, item.route)[:16]


def read(path: Path, items: Mapping[str, TermSentence]) -> list[Translated]:
    """Return the translations of a file: `id` of the item, `translation`, and `system` and `shots` if they are there.

    Without `system`, the name of the file is the system. An empty translation is one: it omits the expression. Raise
    InputInvalid for a row without a translation, of an unknown item, with a name that is no text, or there twice.
    """
    translations: dict[str, Translated] = {}
    rows = {f"{path}:{number}": row for number, row in row_files.answered_rows(path)}
    systems = shown_names((_system(row, where, path.stem) for where, row in rows.items()), str(path))
    for where, row in rows.items():
        raw_id, text = row.get("id"), row.get("translation")
        name = id_text(raw_id)
        if name is None or name not in items or not is_text(text):
            examples = ", ".join(list(items)[:3])
            raise InputInvalid(
                f"{where}: id {shown(raw_id)}, translation {str(text)[:40]!r}; expected the id of an item ({examples}) "
                "and text"
            )
        system, finish = systems[_system(row, where, path.stem)], _name(row, "finish", where) or "stop"
        translation = Translated(items[name], system, text, _shots(row, where), finish)
        if translation.id in translations:
            raise InputInvalid(
                f"{where}: {translation.id} is there twice; expected one translation of each item by a system"
            )
        translations[translation.id] = translation
    if not translations:
        raise InputInvalid(f"{path}: 0 translations; expected one JSON object a line, or a table")
    answers = answers_alone([translation.translation for translation in translations.values()], str(path))
    return [replace(row, translation=answer) for row, answer in zip(translations.values(), answers, strict=True)]


def expect_same(path: Path, judged: Iterable[tuple[str, str]], rows: Mapping[str, Translated]) -> None:
    """Raise InputInvalid unless ids and digests of what was judged or measured are those of these translations."""
    for name, judge in judged:
        if name not in rows or rows[name].digest != judge:
            problem = "its texts have changed since" if name in rows else f"none of the {len(rows)} translations"
            raise InputInvalid(
                f"{path}: {name[:80]}: {problem}; expected verdicts and scores of the same; make it again"
            )


def _shots(row: Mapping[str, Any], where: str) -> int:
    shots = row.get("shots") or 0
    if isinstance(shots, bool) or not re.fullmatch("[0-9]{1,4}", str(shots)):
        raise InputInvalid(f"{where}: shots: found {str(shots)[:40]}; expected a whole number of examples, 0 or more")
    return int(shots)


def _system(row: Mapping[str, Any], where: str, otherwise: str) -> str:
    """Return the name of the system. Raise InputInvalid for a name that ends in a number of examples."""
    name = _name(row, "system", where) or otherwise
    if re.search("-shot *$", name):
        raise InputInvalid(f"{where}: system: found {shown(name)}; expected the number of examples in a column `shots`")
    return name


def _name(row: Mapping[str, Any], key: str, where: str) -> str:
    """Return the text in a column, "" for none. Raise InputInvalid for anything else."""
    value = row.get(key)
    if value is not None and not is_text(value):
        raise InputInvalid(f"{where}: {key}: found {shown(value)}; expected text, or nothing")
    return value or ""


def read_labels(path: Path) -> dict[str, Label]:
    """Return the labels of a file by row: `id`, `system`, `shots` (0 if absent), `correct`, `errors`, `annotator`.

    Raise InputInvalid for a label that contradicts itself (right, with errors; wrong, without any), an unknown error,
    or two labels of one row: people who disagree settle it first.
    """
    labels: dict[str, Label] = {}
    for number, row in row_files.rows(path):
        where = f"{path}:{number}"
        listed = row.get("errors") or []
        correct = row.get("correct")
        texts = isinstance(listed, list) and all(isinstance(error, str) for error in listed)
        if not isinstance(correct, bool) or not texts:
            raise InputInvalid(
                f"{where}: correct {correct!r}, errors {str(listed)[:60]}; expected true or false, and a list of texts"
            )
        try:
            errors.primary(listed)
        except InputInvalid as problem:
            raise InputInvalid(f"{where}: {problem}") from None
        if correct == bool(listed):
            raise InputInvalid(
                f"{where}: correct {str(correct).lower()} with {len(listed)} errors; expected errors where it is false"
            )
        item, system = id_text(row.get("id")), plain_name(_name(row, "system", where))
        if not item or not system:
            raise InputInvalid(
                f"{where}: id {shown(row.get('id'))}, system {shown(system)}; expected the names of both"
            )
        name = f"{item}/{system}/{_shots(row, where)}"
        if name in labels:
            raise InputInvalid(f"{where}: {name} has two labels; expected one, settled by the annotators")
        labels[name] = Label(correct, tuple(listed), _name(row, "annotator", where))
    return labels


def with_labels(rows: Sequence[Translated], path: Path) -> list[Translated]:
    """Return the rows with the labels of a file, None where it has none. Raise InputInvalid for a label without row."""
    labels = read_labels(path)
    ids = {row.id for row in rows}
    if unknown := [name for name in labels if name not in ids]:
        raise InputInvalid(
            f"{path}: {unknown[0]}: a label without its translation (1 of {len(unknown)}); drop it, or add that"
        )
    return [replace(row, label=labels.get(row.id)) for row in rows]


ITEM = tuple(field_.name for field_ in fields(TermSentence) if field_.name != "id")
SCHEMA: dict[str, Any] = {
    **dict.fromkeys(("id", "item", "system", "translation", "finish"), pl.String()),
    "shots": pl.Int64(),
    **{name: pl.Int64() if name.endswith(("_start", "_end")) else pl.String() for name in ITEM},
    **dict.fromkeys(("accepted", "literal"), pl.List(pl.String())),
}


def to_frame(rows: Iterable[Translated]) -> pl.DataFrame:
    """Return the rows as a table: the texts of the item and the translation. Labels stay in a file of their own."""
    listed = []
    for row in rows:
        texts = {name: getattr(row.item, name) for name in ITEM}
        fields = {name: getattr(row, name) for name in ("id", "system", "translation", "shots", "finish")}
        listed.append(fields | {"item": row.item.id} | texts)
    return pl.DataFrame(listed, schema=SCHEMA, orient="row")


WHAT = "rows, made by `excam acre rows`"


def from_frame(path: Path) -> list[Translated]:
    """Return the rows of a table of `to_frame`.

    Raise InputInvalid for other columns or types, no rows, a row that occurs twice, and what `items.item` refuses.
    """
    filled = ("id", "item", "system", "translation", "shots", "finish")
    frame = read_typed(path, SCHEMA, WHAT, filled, ("id",), may_be_empty=False)
    translations: list[Translated] = []
    for number, row in enumerate(frame.iter_rows(named=True), 1):
        item = read_item({**row, "id": row["item"]}, f"{path}: row {number}")
        translations.append(Translated(item, row["system"], row["translation"], row["shots"], row["finish"]))
    return translations


def items_frame(items: Iterable[TermSentence]) -> pl.DataFrame:
    """Return items as a table that `items.read` reads."""
    schema = {"id": pl.String(), **{name: SCHEMA[name] for name in ITEM}}
    return pl.DataFrame([asdict(item) for item in items], schema=schema, orient="row")


def systems(rows: Sequence[Translated]) -> list[str]:
    """Return the systems in their order, one name for each number of shots."""
    return list(dict.fromkeys(name(row) for row in rows))


def name(row: Translated) -> str:
    """Return what tables call the system of a row."""
    return row.system + (f", {row.shots}-shot" if row.shots else "")
