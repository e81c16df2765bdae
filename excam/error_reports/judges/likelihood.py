"""Judge by what a model knows: how much likelier the question makes a text, beside other answers to it.

Nothing is trained and no report is written. The likelihood of a text alone says how common its words are; the question
adds what the model knows. So the gain, log p(text | question) - log p(text | no question), is compared with the gain of
rivals: the options of the question, or what the model itself proposes. The floor "what the base gives for nothing".
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import islice

from excam.core.phrases import PhraseFinder
from excam.core.text import OPTION
from excam.error_reports.judges import base
from excam.error_reports.judges.base import Version
from excam.error_reports.judges.grounded import NO_CLAIM
from excam.error_reports.records import CulturalError, Sample, Verdict
from excam.inference import Choice, Choose, Flow, Message, ask_for_text
from excam.inference.answer_text import reasoning_and_answer
from excam.knowledge.claimless import is_refusal

VERSION = Version(asks=2, reads=3)
PROPOSE = "{question}\nAnswer in a few words."
OWN_KNOWLEDGE = "the model's own knowledge"
NO_QUESTION = "Say something."
_OPTION = re.compile(
    rf"(?P<named>\b{OPTION}\s*)?(?<![A-Za-z])\(?(?P<letter>[A-H])(?:(?:\)|\.|:)\s+|：\s*)", re.IGNORECASE
)
_LETTER = re.compile(r"(?:\boption\s+|^\W*|\bis\s+)([A-H])\b(?!['’])", re.IGNORECASE)


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


def gains_of(question: str, answers: Sequence[str]) -> Flow[list[float] | None]:
    """Ask how likely each answer is with and without the question; return what the question adds, in nats.

    None if the model or server gives no likelihoods of whole answers.
    """
    texts = tuple(answers)
    choices = yield [Choose((Message("user", text),), texts) for text in (question, NO_QUESTION)]
    with_question, alone = choices
    assert isinstance(with_question, Choice), "a Choose is answered by a Choice"
    assert isinstance(alone, Choice), "a Choose is answered by a Choice"
    if with_question.logprobs is None or with_question.tokens is None or alone.logprobs is None:
        return None
    return [total - without for total, without in zip(with_question.logprobs, alone.logprobs, strict=True)]


def judge(sample: Sample) -> Flow[Verdict]:
    """Compare the gain of the text with that of its best rival.

    Rivals are the other options, else what the model itself proposes. The margin is taken for a log-odds. An error
    marks the option, or without options the whole text.
    """
    if is_refusal(sample.output):
        return base.by_comparison([], (), "", {"because": NO_CLAIM})
    question, options = split_options(sample.instruction)
    place, text = _chosen(sample.output, options) or ((0, len(sample.output)), sample.output)
    rivals = tuple(option for option in options.values() if option != text)
    if not options:
        proposal = yield from ask_for_text((Message("user", PROPOSE.format(question=question)),))
        rivals = tuple((reasoning_and_answer(proposal)[1] or "").strip().splitlines()[:1])
    gains = yield from gains_of(question, (text, *rivals))
    if gains is None:
        return base.failed("no-likelihoods")
    best = max(gains[1:], default=0.0)
    margin, rival = gains[0] - best, rivals[gains.index(best, 1) - 1] if rivals else ""
    agrees, sources = base.chance_of_agreement(margin, 0.0, 1.0), [OWN_KNOWLEDGE]
    expected = rival if agrees < 0.5 else sample.output[slice(*place)]
    parts = {"expected": expected, "evidence": sources, "margin": margin, "compared": "gain"}
    if agrees >= 0.5:
        return base.by_comparison([agrees], (), "", parts)
    error = CulturalError("output", sample.output[slice(*place)], "major", "unlikely to the model", *place)
    return base.by_comparison([agrees], (error,), base.expected_line(expected, sources), parts)


def _chosen(output: str, options: Mapping[str, str]) -> tuple[tuple[int, int], str] | None:
    """Return the place and the option that a text chooses, by its words, else by its letter; None if none."""
    finder = PhraseFinder(output)
    places = [(place, option) for option in options.values() for place in islice(finder.places(option), 1)]
    if whole := [(place, option) for place, option in places if _is_whole(output, place)]:
        return max(whole, key=lambda chosen: chosen[0][1] - chosen[0][0])
    letters = [mark for mark in _LETTER.finditer(output) if mark[1].upper() in options]
    return (letters[0].span(1), options[letters[0][1].upper()]) if letters else None


def _is_whole(text: str, place: tuple[int, int]) -> bool:
    """Return whether no word goes on before or behind a place, in scripts that part words."""
    before, behind = text[: place[0]][-1:], text[place[1] :][:1]
    return not (before.isalnum() and before.isascii()) and not (behind.isalnum() and behind.isascii())
