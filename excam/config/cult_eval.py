"""Section `cult_eval`: CulT-Eval and ACRE."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from excam.config.base import Name, Place, Section

MetricName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$", max_length=60)]


class CultEval(Section):
    """CulT-Eval and ACRE: translations of culture-loaded expressions, and metrics of them (docs/cult-eval.md)."""

    folder: str = Field(description="local folder with items.jsonl, and translations/, labels.jsonl, example.jsonl")
    models: list[Name] = Field(default=[], description="models that translate the items")
    shots: list[Literal[0, 1]] = Field(default=[0], description="examples in the prompt; models of seq2seq take none")
    no_example: list[Name] = Field(default=[], description="of `models`, those that never see an example")
    judges: list[Name] = Field(default=[], description="models that judge as ACRE, beside the judge without a model")
    mode: Literal["choose", "text"] = Field(
        default="text", description="how judges answer: a generated line, or the likelihood of each answer"
    )
    variants: list[Literal["full", "no-gate", "no-routing", "no-explication", "no-reference"]] = Field(
        default=["full", "no-gate", "no-routing", "no-explication", "no-reference"], min_length=1
    )
    encoder: Name | None = Field(default=None, description="an entry of `models`, for BERTScore")
    layer: int = Field(default=6, ge=1, description="of the encoder, from which BERTScore takes hidden states")
    scores: dict[MetricName, str] = Field(
        default={},
        description="more metrics by name: files of `excam score`, or lines of id, score and signature",
    )


def check(section: CultEval, models: Sequence[str], at: Place) -> None:
    """Raise ConfigInvalid for a model that is not there."""
    at.known_models(section, "cult_eval", ("models", "no_example", "judges", "encoder"), models)
