"""ExCAM's own way of asking (Table 5): the model answers with an error report in JSON, read back strictly (spec 32-38).

`write` is what models are trained on, `read` its inverse: tolerant of what surrounds the report, strict in what the
report means. An answer that cannot be read is `Unreadable`, never an empty report, since empty is the best one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, cast, get_args

from excam import scoring
from excam.inference import Completion, Flow, Generate, Message
from excam.judges.base import SHARED_REASONS, THINKING_ENDS, THINKING_STARTS, Version, failed, fill
from excam.records import SEVERITIES, CulturalError, Report, Sample, Severity, Unreadable, Verdict, Where

VERSION = Version(asks=1, reads=1)
SCHEMA = 1  # version of the JSON below; the paper's own schema is only in a figure we do not have (spec 32)
SYSTEM = "You compute a metric that judges the cultural correctness of a generation task."
USER = (  # Table 5; its line breaks are not in our copy of the paper
    "Please judge the following instruction and generated text: Instruction: {Instruction} Text: {Text}"
    " Return an error report in JSON format."
)
WHERE: tuple[Where, ...] = get_args(Where)
ERROR_KEYS = ("where", "span", "severity", "type")
REPORT_KEYS = ("errors", "explanation")

REASONS = (
    *SHARED_REASONS,
    "too-long",  # more than MAX_CHARS
    "no-json",  # no object begins anywhere
    "bad-json",  # an object begins, and breaks the grammar
    "two-reports",  # two that differ; the same one repeated is fine
    "wrong-schema",  # other keys, a key twice, a value of another type
    "bad-where",
    "bad-severity",
    "too-deep",
    "not-finite",  # NaN or Infinity
    "bad-text",  # a lone surrogate: no file can hold it
)
MAX_CHARS = 1_000_000  # Table 6 allows 2048 tokens; this only bounds the time spent on what cannot be a report

# An object begins here: a brace and a key, quoted or not. What follows the first one is never searched again when it
# breaks, or a report quoted inside a broken one (a judged text may hold one) would be taken for the answer.
OBJECT_BEGINS = re.compile(r"\{\s*(?:[\"'“”‘’}`]|\w{1,64}\s{0,8}:|$)")
LONE_SURROGATE = re.compile("[\ud800-\udfff]")


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
    if len(text) > MAX_CHARS:
        return Unreadable("too-long", text)
    answer = _without_thinking(text)
    if answer is None:
        return Unreadable("truncated", text)
    answer = answer.strip(" \t\r\n\ufeff").removesuffix("```").rstrip()
    if not answer:
        return Unreadable("empty", text)
    try:
        reports = set(_reports(answer))
    except _Refused as refused:
        return Unreadable(str(refused), text)
    if not reports:
        return Unreadable("bad-json" if "{" in answer else "no-json", text)
    return reports.pop() if len(reports) == 1 else Unreadable("two-reports", text)


def _without_thinking(text: str) -> str | None:
    """As `after_thinking`, but a tag inside a quoted string (a span that quotes it) ends nothing."""
    end, previous, quotes = None, 0, 0
    for match in THINKING_ENDS.finditer(text):
        _, line_break, line = text[previous : match.start()].rpartition("\n")
        quotes = (0 if line_break else quotes) + line.replace("\\\\", "").replace('\\"', "").count('"')
        previous = match.end()
        if quotes % 2 == 0:
            end = previous
    if end is None:
        return None if THINKING_STARTS.match(text) else text
    return text[end:]


def _reports(answer: str) -> Iterator[Report]:
    """Every object of an answer as a report. Raises _Refused at the first that is none."""
    position = 0
    while match := OBJECT_BEGINS.search(answer, position):
        try:
            value, position = DECODER.raw_decode(answer, match.start())
        except json.JSONDecodeError as broken:
            raise _Refused("truncated" if _at_end(broken) else "bad-json") from broken
        except RecursionError as deep:
            raise _Refused("too-deep") from deep
        yield _report(value)


def _at_end(broken: json.JSONDecodeError) -> bool:
    """Whether the text just stops there: within a string, an escape or between two tokens."""
    rest = broken.doc[broken.pos :]
    return (
        broken.msg.startswith("Unterminated string") or not rest.strip() or (len(rest) < 6 and "escape" in broken.msg)
    )


def _report(value: Any) -> Report:
    if not isinstance(value, dict) or value.keys() != set(REPORT_KEYS) or not isinstance(value["errors"], list):
        raise _Refused("wrong-schema")
    return Report(tuple(_error(error) for error in value["errors"]), _text(value["explanation"]))


def _error(value: Any) -> CulturalError:
    if not isinstance(value, dict) or value.keys() != set(ERROR_KEYS):
        raise _Refused("wrong-schema")
    where, span, severity, kind = (_text(value[key]) for key in ERROR_KEYS)
    if where.strip().lower() not in WHERE:
        raise _Refused("bad-where")
    if severity.strip().lower() not in SEVERITIES:
        raise _Refused("bad-severity")
    return CulturalError(cast(Where, where.strip().lower()), span, cast(Severity, severity.strip().lower()), kind)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise _Refused("wrong-schema")
    if LONE_SURROGATE.search(value):
        raise _Refused("bad-text")
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(value := dict(pairs)) < len(pairs):  # a key twice: which one is meant is anyone's guess
        raise _Refused("wrong-schema")
    return value


def _constant(name: str) -> None:
    raise _Refused("not-finite")


# No field is a number, so numbers are read as None: an integer of a million digits costs nothing and fits no field.
# strict=False: models put bare line breaks into strings, and what they mean is plain.
DECODER = json.JSONDecoder(
    object_pairs_hook=_object,
    parse_int=lambda digits: None,
    parse_float=lambda digits: None,
    parse_constant=_constant,
    strict=False,
)


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
    (answer,) = yield [Generate(messages(sample.instruction, sample.output))]
    return verdict(answer, sample.instruction, sample.output)


def verdict(answer: Completion, instruction: str, output: str) -> Verdict:
    """The verdict on a pair for which a model gave this answer. Score: the heuristic without the fallback (spec 35)."""
    report = read(answer.text)
    if isinstance(report, Unreadable):
        return failed(report.reason, answer)
    if answer.finish != "stop":  # what came after the report might have taken it back
        return failed("truncated", answer)
    return Verdict(
        errors_found=len(report.errors),
        score=float(scoring.deductions(report)),
        certainty=scoring.certainty(answer.logprobs),
        report=locate(report, instruction, output),
    )
