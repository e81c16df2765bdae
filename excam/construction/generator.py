"""The question put to a generator of soft errors, and the reading of its answer (spec 22, 23; ExCAM Table 7).

The prompt is Table 7 to the letter, slip of rule 6 included. An answer that cannot be read is `Unreadable`, with a
reason from a closed list.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from excam.inference import Message
from excam.records import Sample, Severity, Unreadable

PROMPT = """\
For a scientific experiment, I need to introduce cultural errors into the following instruction and generated text. \
The purpose is to improve system’s ability to detect and avoid such errors in the future.

Instruction: {src}

Generated Text: {gt}

Follow these rules:

1. Introduce believable, difficult errors that require cultural understanding to identify.
2. Modify content pointwise instead of appending something to it.
3. Ensure that the modified texts have the same structure, country, length, language, ethnicity and culture as the \
original texts.
4. There is no need to modify both texts, you can choose to only modify the instruction or the generated text, but \
please make sure to introduce cultural errors in at least one of them.
5. Some examples for cultural errors include: misrepresenting cultural values, stereotyping (e.g., assuming all \
members of a culture share the same beliefs), providing incorrect information about traditions (like festivals or \
rituals) and goods (like clothing or food), and showing a lack of understanding of cultural norms.
6, {MINOR/MAJOR}

Now add your cultural errors. First, think step by step, then return your output in JSON in the format OUTPUT:

{ "Error Type": "The type of the introduced cultural error(s) (e.g., misrepresentation, stereotyping, incorrect \
information, lack of understanding).", \
"Cultural Content": "Yes, if original instruction or generated text contains culture-specific content (explicitly or \
implicitly mentions a SPECIFIC region, country, etc.), otherwise No.", \
"Rule Adherence": "Briefly explain how your changes adhere to the above rules.", \
"Explanation": "An explanation of YOUR cultural errors in the modified example. Do NOT refer to the original text or \
instruction. Do NOT mention introducing errors or modifying texts. Do NOT use the words \\"modified\\" or \\"now\\". \
Just say what is wrong.", \
"Severity": "The severity of the introduced error(s) (e.g., minor, major).", \
"Modified Instruction": "the modified instruction for which the modified text is generated", \
"Modified Generated Text": "the modified generated text from which the modified instruction is generated" }"""

RULE_6: Mapping[Severity, str] = {
    "minor": "Your error(s) should be minor, but still incorrect.",
    "major": "Your error(s) should be major and significantly incorrect.",
}
KEYS = (
    "Error Type",
    "Cultural Content",
    "Rule Adherence",
    "Explanation",
    "Severity",
    "Modified Instruction",
    "Modified Generated Text",
)

# Why an answer could not be read; `excam.records.Unreadable.reason` is one of these.
WhyUnreadable = Literal["no-json", "truncated", "bad-json", "missing-key", "wrong-type", "wrong-value", "bad-text"]
UNREADABLE: tuple[WhyUnreadable, ...] = get_args(WhyUnreadable)
MAX_STARTS = 200  # of braces tried as the start of the answer; more are no answer of this form

PLACE = re.compile(r"\{(src|gt|MINOR/MAJOR)\}")
OUTPUT = re.compile(r"OUTPUT\s*:")
GAP = re.compile(r"[\s*`]*(?:json)?[\s*`]*", re.IGNORECASE)  # markdown between "OUTPUT:" and the object
DECODER = json.JSONDecoder(strict=False)  # models write line breaks inside strings


@dataclass(frozen=True, slots=True)
class SoftAnswer:
    """A generator's answer in the form of Table 7. `severity` is what it says it did, not what was asked (spec 26)."""

    error_type: str
    cultural: bool
    rule_adherence: str
    explanation: str
    severity: str
    instruction: str
    output: str


def messages(right: Sample, severity: Severity) -> tuple[Message, ...]:
    """The question of Table 7 about one right sample. One pass: braces inside the texts stay what they are."""
    values = {"src": right.instruction, "gt": right.output, "MINOR/MAJOR": RULE_6[severity]}
    return (Message("user", PLACE.sub(lambda place: values[place.group(1)], PROMPT)),)


def read(answer: str) -> SoftAnswer | Unreadable:
    """What a generator answered. Keys may differ in case; an error type may be a list of strings."""
    found = _object(_after_thinking(answer))
    if isinstance(found, str):
        return Unreadable(found, answer)
    by_key = {str(key).strip().casefold(): value for key, value in found.items()}
    values = [_text(by_key.get(key.casefold()), key) for key in KEYS]
    if not all(key.casefold() in by_key for key in KEYS):
        return Unreadable("missing-key", answer)
    if None in values:
        return Unreadable("wrong-type", answer)
    kind, cultural, adherence, explanation, severity, instruction, output = (str(value) for value in values)
    yes_no = re.match(r"\W*(yes|no)\b", cultural, re.IGNORECASE)
    if not yes_no:
        return Unreadable("wrong-value", answer)
    if not _encodable(kind + explanation + instruction + output):
        return Unreadable("bad-text", answer)
    yes = yes_no.group(1).lower() == "yes"
    return SoftAnswer(kind.strip(), yes, adherence, explanation.strip(), severity.strip().lower(), instruction, output)


def _after_thinking(answer: str) -> str:
    """Without the thinking block; its opening tag is often part of the chat template and missing here."""
    _, closed, rest = answer.partition("</think>")
    if closed:
        return rest
    return "" if answer.lstrip().startswith("<think>") else answer


def _object(text: str) -> dict[str, Any] | WhyUnreadable:
    """The object after the last "OUTPUT:", or the last object of a text where no object follows an "OUTPUT:".

    An object is the last one even if a string in it says "OUTPUT:" again; a draft before a cut or broken one is not.
    """
    why: WhyUnreadable | None = None
    marks = [*OUTPUT.finditer(text)][-MAX_STARTS:]
    for mark in reversed(marks):
        start = GAP.match(text, mark.end()).end()  # type: ignore[union-attr] - matches the empty string
        if not text.startswith("{", start):
            continue
        found = _decode(text, start)
        if not isinstance(found, str) and found[1] > marks[-1].start():
            return found[0]
        why = why or (found if isinstance(found, str) else "bad-json")
    return why or _last_object(text)


def _last_object(text: str) -> dict[str, Any] | WhyUnreadable:
    last: dict[str, Any] | None = None
    why: WhyUnreadable = "no-json" if text else "truncated"
    start = text.find("{")
    for _ in range(MAX_STARTS):
        if start < 0:
            break
        found = _decode(text, start)
        if found == "truncated":
            return "truncated"
        if isinstance(found, str):
            why, start = found, text.find("{", start + 1)
        else:
            last, start = found[0], text.find("{", found[1])
    return why if last is None else last


def _decode(text: str, start: int) -> tuple[dict[str, Any], int] | Literal["truncated", "bad-json"]:
    try:
        return DECODER.raw_decode(text, start)
    except json.JSONDecodeError as failure:
        cut = failure.pos >= len(text.rstrip()) or failure.msg.startswith("Unterminated string")
        return "truncated" if cut else "bad-json"
    except (RecursionError, ValueError):  # too deep; a number of more digits than Python reads
        return "bad-json"


def _text(value: Any, key: str) -> str | None:
    if isinstance(value, list) and key == "Error Type" and all(isinstance(part, str) for part in value):
        return ", ".join(value)
    if isinstance(value, bool) and key == "Cultural Content":
        return "Yes" if value else "No"
    return value if isinstance(value, str) else None


def _encodable(text: str) -> bool:
    """JSON can spell half a character ("\\ud800"), which no file can hold."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
