"""Read with a classifier of tokens that marks unsupported words: LettuceDetect and its kin.

A prompt with question and passages, and the text, are a pair of the tokenizer; label 0 of a token is "supported". The
prompts are those of `lettucedetect/prompts/qa_prompt_en.txt` and `summary_prompt_en.txt`, by which the published models
were trained (github.com/KRLabsOrg/LettuceDetect, MIT). A prompt that is too long is parted by passages: a word is
supported if it is in any part. (Their program takes the part that supports it least, so that each word must stand in
all.)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from excam.core.exceptions import ModelInvalid
from excam.error_reports.content_words import words
from excam.error_reports.readers.base import TOO_LONG, Mark, ModelFacts, Support, Task, halves
from excam.inference import Flow, Message, ask_for_choice
from excam.inference.run import together

VERSION = "1"
TITLES = ("supported", "label_0", "o")  # of label 0, in lower case
ASKED = (
    "Briefly answer the following question:\n{question}\nBear in mind that your response should be strictly based on "
    "the following {number} passages:\n{passages}\nIn case the passages do not contain the necessary information to "
    'answer the question, please reply with: "Unable to answer based on given passages."\noutput:'
)
WITHOUT_QUESTION = "Summarize the following text:\n{passages}\noutput:"


def reader(model: ModelFacts | None, *, is_qualified: bool = False) -> TokenMarks | None:
    """Return the reader for a token classifier; see `base.ReaderModule`."""
    if model is None or not model.is_a("ForTokenClassification"):
        return None
    if not model.labels or model.labels[0].casefold() not in TITLES:
        raise ModelInvalid(
            f"--model: {model.name}: found labels {', '.join(model.labels)}; expected {' or '.join(TITLES)} first, "
            "and others for unsupported words; name them in id2label of config.json"
        )
    return TokenMarks()


@dataclass(frozen=True, slots=True)
class TokenMarks:
    """A reader by the labels of tokens."""

    signature: str = f"token-marks.{VERSION}"
    tells_contradiction: bool = False
    states: bool = False

    def prompt(self, question: str, passages: Sequence[str]) -> str:
        """Return the prompt that stands before the text."""
        lines = "\n".join(f"passage {number}: {passage}" for number, passage in enumerate(passages, 1))
        form = ASKED if question else WITHOUT_QUESTION
        return form.format(question=question, number=len(passages), passages=lines)

    def read(self, task: Task) -> Flow[Support]:
        """Ask about all passages at once; the text is as well supported as the worst of its words."""
        places = words(task.text)
        word_texts = tuple(task.text[word.start : word.end] for word in places)
        parts = yield from self._parts(task, word_texts, task.passages)
        if not parts or not word_texts:
            return TOO_LONG
        scores = [max(part[at] for part in parts) for at in range(len(word_texts))]
        marks = [Mark(word.start, word.end, 1 - math.exp(score)) for word, score in zip(places, scores, strict=True)]
        supported = math.exp(min(scores))
        return Support(supported, 1 - supported, 0.0, marks=tuple(marks))

    def _parts(self, task: Task, word_texts: tuple[str, ...], passages: Sequence[str]) -> Flow[list[tuple[float, ...]]]:
        """Ask with these passages, or if they do not fit with each half of them, the sentences of one at last."""
        conversation = (Message("user", self.prompt(task.question, passages)), Message("user", task.text))
        choice = yield from ask_for_choice(conversation, word_texts)
        if choice.logprobs is not None:
            return [choice.logprobs]
        middle = len(passages) // 2
        pair = (passages[:middle], passages[middle:]) if middle else tuple((half,) for half in halves(passages[0]))
        read = yield from together([self._parts(task, word_texts, part) for part in pair])
        return [scores for part in read for scores in part]
