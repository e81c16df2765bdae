"""What a base model knows of the facts behind test rows: the likelihood of the right answer against the wrong ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from excam.error_reports.records import BaseSample
from excam.excam40k.corpus import answer, bare_question
from excam.inference import Flow, Message, ask_for_choice

SCHEMA: dict[str, Any] = {
    "base": pl.String,
    "dataset": pl.String,
    "options": pl.Int64,  # answers compared, the right one among them
    "margin": pl.Float64,  # log-likelihood of the right answer minus that of the likeliest wrong one, in nats
}


def margin(base: BaseSample) -> Flow[float | None]:
    """Ask how likely each answer is to the bare question; return the margin of the right one, None if it is unknown."""
    options = tuple(answer(one) for one in (base.answer, *base.wrong))
    choice = yield from ask_for_choice((Message("user", bare_question(base)),), options)
    return None if choice.logprobs is None else choice.logprobs[0] - max(choice.logprobs[1:])


def table(bases: Sequence[BaseSample], margins: Sequence[float | None]) -> pl.DataFrame:
    """Return one row for each fact, with the columns of SCHEMA."""
    rows = [(base.id, base.dataset, 1 + len(base.wrong), found) for base, found in zip(bases, margins, strict=True)]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")
