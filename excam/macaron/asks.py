"""Ask a model about an instance, and read its answer. The prompts are those of Appendix C, to the letter."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Literal

import regex

from excam.core.exceptions import InputInvalid
from excam.inference import Choice, Choose, Completion, Flow, Generate, Message
from excam.inference.answer_text import split_reasoning
from excam.inference.json_answers import Rejected, answer_decoder
from excam.macaron.derive import Instance

VERSION = 1  # of the parser
Mode = Literal["choose", "text", "thinking"]
MODES: tuple[Mode, ...] = ("choose", "text", "thinking")
FAILURES = ("refused", "empty", "in-thought", "truncated", "no-answer-line")
RECOVERED = ("other-lines", "fence", "case", "word")  # what was overlooked around or in an answer
WORDS = {"TRUE": "T", "FALSE": "F"}
NAME = regex.compile(r"\{(question|option[1-4]|context|text)\}")


@dataclass(frozen=True, slots=True)
class Answered:
    """What a model answered to an instance: `answer` is None exactly where there is a `failure` (`FAILURES`).

    `by` says what the answer was read from: the likelihood of the JSON line, of the bare letter, or a text.
    `logprobs` and `letter_logprobs` are sums of natural logarithms, one per valid answer, empty if unknown.
    """

    answer: str | None
    failure: str | None
    by: Literal["json", "letter", "text"]
    logprobs: tuple[float, ...] = ()
    letter_logprobs: tuple[float, ...] = ()
    letter_answer: str | None = None
    recovered: tuple[str, ...] = ()
    thinking: str = ""


@cache
def template(name: str) -> str:
    """Return one of the prompts of Appendix C."""
    return resources.files("excam.macaron").joinpath("prompts", f"{name}.txt").read_text(encoding="utf-8").rstrip("\n")


def filled(name: str, values: dict[str, str]) -> str:
    """Return a prompt with its {names} replaced in one pass: inserted texts are never searched for names."""
    return NAME.sub(lambda found: values.get(found[1], found[0]), template(name))


def prompt(one: Instance, thinking: bool) -> str:
    """Return the prompt of an instance: C.1 or C.2, for thinking models C.3 or C.4."""
    name = ("mc" if one.format == "MC" else "tf") + ("-thinking" if thinking else "")
    options = {f"option{number}": text for number, text in enumerate(one.options, 1)}
    return filled(name, {"question": one.text, **options})


def line(answer: str) -> str:
    """Return the line that the prompts ask for."""
    return json.dumps({"answer": answer})


def answer(one: Instance, mode: Mode) -> Flow[Answered]:
    """Ask once for the likelihood of each answer, or for a text.

    `choose` asks for the likelihood of the line that the prompt demands, {"answer": "A"} and so on, and of the bare
    letters; the first decides. A server that gives neither is asked for a text. `thinking` lets the model reason first.
    """
    asked = (Message("user", prompt(one, mode == "thinking")),)
    if mode != "choose":
        return (yield from _text(one, asked))
    whole, letters = yield [Choose(asked, tuple(map(line, one.valid))), Choose(asked, one.valid)]
    assert isinstance(whole, Choice), "a Choose is answered by a Choice"
    assert isinstance(letters, Choice), "a Choose is answered by a Choice"
    letter = None if letters.logprobs is None else _likeliest(one.valid, letters.logprobs)
    known = {"logprobs": whole.logprobs or (), "letter_logprobs": letters.logprobs or (), "letter_answer": letter}
    if whole.logprobs is not None:
        return Answered(_likeliest(one.valid, whole.logprobs), None, "json", **known)
    if letter is not None:
        return Answered(letter, None, "letter", **known)
    return (yield from _text(one, asked))


def _likeliest(valid: Sequence[str], logprobs: Sequence[float]) -> str:
    """Return the answer of the highest log-probability, the first of equal ones."""
    return valid[logprobs.index(max(logprobs))]


def _text(one: Instance, asked: tuple[Message, ...]) -> Flow[Answered]:
    (completion,) = yield [Generate(asked)]
    assert isinstance(completion, Completion), "a Generate is answered by a Completion"
    return read_completion(completion, one.valid)


def read_completion(completion: Completion, valid: Sequence[str]) -> Answered:
    """Return what a text says: the last line that is one JSON object whose `answer` is valid, after any reasoning."""
    thinking, said = split_reasoning(completion.text)
    if completion.finish == "refused":
        return Answered(None, "refused", "text")
    if not completion.text.strip():
        return Answered(None, "empty", "text")
    if said is None:
        return Answered(None, "in-thought", "text", thinking=thinking)
    found = read_text(said, valid)
    if found is None:
        failure = "truncated" if completion.finish == "length" else "no-answer-line"
        return Answered(None, failure, "text", thinking=thinking)
    value, recovered = found
    return Answered(value, None, "text", recovered=recovered, thinking=thinking)


_DECODER = answer_decoder("twice", "not-finite")
_FENCE = regex.compile(r"```(?:json)?|~~~", regex.IGNORECASE)


def read_text(text: str, valid: Sequence[str]) -> tuple[str, tuple[str, ...]] | None:
    """Return the answer of the last line that holds nothing but one, and what was overlooked; None if there is none."""
    lines = [stripped for one in text.splitlines() if (stripped := one.strip())]
    for at in range(len(lines) - 1, -1, -1):
        bare = _FENCE.sub("", lines[at]).strip()
        if value := _answer_of(bare, valid):
            others = [one for place, one in enumerate(lines) if place != at and _FENCE.sub("", one).strip()]
            fenced = bare != lines[at] or any(_FENCE.fullmatch(one) for one in lines)
            marks = {
                "other-lines": bool(others),
                "fence": fenced,
                "case": value[1] == "case",
                "word": value[1] == "word",
            }
            return value[0], tuple(name for name in RECOVERED if marks[name])
    return None


def _answer_of(text: str, valid: Sequence[str]) -> tuple[str, str] | None:
    if not (text.startswith("{") and text.endswith("}")):
        return None
    try:
        found: Any = _DECODER.decode(text)
    except (ValueError, RecursionError, Rejected):
        return None
    said = found.get("answer") if isinstance(found, dict) and len(found) == 1 else None
    if not isinstance(said, str):
        return None
    if said in valid:
        return said, ""
    upper = said.strip().upper()
    if upper in valid:
        return upper, "case"
    return (WORDS[upper], "word") if WORDS.get(upper) in valid else None


def check_mode(mode: str) -> Mode:
    """Validate and return unchanged. Raise InputInvalid unless it is one of `MODES`."""
    if mode not in MODES:
        raise InputInvalid(f"mode: found {mode}; expected {' or '.join(MODES)}")
    return mode
