"""Section `annotation`: human validation of soft errors."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from excam.config.base import DatasetName, Place, Section
from excam.core.registries import modules_in


class Annotation(Section):
    """Human validation of soft errors: rows, annotators, and the folder of their answers."""

    rows: int = Field(default=25, ge=1, description="per dataset with soft errors")
    languages: dict[DatasetName, dict[str, int]] = Field(
        default={}, description="rows per language, for datasets that are not only English"
    )
    annotators: dict[str, int] = Field(default={"English": 3}, description="people per row, by language; others: 2")
    team: str | None = Field(
        default=None, description="CSV file: annotator, languages, coauthor; empty: everybody gets every task"
    )
    systems: list[str] = Field(
        default=[],
        max_length=2,
        description="<model>/<trained_on>/report: whose explanations are rated; empty: the first two, trained on all",
    )
    people: str | None = Field(
        default=None,
        description="local folder with the exports of annotators, or a sub-folder each; relative to the repository",
    )


def check(section: Annotation, reporting: Sequence[str], at: Place) -> None:
    """Raise ConfigInvalid for a system without reports, or a benchmark that is not there."""
    benchmarks = modules_in("excam40k/datasets")
    for system in section.systems:
        at.known(system, "annotation.systems", "system that writes reports", reporting)
    for name in section.languages:
        at.known(name, "annotation.languages", "benchmark", benchmarks)
