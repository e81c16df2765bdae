"""Section `macaron`: the benchmark Macaron."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from excam.config.base import Name, Place, Section

Category = Literal["thinking", "standard", "open-weight"]  # of a model, as in Tables 3 and 5


class Macaron(Section):
    """The benchmark Macaron: where its scenarios come from, and which models are asked (docs/macaron.md)."""

    folder: str = Field(
        description="local folder with templates.yaml, contexts.csv and exports/, or with the official tables"
    )
    models: list[Name] = Field(default=[], description="asked in each of `modes`")
    modes: list[Literal["choose", "letter", "text"]] = Field(
        default=["choose", "text"],
        description="the likelihood of each answer's line, of its letter as in the paper, or a generated line",
    )
    thinking: list[Name] = Field(default=[], description="models that reason before they answer")
    categories: dict[Name, Category] = Field(
        default={},
        description="of models, for averages; what a model answers in mode thinking counts as `thinking`",
    )
    proofreader: Name | None = Field(default=None, description="the model that corrects the English texts")
    columns: dict[str, str] = Field(default={}, description="names of official columns, ours to theirs")


def check(section: Macaron, models: Sequence[str], at: Place) -> None:
    """Raise ConfigInvalid for a model that is not there or not asked, or if nobody answers."""
    at.known_models(section, "macaron", ("models", "thinking", "proofreader"), models)
    for name in section.categories:
        at.known(name, "macaron.categories", "model that is asked", [*section.models, *section.thinking])
    if not (section.models and section.modes) and not section.thinking:
        raise at.invalid("macaron: nobody answers; expected `models` or `thinking`")
