"""The contract of a reader: passages, a question and a text, and how far the passages support the text."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Protocol

from excam.core.sentences import sentence_places
from excam.inference import Choice, Choose, Flow
from excam.inference.run import together

DISAGREEING = "passages disagree"
UNRELATED = "the passage is about something else"
MINICHECK = "minicheck"  # in the name of a model: no file of it says how it was trained
LEAST = 1e-6  # in place of a probability of 0, whose logarithm there is not


@dataclass(frozen=True, slots=True)
class Task:
    """What is read: a short answer to a question, or a sentence that stands alone, beside passages."""

    question: str  # of a sentence the instruction that its text follows, "" if there is none
    text: str
    passages: tuple[str, ...]  # "title: text", the best first
    is_sentence: bool = False
    language: str = ""  # English name; "" if unknown

    @property
    def claim(self) -> str:
        """Return the text as a statement that can be read alone: an answer behind its question."""
        return self.text if self.is_sentence else f"{self.question} {self.text}".strip()

    @property
    def topic(self) -> str:
        """Return what passages must be about."""
        return self.text if self.is_sentence else self.question


@dataclass(frozen=True, slots=True)
class Mark:
    """A word of the text, half-open characters, and the probability in [0, 1] that no passage supports it."""

    start: int
    end: int
    unsupported: float


@dataclass(frozen=True, slots=True)
class Support:
    """How far passages support a text: three probabilities in [0, 1] with sum 1.

    A reader that does not tell a contradiction from what is not stated gives the probability of either as
    `contradicted`, and has `tells_contradiction` False.
    """

    supported: float
    contradicted: float
    not_stated: float
    passages: tuple[int, ...] = ()  # places of the passages that decide; empty: none
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


def reading(margin: float | None, **more: Any) -> Support:
    """Return a reading of these log-odds of supported against contradicted; not stated if they are None."""
    if margin is None:
        return Support(0.0, 0.0, 1.0, **more)
    supported = 1 / (1 + math.exp(-max(-13.0, min(13.0, margin))))
    return Support(supported, 1 - supported, 0.0, **more)


Part = tuple[float, int]  # a probability by a part of the evidence, and the place of its passage


def of_parts(supported: Sequence[Part], contradicted: Sequence[Part] = ()) -> Support:
    """Return the reading of a text by several passages, from the probabilities by each, or by each window of them.

    What one supports is supported, whatever others leave open. Where one supports the text and another contradicts it,
    both likelier than not, passages disagree, and it is not known. `contradicted` is empty for a reader that does not
    tell it from what is not stated.
    """
    best, place = max(supported, key=itemgetter(0))
    if not contradicted:
        return Support(best, 1 - best, 0.0, (place,))
    worst, other = max(contradicted, key=itemgetter(0))
    if place != other and min(best, worst) > 0.5:
        return Support(0.0, 0.0, 1.0, (place, other), because=DISAGREEING)
    at = place if best >= worst else other
    sides = [max((value for value, where in side if where == at), default=0.0) for side in (supported, contradicted)]
    whole = max(1.0, sum(sides))  # of several windows of a passage
    return Support(sides[0] / whole, sides[1] / whole, max(0.0, 1 - sum(sides)), (at,))


TOO_LONG = reading(None, because="longer than the model reads")


def ask_in_windows(document: str, ask: Callable[[str], Choose]) -> Flow[list[tuple[float, ...]]]:
    """Ask about a document, or about its halves if it does not fit, and so on; return the answers that there are."""
    (choice,) = yield [ask(document)]
    assert isinstance(choice, Choice), "a Choose is answered by a Choice"
    if choice.logprobs is not None:
        return [choice.logprobs]
    parts = halves(document)
    return [answer for part in (yield from together([ask_in_windows(part, ask) for part in parts])) for answer in part]


def halves(text: str) -> tuple[str, ...]:
    """Return the two halves of a text, cut between sentences, else between words; () if it cannot be cut."""
    middle = len(text) / 2
    cuts = [start for start, _ in sentence_places(text, "root")[1:]] or [
        at for at, sign in enumerate(text) if sign == " "
    ]
    at = min(cuts, key=lambda cut: abs(cut - middle), default=0)
    parts = text[:at].strip(), text[at:].strip()
    return parts if all(parts) else ()


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What a reader is chosen by: what a model is, without loading it."""

    names: tuple[str, ...]  # of its folder or as a server calls it, and where it came from
    architecture: str = ""  # the class of config.json, such as BertForSequenceClassification; "" behind a server
    labels: tuple[str, ...] = ()  # of a classifier, by id
    writes: bool = True  # whether it answers with texts
    fitted: Mapping[str, Any] | None = None  # of an adapter that was trained to read, from its manifest

    @property
    def name(self) -> str:
        return self.names[0]

    def is_called(self, name: str) -> bool:
        """Return whether one of its names holds this one; signs and case do not count."""
        return any(_letters(name) in _letters(known) for known in self.names)

    def is_a(self, kind: str) -> bool:
        """Return whether the architecture is of a kind of transformers, such as ForTokenClassification."""
        return self.architecture.endswith(kind)


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name.casefold()))


class TextReader(Protocol):
    """What reads. Every request goes through the flow, so that journal, batches and resumption are those of judges."""

    @property
    def signature(self) -> str:
        """Return name and version, with what else readings depend on beside the model."""
        ...

    @property
    def tells_contradiction(self) -> bool:
        """Return whether it tells what passages contradict from what they do not say."""
        ...

    @property
    def states(self) -> bool:
        """Return whether it says what passages say."""
        ...

    def read(self, task: Task) -> Flow[Support]: ...


class ReaderModule(Protocol):
    """The interface of a module of `excam.error_reports.readers`."""

    VERSION: int | str  # a text where no stage of the workflow reads with it

    def reader(self, model: ModelFacts | None, *, is_qualified: bool = False) -> TextReader | None:
        """Return the reader for a model, None if it is of another kind; `model` is None where there is none.

        `is_qualified`: it is, or is being, measured by `excam qualify`. Raises ModelInvalid for a model of this kind
        that has no known labels, or that the reader cannot ask.
        """
        ...
