"""A judge without a model: the share of an answer's words that stand in the best of the passages found.

It is the floor of `docs/grounded/grounded.csv` (judge `overlap`): an answer that says the same in other words counts as
wrong, and one that has a passage's words in another sense as right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from excam.error_reports.content_words import unsupported
from excam.knowledge.index import Index
from excam.knowledge.passages import overlap
from excam.scoring.metric import Description, Metric, Outcome, Row
from excam.scoring.results import NOT_KNOWN
from excam.scoring.spans import ErrorSpan, Severity

THRESHOLD = 0.596  # fitted on dev rows: docs/grounded/grounded.csv, judge overlap
TYPE = "not in the documents"


class WordsInDocuments(Metric):
    """Marks the words of an answer that neither the best passage nor the question has, if it has many: one error."""

    name = "words-in-documents"
    version = 3
    columns = ("instruction", "output")
    pair = ("instruction", "output")
    asks = "nothing"
    title = "Answers and documents"
    mean = "mean, more is better"
    legend = "−1 with many words that no document has, else the share of words that one has"
    weights: ClassVar[Mapping[Severity, int]] = {"minor": -1}
    lists_errors = True

    def __init__(self, index: Index) -> None:
        self._index = index

    @property
    def signature(self) -> str:
        return f"{super().signature}|{self._index.signature}"

    @property
    def description(self) -> Description:
        return replace(super().description, certainty="share of words")

    def flow(self, row: Row) -> Outcome:
        """Return the outcome for an answer; not known where no passage shares a word with it."""
        question, text = row.texts["instruction"], row.texts["output"]
        hits = self._index.passages_for(question, text, **row.labels)
        shares = [overlap(text, [passage.as_line]) or 0.0 for passage in hits]
        if not any(shares):
            return Outcome(None, NOT_KNOWN, {"because": "no passage shares a word with it"})
        best = hits[shares.index(max(shares))]
        parts = {"evidence": [best.id], "passages": [f"{best.id}: {best.as_line}"]}
        if max(shares) >= THRESHOLD:
            return Outcome(max(shares), None, parts, certainty=max(shares))
        errors = [error] if (error := longest_unsupported(text, (question, best.as_line))) else []
        said = f"{max(shares):.0%} of its words stand in the document; from {THRESHOLD:.0%} on it counts as right."
        return Outcome(-float(len(errors)), None, parts, said, errors)


def longest_unsupported(text: str, known: Sequence[str]) -> ErrorSpan | None:
    """Return the longest run of content words of a text that no other text holds; None if all are held."""
    start, end = max(unsupported(text, known), key=lambda run: run[1] - run[0], default=(0, 0))
    return ErrorSpan("output", text[start:end], "minor", TYPE, start, end) if end else None
