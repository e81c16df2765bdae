"""Section `calmqa`: CaLMQA's score of long answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from excam.config.base import Name, Place, Section


class Repetition(Section):
    """When a long answer repeats itself: so many o200k tokens in a row, so many times."""

    tokens: int = Field(default=20, ge=2, description="the authors' code; their text says more than 20")
    times: int = Field(default=4, ge=2, description="the authors' code; their text says more than 4")


class Calmqa(Section):
    """CaLMQA's score of long answers (docs/calmqa.md). `rules` in place of a model asks none."""

    questions: str = Field(description="local folder with questions in the official columns")
    models: list[Name] = Field(default=[], description="models that answer")
    written: str | None = Field(default=None, description="local folder with written answers, shown like models")
    detector: Literal["cld2", "langid"] = Field(default="cld2", description="names the language of an answer")
    repetition: Repetition = Repetition()
    translator: Name | None = Field(default=None, description="the model that translates answers; null: as they are")
    extractor: Name = Field(default="rules", description="the model that lists claims; rules: sentences")
    verifier: Name = Field(default="rules", description="the model that verifies claims; rules: overlap of words")
    relevance: Name = Field(default="rules", description="the model that rates relevance; rules: the encoder's cosine")
    encoder: Name | None = Field(default=None, description="a sentence encoder, for `relevance: rules`")
    evidence: str = Field(description="local folder with documents: id, title, text, licence")
    passages: int = Field(default=10, ge=1, description="passages for a claim")
    factuality: Literal["f1@k", "precision"] = Field(default="f1@k", description="S_fact; both are columns")
    people: str | None = Field(default=None, description="CSV file with ratings of people, for the regression")


def check(section: Calmqa, models: Sequence[str], at: Place) -> None:
    """Raise ConfigInvalid for a model that is not there, if nobody answers, or for `rules` in a wrong place."""
    roles = ("translator", "extractor", "verifier", "relevance", "encoder")
    model_roles = [role for role in roles if getattr(section, role) != "rules"]
    at.known_models(section, "calmqa", ["models", *model_roles], models)
    if not section.models and not section.written:
        raise at.invalid("calmqa: nobody answers; expected `models` or `written`")
    if "rules" in (section.translator, section.encoder) or (section.relevance == "rules" and not section.encoder):
        raise at.invalid(
            "calmqa.relevance: rules without an encoder; expected `encoder`, or a model; only extractor, "
            "verifier and relevance can be `rules`"
        )
