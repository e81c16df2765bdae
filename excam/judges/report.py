"""ExCAM's own way of asking (Table 5): the model answers with an error report in JSON, read back strictly (spec 32-38).

`write` is what models are trained on, `read` its inverse: tolerant of what surrounds the report (`recovered` says what
it overlooked), strict in what the report means. An answer that cannot be read is `Unreadable`, never an empty report,
since empty is the best one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from excam import scoring
from excam.inference import Completion, Flow, Message, generated, thinking
from excam.inference.objects import decoder, no_number
from excam.judges.base import SHARED_REASONS, Version, failed, fill, told
from excam.records import SEVERITIES, WHERE, CulturalError, Report, Sample, Severity, Unreadable, Verdict, Where

VERSION = Version(asks=1, reads=2)
SCHEMA = 1  # version of the JSON below; the paper's own schema is only in a figure we do not have (spec 32)
SYSTEM = "You compute a metric that judges the cultural correctness of a generation task."
USER = (  # Table 5; its line breaks are not in our copy of the paper
    "Please judge the following instruction and generated text: Instruction: {Instruction} Text: {Text}"
    " Return an error report in JSON format."
)
ERROR_KEYS = ("where", "span", "severity", "type")
REPORT_KEYS = ("errors", "explanation")

REASONS = (
    *SHARED_REASONS,
    "too-long",  # more than MAX_CHARS, or one report in more than MAX_WRITINGS ways
    "no-json",  # no object begins anywhere
    "bad-json",  # an object begins, and breaks the grammar
    "two-reports",  # two that differ; the same one repeated is fine
    "in-pieces",  # beside the report stands a piece of another object, or an end of thinking
    "wrong-schema",  # other keys, a key twice, a value of another type
    "bad-where",
    "bad-severity",
    "too-deep",
    "not-finite",  # NaN or Infinity
    "bad-text",  # a lone surrogate: no file can hold it
)
# What `read` overlooks around or in a report whose meaning is plain; an answer after its thinking is exactly a report
# where none of it occurs. White space, the order of keys and JSON escapes are the model's own affair.
RECOVERED = (
    "byte-order-mark",
    "fence",  # Markdown's marks of a block of code
    "prose",  # any other words or marks around the report
    "repeated",  # the same report again
    "case",  # "Major", or white space around it
    "control-character",  # a line break or a tab inside a string, bare
)
MAX_CHARS = 12_000_000  # Table 6 allows 2048 tokens; this only bounds the time spent on what cannot be a report
MAX_WRITINGS = 100  # of one report that are decoded
MAX_DRAFTS = 100  # whole reports in the thinking; with more of them it is none

# An object begins here: a brace and a key, quoted or not. What follows the first one is never searched again when it
# breaks, or a report quoted inside a broken one (a judged text may hold one) would be taken for the answer.
OBJECT_BEGINS = re.compile(r"\{\s*+(?:[\"'“”‘’}`]|\w{1,64}+\s{0,8}+:|$)")
REPORT_BEGINS = re.compile(rf'\{{\s*+"(?:{"|".join(REPORT_KEYS)})"')
LONE_SURROGATE = re.compile("[\ud800-\udfff]")
CONTROL = re.compile(r"[\x00-\x1f]")

# Around the objects of an answer, each of them a NUL here: the rest of a string or of an object that holds the report.
PIECES = re.compile(r'"\s*+(?:[\]}]|:\s*+["\[{])|"\0|\0"|</think(?:ing)?>', re.IGNORECASE)
FENCE = re.compile(r"(?:```|~~~)(?:json)?", re.IGNORECASE)
BYTE_ORDER_MARK = "\ufeff"
BLANK = " \t\r\n" + BYTE_ORDER_MARK


class _Refused(Exception):
    """Raised inside the JSON decoder; its text is one of REASONS."""


def messages(instruction: str, output: str) -> tuple[Message, ...]:
    """The conversation that asks for a report (Table 5), the same for training and for judging."""
    return Message("system", SYSTEM), Message("user", fill(USER, instruction, output))


def schema() -> dict[str, Any]:
    """JSON Schema of what `write` writes; kept beside this module as `report.schema.json`."""
    error = {
        "where": {"enum": list(WHERE), "description": "which of the two texts the error stands in"},
        "span": {
            "type": "string",
            "description": "the erroneous words, verbatim; the n-th equal span is the n-th place",
        },
        "severity": {"enum": list(SEVERITIES), "description": "readers ignore its case"},
        "type": {"type": "string", "description": "free text, e.g. stereotyping"},
    }
    item = {"type": "object", "properties": error, "required": list(ERROR_KEYS), "additionalProperties": False}
    report = {
        "errors": {"type": "array", "items": item, "description": "empty: culturally correct"},
        "explanation": {"type": "string", "description": "one for all errors; empty without errors"},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"ExCAM error report, version {SCHEMA}",
        "type": "object",
        "properties": report,
        "required": list(REPORT_KEYS),
        "additionalProperties": False,
    }


def write(report: Report) -> str:
    """The report as one line of canonical JSON: the training target. Offsets are left out, models cannot count them."""
    errors = [{key: getattr(error, key) for key in ERROR_KEYS} for error in report.errors]
    return json.dumps({"errors": errors, "explanation": report.explanation}, ensure_ascii=False)


def read(text: str) -> Report | Unreadable:
    """The one report in an answer, without offsets; or why there is none (`REASONS`). Never raises; linear time."""
    return _read(text)[0]


def recovered(text: str) -> tuple[str, ...]:
    """What `read` overlooked to read this answer, in the order of `RECOVERED`; nothing for what it cannot read."""
    return _read(text)[1]


def _read(text: str) -> tuple[Report | Unreadable, tuple[str, ...]]:
    if len(text) > MAX_CHARS:
        return Unreadable("too-long", text), ()
    thought, answer = thinking.split(text)
    if answer is None:
        return Unreadable("truncated", text), ()
    if _torn(thought):
        return Unreadable("in-pieces", text), ()
    body = answer.rstrip(BLANK).removesuffix("```").rstrip()
    if not body.lstrip(BLANK):
        return Unreadable("empty", text), ()
    overlooked: set[str] = set()
    try:
        report, around = _only_report(body, overlooked)
        _check_around([*around, answer[len(body) :]], overlooked)
    except _Refused as refused:
        return Unreadable(str(refused), text), ()
    return report, tuple(kind for kind in RECOVERED if kind in overlooked)


def _torn(thought: str) -> bool:
    """Whether what looks like thinking holds the beginning of a report: an end of thinking that it quotes tore it."""
    position = 0
    for _ in range(MAX_DRAFTS):
        begins = REPORT_BEGINS.search(thought, position)
        if not begins:
            return False
        try:
            _, position = DECODER.raw_decode(thought, begins.start())
        except (json.JSONDecodeError, _Refused, RecursionError):
            return True
    return True


def _only_report(body: str, overlooked: set[str]) -> tuple[Report, list[str]]:
    """The report of an answer, and what stands before, between and after its objects.

    Raises _Refused at the first object that is no report, or another report, and where there is none.
    """
    found: Report | None = None
    written = ""
    around: list[str] = []
    position = decoded = 0
    while match := OBJECT_BEGINS.search(body, position):
        start = match.start()
        around.append(body[position:start])
        if found is not None:
            overlooked.add("repeated")
            if body.startswith(written, start):  # the same text is the same report
                position = start + len(written)
                continue
        if decoded == MAX_WRITINGS:
            raise _Refused("too-long")
        value, position = _decode(body, start)
        report = _report(value, overlooked)
        if found not in (None, report):
            raise _Refused("two-reports")
        found, written, decoded = report, body[start:position], decoded + 1
        if CONTROL.search(written) and not _strict(written):
            overlooked.add("control-character")
    if found is None:
        raise _Refused("bad-json" if "{" in body else "no-json")
    return found, [*around, body[position:]]


def _decode(text: str, start: int) -> tuple[Any, int]:
    try:
        return DECODER.raw_decode(text, start)
    except json.JSONDecodeError as broken:
        raise _Refused("truncated" if _at_end(broken) else "bad-json") from broken
    except RecursionError as deep:
        raise _Refused("too-deep") from deep


def _strict(text: str) -> bool:
    """Whether an object that our decoder reads has no bare control character in a string."""
    try:
        json.loads(text, parse_int=no_number)
    except json.JSONDecodeError:
        return False
    return True


def _check_around(around: Sequence[str], overlooked: set[str]) -> None:
    """Mark what stands around the objects of an answer. Raises _Refused where it may change what they mean."""
    if PIECES.search("\0".join(around)):
        raise _Refused("in-pieces")
    words = "".join(around)
    unmarked = words.replace(BYTE_ORDER_MARK, "")
    unfenced = FENCE.sub("", unmarked)
    if unmarked != words:
        overlooked.add("byte-order-mark")
    if unfenced != unmarked:
        overlooked.add("fence")
    if unfenced.strip(" \t\r\n"):
        overlooked.add("prose")


def _at_end(broken: json.JSONDecodeError) -> bool:
    """Whether the text just stops there: within a string, an escape or between two tokens."""
    rest = broken.doc[broken.pos :]
    return (
        broken.msg.startswith("Unterminated string") or not rest.strip() or (len(rest) < 6 and "escape" in broken.msg)
    )


def _report(value: Any, overlooked: set[str]) -> Report:
    if not isinstance(value, dict) or value.keys() != set(REPORT_KEYS) or not isinstance(value["errors"], list):
        raise _Refused("wrong-schema")
    return Report(tuple(_error(error, overlooked) for error in value["errors"]), _text(value["explanation"]))


def _error(value: Any, overlooked: set[str]) -> CulturalError:
    if not isinstance(value, dict) or value.keys() != set(ERROR_KEYS):
        raise _Refused("wrong-schema")
    where, span, severity, kind = (_text(value[key]) for key in ERROR_KEYS)
    if where not in WHERE or severity not in SEVERITIES:
        overlooked.add("case")
        where, severity = where.strip().lower(), severity.strip().lower()
    if where not in WHERE:
        raise _Refused("bad-where")
    if severity not in SEVERITIES:
        raise _Refused("bad-severity")
    return CulturalError(cast(Where, where), span, cast(Severity, severity), kind)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise _Refused("wrong-schema")
    if LONE_SURROGATE.search(value):
        raise _Refused("bad-text")
    return value


DECODER = decoder(_Refused, twice="wrong-schema", not_finite="not-finite")


def locate(report: Report, instruction: str, output: str) -> Report:
    """Fill `start` and `end` (characters, half-open) by searching each span in the text it names.

    The n-th identical span takes the n-th place. Whole words come first, then any exact match, then one that ignores
    case; there the span becomes what the text says, so that `text[start:end] == span`. Not found: -1 and -1.
    """
    texts: Mapping[Where, str] = {"instruction": instruction, "output": output}
    places: dict[tuple[Where, str], Iterator[tuple[int, int]]] = {}
    errors = []
    for error in report.errors:
        text = texts[error.where]
        key = (error.where, error.span)
        if key not in places:
            places[key] = _places(error.span, text)
        start, end = next(places[key], (-1, -1))
        span = text[start:end] if start >= 0 else error.span
        errors.append(replace(error, span=span, start=start, end=end))
    return replace(report, errors=tuple(errors))


def _places(span: str, text: str) -> Iterator[tuple[int, int]]:
    if not span:
        return iter(())
    exact = re.escape(span)
    words = ("" if not span[0].isalnum() else r"(?<!\w)") + exact + ("" if not span[-1].isalnum() else r"(?!\w)")
    for pattern in (re.compile(words), re.compile(exact), re.compile(exact, re.IGNORECASE)):
        if pattern.search(text):
            return (match.span() for match in pattern.finditer(text))
    return iter(())


def judge(sample: Sample) -> Flow:
    """Ask once for a report. The reader sees only the answer, never the judged texts, except to locate its spans."""
    answer = yield from generated(messages(sample.instruction, sample.output))
    return verdict(answer, sample.instruction, sample.output)


def verdict(answer: Completion, instruction: str, output: str) -> Verdict:
    """The verdict on a pair for which a model gave this answer. Score: the heuristic without the fallback (spec 35)."""
    report, overlooked = _read(answer.text)
    if isinstance(report, Unreadable):
        return failed(report.reason, answer)
    if answer.finish != "stop":  # what came after the report might have taken it back
        return failed("truncated", answer)
    found = Verdict(
        errors_found=len(report.errors),
        score=float(scoring.deductions(report)),
        report=locate(report, instruction, output),
        recovered=overlooked,
    )
    return told(found, answer)
