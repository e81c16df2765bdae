"""Section `rubric`: ratings by the scoring manual."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from excam.config.base import Name, Place, Section


class Rubric(Section):
    """Ratings by the scoring manual: what is rated, who rated it, and which models rate it too (docs/rubric.md)."""

    responses: str = Field(description="local .jsonl file, or a folder of them, with the responses")
    version: str = Field(default="manual-0.1", description="of the manual, or the .yaml file of a study's version")
    models: list[Name] = Field(default=[], description="models that rate")
    mode: Literal["text", "choose"] = Field(
        default="text", description="a rating with reasons as JSON, or the likelihood of each score"
    )
    people: str | None = Field(default=None, description="their ratings: a .jsonl file, or a folder of them")
    evaluator: str | None = Field(default=None, description="who rates every response; null: no campaign is drawn")
    validators: list[str] = Field(default=[], description="who rates a share of them")
    overlap: float = Field(default=0.2, ge=0, le=1, description="that share, after calibration")
    calibration: int = Field(default=25, ge=0, description="responses that all rate first; the manual wants 20 to 30")


def check(section: Rubric, models: Sequence[str], at: Place) -> None:
    """Raise ConfigInvalid for a rater that is not there, or if nobody rates."""
    at.known_models(section, "rubric", ("models",), models)
    if not (section.models or section.people or section.evaluator):
        raise at.invalid("rubric: nobody rates; expected `models`, `people` or `evaluator`")
