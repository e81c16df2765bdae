"""Averages over the models of a category, beside those that the paper prints (Tables 3 and 5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from excam.config.macaron import Category
from excam.core.exceptions import InputInvalid
from excam.macaron import numbers
from excam.macaron.answers import ModelRun
from excam.macaron.cells import rounded, with_interval
from excam.pages.markdown import escape, table

CATEGORIES: tuple[Category, ...] = get_args(Category)
ALL = "all"
NOTE = (
    "Ours are means over the sets of answers of models, one for each mode; intervals draw the same scenarios for all "
    "of them."
)
PRINTED = " Printed ones are over the paper's 21 models, on its own 11,862 instances: no reference for others."


@dataclass(frozen=True, slots=True)
class Average:
    """The numbers of the systems of a category, their mean; None without systems."""

    category: str
    systems: tuple[ModelRun, ...]
    estimates: Mapping[str, Mapping[str, float | None]] | None


def parse(assignments: Sequence[str], models: Sequence[str]) -> dict[str, str]:
    """Return the categories of models from texts `MODEL=CATEGORY`. Raise InputInvalid for an unknown one of either."""
    of_models = {}
    for assignment in assignments:
        model, _, category = assignment.rpartition("=")
        if model not in models or category not in CATEGORIES:
            raise InputInvalid(
                f"--category: found {assignment[:80]}; expected MODEL=CATEGORY, a model of {', '.join(models)}, "
                f"a category of {', '.join(CATEGORIES)}"
            )
        of_models[model] = category
    return of_models


def category_of(system: ModelRun, categories: Mapping[str, str]) -> str | None:
    """Return the category of a model in a mode; None if none is known."""
    return "thinking" if system.mode == "thinking" else categories.get(system.model)


def averages(systems: Sequence[ModelRun], categories: Mapping[str, str], seed: int) -> list[Average]:
    """Return the average of each category, and of all models."""
    members = {name: [system for system in systems if category_of(system, categories) == name] for name in CATEGORIES}
    return [
        Average(name, tuple(group), numbers.averages([system.rows for system in group], seed) if group else None)
        for name, group in {**members, ALL: systems}.items()
    ]


def section(averaged: Sequence[Average], names: Mapping[str, str], printed: Mapping[str, Mapping[str, str]]) -> str:
    """Return the averages as a section: of each category ours, what the paper prints, and the difference.

    `names` are the numbers with their headings; `printed` are the paper's by category and number.
    """
    body = []
    for average in averaged:
        each = len(average.systems[0].rows) if average.systems else 0
        models = len({system.model for system in average.systems})
        ours = average.estimates
        cells = [with_interval(ours[name]) if ours else "n/a" for name in names]
        n = [f"{len(average.systems)} ({models})", str(each)] if ours else ["no model", ""]
        body.append([average.category, "ours", *n, *cells])
        line = printed[average.category]
        body.append([average.category, "printed", "", "", *(escape(line[name]) for name in names)])
        body.append([average.category, "difference", "", "", *(_difference(ours, name, line[name]) for name in names)])
    head = ["category", "", "sets of answers (models)", "n each", *names.values()]
    return f"\n## Averages by category of model\n\n{NOTE}{PRINTED}\n\n{table(head, body)}"


def _difference(ours: Mapping[str, Mapping[str, float | None]] | None, name: str, printed: str) -> str:
    value = ours[name]["value"] if ours else None
    return rounded(None if value is None else value - float(printed))
