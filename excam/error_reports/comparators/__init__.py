"""Ways of comparing a text with what the evidence says: one module each. The folder is the registry.

load("closed").compare(case)    a generator: yields requests, receives answers, returns a Comparison
"""

from __future__ import annotations

from dataclasses import replace

from excam.core.registries import load_module, modules_in
from excam.error_reports.comparators.base import Case, Comparator, Comparison
from excam.inference import Flow


def available() -> tuple[str, ...]:
    """Return names of the comparators, sorted: the modules of this folder, with `-` for `_`."""
    return modules_in("error_reports/comparators")


def load(name: str) -> Comparator:
    """Return the module of this folder with that name.

    Raises ConfigInvalid, listing the known comparators, if there is none.
    """
    return load_module("error_reports/comparators", name)


def compared(name: str, case: Case) -> Flow[Comparison]:
    """Compare with one comparator. Only one that reads passages gets them: a near miss among them supports no word."""
    comparator = load(name)
    return (yield from comparator.compare(case if "passages" in comparator.NEEDS else replace(case, passages=())))
