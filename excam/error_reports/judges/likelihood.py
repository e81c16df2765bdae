"""Judge by what a model knows: how much likelier the question makes a text, beside other answers to it.

Nothing is trained and no report is written. The likelihood of a text alone says how common its words are; the question
adds what the model knows. So the gain, log p(text | question) - log p(text | no question), is compared with the gain of
rivals: the options of the question, or what the model itself proposes. The floor "what the base gives for nothing".
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Literal

from excam.core.phrases import PhraseFinder
from excam.core.text import OPTION
from excam.error_reports.judges.base import (
    Version,
    by_comparison,
    chance_of_agreement,
    expected_line,
    failed,
    if_decisive,
)
from excam.error_reports.judges.grounded import (
    NO_CLAIM,
    NO_PASSAGE,
    OWN_KNOWLEDGE,
    Search,
    as_texts,
)
from excam.error_reports.readers.chat import NOT_SURE
from excam.error_reports.records import CulturalError, Sample, Verdict
from excam.error_reports.yes_no import numbered
from excam.inference import Choice, Choose, Flow, Message, ask_for_text
from excam.inference.answer_text import reasoning_and_answer
from excam.knowledge.claimless import is_refusal

VERSION = Version(asks=1, reads=2)
Reading = Literal["gain", "gain-per-token"]  # of the likelihood of an answer
PROPOSE = "{question}\nAnswer in a few words."
NO_QUESTION = "Say something."
LONGEST = 60  # words of a text that are marked one by one
_OPTION = re.compile(
    rf"(?P<named>\b{OPTION}\s*)?(?<![A-Za-z])\(?(?P<letter>[A-H])(?:(?:\)|\.|:)\s+|：\s*)", re.IGNORECASE
)
_LETTER = re.compile(r"(?:\boption\s+|^\W*|\bis\s+)([A-H])\b(?!['’])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Way:
    """How likelihoods are read. `threshold` and `slope` as in `grounded.Way`, of the margin over the best rival."""

    reading: Reading = "gain"
    threshold: float = 0.0
    slope: float = 1.0
    least: float = 0.5

    def agrees(self, margin: float) -> float:
        """Return the probability in [0, 1] that a text with this margin is right."""
        return chance_of_agreement(margin, self.threshold, self.slope)

    @property
    def signature(self) -> str:
        """Return the way's part of a signature."""
        return f"likelihood:{self.reading}@{self.threshold:g}x{self.slope:g},{self.least:g}"


def split_options(instruction: str) -> tuple[str, dict[str, str]]:
    """Return the question without its options, and the options by letter ("A. tea B. coffee"); {} if there are none.

    Letters follow each other from A on; with the word "option" before each they may have gaps.
    """
    marks: list[re.Match[str]] = []
    for mark in _OPTION.finditer(instruction):
        named, letter = bool(mark["named"]), mark["letter"].upper()
        expected = chr(ord(marks[-1]["letter"].upper()) + 1) if marks else "A"
        if letter == expected or (named and letter > expected and (not marks or marks[-1]["named"])):
            marks.append(mark)
    if len(marks) < 2:
        return instruction, {}
    ends = [mark.start() for mark in marks[1:]] + [len(instruction)]
    texts = [
        instruction[mark.end() : end].split("\n")[0].strip(" \t;,|；؛·") for mark, end in zip(marks, ends, strict=True)
    ]
    return instruction[: marks[0].start()].strip(), {
        mark["letter"].upper(): text for mark, text in zip(marks, texts, strict=True) if text
    }


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
    with_question, alone = choices
    assert isinstance(with_question, Choice), "a Choose is answered by a Choice"
    assert isinstance(alone, Choice), "a Choose is answered by a Choice"
    if with_question.logprobs is None or with_question.tokens is None or alone.logprobs is None:
        return None
    gains = [total - without for total, without in zip(with_question.logprobs, alone.logprobs, strict=True)]
    return {
        "gain": gains,
        "gain-per-token": [gain / max(1, count) for gain, count in zip(gains, with_question.tokens, strict=True)],
    }


@dataclass(frozen=True, slots=True)
class Compared:
    """A text beside its rivals: by each reading its value minus that of the best rival, and which rival that is."""

    place: tuple[int, int]  # of the words that are compared, half-open characters of the text
    has_options: bool
    margins: Mapping[Reading, float]
    rivals: Mapping[Reading, str]  # "" where there is none


def compare(instruction: str, output: str, passages: Sequence[str] = ()) -> Flow[Compared | None]:
    """Ask how much likelier a text is than its rivals: the other options, or what the model itself proposes.

    None if there are no likelihoods.
    """
    question, options = split_options(instruction)
    chosen = _chosen(output, options)
    place = chosen[0] if chosen else (0, len(output))
    text = chosen[1] if chosen else output
    rivals = tuple(option for option in options.values() if option != text)
    if not options:
        proposal = yield from ask_for_text(asked(PROPOSE.format(question=question), passages))
        said = (reasoning_and_answer(proposal)[1] or "").strip().splitlines()
        rivals = tuple(said[:1])
    read = yield from readings(question, (text, *rivals), passages)
    if read is None:
        return None
    best = {name: max(values[1:], default=0.0) for name, values in read.items()}
    return Compared(
        place,
        bool(options),
        {name: values[0] - best[name] for name, values in read.items()},
        {name: rivals[values.index(best[name], 1) - 1] if rivals else "" for name, values in read.items()},
    )


def judge(sample: Sample, search: Search | None = None, way: Way | None = None) -> Flow[Verdict]:
    """Compare the likelihood of the text with that of its rivals; the words that lose most are marked."""
    way = way or Way()
    if is_refusal(sample.output):
        return by_comparison([], (), "", {"because": NO_CLAIM})
    evidence = search(sample.instruction, sample.output).passages if search else ()
    if search and not evidence:
        return by_comparison([], (), "", {"evidence": [NO_PASSAGE], "because": NO_PASSAGE})
    texts = as_texts(evidence)
    comparison = yield from compare(sample.instruction, sample.output, texts)
    if comparison is None:
        return failed("no-likelihoods")
    margin, rival = comparison.margins[way.reading], comparison.rivals[way.reading]
    agrees = way.agrees(margin)
    expected = rival if agrees < 0.5 else sample.output[slice(*comparison.place)]
    sources = [passage.id for passage in evidence] or [OWN_KNOWLEDGE]
    parts = {"expected": expected, "evidence": sources, "margin": margin, "compared": way.reading}
    probability = if_decisive(agrees, way.least)
    if probability is None:
        return by_comparison([], (), "", parts | {"because": NOT_SURE})
    if probability >= 0.5:
        return by_comparison([probability], (), "", parts)
    start, end = comparison.place
    if not comparison.has_options:
        start, end = yield from _unlikely(sample.instruction, sample.output, texts)
    error = CulturalError("output", sample.output[start:end], "major", "unlikely to the model", start, end)
    return by_comparison([probability], (error,), expected_line(expected, sources), parts)


def _chosen(output: str, options: Mapping[str, str]) -> tuple[tuple[int, int], str] | None:
    """Return the place and the option that a text chooses, by its words, else by its letter; None if none."""
    finder = PhraseFinder(output)
    places = [(place, option) for option in options.values() for place in islice(finder.places(option), 1)]
    whole = [(place, option) for place, option in places if _is_whole(output, place)]
    if whole:
        return max(whole, key=lambda chosen: chosen[0][1] - chosen[0][0])
    letters = [mark for mark in _LETTER.finditer(output) if mark[1].upper() in options]
    return (letters[0].span(1), options[letters[0][1].upper()]) if letters else None


def _is_whole(text: str, place: tuple[int, int]) -> bool:
    """Return whether no word goes on before or behind a place, in scripts that part words."""
    before, behind = text[: place[0]][-1:], text[place[1] :][:1]
    return not (before.isalnum() and before.isascii()) and not (behind.isalnum() and behind.isascii())


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
