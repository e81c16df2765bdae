"""JSON objects in a model's answer: all of them (`objects`) or the last one (`last_object`). Linear time.

Both are lenient about the syntax around an object and strict about its content: an answer that may mean two things is
`Rejected`, never guessed. `decode_at` repairs the syntax of an object where it has one meaning; `last_object` does not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from excam.inference import Completion, lenient_json
from excam.inference.answer_text import reasoning_and_answer

IGNORED = (  # what `objects` ignores around and in the objects of an answer
    "byte-order-mark",
    "fence",  # Markdown's marks of a block of code
    "prose",  # any other words or marks around the objects
    "repeated",  # a further object; whether it differs is for the caller to judge
    "control-character",  # a line break or a tab inside a string, bare
    "encoded",  # the object is a JSON string, written as one
    *lenient_json.REPAIRED,
)
MAX_OBJECTS = 100  # different ones that `objects` decodes
MAX_STARTS = 200  # of objects that `last_object` tries

# An object begins here: a brace and a key, quoted or not. What follows the first one is never searched again when it
# breaks, or an object quoted inside a broken one (a judged text may hold one) would be taken for the answer.
OBJECT_BEGINS = re.compile(r"\{\s*+(?:[\"'“”‘’}`]|\w{1,64}+\s{0,8}+:|$)")
CONTROL = re.compile(r"[\x00-\x1f]")
# Around the objects of an answer, each of them a NUL here: the rest of a string or of an object that holds another.
PIECES = re.compile(r'"\s*+(?:[\]}]|:\s*+["\[{])|"\0|\0"|</think(?:ing)?>', re.IGNORECASE)
FENCE = re.compile(r"(?:```|~~~)(?:json)?", re.IGNORECASE)
BYTE_ORDER_MARK = "\ufeff"
BLANK = " \t\r\n" + BYTE_ORDER_MARK
ENCODED = re.compile(rf'(?:[{BLANK}]|{FENCE.pattern})*+(?="|\{{\s*+\\")', re.IGNORECASE)


class Rejected(Exception):
    """An answer that cannot be used; the text is the reason, one of a closed list of the reader."""


def answer_of(completion: Completion) -> str:
    """Return what a model answered behind any reasoning. Raise Rejected: "refused", "in-thought" (cut within it)."""
    answer = None if completion.finish == "refused" else reasoning_and_answer(completion)[1]
    if answer is None:
        raise Rejected("refused" if completion.finish == "refused" else "in-thought")
    return answer


def no_number(digits: str) -> None:
    """Return None for any number, so that an integer of a million digits costs no time."""


def answer_decoder(twice: str, not_finite: str, number: Callable[[str], Any] = no_number) -> json.JSONDecoder:
    """Return a decoder for answers, which reads numbers by `number`; by default for those without numeric fields.

    It raises `Rejected(twice)` for a duplicate key of an object, which
    is ambiguous, and `Rejected(not_finite)` for NaN and Infinity. It accepts unescaped control characters in strings,
    since models write line breaks there.
    """

    def pairs(members: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(value := dict(members)) < len(members):
            raise Rejected(twice)
        return value

    def constant(name: str) -> None:
        raise Rejected(not_finite)

    return json.JSONDecoder(
        object_pairs_hook=pairs,
        parse_int=number,
        parse_float=number,
        parse_constant=constant,
        strict=False,
    )


def decode_at(text: str, start: int, decoder: json.JSONDecoder, ignored: set[str]) -> tuple[Any, int]:
    """Return the value that begins at `start`, strict JSON or a repaired object, and its end.

    Add to `ignored` what is repaired. Raises JSONDecodeError, RecursionError and what the decoder raises.
    """
    try:
        value, end = decoder.raw_decode(text, start)
        strict = text[start:end]
    except json.JSONDecodeError as broken:
        if not (rewritten := lenient_json.rewrite(text, start)):
            raise
        strict, end, repaired = rewritten
        try:
            value = decoder.decode(strict)
        except json.JSONDecodeError:
            raise broken from None
        ignored |= repaired
    if CONTROL.search(strict) and not _is_strict(strict):
        ignored.add("control-character")
    return value, end


def objects(answer: str, decoder: json.JSONDecoder, ignored: set[str]) -> Iterator[Any]:
    """Yield every JSON object of an answer, equal texts in a row once; add to `ignored` what is ignored (`IGNORED`).

    Raises Rejected: "empty", "no-json", "bad-json" (the first object that breaks), "truncated" (where the answer ends
    inside it), "too-deep", "too-long" (more than MAX_OBJECTS), "in-pieces" (beside the objects is the rest of another).
    """
    body = answer.rstrip(BLANK).removesuffix("```").rstrip()
    if not body.lstrip(BLANK):
        raise Rejected("empty")
    around: list[str] = []
    written = ""
    position = decoded = 0
    while match := OBJECT_BEGINS.search(body, position):
        start = match.start()
        around.append(body[position:start])
        if written:
            ignored.add("repeated")
            if body.startswith(written, start):  # the same text is the same object
                position = start + len(written)
                continue
        if decoded == MAX_OBJECTS:
            raise Rejected("too-long")
        value, position = _decode(body, start, decoder, ignored)
        written, decoded = body[start:position], decoded + 1
        yield value
    if decoded:
        _check_around([*around, body[position:], answer[len(body) :]], ignored)
    elif encoded := _encoded(body):
        start, inner = encoded
        _check_around([body[:start], answer[len(body) :]], ignored)
        ignored.add("encoded")
        yield from objects(inner, decoder, ignored)
    else:
        raise Rejected("bad-json" if "{" in body else "no-json")


def only_object(answer: str, decoder: json.JSONDecoder, ignored: set[str]) -> Any:
    """Return the one object of an answer, see `objects`. Raise Rejected ("two-objects") for objects that differ."""
    values = list(objects(answer, decoder, ignored))
    if any(value != values[0] for value in values):
        raise Rejected("two-objects")
    return values[0]


def _encoded(body: str) -> tuple[int, str] | None:
    """Return the start and the text of a JSON string, with its marks or without, that is all of an answer."""
    begins = ENCODED.match(body)
    if not begins:
        return None
    text = body[begins.end() :].rstrip(BLANK)
    try:
        inner = json.loads(text if text.startswith('"') else f'"{text}"', strict=False)
    except json.JSONDecodeError:
        return None
    return (begins.end(), inner) if "{" in inner else None


def _decode(text: str, start: int, decoder: json.JSONDecoder, ignored: set[str]) -> tuple[Any, int]:
    try:
        return decode_at(text, start, decoder, ignored)
    except json.JSONDecodeError as broken:
        cut = is_cut(broken) or (len(text) - broken.pos < 6 and "escape" in broken.msg)
        raise Rejected("truncated" if cut else "bad-json") from broken
    except RecursionError as deep:
        raise Rejected("too-deep") from deep


def is_cut(broken: json.JSONDecodeError) -> bool:
    """Return whether the text ends there: within a string or between two tokens."""
    return broken.msg.startswith("Unterminated string") or not broken.doc[broken.pos :].strip()


def _is_strict(text: str) -> bool:
    """Return whether an object that our decoder accepts has no bare control character in a string."""
    try:
        json.loads(text, parse_int=len)
    except json.JSONDecodeError:
        return False
    return True


def _check_around(around: Sequence[str], ignored: set[str]) -> None:
    """Mark the text around the objects of an answer. Raise Rejected if it may change what they mean."""
    if PIECES.search("\0".join(around)):
        raise Rejected("in-pieces")
    words = "".join(around)
    unmarked = words.replace(BYTE_ORDER_MARK, "")
    unfenced = FENCE.sub("", unmarked)
    if unmarked != words:
        ignored.add("byte-order-mark")
    if unfenced != unmarked:
        ignored.add("fence")
    if unfenced.strip(" \t\r\n"):
        ignored.add("prose")


def fields(value: Any, names: Sequence[str], ignored: set[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the known fields of an object, whatever the case of their keys ("case"), and the others ("extra-key").

    Raise Rejected ("wrong-schema") for no object, and for other fields that may say more: lists, objects, truth values.
    """
    if not isinstance(value, dict):
        raise Rejected("wrong-schema")
    known_fields = {name: member for key, member in value.items() if (name := key.strip().lower()) in names}
    others = {key: member for key, member in value.items() if key.strip().lower() not in names}
    if len(known_fields) + len(others) < len(value) or any(
        isinstance(member, dict | list | bool) for member in others.values()
    ):
        raise Rejected("wrong-schema")
    if not known_fields.keys() <= value.keys():
        ignored.add("case")
    if others:
        ignored.add("extra-key")
    return known_fields, others


def last_object(text: str, begins: re.Pattern[str], decoder: json.JSONDecoder) -> tuple[dict[str, Any] | None, int]:
    """Return the last of the objects that follow `begins`, and its end; 0 if there is none. None: it is broken.

    The inside of an object is not searched, nor is a broken one up to where it breaks. Raises Rejected: "truncated"
    where the text ends inside an object, "bad-json" for one that is too deep, or for more than MAX_STARTS.
    """
    last, end = None, 0
    for _ in range(MAX_STARTS):
        match = begins.search(text, end)
        if not match:
            return last, end
        try:
            last, end = decoder.raw_decode(text, match.end())
        except json.JSONDecodeError as broken:
            if is_cut(broken):
                raise Rejected("truncated") from broken
            last, end = None, broken.pos
        except RecursionError as deep:
            raise Rejected("bad-json") from deep
    raise Rejected("bad-json")
