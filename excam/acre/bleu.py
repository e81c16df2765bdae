"""Sentence BLEU with a reference, for `excam score --metric excam.acre.bleu`. Asks no model."""

from __future__ import annotations

from functools import partial

from excam.acre.reference import COLUMNS, DIRECTION, MAX_TOKENS, WORDING, compared
from excam.acre.sentence_metrics import bleu

NAME, VERSION = "bleu", 1
flow = partial(compared, measure=bleu)
__all__ = ["COLUMNS", "DIRECTION", "MAX_TOKENS", "NAME", "VERSION", "WORDING", "flow"]
