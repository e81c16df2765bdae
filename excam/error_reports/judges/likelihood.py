"""Judge by what a model knows: how much likelier the question makes a text, beside other answers to it.

Nothing is trained and no report is written. The likelihood of a text alone says how common its words are; the question
adds what the model knows. So the gain, log p(text | question) - log p(text | no question), is compared with the gain of
rivals: the options of the question, or what the model itself proposes. The floor "what the base gives for nothing".
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from excam.error_reports import scoring
from excam.error_reports.judges.base import SHARED_REASONS, Version, failed
from excam.error_reports.judges.grounded import NOT_KNOWN, OWN_KNOWLEDGE, Search, as_texts, numbered
from excam.error_reports.records import CulturalError, Report, Sample, Verdict
from excam.inference import Choice, Choose, Flow, Message, ask_for_text
from excam.inference.answer_text import split_reasoning

VERSION = Version(asks=1, reads=1)
REASONS = (*SHARED_REASONS, NOT_KNOWN, "no-likelihoods")
Reading = Literal["gain", "gain-per-token", "sum", "per-token"]  # of the likelihood of an answer
PROPOSE = "{question}\nAnswer in a few words."
NO_QUESTION = "Say something."
LONGEST = 60  # words of a text that are marked one by one
_OPTION = re.compile(r"(?:\boption\s+)?(?<![A-Za-z])\(?([A-H])(?:\)|\.|:)\s+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Way:
    """How likelihoods are read. `threshold` and `slope` as in `grounded.Way`, of the margin over the best rival."""

    reading: Reading = "gain"
    threshold: float = 0.0
    slope: float = 1.0
    least: float = 0.5

    def agrees(self, margin: float) -> float:
        """Return the probability in [0, 1] that a text with this margin is right."""
        return 1 / (1 + math.exp(-max(-700.0, min(700.0, self.slope * (margin - self.threshold)))))

    @property
    def signature(self) -> str:
        """Return the way's part of a signature."""
        return f"likelihood:{self.reading}@{self.threshold:g}x{self.slope:g},{self.least:g}"


def split_options(instruction: str) -> tuple[str, tuple[str, ...]]:
    """Return the question without its options, and the options ("A. tea B. coffee"); without any, the instruction."""
    marks = []
    for mark in _OPTION.finditer(instruction):
        if not marks or ord(mark[1].upper()) > ord(marks[-1][1].upper()):
            marks.append(mark)
    if len(marks) < 2:
        return instruction, ()
    ends = [mark.start() for mark in marks[1:]] + [len(instruction)]
    options = [instruction[mark.end() : end].strip(" \n\t;,|") for mark, end in zip(marks, ends, strict=True)]
    return instruction[: marks[0].start()].strip(), tuple(option.split("\n")[0].strip() for option in options)


def asked(question: str, passages: Sequence[str] = ()) -> tuple[Message, ...]:
    """Return the conversation whose answer is a text: the question, behind passages if there are any."""
    block = f"{numbered(passages)}\n\n" if passages else ""
    return (Message("user", block + question),)


def readings(
    question: str, answers: Sequence[str], passages: Sequence[str] = ()
) -> Flow[dict[Reading, list[float]] | None]:
    """Ask how likely each answer is with and without the question; return each reading of it, in nats.

    None if the model or server gives no likelihoods of whole answers.
    """
    texts = tuple(answers)
    choices = yield [Choose(asked(question, passages), texts), Choose((Message("user", NO_QUESTION),), texts)]
    given, alone = choices
    assert isinstance(given, Choice), "a Choose is answered by a Choice"
    assert isinstance(alone, Choice), "a Choose is answered by a Choice"
    if given.logprobs is None or given.tokens is None or alone.logprobs is None:
        return None
    sums, tokens = given.logprobs, [max(1, count) for count in given.tokens]
    gains = [one - other for one, other in zip(sums, alone.logprobs, strict=True)]
    return {
        "gain": gains,
        "gain-per-token": [gain / count for gain, count in zip(gains, tokens, strict=True)],
        "sum": list(sums),
        "per-token": [total / count for total, count in zip(sums, tokens, strict=True)],
    }


def judge(sample: Sample, search: Search | None = None, way: Way | None = None) -> Flow[Verdict]:
    """Compare the likelihood of the text with that of its rivals; the words that lose most are marked."""
    way = way or Way()
    texts = as_texts(search(sample.instruction, sample.output).passages) if search else ()
    question, options = split_options(sample.instruction)
    text, rivals, shown = _text_and_rivals(sample.output, options)
    if not options:
        proposal = yield from ask_for_text(asked(PROPOSE.format(question=question), texts))
        said = (split_reasoning(proposal.text)[1] or "").strip().splitlines()
        rivals = tuple(said[:1])
    read = yield from readings(question, (text, *rivals), texts)
    if read is None:
        return failed("no-likelihoods")
    values = read[way.reading]
    best = max(values[1:], default=0.0)
    margin = values[0] - best
    expected = rivals[values.index(best, 1) - 1] if rivals and margin < 0 else text
    parts = {"expected": expected, "evidence": [OWN_KNOWLEDGE], "margin": margin, "compared": way.reading}
    probability = way.agrees(margin)
    sure = max(probability, 1 - probability)
    if sure < way.least:
        return replace(failed(NOT_KNOWN), certainty=sure, parts=parts)
    if probability >= 0.5:
        return Verdict(0, 0.0, certainty=sure, report=Report(), parts=parts)
    at = sample.output.find(shown)
    start, end = (yield from _unlikely(question, shown, texts)) if not options else (0, len(shown))
    error = CulturalError("output", shown[start:end], "major", "unlikely to the model", at + start, at + end)
    report = Report((error,), f"Expected: {expected} (by {OWN_KNOWLEDGE}).")
    return Verdict(1, float(scoring.deductions(report)), certainty=sure, report=report, parts=parts)


def _text_and_rivals(output: str, options: Sequence[str]) -> tuple[str, tuple[str, ...], str]:
    """Return the option that a text chooses, the other options, and the words of the text that choose it."""
    contained = [option for option in options if option and option.casefold() in output.casefold()]
    if not contained:
        return output, tuple(options), output
    chosen = max(contained, key=len)
    at = output.casefold().find(chosen.casefold())
    return chosen, tuple(option for option in options if option != chosen), output[at : at + len(chosen)]


def _unlikely(question: str, text: str, passages: Sequence[str]) -> Flow[tuple[int, int]]:
    """Return the range of the word of a text to which the question adds least, by the likelihoods of its beginnings."""
    words = list(re.finditer(r"\S+", text))[:LONGEST]
    if len(words) < 2:
        return 0, len(text)
    read = yield from readings(question, tuple(text[: word.end()] for word in words), passages)
    if read is None:
        return 0, len(text)
    gains = [after - before for before, after in pairwise([0.0, *read["gain"]])]
    least = words[min(range(len(words)), key=gains.__getitem__)]
    return least.start(), least.end()
