"""What the metrics share that compare a translation with a reference and ask no model."""

from __future__ import annotations

from collections.abc import Callable

from excam.acre.sentence_metrics import Column, Texts
from excam.inference import Flow
from excam.scoring.metrics import Outcome, Row, Wording
from excam.scoring.scored import Direction

COLUMNS = ("translation", "reference")
DIRECTION: Direction = "higher"
MAX_TOKENS = 0
WORDING = Wording("mean over sentences, more is better")


def compared(row: Row, measure: Callable[[Texts], Column]) -> Flow[Outcome]:
    """Return the score of one translation without a request."""
    found = measure([(row.texts["translation"], row.texts["reference"])])
    return Outcome(found.scores[0])
    yield  # a flow that asks nothing
