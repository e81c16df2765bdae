"""ACRE as a metric for `excam score --metric acre`: one row per translation, asked by text.

`excam acre rows` makes such rows of items and translations. `excam.acre.choice_metric` asks by likelihoods, for models
too small to write JSON.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from excam.acre import asks
from excam.acre.items import CATEGORIES
from excam.core.exceptions import InputInvalid
from excam.inference import Flow
from excam.scoring.metrics import Outcome, Row, Wording
from excam.scoring.scored import Direction

NAME, MAX_TOKENS = "acre", 512
VERSION = asks.VERSION + 1  # before, the protocol of a row was ignored
DIRECTION: Direction = "higher"
COLUMNS = ("source", "term", "translation", "category", "reference")
# a row without explication is a failure; protocol: A or B, in place of the one that follows from the category
OPTIONAL = ("explication", "protocol")
SETTINGS = asks.signature("full", "text", "mean")
WORDING = Wording(
    "mean of ACRE = validity x quality, more is better", legend="0: the expression is lost; else 0.2 to 1"
)


def judged(row: Row, mode: asks.Mode) -> Flow[Outcome]:
    """Ask about one translation. Raise InputInvalid for an unknown category or protocol."""
    values: dict[str, Any] = {name: str(row.values[name]) for name in COLUMNS}
    values["explication"] = str(row.values.get("explication") or "")
    values["protocol"] = row.values.get("protocol")
    for name, known in (("category", CATEGORIES), ("protocol", ("A", "B", None))):
        if values[name] not in known:
            expected = ", ".join(one for one in known if one)
            raise InputInvalid(f"{row.id}: {name}: found {str(values[name])[:40]}; expected {expected}")
    found = yield from asks.acre(asks.Case(id=row.id, **values), "full", mode)
    return Outcome(found.acre, found.failure, asks.parts(found), found.rationale)


flow = partial(judged, mode="text")
