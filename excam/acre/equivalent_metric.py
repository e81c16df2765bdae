"""The judge without a model, for `excam score --metric excam.acre.equivalent_metric`: 1 if the expression survived."""

from __future__ import annotations

from excam.acre import equivalent
from excam.core.exceptions import InputInvalid
from excam.inference import Flow
from excam.scoring.metrics import Outcome, Row, Wording
from excam.scoring.scored import Direction

NAME, MAX_TOKENS = "acre.equivalent", 0
VERSION = equivalent.VERSION
DIRECTION: Direction = "higher"
COLUMNS = ("translation",)
OPTIONAL = ("explication", "equivalent", "accepted", "literal")  # a row without the first three is a failure
WORDING = Wording("share of translations in which the expression survived", legend="1: it survived; 0: it is lost")


def flow(row: Row) -> Flow[Outcome]:
    """Return whether the translation holds an accepted equivalent, or enough words of the explication."""
    values = {name: row.values.get(name) for name in OPTIONAL}
    for name in ("accepted", "literal"):
        if not isinstance(values[name] or [], list):
            raise InputInvalid(f"{row.id}: {name}: found {str(values[name])[:40]}; expected a list of texts")
    item = equivalent.Expected(
        row.id,
        str(values["explication"] or ""),
        str(values["equivalent"] or ""),
        tuple(values["accepted"] or ()),
        tuple(values["literal"] or ()),
    )
    if not equivalent.comparable(item):
        return Outcome(None, "nothing-to-compare")
    found = equivalent.judge(item, row.texts["translation"])
    return Outcome(float(found.valid), None, {"reason": found.reason, "evidence": found.evidence})
    yield  # a flow that asks nothing
