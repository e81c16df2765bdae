"""What a base model knows of the facts behind test rows: the likelihood of the right answer against the wrong ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import polars as pl

from excam.error_reports.records import BaseSample
from excam.excam40k.corpus import answer, bare_question
from excam.inference import Flow, Message, ask_for_choice

SCHEMA: dict[str, Any] = {
    "base": pl.String,
    "dataset": pl.String,
    "options": pl.Int64,  # answers compared, the right one among them
    "margin": pl.Float64,  # log-likelihood of the right answer minus that of the likeliest wrong one, in nats
    "choice": pl.String,  # the likeliest answer, the right one only if it is likelier than every wrong one
}


class Preference(NamedTuple):
    """The margin of the right answer in nats, and the likeliest answer; two None if it is unknown."""

    margin: float | None
    choice: str | None


def preference(base: BaseSample) -> Flow[Preference]:
    """Ask how likely each answer is to the bare question; return which one is preferred, and by how much."""
    options = (base.answer, *base.wrong)
    asked = Message("user", bare_question(base))
    choice = yield from ask_for_choice((asked,), tuple(answer(option) for option in options))
    return Preference(None, None) if choice.logprobs is None else preferred(options, choice.logprobs)


def preferred(options: Sequence[str], logprobs: Sequence[float]) -> Preference:
    """Return the preference among answers with these log-likelihoods; the first one is the right answer."""
    best = max(range(1, len(options)), key=logprobs.__getitem__)
    margin = logprobs[0] - logprobs[best]
    return Preference(margin, options[0] if margin > 0 else options[best])


def table(bases: Sequence[BaseSample], preferences: Sequence[Preference]) -> pl.DataFrame:
    """Return one row for each fact, with the columns of SCHEMA."""
    rows = [
        (base.id, base.dataset, 1 + len(base.wrong), measured.margin, measured.choice)
        for base, measured in zip(bases, preferences, strict=True)
    ]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")
