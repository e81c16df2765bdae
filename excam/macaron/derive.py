"""Six aligned instances of each scenario: multiple choice, true and false, each in English and the local language."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, Literal

import polars as pl

from excam.core.hash_order import digest
from excam.core.typed_tables import read_typed
from excam.macaron.scenarios import Scenario

Format = Literal["MC", "T", "F"]
Lang = Literal["EN", "L"]
SIDES: Mapping[Lang, str] = {"EN": "en", "L": "local"}  # how the fields of a scenario end
LETTERS = ("A", "B", "C", "D")
TRUTH = ("T", "F")
QUESTION_MARKS = ("?", "？", "؟", "፧", "՞")  # also of East Asia, Arabic, Ge'ez, Armenian
CLOSING = "\"'”’»)]） "


@dataclass(frozen=True, slots=True)
class Instance:
    """One question to a model. `options` are those of the prompt, A to D; `order[i]` is the index that option i has in
    the scenario, where the right one is 0. Both are empty for a statement.
    """

    id: str
    scenario: str
    template: int
    country: str
    language: str
    script: str
    reasoning: tuple[str, ...]
    aspects: tuple[str, ...]
    format: Format
    lang: Lang
    form: Literal["question", "statement"]
    text: str
    options: tuple[str, ...]
    order: tuple[int, ...]
    gold: str

    @property
    def valid(self) -> tuple[str, ...]:
        """Return the answers that there are: letters, or T and F."""
        return LETTERS if self.format == "MC" else TRUTH

    @property
    def digest(self) -> str:
        """Return a digest of what is asked and of the right answer: an id alone does not say in which order."""
        return digest(0, self.text, *self.options, self.gold)[:16]


_LISTS = {"reasoning": pl.String, "aspects": pl.String, "options": pl.String, "order": pl.Int8}
SCHEMA: dict[str, Any] = {field.name: pl.String() for field in fields(Instance)} | {
    "template": pl.Int64(),
    **{name: pl.List(kind) for name, kind in _LISTS.items()},
}


def instances(scenarios: Sequence[Scenario], seed: int) -> list[Instance]:
    """Return six instances of each scenario, two where it has no statements, sorted by scenario.

    Authors and official files state the right option first, so options are put into an order of their own, the same in
    both languages. In each country every letter is right equally often, up to one instance; so the order depends on the
    country's other scenarios, and instances of a part do not join those of the whole.
    """
    placed = _orders(scenarios, seed)
    ordered = sorted(scenarios, key=lambda scenario: scenario.id)
    return [made for scenario in ordered for made in _of(scenario, placed[scenario.id])]


def _of(scenario: Scenario, order: tuple[int, ...]) -> Iterable[Instance]:
    names = ("template", "country", "language", "script", "reasoning", "aspects")
    make = partial(Instance, scenario=scenario.id, **{name: getattr(scenario, name) for name in names})
    gold = LETTERS[order.index(0)]
    for lang, side in SIDES.items():
        text, options = getattr(scenario, f"question_{side}"), getattr(scenario, f"options_{side}")
        lines = tuple(options[at] for at in order)
        name = f"{scenario.id}/mc/{lang.lower()}"
        yield make(name, format="MC", lang=lang, form="question", text=text, options=lines, order=order, gold=gold)
    for (format_, truth), (lang, side) in product({"T": "true", "F": "false"}.items(), SIDES.items()):
        if (text := getattr(scenario, f"{truth}_{side}")) is not None:
            marks = (*QUESTION_MARKS, ";") if lang == "L" and scenario.language == "Greek" else QUESTION_MARKS
            form = "question" if text.rstrip(CLOSING).endswith(marks) else "statement"
            name = f"{scenario.id}/{format_.lower()}/{lang.lower()}"
            yield make(name, format=format_, lang=lang, form=form, text=text, options=(), order=(), gold=format_)


def _orders(scenarios: Sequence[Scenario], seed: int) -> dict[str, tuple[int, ...]]:
    """Return the order of the options of each scenario, by id."""
    countries: dict[str, list[str]] = defaultdict(list)
    for scenario in scenarios:
        countries[scenario.country].append(scenario.id)
    orders = {}
    for country, ids in countries.items():
        letters = sorted(range(4), key=lambda at: digest(seed, "letters", country, str(at)))
        for place, name in enumerate(sorted(ids, key=lambda name: digest(seed, "scenarios", name))):
            order: list[int] = sorted((1, 2, 3), key=lambda at: digest(seed, "options", name, str(at)))
            order.insert(letters[place % 4], 0)
            orders[name] = tuple(order)
    return orders


def to_frame(rows: Iterable[Instance]) -> pl.DataFrame:
    """Return instances as a table, one row each."""
    return pl.DataFrame([asdict(instance) for instance in rows], schema=SCHEMA, orient="row")


WHAT = "instances, made by `excam macaron derive`"


def read(path: Path) -> list[Instance]:
    """Return the instances of a Parquet file of `to_frame`.

    Raise InputInvalid for other columns or types, no rows, and an id that occurs twice.
    """
    frame = read_typed(path, SCHEMA, WHAT, SCHEMA, ("id",), may_be_empty=False)
    return [Instance(**{**row, **{name: tuple(row[name]) for name in _LISTS}}) for row in frame.iter_rows(named=True)]
