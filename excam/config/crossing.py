"""Section `crossing`: several metrics on the same rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import Field

from excam.config.base import DatasetName, Name, Place, Section

RowSet = Literal["excam40k", "cult-eval", "calmqa", "macaron", "rubric"]  # of labelled rows (docs/crossing.md)


class Crossed(Section):
    """A metric of the crossing."""

    metric: str = Field(min_length=1, description="as in `excam score --metric`: a metric of ours, or a Python module")
    model: Name | None = Field(default=None, description="an entry of `models` that judges; null: the metric asks none")
    trained_on: DatasetName | None = Field(
        default=None, description="the mixture of the model's adapter; null: no adapter"
    )
    parts: list[str] = Field(default=[], description="parts of the score that are shown as metrics of their own")
    evidence: bool = Field(default=False, description="give it the documents of `calmqa.evidence`")

    @property
    def judge(self) -> str:
        """Return what signatures call the model, with what it was tuned on; "none" without a model."""
        return "/".join(filter(None, [self.model, self.trained_on])) or "none"


class Crossing(Section):
    """Several metrics on the labelled rows of all systems that are switched on (docs/crossing.md)."""

    metrics: dict[Name, Crossed] = Field(min_length=1)
    sets: list[RowSet] = Field(default=[], description="row sets that are scored; none: all that are switched on")
    contents: int | None = Field(
        default=None, ge=1, description="questions, items and scenarios that are drawn of each system; null: all"
    )


def check(
    section: Crossing,
    models: Sequence[str],
    adapters: Sequence[tuple[str, str]],
    labelled: Mapping[RowSet, bool],
    at: Place,
) -> None:
    """Raise ConfigInvalid for a set without labels, or a metric whose model, adapter or documents are not there.

    Args:
        section: of the crossing
        models: the entries of `models:`
        adapters: (model, mixture) of each that is trained
        labelled: whether a set of rows has labels, by its name
        at: where the experiment is written
    """
    for name in section.sets:
        if not labelled[name]:
            raise at.invalid(f"crossing.sets: {name}: no labelled rows; expected its section, with labels")
    for name, crossed in section.metrics.items():
        entry = f"crossing.metrics.{name}"
        at.known_models(crossed, entry, ("model",), models)
        if crossed.trained_on and (crossed.model, crossed.trained_on) not in adapters:
            trained = ", ".join("/".join(pair) for pair in adapters) or "none"
            raise at.invalid(f"{entry}: no such adapter: `{crossed.judge}`; known: {trained}; or `crossing: null`")
