"""BERTScore's F1 with a reference, for `excam score --metric excam.acre.bertscore --model ENCODER`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from excam.acre.reference import COLUMNS, DIRECTION, MAX_TOKENS, WORDING
from excam.acre.sentence_metrics import bertscore, named
from excam.core.exceptions import InputInvalid
from excam.core.extras import require_extra
from excam.inference import Flow
from excam.scoring.evidence import Index
from excam.scoring.metrics import Outcome, Row
from excam.scoring.scored import Direction

NAME, VERSION = "bertscore", 1
LAYER = 6  # whose hidden states are compared: the last one of MiniLM
__all__ = ["COLUMNS", "DIRECTION", "MAX_TOKENS", "NAME", "VERSION", "WORDING", "flow", "prepare"]


def flow(row: Row) -> Flow[Outcome]:
    """Refuse: all rows are measured together, in `prepare`."""
    raise InputInvalid("metric bertscore: scored row by row; expected a file: `excam score FILE`")


def prepare(rows: Iterable[Row], model: str, evidence: Index | None) -> Measured:
    """Return the metric with the scores of all rows, by the encoder in the folder `model`."""
    require_extra("translation", "bert_score")
    if evidence is not None:
        raise InputInvalid("--evidence: metric bertscore uses none; leave it out")
    found = list(rows)
    texts = [(one.texts["translation"], one.texts["reference"]) for one in found]
    column = bertscore(texts, Path(model), named(Path(model)), LAYER)
    return Measured({one.id: score for one, score in zip(found, column.scores, strict=True)}, column.signature)


@dataclass(frozen=True)
class Measured:
    """The metric for the rows of one file; `scores` are by row id."""

    scores: Mapping[str, float]
    SETTINGS: str  # a constant of the interface

    NAME, VERSION, COLUMNS, MAX_TOKENS, WORDING = NAME, VERSION, COLUMNS, MAX_TOKENS, WORDING
    DIRECTION: Direction = DIRECTION

    def flow(self, row: Row) -> Flow[Outcome]:
        """Return the score of a row without a request."""
        return Outcome(self.scores[row.id])
        yield  # a flow that asks nothing
