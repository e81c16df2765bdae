"""The contract of a reader: passages, a question and a text, and how far the passages support the text."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Protocol

from excam.inference import Flow

LEAST = 1e-6  # in place of a probability of 0, whose logarithm there is not


@dataclass(frozen=True, slots=True)
class Task:
    """What is read: a text of one sentence, or a short answer, beside passages."""

    question: str  # that the text answers; "" if it answers none
    text: str
    passages: tuple[str, ...]  # "title: text", the best first
    unrelated: str = ""  # a passage of another subject, for contrast; "" if there is none
    language: str = ""  # English name; "" if unknown


@dataclass(frozen=True, slots=True)
class Mark:
    """A word of the text, half-open characters, and the probability in [0, 1] that no passage supports it."""

    start: int
    end: int
    unsupported: float


@dataclass(frozen=True, slots=True)
class Reading:
    """How far passages support a text: three probabilities in [0, 1] with sum 1.

    A reader that does not tell a contradiction from what is not stated gives the probability of either as
    `contradicted`, and has `tells_contradiction` False.
    """

    supported: float
    contradicted: float
    not_stated: float
    passages: tuple[int, ...] = ()  # places of the passages that decide; empty: none, or the reader's own knowledge
    marks: tuple[Mark, ...] = ()  # in order; empty: the reader marks no words
    expected: str = ""  # what the reader says that the passages say; "" if it says nothing
    because: str = ""  # why it is not known, if it is not
    reason: str = ""  # what decided, for programs
    failure: str = ""  # why there is no reading: one of `SHARED_REASONS`; the probabilities then mean nothing
    thinking: str = ""  # reasoning before an answer

    @property
    def margin(self) -> float | None:
        """Return the log-odds of supported against contradicted in nats; None if not stated is likeliest."""
        if self.failure or self.not_stated > max(self.supported, self.contradicted):
            return None
        return math.log(max(self.supported, LEAST)) - math.log(max(self.contradicted, LEAST))


def reading(margin: float | None, **more: Any) -> Reading:
    """Return a reading of these log-odds of supported against contradicted; not stated if they are None."""
    if margin is None:
        return Reading(0.0, 0.0, 1.0, **more)
    supported = 1 / (1 + math.exp(-max(-13.0, min(13.0, margin))))
    return Reading(supported, 1 - supported, 0.0, **more)


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What a reader is chosen by: what a model is, without loading it."""

    name: str  # of the folder, or as a server calls it
    architecture: str = ""  # the class of config.json, such as BertForSequenceClassification; "" behind a server
    labels: tuple[str, ...] = field(default=())  # of a classifier, by id

    def is_a(self, kind: str) -> bool:
        """Return whether the architecture is of a kind of transformers, such as ForTokenClassification."""
        return self.architecture.endswith(kind)


class Reader(Protocol):
    """What reads. Every request goes through the flow, so that journal, batches and resumption are those of judges."""

    signature: str  # name and version of the reader, with what else its readings depend on beside the model
    tells_contradiction: bool

    def read(self, task: Task) -> Flow[Reading]: ...


class Kind(Protocol):
    """The interface of a module of `excam.error_reports.readers`."""

    VERSION: int
    WAYS: tuple[str, ...]  # of comparing, where a reader has several; () where there is one

    def reader(self, model: ModelFacts | None, way: str = "") -> Reader | None:
        """Return the reader for a model, None if it is of another kind; `model` is None where there is none.

        `way` is one of WAYS, by default the one that this model is fit for. Raises ModelInvalid for a model of this
        kind that it cannot read with, such as one of unknown labels.
        """
        ...
