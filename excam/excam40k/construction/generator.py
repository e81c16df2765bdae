"""The prompt for a generator of soft errors, and the parser of its answer (ExCAM Table 7).

The prompt is Table 7 verbatim, including the slip in rule 6. An answer that cannot be parsed is `Unreadable`, with a
reason from a closed list.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from excam.core.text import is_text
from excam.error_reports.records import Sample, Severity, Unreadable
from excam.inference import Message
from excam.inference.answer_text import split_reasoning
from excam.inference.json_answers import Rejected, answer_decoder, last_object

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

# Why an answer could not be read; `excam.error_reports.records.Unreadable.reason` is one of these.
WhyUnreadable = Literal[
    "no-json", "truncated", "bad-json", "duplicate-key", "missing-key", "wrong-type", "wrong-value", "bad-text"
]
UNREADABLE: tuple[WhyUnreadable, ...] = get_args(WhyUnreadable)

PLACE = re.compile(r"\{(src|gt|MINOR/MAJOR)\}")
OUTPUT = re.compile(r"OUTPUT\s*+:")
OUTPUT_OBJECT = re.compile(OUTPUT.pattern + r"[\s*`]*+(?:(?i:json)[\s*`]*+)?+(?=\{)")  # Markdown is allowed between
OBJECT = re.compile(r"""(?=\{\s*+["'“])""")
YES_NO = re.compile(r"\W*+(yes|no)\b", re.IGNORECASE)
DECODER = answer_decoder(twice="duplicate-key", not_finite="bad-json")


@dataclass(frozen=True, slots=True)
class SoftAnswer:
    """A generator's answer in the form of Table 7. `severity` is the severity it states, not the requested one."""

    error_type: str
    cultural: bool
    rule_adherence: str
    explanation: str
    severity: str
    instruction: str
    output: str


def messages(right: Sample, severity: Severity) -> tuple[Message, ...]:
    """Return the prompt of Table 7 for one original sample. One pass: braces inside the texts stay unchanged."""
    values = {"src": right.instruction, "gt": right.output, "MINOR/MAJOR": RULE_6[severity]}
    return (Message("user", PLACE.sub(lambda place: values[place.group(1)], PROMPT)),)


def read(answer: str) -> SoftAnswer | Unreadable:
    """Return what a generator answered. Keys may differ in case; an error type may be a list of strings.

    Linear time.
    """
    try:
        return _soft_answer(_object(split_reasoning(answer)[1] or ""))
    except Rejected as rejected:
        return Unreadable(str(rejected), answer)


def _soft_answer(json_object: Mapping[str, Any]) -> SoftAnswer:
    by_key = {key.strip().casefold(): value for key, value in json_object.items()}
    if len(by_key) < len(json_object):
        raise Rejected("duplicate-key")
    if not all(key.casefold() in by_key for key in KEYS):
        raise Rejected("missing-key")
    values = [_text(by_key[key.casefold()], key) for key in KEYS]
    kind, cultural, adherence, explanation, severity, instruction, output = values
    yes_no = YES_NO.match(cultural)
    if not yes_no:
        raise Rejected("wrong-value")
    if not is_text("".join(values)):
        raise Rejected("bad-text")
    yes = yes_no.group(1).lower() == "yes"
    return SoftAnswer(kind.strip(), yes, adherence, explanation.strip(), severity.strip().lower(), instruction, output)


def _object(text: str) -> dict[str, Any]:
    """Return the object after the last "OUTPUT:", or the last object of a text without an object after an "OUTPUT:".

    It is the last one even if a string in it contains "OUTPUT:" again; a draft before a truncated or broken one is not
    used.
    """
    last, end = last_object(text, OUTPUT_OBJECT, DECODER)
    if end and OUTPUT.search(text, end):
        raise Rejected("bad-json")
    if not end:
        last, end = last_object(text, OBJECT, DECODER)
    if last is None:
        raise Rejected("bad-json" if "{" in text else "no-json" if text else "truncated")
    return last


def _text(value: Any, key: str) -> str:
    if isinstance(value, list) and key == "Error Type" and all(isinstance(part, str) for part in value):
        return ", ".join(value)
    if isinstance(value, bool) and key == "Cultural Content":
        return "Yes" if value else "No"
    if not isinstance(value, str):
        raise Rejected("wrong-type")
    return value
