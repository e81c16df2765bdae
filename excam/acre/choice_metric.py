"""ACRE by likelihoods, for `excam score --metric excam.acre.choice_metric`: for models too small to write JSON."""

from __future__ import annotations

from functools import partial

from excam.acre import asks
from excam.acre.metric import COLUMNS, DIRECTION, MAX_TOKENS, OPTIONAL, VERSION, WORDING, judged

NAME = "acre.choice"
SETTINGS = asks.signature("full", "choose", "mean")
flow = partial(judged, mode="choose")
__all__ = ["COLUMNS", "DIRECTION", "MAX_TOKENS", "NAME", "OPTIONAL", "SETTINGS", "VERSION", "WORDING", "flow"]
