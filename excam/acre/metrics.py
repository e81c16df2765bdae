"""Metrics of translations: ACRE by text or by likelihoods, its judge without a model, and BLEU, chrF++, BERTScore.

`excam acre rows` makes rows of items and translations; a row has one translation.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from excam.acre import asks, equivalent, sentence_metrics
from excam.acre.items import CATEGORIES
from excam.core.exceptions import InputInvalid
from excam.core.extras import require_extra
from excam.inference import Flow
from excam.scoring.metric import Asks, Metric, Outcome, Row, Setup

BERTSCORE_LAYER = 6  # whose hidden states are compared: the last one of MiniLM


class Acre(Metric):
    """ACRE by texts: validity times quality of the translation of one expression."""

    name = "acre"
    version = asks.VERSION + 1  # before, the protocol of a row was ignored
    columns = ("source", "term", "translation", "category", "reference")
    # a row without explication is a failure; protocol: A or B, in place of the one that follows from the category
    optional = ("explication", "protocol")
    scores_blank = True  # an empty translation has 0
    structured = True
    title, mean = "ACRE of translations", "mean of ACRE = validity x quality, more is better"
    legend = "0: the expression is lost; else 0.2 to 1"
    range = (0.0, 1.0)
    mode: ClassVar[asks.Mode] = "text"
    example: ClassVar[Mapping[str, Any]] = {
        "source": "他在坐月子。",
        "term": "坐月子",
        "translation": "He is in confinement.",
        "category": "Social",
        "reference": "She is in her month of confinement.",
        "explication": "a month of rest after childbirth",
    }

    @property
    def signature(self) -> str:
        """Return the metric's part of a signature."""
        return f"{asks.signature('full', self.mode)}|{super().signature}"

    def flow(self, row: Row) -> Flow[Outcome]:
        """Ask about one translation. Raise InputInvalid for an unknown category or protocol."""
        values: dict[str, Any] = {name: str(row.values[name]) for name in self.columns}
        values["explication"] = str(row.values.get("explication") or "")
        values["protocol"] = row.values.get("protocol")
        for name, allowed in (("category", CATEGORIES), ("protocol", ("A", "B", None))):
            if values[name] not in allowed:
                expected = ", ".join(value for value in allowed if value)
                raise InputInvalid(f"{row.id}: {name}: found {str(values[name])[:40]}; expected {expected}")
        judged = yield from asks.acre(asks.Case(row=row.id, mode=self.mode, **values))
        return Outcome(judged.acre, judged.failure, asks.parts(judged), judged.rationale)


class _AcreChoice(Acre):
    """ACRE by likelihoods, for models too small to write JSON."""

    name, structured, mode = "acre-choice", False, "choose"
    asks: ClassVar[Asks] = "likelihoods"


class _Equivalent(Metric):
    """ACRE's judge without a model: 1 if the expression survived."""

    name, version, asks = "acre-equivalent", equivalent.VERSION, "nothing"
    columns = ("translation",)
    optional = ("explication", "equivalent", "accepted", "literal")  # a row without the first three is a failure
    values, scores_blank = ("accepted", "literal"), True
    title, legend = "Expressions that survived translation", "1: it survived; 0: it is lost"
    mean = "share of translations in which the expression survived"
    range = (0.0, 1.0)

    def flow(self, row: Row) -> Flow[Outcome]:
        """Return whether the translation holds an accepted equivalent, or enough words of the explication."""
        values = {name: row.values.get(name) for name in self.optional}
        for name in self.values:
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
        verdict = equivalent.judge(item, row.texts["translation"])
        return Outcome(float(verdict.valid), None, {"reason": verdict.reason, "evidence": verdict.evidence})
        yield  # a flow that asks nothing


class _WithReference(Metric):
    """A metric of a translation and its reference that asks no model."""

    version, asks = 1, "nothing"
    columns = ("translation", "reference")
    scores_blank, mean = True, "mean over sentences, more is better"


class _Bleu(_WithReference):
    """Sentence BLEU."""

    name, version, title, range = "bleu", 2, "Sentence BLEU", (0.0, 100.0)  # before 2 all texts were split as English
    columns = (*_WithReference.columns, "target_language")
    stand_ins: ClassVar[Mapping[str, str]] = {"target_language": "English"}

    @property
    def signature(self) -> str:
        """Return the metric's part of a signature: which languages are split by another tokenizer than the usual."""
        others = ",".join(f"{language}:{name}" for language, name in sentence_metrics.TOKENIZERS.items())
        return f"tok:{sentence_metrics.TOKENIZER},{others}|{super().signature}"

    def flow(self, row: Row) -> Flow[Outcome]:
        """Return the score of one translation without a request. Raise InputInvalid for an unknown language."""
        tokenizer = sentence_metrics.tokenizer(row.texts["target_language"])
        texts = [(row.texts["translation"], row.texts["reference"])]
        return Outcome(sentence_metrics.bleu(texts, [tokenizer]).scores[0], parts={"tokenizer": tokenizer})
        yield


class _Chrf(_WithReference):
    """Sentence chrF++."""

    name, title, range = "chrf", "Sentence chrF++", (0.0, 100.0)

    def flow(self, row: Row) -> Flow[Outcome]:
        """Return the score of one translation without a request."""
        return Outcome(sentence_metrics.chrf([(row.texts["translation"], row.texts["reference"])]).scores[0])
        yield


class _BertScore(_WithReference):
    """BERTScore's F1 by an encoder; all rows of a file are measured together."""

    name, title, range = "bertscore", "BERTScore", (-1.0, 1.0)
    needs_model = needs_file = True

    def __init__(self) -> None:
        self._encoder: Path | None = None
        self._scores: Mapping[str, float] = {}
        self._details = ""

    def prepared(self, setup: Setup) -> _BertScore:
        """Return the metric with the encoder in the folder of a model."""
        require_extra("translation", "bert_score")
        other = copy.copy(self)
        other._encoder = setup.model.weights if setup.model else None
        return other

    def for_rows(self, rows: Iterable[Row]) -> _BertScore:
        """Return the metric with the scores of all rows. Raise InputInvalid for a model without weights here."""
        if self._encoder is None:
            raise InputInvalid("--model: metric bertscore needs the folder of an encoder; expected one on this machine")
        other, valid_rows = copy.copy(self), [row for row in rows if not row.failure]
        texts = [(row.texts["translation"], row.texts["reference"]) for row in valid_rows]
        column = sentence_metrics.bertscore(texts, self._encoder, "by content", BERTSCORE_LAYER)
        other._scores = {row.id: score for row, score in zip(valid_rows, column.scores, strict=True)}
        other._details = column.signature.replace("|encoder:by content", "")
        return other

    @property
    def signature(self) -> str:
        """Return the metric's part of a signature."""
        return "|".join(filter(None, (self._details, super().signature)))

    def flow(self, row: Row) -> Flow[Outcome]:
        """Return the score of a row without a request."""
        return Outcome(self._scores[row.id])
        yield


METRICS = (Acre(), _AcreChoice(), _Equivalent(), _Bleu(), _Chrf(), _BertScore())
