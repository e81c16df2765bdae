"""Texts about the nine benchmarks: printed name, task as the paper groups them, citation; language codes."""

from __future__ import annotations

from collections.abc import Iterable

from excam.error_reports.content_words import code_of
from excam.excam40k import datasets

EXCAM = "Leiter et al. ExCAM: Explainable Cultural Awareness Metrics"

OTHER_NAMES = {"North Macedonian": "Macedonian"}  # of a language, as INCLUDE has it


def codes(languages: Iterable[str]) -> list[str]:
    """ISO 639 codes of languages by their English names, sorted; a name that is not known has none."""
    return sorted({code_of(OTHER_NAMES.get(name, name)) for name in languages} - {""})


def title(column: str) -> str:
    """Return the printed name of a dataset of the package; any other column keeps its name."""
    return (column in datasets.available() and datasets.load(column).SOURCE.title) or column


def citation(dataset: str) -> str:
    """Return the work to cite for a dataset of the package, "" for any other."""
    return datasets.load(dataset).SOURCE.citation if dataset in datasets.available() else ""
