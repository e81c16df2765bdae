"""Read with a model that writes: it states what the passages say, and a comparator compares the text with it.

Of a sentence it states what they say about its subject. As that may be about something else of the subject, the
comparison counts only if the model's likelihood that the passages make the sentence right leans to the same side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from excam.error_reports import comparators, relevance
from excam.error_reports.comparators import combined
from excam.error_reports.comparators.base import Case, Comparison
from excam.error_reports.content_words import not_held
from excam.error_reports.readers.base import DISAGREEING, MINICHECK, UNRELATED, Mark, ModelFacts, Reading, Task, reading
from excam.error_reports.sentence_questions import about, repeats
from excam.error_reports.stated import NOT_STATED, Stated, ask_stated, cited_places, differ, others_about
from excam.inference import Flow

VERSION = 1
WAYS = comparators.available()
BY_PROGRAM = "closed"  # of a model that `combined` has no weights of
IN_NO_PASSAGE = "the model states what no passage says"
FEW_WORDS = "no passage holds two of its words"
NOT_SURE = "not sure"
UNQUALIFIED = f"{NOT_SURE}: no closed value, and the comparison by likelihoods is of {combined.FITTED}; `excam qualify`"
SHARE_OF_SENTENCE = 0.3  # of its content words in a passage; divides 14 decidable and 4 other sentences of a trial
LEAST_LEANING = 0.5  # nats, of the entailment of a sentence; a model of 1.5 billion parameters had .1 to .3 either way


def reader(model: ModelFacts | None, way: str = "") -> Chat | None:
    """Return the reader for a model that writes; see `base.Kind`. `way` is a comparator."""
    if model is None or not model.writes or model.is_called(MINICHECK):
        return None
    is_fitted = model.is_called(combined.FITTED)
    return Chat(way or "combined") if way or is_fitted else Chat(BY_PROGRAM, UNQUALIFIED)


@dataclass(frozen=True, slots=True)
class Chat:
    """A reader by what a model states, and by how a comparator compares with it."""

    comparator: str = "combined"
    unsure: str = NOT_SURE  # why it is not known where the comparator does not decide
    tells_contradiction: bool = True
    states: bool = True

    @property
    def signature(self) -> str:
        return f"chat.{VERSION}|compare:{self.comparator}.{comparators.load(self.comparator).VERSION}"

    def read(self, task: Task) -> Flow[Reading]:
        """Ask what is expected, and compare the text with it, if passages are about it and do not disagree."""
        is_sentence = task.is_sentence and bool(task.passages)
        question = about(task.text, task.passages, task.language) if is_sentence else task.question
        if not question:
            return reading(None, because=FEW_WORDS)
        stated = yield from ask_stated(question, task.passages, task.question)
        if is_sentence and repeats(stated.answer, task.text, task.passages, task.language):
            stated = replace(stated, answer="", invented=stated.answer)
        cited = tuple(cited_places(stated, task.passages, task.language))
        more = {"passages": cited, "expected": stated.answer, "thinking": stated.thinking, "failure": stated.failure}
        if stated.failure:
            return reading(None, **more)
        if stated.invented:
            return reading(None, because=f"{IN_NO_PASSAGE}: {stated.invented}", **more)
        if why := _off_topic(task, stated, cited):
            return reading(None, because=UNRELATED, reason=why, **more)
        others = others_about(task.topic, stated, cited, task.passages)
        if others and (other := (yield from self._other(task, question, stated, others))):
            disagreeing = f"{DISAGREEING}: {stated.answer} against {other}"
            return reading(None, because=disagreeing, **(more | {"passages": (*cited, *others)}))
        comparison = yield from self._compared(task, stated, [task.passages[at] for at in cited])
        because = "" if comparison.margin is not None else self.unsure if stated.answer else NOT_STATED
        marks = tuple(Mark(start, end, 1.0) for start, end in comparison.differing)
        return reading(comparison.margin, marks=marks, because=because, reason=comparison.reason, **more)

    def _other(self, task: Task, question: str, stated: Stated, others: Sequence[int]) -> Flow[str]:
        """Return what other passages say, if that differs from what is stated, else ""."""
        other = yield from ask_stated(question, [task.passages[at] for at in others], task.question)
        return other.answer if differ(task.question, stated.answer, other.answer, task.language) else ""

    def _compared(self, task: Task, stated: Stated, cited: Sequence[str]) -> Flow[Comparison]:
        case = Case(task.question, task.text, stated.answer, task.passages, task.unrelated, task.language)
        found = yield from comparators.compared(self.comparator, case)
        if found.margin is None or not (task.is_sentence and task.passages):
            return found
        entailed = yield from comparators.compared("entailment", case)
        new = [part for part in found.differing if not_held(task.text[slice(*part)], cited, task.language)]
        leans = (entailed.margin or 0.0) * (1 if found.margin > 0 else -1) >= LEAST_LEANING
        return replace(found, margin=found.margin if leans else None, differing=tuple(new) or found.differing)


def _off_topic(task: Task, stated: Stated, cited: Sequence[int]) -> str:
    """Return why the passages of a statement are about something else, "" if they are not."""
    support = [task.passages[at] for at in cited]
    if not stated.answer or not support:
        return ""
    share = SHARE_OF_SENTENCE if task.is_sentence else relevance.SHARE
    why = relevance.unrelated(task.topic, support, task.language, share)
    return why or relevance.unrelated(task.question, support, task.language, share=0.0)  # of the same culture
