"""ExCAM's own way of asking (Table 5): the model answers with an error report in JSON, which is parsed strictly.

`write` gives the training target, `read` is its inverse: tolerant of text around the report (`recovered` lists what was
ignored), strict about the meaning of the report. An answer that cannot be parsed is `Unreadable`, never an empty
report, which would be the best one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal, cast

from excam.core.phrases import PhraseFinder
from excam.core.text import SURROGATE
from excam.error_reports import scoring
from excam.error_reports.judges.base import SHARED_REASONS, Version, complete, failed, fill
from excam.error_reports.records import (
    SEVERITIES,
    WHERE,
    CulturalError,
    Report,
    Sample,
    Severity,
    Unreadable,
    Verdict,
    Where,
)
from excam.inference import Completion, Flow, Message, ask_for_text
from excam.inference.answer_text import ENDS, reasoning_and_answer, skip_reasoning, split_reasoning
from excam.inference.json_answers import BLANK, FENCE, IGNORED, Rejected, answer_decoder, fields, is_cut, objects

VERSION = Version(asks=1, reads=5)
SCHEMA = 1  # version of the JSON below; the paper's own schema is only in a figure we do not have
SYSTEM = "You compute a metric that judges the cultural correctness of a generation task."
USER = (  # Table 5; its line breaks are not in our copy of the paper
    "Please judge the following instruction and generated text: Instruction: {Instruction} Text: {Text}"
    " Return an error report in JSON format."
)
ERROR_KEYS = ("where", "span", "severity", "type")
REPORT_KEYS = ("errors", "explanation")
Order = Literal["errors-first", "explanation-first"]

REASONS = (
    *SHARED_REASONS,
    "too-long",  # more than MAX_CHARS, or one report in more than MAX_OBJECTS ways
    "no-json",  # no object begins anywhere
    "bad-json",  # an object begins, and breaks the grammar
    "two-reports",  # two that differ; the same one repeated is fine
    "in-pieces",  # beside the report there is a fragment of another object, or an end of thinking
    "wrong-schema",  # other keys, a key twice, a value of another type
    "bad-where",
    "bad-severity",
    "too-deep",
    "not-finite",  # NaN or Infinity
    "bad-text",  # a lone surrogate: no file can hold it
)
# What `read` ignores or repairs around or in a report whose meaning is plain; an answer after its reasoning is exactly
# a report where none of it occurs. White space, the order of keys and JSON escapes are the model's own affair.
RECOVERED = (
    *IGNORED[:4],  # around the object
    "case",  # "Major" or "Errors", or a full stop or white space around it
    *IGNORED[4:],  # in the object
    "wrapper",  # the report is the value of a key of `WRAPPERS`
    "extra-key",  # a string, a number or null under another key
    "no-explanation",  # null, or missing beside errors
    "no-list",  # "none" or null for an empty list of errors
)
# Keys, in lower case and letters alone: of a value that may be the report, beside it, and beside an empty list of
# errors. That is the best report: it is complete, and any other key may say that there is an error after all.
WRAPPERS = {
    *("report", "errorreport", "culturalerrorreport", "response", "result", "answer", "finalanswer", "output", "json"),
    *("function", "arguments", "parameters", "properties"),
}
BESIDE_REPORT = {
    *("name", "type", "id", "title", "description", "tool", "role", "schema", "required", "additionalproperties"),
}
BESIDE_NO_ERRORS = {"id", "title", "language", "culture", "model", "version", "confidence", "certainty"}
MAX_WRAPPERS = 4
MAX_CHARS = 12_000_000  # Table 6 allows 2048 tokens; this only bounds the time spent on what cannot be a report
MAX_DRAFTS = 100  # whole reports in the reasoning; with more of them it is none

REPORT_BEGINS = re.compile(rf'\{{\s*+"(?:{"|".join(REPORT_KEYS)})"')
REPORT_OR_END = re.compile(rf"{REPORT_BEGINS.pattern}|(?i:{ENDS.pattern})")
CLOSED = re.compile(ENDS.pattern + r"\Z", re.IGNORECASE)
NO_LETTERS = re.compile(r"[\W_]+")
DECODER = answer_decoder(twice="wrong-schema", not_finite="not-finite", number=lambda _: 0)


def messages(instruction: str, output: str) -> tuple[Message, ...]:
    """Return the conversation that asks for a report (Table 5), the same for training and for judging."""
    return Message("system", SYSTEM), Message("user", fill(USER, instruction, output))


def training_examples(
    samples: Sequence[Sample], order: Order = "errors-first"
) -> Iterator[tuple[str, str, tuple[Message, ...], str]]:
    """Yield id, pair, prompt and target of each sample: the target is its gold report.

    In `explanation-first` a report states the expected answer, whether there is an error or not, and then the errors:
    what the model recalls stands before what it decides.
    """
    for sample in samples:
        report = sample.report if order == "errors-first" else _with_expected_answer(sample)
        yield sample.id, sample.pair, messages(sample.instruction, sample.output), write(report, order)


def _with_expected_answer(sample: Sample) -> Report:
    answer = sample.answer if sample.answer.endswith((".", "!", "?", "。", "।")) else f"{sample.answer}."
    return replace(sample.report, explanation=f"Expected: {answer} {sample.report.explanation}".rstrip())


def schema() -> dict[str, Any]:
    """Return the JSON Schema of what `write` writes; it is also in `report.schema.json` beside this module."""
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


def write(report: Report, order: Order = "errors-first") -> str:
    """Return the report as one line of canonical JSON: the training target.

    Offsets are left out, models cannot count them.
    """
    errors = [{key: getattr(error, key) for key in ERROR_KEYS} for error in report.errors]
    parts = {"errors": errors, "explanation": report.explanation}
    keys = REPORT_KEYS if order == "errors-first" else reversed(REPORT_KEYS)
    return json.dumps({key: parts[key] for key in keys}, ensure_ascii=False)


def read(text: str) -> Report | Unreadable:
    """Return the one report in an answer, without offsets; or why there is none (`REASONS`).

    Never raises; linear time.
    """
    return _read(text, split_reasoning(text)[1])[0]


def recovered(text: str) -> tuple[str, ...]:
    """Return what `read` ignored to parse this answer, in the order of `RECOVERED`; nothing for a parse failure."""
    return _read(text, split_reasoning(text)[1])[1]


def _read(text: str, answer: str | None) -> tuple[Report | Unreadable, tuple[str, ...]]:
    """Return the report in the answer, which is the part of the text after the reasoning, and what was ignored."""
    ignored: set[str] = set()
    try:
        if len(text) > MAX_CHARS:
            raise Rejected("too-long")
        if answer is None:
            raise Rejected("truncated")
        if _reasoning_splits_report(text[: len(text) - len(answer)]):
            raise Rejected("in-pieces")
        report = _only_report(answer, ignored)
    except Rejected as rejected:
        return Unreadable(str(rejected), text), ()
    return report, tuple(kind for kind in RECOVERED if kind in ignored)


def _reasoning_splits_report(before: str) -> bool:
    """Return whether a report may begin before the end of the reasoning, whose tag would then stand quoted in it.

    Between an opening and a closing tag there may be any drafts. Elsewhere a broken one must not be split by the tag
    or stand where the answer begins.
    """
    closed = CLOSED.search(before)
    if not closed:  # no reasoning, or that of another marker, which begins the answer
        return False
    before = before[: closed.start()]
    start = position = skip_reasoning(before, 0)
    drafts = 0
    while drafts < MAX_DRAFTS:
        begins = REPORT_OR_END.search(before, position)
        if not begins:
            return False
        if begins[0].startswith("<"):
            start = position = skip_reasoning(before, begins.end())
            continue
        drafts += 1
        try:
            _, position = DECODER.raw_decode(before, begins.start())
        except json.JSONDecodeError as broken:
            is_first = not FENCE.sub("", before[start : begins.start()]).strip(BLANK)
            if is_first or _may_be_split(before[begins.start() : broken.pos], broken):
                return True
            position = broken.pos
        except (Rejected, RecursionError):
            return True
    return True


def _may_be_split(draft: str, broken: json.JSONDecodeError) -> bool:
    """Return whether a draft breaks where a string may go on, elsewhere than where it is abbreviated (`[...]`)."""
    behind_string = "','" in broken.msg and draft.rstrip().endswith('"')
    return is_cut(broken) or "escape" in broken.msg or behind_string


def _only_report(answer: str, ignored: set[str]) -> Report:
    """Return the report in an answer. Raises Rejected at the first object that is no report, or is another report."""
    first: Report | None = None
    for value in objects(answer, DECODER, ignored):
        report = _report(value, ignored)
        if first not in (None, report):
            raise Rejected("two-reports")
        first = report
    assert first is not None, "`objects` yields one or raises"
    return first


def _report(value: Any, ignored: set[str]) -> Report:
    known_fields, others = fields(_unwrapped(value, ignored), REPORT_KEYS, ignored)
    listed = _errors(known_fields.get("errors", ""), known_fields.get("explanation"), ignored)
    if not listed and ("explanation" not in known_fields or not {_letters(key) for key in others} <= BESIDE_NO_ERRORS):
        raise Rejected("wrong-schema")
    if known_fields.get("explanation") is None:
        ignored.add("no-explanation")
        known_fields["explanation"] = ""
    return Report(tuple(_error(error, ignored) for error in listed), _text(known_fields["explanation"]))


def _unwrapped(value: Any, ignored: set[str]) -> Any:
    """Return the value of the one key of `WRAPPERS`, perhaps of several nested ones, or the value itself."""
    for _ in range(MAX_WRAPPERS):
        if not isinstance(value, dict):
            return value
        named = {_letters(key): member for key, member in value.items()}
        inner = [member for key, member in named.items() if key in WRAPPERS]
        beside = [member for key, member in named.items() if key in BESIDE_REPORT]
        if len(inner) != 1 or len(beside) + 1 < len(value) or any(isinstance(member, dict) for member in beside):
            return value
        value = inner[0]
        ignored.add("wrapper")
        if isinstance(value, str):
            ignored.add("encoded")
            try:
                value = DECODER.decode(value)
            except (json.JSONDecodeError, RecursionError) as broken:
                raise Rejected("wrong-schema") from broken
    return value


def _letters(key: str) -> str:
    return NO_LETTERS.sub("", key.lower())


def _errors(value: Any, explanation: Any, ignored: set[str]) -> list[Any]:
    """Return the list of errors; null may also stand for one that was not made, unless it is known to need no words."""
    if isinstance(value, list):
        return value
    if explanation == "" if value is None else isinstance(value, str) and _word(value) in ("none", "no errors"):
        ignored.add("no-list")
        return []
    raise Rejected("wrong-schema")


def _error(value: Any, ignored: set[str]) -> CulturalError:
    known_fields, _ = fields(value, ERROR_KEYS, ignored)
    if len(known_fields) < len(ERROR_KEYS):
        raise Rejected("wrong-schema")
    where, span, severity, kind = (_text(known_fields[key]) for key in ERROR_KEYS)
    if where not in WHERE or severity not in SEVERITIES:
        ignored.add("case")
        where, severity = _word(where), _word(severity)
    if where not in WHERE:
        raise Rejected("bad-where")
    if severity not in SEVERITIES:
        raise Rejected("bad-severity")
    return CulturalError(cast(Where, where), span, cast(Severity, severity), kind)


def _word(text: str) -> str:
    return text.strip().removesuffix(".").rstrip().lower()


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise Rejected("wrong-schema")
    if SURROGATE.search(value):
        raise Rejected("bad-text")
    return value


def locate(report: Report, instruction: str, output: str) -> Report:
    """Fill `start` and `end` (characters, half-open) by searching each span in the text it names.

    The n-th identical span takes the n-th place that `PhraseFinder` finds. The span becomes what the text says there,
    so that `text[start:end] == span`. Not found: -1 and -1.
    """
    texts = {"instruction": PhraseFinder(instruction), "output": PhraseFinder(output)}
    places: dict[tuple[str, str], Iterator[tuple[int, int]]] = {}
    errors = []
    for error in report.errors:
        finder = texts[error.where]
        key = (error.where, error.span)
        if key not in places:
            places[key] = finder.places(error.span)
        start, end = next(places[key], (-1, -1))
        span = finder.text[start:end] if start >= 0 else error.span
        errors.append(replace(error, span=span, start=start, end=end))
    return replace(report, errors=tuple(errors))


def judge(sample: Sample) -> Flow[Verdict]:
    """Ask once for a report. The reader sees only the answer, never the judged texts, except to locate its spans."""
    answer = yield from ask_for_text(messages(sample.instruction, sample.output))
    return verdict(answer, sample.instruction, sample.output)


def verdict(answer: Completion, instruction: str, output: str) -> Verdict:
    """Return the verdict on a pair from this answer of a model. The score is the heuristic without the fallback."""
    reasoning, rest = reasoning_and_answer(answer)
    report, ignored = _read(answer.text, rest)
    if isinstance(report, Unreadable):
        outcome = failed(report.reason)
    else:
        score, located = float(scoring.deductions(report)), locate(report, instruction, output)
        outcome = Verdict(errors_found=len(report.errors), score=score, report=located, recovered=ignored)
    return complete(outcome, answer, reasoning)
