"""Read with a model that writes: it states what the passages say, and the text is compared with that statement.

Closed values are compared by a program. What they leave open is decided by two likelihoods of yes against no: that the
passages make the text right, and that statement and text say the same. Of a sentence the model states what passages say
about its subject. As that may be about something else of the subject, all must lean to the same side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from excam.error_reports import closed_values, relevance
from excam.error_reports.content_words import not_held, unsupported
from excam.error_reports.readers.base import DISAGREEING, MINICHECK, UNRELATED, Mark, ModelFacts, Support, Task, reading
from excam.error_reports.sentence_questions import about, repeats
from excam.error_reports.stated import (
    NOT_STATED,
    StatedAnswer,
    agree_messages,
    ask_stated,
    cited_places,
    differ,
    entail_messages,
    others_about,
)
from excam.error_reports.yes_no import ask_yes_no
from excam.inference import Flow
from excam.inference.run import together

VERSION = "2"
CLOSED = 3.0  # log-odds of a verdict on closed values: a probability of .95
FITTED = "Qwen2.5-Coder-1.5B"  # whose curve is known; another model needs its own qualification
SLOPE, OFFSET = 2.05, 0.81  # of the sum of both leanings; a logistic regression on its 544 dev rows (`bench.reading`)
IN_NO_PASSAGE = "the model states what no passage says"
FEW_WORDS = "no passage holds two of its words"
NOT_SURE = "not sure"
UNQUALIFIED = f"{NOT_SURE}: no closed value, and likelihoods are known of {FITTED} alone; `excam qualify`"
SHARE_OF_SENTENCE = 0.3  # of its content words in a passage; divides 14 decidable and 4 other sentences of a trial
LEAST_LEANING = 0.5  # nats, of a sentence; a model of 1.5 billion parameters had .1 to .3 where nothing was stated


def reader(model: ModelFacts | None, *, is_qualified: bool = False) -> Chat | None:
    """Return the reader for a model that writes; see `base.ReaderModule`."""
    if model is None or not model.writes or model.fitted or model.is_called(MINICHECK):
        return None
    return Chat(likelihoods=is_qualified or model.is_called(FITTED))


@dataclass(frozen=True, slots=True)
class Chat:
    """A reader by what a model states; `likelihoods`: also by those of the model."""

    likelihoods: bool = False
    tells_contradiction: bool = True
    states: bool = True

    @property
    def signature(self) -> str:
        return f"chat.{VERSION}|closed.{closed_values.VERSION}{'+likelihoods' * self.likelihoods}"

    def read(self, task: Task) -> Flow[Support]:
        """Ask what is expected, and compare the text with it, if passages are about it and do not disagree."""
        question = about(task.text, task.passages, task.language) if task.is_sentence else task.question
        if not question:
            return reading(None, because=FEW_WORDS)
        stated = yield from ask_stated(question, task.passages, task.question)
        if task.is_sentence and repeats(stated.answer, task.text, task.passages, task.language):
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
        return replace(comparison, **more)

    def _other(self, task: Task, question: str, stated: StatedAnswer, others: Sequence[int]) -> Flow[str]:
        """Return what other passages say, if that differs from what is stated, else ""."""
        other = yield from ask_stated(question, [task.passages[at] for at in others], task.question)
        return other.answer if differ(task.question, stated.answer, other.answer, task.language) else ""

    def _compared(self, task: Task, stated: StatedAnswer, cited: Sequence[str]) -> Flow[Support]:
        """Compare by closed values, and ask only about what they leave open; words that differ are marked."""
        question, text, language = task.question, task.text, task.language
        if not stated.answer:
            return reading(None, because=NOT_STATED)
        comparison = closed_values.compared(stated.answer, text, question, language)
        margin = {"agrees": CLOSED, "differs": -CLOSED}[comparison.verdict] if comparison.verdict else None
        ranges, reason, because = comparison.ranges, comparison.reason, ""
        if margin is None and not self.likelihoods:
            return reading(None, marks=_marks(ranges), reason=reason, because=UNQUALIFIED)
        conversations = [entail_messages(question, text, task.passages)] if task.is_sentence or margin is None else []
        conversations += [agree_messages(question, stated.answer, text)] if margin is None else []
        leanings = yield from together([ask_yes_no(messages) for messages in conversations])
        sides = [leaning.margin or 0.0 for leaning in leanings]
        if margin is None:
            margin, ranges = SLOPE * sum(sides) - OFFSET, unsupported(text, (question, stated.answer), language)
            reason += f", entailment {sides[0]:+.2f}, agreement {sides[1]:+.2f}"
        if task.is_sentence:
            ranges = tuple(place for place in ranges if not_held(text[slice(*place)], cited, language)) or ranges
            if min(side if margin > 0 else -side for side in sides) < LEAST_LEANING:
                margin, because = None, NOT_SURE
        return reading(margin, marks=_marks(ranges), reason=reason, because=because)


def _marks(ranges: Sequence[closed_values.Range]) -> tuple[Mark, ...]:
    return tuple(Mark(start, end, 1.0) for start, end in ranges)


def _off_topic(task: Task, stated: StatedAnswer, cited: Sequence[int]) -> str:
    """Return why the passages of a statement are about something else, "" if they are not."""
    support = [task.passages[at] for at in cited]
    if not stated.answer or not support:
        return ""
    share = SHARE_OF_SENTENCE if task.is_sentence else relevance.SHARE
    why = relevance.unrelated(task.topic, support, task.language, share)
    return why or relevance.unrelated(task.question, support, task.language, share=0.0)  # of the same culture
