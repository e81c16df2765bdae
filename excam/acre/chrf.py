"""Sentence chrF++ with a reference, for `excam score --metric excam.acre.chrf`. Asks no model."""

from __future__ import annotations

from functools import partial

from excam.acre.reference import COLUMNS, DIRECTION, MAX_TOKENS, WORDING, compared
from excam.acre.sentence_metrics import chrf

NAME, VERSION = "chrf", 1
flow = partial(compared, measure=chrf)
__all__ = ["COLUMNS", "DIRECTION", "MAX_TOKENS", "NAME", "VERSION", "WORDING", "flow"]
