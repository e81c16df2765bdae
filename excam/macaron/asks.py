"""Ask a model about an instance, and read its answer. The prompts are those of Appendix C, to the letter."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import regex

from excam.inference import Completion, Flow, Message, ask_for_choice, ask_for_text, prompts
from excam.inference.answer_text import DECORATION, reasoning_and_answer
from excam.inference.chat import replace_lone_surrogates
from excam.inference.json_answers import IGNORED, Rejected, answer_decoder, fields, objects
from excam.inference.run import together
from excam.macaron.derive import Instance

Mode = Literal["choose", "letter", "text", "thinking"]
MODES: tuple[Mode, ...] = ("choose", "letter", "text", "thinking")
FAILURES = ("refused", "empty", "in-thought", "truncated", "no-answer-line")
RECOVERED = (  # what was overlooked around or in an answer
    *("other-lines", "fence", "case"),
    "word",  # True or False for T or F
    "marks",  # (B), **B** or B.
    "option",  # the text of the option behind its letter
    "no-json",  # a letter alone, or "The answer is B."
    "extra-key",
    *(kind for kind in IGNORED if kind != "fence"),
)
WORDS = {"TRUE": "T", "FALSE": "F"}
LETTER_AND_TEXT = regex.compile(r"([A-Z])[*_]{0,2} ?[).:,–-][*_]{0,2}\s++(\S.*)")
STATES = regex.compile(  # before the letter in an answer that is no JSON
    r"(?i)(?:(?:so|thus|therefore|hence),? )?(?:the |my )?(?:(?:final|correct|right|best) )?"
    r"(?:(?:answer|option|choice)(?: is)?[*_]{0,2}:?[*_]{0,2} )?"
)
filled = partial(prompts.filled, "excam.macaron")  # the prompts of Appendix C


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


def prompt(instance: Instance, thinking: bool) -> str:
    """Return the prompt of an instance: C.1 or C.2, for thinking models C.3 or C.4."""
    name = ("mc" if instance.format == "MC" else "tf") + ("-thinking" if thinking else "")
    options = {f"option{number}": text for number, text in enumerate(instance.options, 1)}
    return filled(name, {"question": instance.text, **options})


def line(answer: str) -> str:
    """Return the line that the prompts ask for."""
    return json.dumps({"answer": answer})


def answer(instance: Instance, mode: Mode) -> Flow[Answered]:
    """Ask once for the likelihood of each answer, or for a text.

    `choose` asks for the likelihood of the line that the prompt demands, {"answer": "A"} and so on, and of the bare
    letters; the first decides. `letter` asks for the letters alone. A server that gives neither is asked for a text.
    `thinking` lets the model reason first.
    """
    chat = (Message("user", prompt(instance, mode == "thinking")),)
    if mode == "choose":
        lines = tuple(map(line, instance.valid))
        whole, letters = yield from together([ask_for_choice(chat, lines), ask_for_choice(chat, instance.valid)])
        letter = None if letters.logprobs is None else _likeliest(instance.valid, letters.logprobs)
        odds = {"logprobs": whole.logprobs or (), "letter_logprobs": letters.logprobs or (), "letter_answer": letter}
        if whole.logprobs is not None:
            return Answered(_likeliest(instance.valid, whole.logprobs), None, "json", **odds)
        if letter is not None:
            return Answered(letter, None, "letter", **odds)
    if mode == "letter":
        letters = yield from ask_for_choice(chat, instance.valid)
        if letters.logprobs is not None:
            return Answered(
                _likeliest(instance.valid, letters.logprobs), None, "letter", letter_logprobs=letters.logprobs
            )
    completion = yield from ask_for_text(chat)
    return read_completion(completion, instance.valid, instance.options)


def _likeliest(valid: Sequence[str], logprobs: Sequence[float]) -> str:
    """Return the answer of the highest log-probability, the first of equal ones."""
    return valid[logprobs.index(max(logprobs))]


def read_completion(completion: Completion, valid: Sequence[str], options: Sequence[str] = ()) -> Answered:
    """Return what a text says after any reasoning, as `read_text`; an answer without JSON must not be cut."""
    reasoning, answer = reasoning_and_answer(completion)
    thinking = replace_lone_surrogates(reasoning)  # no table holds one
    if completion.finish == "refused":
        return Answered(None, "refused", "text")
    if answer is None:
        return Answered(None, "in-thought", "text", thinking=thinking)
    if not completion.text.strip():
        return Answered(None, "empty", "text", thinking=thinking)
    reading = read_text(answer, valid, options)
    if reading is None or (completion.finish == "length" and "no-json" in reading[1]):
        failure = "truncated" if completion.finish == "length" else "no-answer-line"
        return Answered(None, failure, "text", thinking=thinking)
    value, recovered = reading
    return Answered(value, None, "text", recovered=recovered, thinking=thinking)


_DECODER = answer_decoder("twice", "not-finite", number=lambda _: 0)
_FENCE = regex.compile(r"```(?:json)?|~~~", regex.IGNORECASE)
Options = Mapping[str, str]  # of each valid answer its text, empty if unknown


def read_text(text: str, valid: Sequence[str], options: Sequence[str] = ()) -> tuple[str, tuple[str, ...]] | None:
    """Return the answer of a text, and what was overlooked; None if there is none, or if it may be another one.

    It is the answer of the last line that holds nothing but one, as asked for; or that of all JSON objects in the text;
    or, if there are none, what the last line states ("B", "The answer is B.") and no other line contradicts.
    """
    text_of = dict(zip(valid, (*options, *("" for _ in valid)), strict=False))
    for read in (_last_line, _objects, _stated):
        overlooked: set[str] = set()
        if letter := read(text, text_of, overlooked):
            return letter, tuple(name for name in RECOVERED if name in overlooked)
    return None


def _last_line(text: str, options: Options, overlooked: set[str]) -> str | None:
    lines = [stripped for raw_line in text.splitlines() if (stripped := raw_line.strip())]
    for at in range(len(lines) - 1, -1, -1):
        bare = _FENCE.sub("", lines[at]).strip()
        if letter := _strict_answer(bare, options, overlooked):
            if any(place != at and _FENCE.sub("", text_line).strip() for place, text_line in enumerate(lines)):
                overlooked.add("other-lines")
            if bare != lines[at] or any(_FENCE.fullmatch(text_line) for text_line in lines):
                overlooked.add("fence")
            return letter
    return None


def _strict_answer(line: str, options: Options, overlooked: set[str]) -> str | None:
    if not (line.startswith("{") and line.endswith("}")):
        return None
    try:
        value: Any = _DECODER.decode(line)
    except (ValueError, RecursionError, Rejected):
        return None
    answer = value.get("answer") if isinstance(value, dict) and len(value) == 1 else None
    return _letter(answer, options, overlooked) if isinstance(answer, str) else None


def _letter(answer: str, options: Options, overlooked: set[str]) -> str | None:
    """Return the answer that a text is, but for its case, or that a word stands for."""
    if answer in options:
        return answer
    upper = answer.strip().upper()
    if upper in options:
        overlooked.add("case")
        return upper
    if WORDS.get(upper) in options:
        overlooked.add("word")
        return WORDS[upper]
    return None


def _objects(text: str, options: Options, overlooked: set[str]) -> str | None:
    try:
        answer_texts = {_value(value, overlooked) for value in objects(text, _DECODER, overlooked)}
    except Rejected:
        return None
    answers = {_option(value, options, overlooked) for value in answer_texts}
    return answers.pop() if len(answers) == 1 else None


def _value(value: Any, overlooked: set[str]) -> str:
    """Return the answer of an object. Raise Rejected."""
    answer = fields(value, ("answer",), overlooked)[0].get("answer")
    if not isinstance(answer, bool | str):
        raise Rejected("no-answer")
    return str(answer)


def _option(answer: str, options: Options, overlooked: set[str]) -> str | None:
    """Return the answer that a text states as a letter, in marks or with its option; another one contradicts it."""
    if letter := _letter(answer, options, overlooked):
        return letter
    bare = answer.strip(DECORATION + ".")
    if letter := _letter(bare, options, overlooked):
        overlooked.add("marks")
        return letter
    both = LETTER_AND_TEXT.fullmatch(bare)
    if not both or both[1] not in options:
        return None
    letter, text = both[1], both[2].casefold()
    texts = {option.strip(DECORATION + ".").casefold(): own_letter for own_letter, option in options.items() if option}
    if texts.get(text) != letter and (
        _named(both[2], options) - {letter}
        or any(option in text for option, other_letter in texts.items() if other_letter != letter)
    ):
        return None
    overlooked.add("option")
    return letter


def _named(text: str, options: Options) -> set[str]:
    """Return the answers whose letter, or word, stands alone in a text."""
    words = {word.upper() for word in regex.findall(r"(?i)\b(?:true|false)\b", text)}
    return {*regex.findall(r"\b[A-Z]\b", text), *(WORDS[word] for word in words)} & options.keys()


def _stated(text: str, options: Options, overlooked: set[str]) -> str | None:
    unfenced = _FENCE.sub("", text)
    lines = [line for raw_line in unfenced.splitlines() if (line := raw_line.strip(DECORATION))]
    if not lines or "{" in text:
        return None
    begins = STATES.match(lines[-1])
    letter = _option(lines[-1][begins.end() if begins else 0 :], options, overlooked)
    if not letter or _named("\n".join(lines[:-1]), options) - {letter}:
        return None
    overlooked |= {"no-json"} | ({"other-lines"} if lines[1:] else set()) | ({"fence"} if unfenced != text else set())
    return letter
