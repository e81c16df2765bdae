"""Cells: the numbers of one system on one test set, as the tables and figures of the paper read them (spec 51-60).

A cell is `results/evaluation/<model>/<trained_on>/<judge>/<dataset>/<split>.json`; its place says what it is of.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

from excam.exceptions import ArtifactBroken
from excam.metaeval import holm
from excam.provenance import read_json
from excam.publishing.about import about

LEVEL = 0.05  # of the tests behind a star (ExCAM Figure 3)

Test = Mapping[str, Any]  # one entry of results/significance/<dataset>/<split>.json

UNDEFINED = "–"  # nothing to divide by


@dataclass(frozen=True, slots=True)
class System:
    """A model, the mixture its adapter was trained on ("nothing": none), and the way it is asked."""

    model: str
    trained_on: str
    judge: str

    @property
    def tuned(self) -> bool:
        """Whether it has an adapter, that is, whether it is ExCAM."""
        return self.trained_on != "nothing"

    @property
    def key(self) -> str:
        """As in `significance` and in the first column of paper/table-4.csv."""
        return f"{self.model}/{self.trained_on}/{self.judge}"

    @property
    def name(self) -> str:
        """As in figures, where the column says what an adapter was trained on."""
        asked = self.model if self.judge == "report" else f"{self.model}, {self.judge}"
        return f"ExCAM ({asked})" if self.tuned else f"{self.model} ({self.judge})"


@dataclass(frozen=True, slots=True)
class Cell:
    """A system's numbers on one dataset's test set, or on `all` of them, and the file they came from."""

    system: System
    dataset: str
    path: str
    numbers: Mapping[str, Any]

    @property
    def accuracy(self) -> dict[str, Any]:
        """The columns that every table of cells has."""
        given = self.numbers["accuracy"]
        return {
            "scaled_accuracy": rounded(given["scaled"]),
            "low": rounded(given["low"]),
            "high": rounded(given["high"]),
            "n": self.numbers["n"],
            "failures": given["failures"],
            "cell": self.path,
        }


def read(path: Path) -> Cell:
    """The cell of a file. Raises ArtifactBroken when it is none."""
    try:
        numbers = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        numbers = None
    if not isinstance(numbers, dict) or not {"n", "accuracy"} <= numbers.keys():
        raise ArtifactBroken(
            f"{path}: not the numbers of a cell; expected what `evaluate` writes; delete it and run again"
        )
    return Cell(System(*path.parts[-5:-2]), path.parts[-2], str(path), numbers)


def tests(paths: Iterable[Path]) -> dict[str, list[Test]]:
    """The paired tests of each column, by its dataset."""
    return {path.parts[-2]: read_json(path, "tests")["tests"] for path in paths}


def p_better(system: str, found: Sequence[Test], against: Callable[[System], bool]) -> float | None:
    """The p-value of "better than every one of `against`": the largest of the single tests, 1 where one is not won.

    An intersection-union test needs no correction for how many there are. None: it was compared with none of them.
    """
    p_values = []
    for test in found:
        if system in (test["a"], test["b"]):
            other = test["b"] if test["a"] == system else test["a"]
            if against(System(*other.split("/"))):
                ahead = test["difference"] * (1 if test["a"] == system else -1) > 0
                p_values.append(float(test["p_value"]) if ahead else 1.0)
    return max(p_values, default=None)


def adjusted(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's correction over those that exist, each in its place (spec 54: over a whole figure)."""
    corrected = iter(holm([p for p in p_values if p is not None]))
    return [None if p is None else next(corrected) for p in p_values]


def title(column: str) -> str:
    """The printed name of a dataset; any other column is called what it is called."""
    return about(column).name


def rounded(value: float | None) -> float | None:
    """Four digits, as in every table."""
    return None if value is None else round(value, 4)


def digits(p_value: float | None) -> float | None:
    """A p-value to four significant digits: small ones stay apart from 0."""
    return None if p_value is None else float(f"{p_value:.4g}")


def at(numbers: Mapping[str, Any], place: str) -> Any:
    """What stands at `a.b.c` of nested numbers."""
    return reduce(lambda found, key: found[key], place.split("."), numbers)


def shown(measure: Mapping[str, Any]) -> str:
    """A value with its interval, where it has one, and its denominator."""
    if measure["value"] is None:
        return f"{UNDEFINED} (n = {measure['n']})"
    bounds = "" if measure["low"] is None else f" [{measure['low']:.3f}, {measure['high']:.3f}]"
    return f"{measure['value']:.3f}{bounds} (n = {measure['n']})"
