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

from excam.inference import Message, thinking
from excam.inference.objects import decoder
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
WhyUnreadable = Literal[
    "no-json", "truncated", "bad-json", "duplicate-key", "missing-key", "wrong-type", "wrong-value", "bad-text"
]
UNREADABLE: tuple[WhyUnreadable, ...] = get_args(WhyUnreadable)
MAX_STARTS = 200  # of braces tried as the start of the answer; more are no answer of this form

PLACE = re.compile(r"\{(src|gt|MINOR/MAJOR)\}")
OUTPUT = re.compile(r"OUTPUT\s*+:")
OUTPUT_OBJECT = re.compile(OUTPUT.pattern + r"[\s*`]*+(?:(?i:json)[\s*`]*+)?+(?=\{)")  # Markdown may stand between
OBJECT = re.compile(r"""(?=\{\s*+["'“])""")
YES_NO = re.compile(r"\W*+(yes|no)\b", re.IGNORECASE)


class _Refused(Exception):
    """An answer has an object that rules all of it out; the text is one of `UNREADABLE`."""


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
    """What a generator answered. Keys may differ in case; an error type may be a list of strings. Linear time."""
    try:
        return _soft_answer(_object(thinking.split(answer)[1] or ""))
    except _Refused as refused:
        return Unreadable(str(refused), answer)


def _soft_answer(found: Mapping[str, Any]) -> SoftAnswer:
    by_key = {key.strip().casefold(): value for key, value in found.items()}
    if len(by_key) < len(found):
        raise _Refused("duplicate-key")
    if not all(key.casefold() in by_key for key in KEYS):
        raise _Refused("missing-key")
    values = [_text(by_key[key.casefold()], key) for key in KEYS]
    kind, cultural, adherence, explanation, severity, instruction, output = values
    yes_no = YES_NO.match(cultural)
    if not yes_no:
        raise _Refused("wrong-value")
    if not _encodable("".join(values)):
        raise _Refused("bad-text")
    yes = yes_no.group(1).lower() == "yes"
    return SoftAnswer(kind.strip(), yes, adherence, explanation.strip(), severity.strip().lower(), instruction, output)


def _object(text: str) -> dict[str, Any]:
    """The object after the last "OUTPUT:", or the last object of a text where no object follows an "OUTPUT:".

    It is the last one even if a string in it says "OUTPUT:" again; a draft before a cut or broken one is not.
    """
    last, end = _last_object(text, OUTPUT_OBJECT)
    if end and OUTPUT.search(text, end):
        raise _Refused("bad-json")
    if not end:
        last, end = _last_object(text, OBJECT)
    if last is None:
        raise _Refused("bad-json" if "{" in text else "no-json" if text else "truncated")
    return last


def _last_object(text: str, begins: re.Pattern[str]) -> tuple[dict[str, Any] | None, int]:
    """The last of the objects that follow `begins`, and where it ends; 0 where there is none. None: it is broken.

    What an object holds is not searched, nor is a broken one up to where it breaks.
    """
    last, end = None, 0
    for _ in range(MAX_STARTS):
        match = begins.search(text, end)
        if not match:
            return last, end
        last, end = _decode(text, match.end())
    raise _Refused("bad-json")


def _decode(text: str, start: int) -> tuple[dict[str, Any] | None, int]:
    """The object that begins here and where it ends; None and where it breaks."""
    try:
        return DECODER.raw_decode(text, start)
    except json.JSONDecodeError as failure:
        if failure.msg.startswith("Unterminated string") or failure.pos >= len(text.rstrip()):
            raise _Refused("truncated") from failure
        return None, failure.pos
    except RecursionError as deep:
        raise _Refused("bad-json") from deep


DECODER = decoder(_Refused, twice="duplicate-key", not_finite="bad-json")


def _text(value: Any, key: str) -> str:
    if isinstance(value, list) and key == "Error Type" and all(isinstance(part, str) for part in value):
        return ", ".join(value)
    if isinstance(value, bool) and key == "Cultural Content":
        return "Yes" if value else "No"
    if not isinstance(value, str):
        raise _Refused("wrong-type")
    return value


def _encodable(text: str) -> bool:
    """JSON can spell half a character ("\\ud800"), which no file can hold."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
