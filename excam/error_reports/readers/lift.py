"""Read with an adapter that learned to read: how much likelier a question makes its answer, beside the same sentences.

Which answers are read is as with `words`: those that a sentence holds word for word. Words then say how likely they are
right, and so does the model. It sees that sentence and the other one with most of the question, and is asked twice how
likely it answers with the text: to the question, and to none. The
weights of both, and the languages that they were fitted in, are part of the adapter's manifest (`scripts.reader`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, ValidationError

from excam.config import first_error
from excam.core.exceptions import ModelInvalid
from excam.error_reports.readers import words
from excam.error_reports.readers.base import TOO_LONG, ModelFacts, Support, Task, reading
from excam.error_reports.readers.chat import NOT_SURE
from excam.error_reports.stated import DATA
from excam.error_reports.yes_no import FENCE, numbered, one_line
from excam.inference import Flow, Message, ask_for_choice

VERSION = 2
REPORT = "reader"  # in the manifest of an adapter that reads
SURE = 0.4  # log-odds from which on there is a verdict, a probability of .6, as of `words`
NO_QUESTION = "What?"
MEASURED = (
    "the reader that ships is right in .90 [.86, .93] of its verdicts on 456 short answers in the words of English "
    "paragraphs, given for .89 of them; of another adapter, table-reader of its run says it"
)  # docs/results/reader.csv


class Fitted(BaseModel):
    """The log-odds that a text is right: `lift` times how much likelier its question makes it (nats), `words` times the
    log-odds by words, and `offset`."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    lift: float
    words: float
    offset: float
    languages: tuple[str, ...]  # codes

    def margin(self, lift: float, right_by_words: float) -> float:
        """Return the log-odds of a text by its lift and the probability that words give."""
        return self.lift * lift + self.words * log_odds(right_by_words) + self.offset


def log_odds(probability: float) -> float:
    return math.log(probability / (1 - probability))


def reader(model: ModelFacts | None, *, is_qualified: bool = False) -> _LiftReader | None:
    """Return the reader for an adapter with a fitted curve; see `base.ReaderModule`."""
    if model is None or model.fitted is None:
        return None
    try:
        return _LiftReader(Fitted.model_validate(model.fitted))
    except ValidationError as problem:
        raise ModelInvalid(
            f"--model: {model.name}: fitted.{first_error(problem)}; expected a curve; train it again"
        ) from None


def messages(question: str, sentences: Sequence[str]) -> tuple[Message, ...]:
    """Return the conversation that is answered with a text; sentences come first, so that they are computed once."""
    prompt = f"Answer from the passages, in their words. {DATA}\n{FENCE}\n{numbered(sentences)}\n{FENCE}"
    return Message("system", prompt), Message("user", one_line(question) or NO_QUESTION)


@dataclass(frozen=True, slots=True)
class _LiftReader:
    """A reader by likelihoods, as an adapter was fitted."""

    fitted: Fitted
    tells_contradiction: bool = True
    states: bool = True

    @property
    def signature(self) -> str:
        curve = f"{self.fitted.lift:.4g},{self.fitted.words:.4g},{self.fitted.offset:.4g}"
        return f"lift.{VERSION}|words.{words.VERSION}|{curve}"

    def read(self, task: Task) -> Flow[Support]:
        """Ask for two likelihoods where the text stands in a passage about the culture of the question."""
        standing = words.standing(task, self.fitted.languages)
        if isinstance(standing, Support):
            return standing
        if standing.here is None:
            return standing.reading(task, standing.right)
        conversation = messages(standing.question, standing.sentences())
        choice = yield from ask_for_choice(conversation, (standing.text,), NO_QUESTION)
        if choice.logprobs is None:
            return TOO_LONG
        likely, alone = choice.logprobs
        margin = self.fitted.margin(likely - alone, standing.right)
        if abs(margin) < SURE:
            return reading(None, because=NOT_SURE)
        return standing.reading(task, reading(margin).supported)
