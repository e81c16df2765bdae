"""Cells: the numbers of one system on one test set, as the tables and figures of the paper use them.

A cell is `results/evaluation/<model>/<trained_on>/<judge>/<dataset>/<split>.json`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

import polars as pl

from excam.core import paths, tables
from excam.core.exceptions import ArtifactBroken, InputInvalid
from excam.core.provenance import read_json
from excam.stats.permutation import holm

LEVEL = 0.05  # of the tests behind a star (ExCAM Figure 3)

Test = Mapping[str, Any]  # one entry of results/significance/<dataset>/<split>.json

UNDEFINED = "–"  # nothing to divide by


@dataclass(frozen=True, slots=True)
class System:
    """A model, the mixture its adapter was trained on ("nothing": no adapter), and the judge."""

    model: str
    trained_on: str
    judge: str

    @classmethod
    def from_path(cls, path: Path) -> System:
        """Parse the path of anything that was made of a system's judgements. Raises InputInvalid."""
        return cls(*paths.Cell.from_path(path).system)

    @property
    def tuned(self) -> bool:
        """Return whether the system has an adapter, that is, whether it is ExCAM."""
        return self.trained_on != "nothing"

    @property
    def key(self) -> str:
        """Return the name used in `significance` and in the first column of paper/table-4.csv."""
        return f"{self.model}/{self.trained_on}/{self.judge}"

    @classmethod
    def from_key(cls, key: str) -> System:
        """Parse what `key` returns."""
        return cls(*key.split("/"))

    @property
    def title(self) -> str:
        """Return the name used in figures that do not say otherwise what an adapter was trained on."""
        return self.name + (f", {mixture_title(self.trained_on)}" if self.tuned else "")

    @property
    def name(self) -> str:
        """Return the name used in figures whose columns say what an adapter was trained on."""
        label = self.model if self.judge == "report" else f"{self.model}, {self.judge}"
        return f"ExCAM ({label})" if self.tuned else f"{self.model} ({self.judge})"


def mixture_title(trained_on: str) -> str:
    """Return in words what an adapter was trained on."""
    return (
        trained_on.replace("without-", "without ") if trained_on.startswith("without-") else f"trained on {trained_on}"
    )


@dataclass(frozen=True, slots=True)
class Cell:
    """The numbers of a system on the test set of one dataset, or of all (`all`), and the file they came from."""

    system: System
    dataset: str
    path: str
    numbers: Mapping[str, Any]

    @property
    def accuracy(self) -> dict[str, Any]:
        """Return the columns that every table of cells has."""
        return {**accuracy_columns(self.numbers["accuracy"]), "n": self.numbers["n"], "cell": self.path}


def read(path: Path) -> Cell:
    """Return the cell in a file. Raises ArtifactBroken if the file is no cell, InputInvalid if it has no row."""
    try:
        numbers = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        numbers = None
    if not isinstance(numbers, dict) or not {"n", "accuracy"} <= numbers.keys():
        raise ArtifactBroken(
            f"{path}: not the numbers of a cell; expected what `evaluate` writes; delete it and run again"
        )
    if not numbers["n"]:
        raise InputInvalid(f"{path}: found no row; expected a set of rows: a larger cap or share of its split")
    of = paths.Cell.from_path(path)
    return Cell(System(*of.system), of.dataset, str(path), numbers)


def accuracy_columns(accuracy: Mapping[str, Any]) -> dict[str, Any]:
    """Return the scaled accuracy of `verdicts.accuracy_numbers` with its interval, and the failures, as columns."""
    names = {"scaled_accuracy": "scaled", "low": "low", "high": "high"}
    return {name: rounded_text(accuracy[key]) for name, key in names.items()} | {"failures": accuracy["failures"]}


def judgements(files: Iterable[Path]) -> dict[System, dict[str, pl.DataFrame]]:
    """Return the judgements in files by their system and dataset."""
    judged: dict[System, dict[str, pl.DataFrame]] = {}
    for path in files:
        judged.setdefault(System.from_path(path), {})[paths.axes(path)["dataset"]] = tables.read_frame(path)
    return judged


def tests(files: Iterable[Path]) -> dict[str, list[Test]]:
    """Return the paired permutation tests of each file by its dataset."""
    return {paths.axes(path)["dataset"]: read_json(path, "tests")["tests"] for path in files}


def p_better(system: str, comparisons: Sequence[Test], against: Callable[[System], bool]) -> float | None:
    """Return the p-value of "better than every one of `against`": the maximum of the single tests, 1 if one is lost.

    An intersection-union test needs no correction for how many there are. None: it was compared with none of them.
    """
    p_values = []
    for test in comparisons:
        if system in (test["a"], test["b"]):
            other = test["b"] if test["a"] == system else test["a"]
            if against(System.from_key(other)):
                ahead = test["difference"] * (1 if test["a"] == system else -1) > 0
                p_values.append(float(test["p_value"]) if ahead else 1.0)
    return max(p_values, default=None)


def holm_adjusted(p_values: Sequence[float | None]) -> list[float | None]:
    """Return the p-values after Holm's correction over those that exist, each in its place."""
    corrected = iter(holm([p for p in p_values if p is not None]))
    return [None if p is None else next(corrected) for p in p_values]


def rounded_text(value: float | None) -> float | None:
    """Return a number with four digits, as in every table."""
    return None if value is None else round(value, 4)


def significant_digits(p_value: float | None) -> float | None:
    """Return a p-value with four significant digits, so that small ones differ from 0."""
    return None if p_value is None else float(f"{p_value:.4g}")


def value_at(numbers: Mapping[str, Any], place: str) -> Any:
    """Return the value at `a.b.c` of nested numbers."""
    return reduce(lambda nested, key: nested[key], place.split("."), numbers)


def with_interval_text(measure: Mapping[str, Any]) -> str:
    """Return a value as text, with its interval if it has one, and its denominator."""
    if measure["value"] is None:
        return f"{UNDEFINED} (n = {measure['n']})"
    bounds = "" if measure["low"] is None else f" [{measure['low']:.3f}, {measure['high']:.3f}]"
    return f"{measure['value']:.3f}{bounds} (n = {measure['n']})"
