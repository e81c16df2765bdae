"""The rubric by likelihoods, for `excam score --metric excam.rubric.choice_metric`: for models too small to write JSON.

Overall is the rounded mean of the likeliest scores, so it has few values; the parts have the expected scores as well.
"""

from __future__ import annotations

from excam.inference import Flow
from excam.rubric import asks
from excam.rubric.metric import COLUMNS, DIRECTION, OPTIONAL, PAIR, VERSION, WORDING, outcome, response_of, rubric
from excam.scoring.metrics import Outcome, Row

NAME, MAX_TOKENS, SETTINGS = "rubric.choice", 1, "by:choose"
__all__ = [
    "COLUMNS",
    "DIRECTION",
    "MAX_TOKENS",
    "NAME",
    "OPTIONAL",
    "PAIR",
    "SETTINGS",
    "VERSION",
    "WORDING",
    "flow",
]


def flow(row: Row) -> Flow[Outcome]:
    """Ask for the likelihood of each score of each dimension. Raise InputInvalid for an invalid fact about the task."""
    response = response_of(row)
    rating = yield from asks.choose(response, rubric(), "model")
    found = outcome(rating, response)
    if found.score is None:
        return found
    expected = {
        f"expected_{name}": sum(score * chance for score, chance in enumerate(chances, 1))
        for name, chances in rating.chances.items()
    }
    mean = {"expected_mean": sum(expected.values()) / len(expected)}
    return Outcome(found.score, None, {**found.parts, **expected, **mean}, found.explanation, found.spans)
