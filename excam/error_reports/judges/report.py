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

from excam.core.hash_order import digest
from excam.core.phrases import PhraseFinder
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
from excam.inference.answer_text import split_reasoning
from excam.inference.json_answers import Rejected, answer_decoder, objects

VERSION = Version(asks=1, reads=3)
SCHEMA = 1  # version of the JSON below; the paper's own schema is only in a figure we do not have
SYSTEM = "You compute a metric that judges the cultural correctness of a generation task."
USER = (  # Table 5; its line breaks are not in our copy of the paper
    "Please judge the following instruction and generated text: Instruction: {Instruction} Text: {Text}"
    " Return an error report in JSON format."
)
ERROR_KEYS = ("where", "span", "severity", "type")
REPORT_KEYS = ("errors", "explanation")
Order = Literal["errors-first", "explanation-first"]
VERDICT = '"errors":'  # in a written report, the next token says whether there is an error

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
# What `read` ignores around or in a report whose meaning is plain; an answer after its reasoning is exactly a report
# where none of it occurs. White space, the order of keys and JSON escapes are the model's own affair.
RECOVERED = (
    *("byte-order-mark", "fence", "prose", "repeated"),  # `json_answers.IGNORED` says what each is
    "case",  # "Major", or white space around it
    "control-character",
)
MAX_CHARS = 12_000_000  # Table 6 allows 2048 tokens; this only bounds the time spent on what cannot be a report
MAX_DRAFTS = 100  # whole reports in the reasoning; with more of them it is none

REPORT_BEGINS = re.compile(rf'\{{\s*+"(?:{"|".join(REPORT_KEYS)})"')
LONE_SURROGATE = re.compile("[\ud800-\udfff]")
DECODER = answer_decoder(twice="wrong-schema", not_finite="not-finite")


def messages(instruction: str, output: str) -> tuple[Message, ...]:
    """Return the conversation that asks for a report (Table 5), the same for training and for judging."""
    return Message("system", SYSTEM), Message("user", fill(USER, instruction, output))


def training_examples(
    samples: Sequence[Sample], order: Order = "errors-first", labels: Literal["gold", "permuted"] = "gold"
) -> Iterator[tuple[str, str, tuple[Message, ...], str]]:
    """Yield id, pair, prompt and target of each sample: the target is its gold report.

    In `explanation-first` a report states the expected answer, whether there is an error or not, and then the errors:
    what the model recalls stands before what it decides. `permuted` is a control without information: in half of the
    pairs, by hash, each of the two texts gets the report of the other.
    """
    partner = {(sample.pair, not sample.report.errors): sample for sample in samples}
    for sample in samples:
        exchanged = labels == "permuted" and int(digest(0, "permuted", sample.pair)[:8], 16) % 2
        learned = partner[sample.pair, bool(sample.report.errors)] if exchanged else sample
        report = learned.report if order == "errors-first" else _with_expected_answer(learned)
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
    return _read(text, *split_reasoning(text))[0]


def recovered(text: str) -> tuple[str, ...]:
    """Return what `read` ignored to parse this answer, in the order of `RECOVERED`; nothing for a parse failure."""
    return _read(text, *split_reasoning(text))[1]


def _read(text: str, reasoning: str, answer: str | None) -> tuple[Report | Unreadable, tuple[str, ...]]:
    """Return the report in the answer, which is the part of the text after the reasoning, and what was ignored."""
    ignored: set[str] = set()
    try:
        if len(text) > MAX_CHARS:
            raise Rejected("too-long")
        if answer is None:
            raise Rejected("truncated")
        if _reasoning_splits_report(reasoning):
            raise Rejected("in-pieces")
        report = _only_report(answer, ignored)
    except Rejected as rejected:
        return Unreadable(str(rejected), text), ()
    return report, tuple(kind for kind in RECOVERED if kind in ignored)


def _reasoning_splits_report(reasoning: str) -> bool:
    """Return whether the apparent reasoning holds the beginning of a report, split by a quoted end-of-thinking tag."""
    position = 0
    for _ in range(MAX_DRAFTS):
        begins = REPORT_BEGINS.search(reasoning, position)
        if not begins:
            return False
        try:
            _, position = DECODER.raw_decode(reasoning, begins.start())
        except (json.JSONDecodeError, Rejected, RecursionError):
            return True
    return True


def _only_report(answer: str, ignored: set[str]) -> Report:
    """Return the report in an answer. Raises Rejected at the first object that is no report, or is another report."""
    found: Report | None = None
    for value in objects(answer, DECODER, ignored):
        report = _report(value, ignored)
        if found not in (None, report):
            raise Rejected("two-reports")
        found = report
    assert found is not None, "`objects` yields one or raises"
    return found


def _report(value: Any, ignored: set[str]) -> Report:
    if not isinstance(value, dict) or value.keys() != set(REPORT_KEYS) or not isinstance(value["errors"], list):
        raise Rejected("wrong-schema")
    return Report(tuple(_error(error, ignored) for error in value["errors"]), _text(value["explanation"]))


def _error(value: Any, ignored: set[str]) -> CulturalError:
    if not isinstance(value, dict) or value.keys() != set(ERROR_KEYS):
        raise Rejected("wrong-schema")
    where, span, severity, kind = (_text(value[key]) for key in ERROR_KEYS)
    if where not in WHERE or severity not in SEVERITIES:
        ignored.add("case")
        where, severity = where.strip().lower(), severity.strip().lower()
    if where not in WHERE:
        raise Rejected("bad-where")
    if severity not in SEVERITIES:
        raise Rejected("bad-severity")
    return CulturalError(cast(Where, where), span, cast(Severity, severity), kind)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise Rejected("wrong-schema")
    if LONE_SURROGATE.search(value):
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
    reasoning, rest = split_reasoning(answer.text)
    report, ignored = _read(answer.text, reasoning, rest)
    if isinstance(report, Unreadable):
        return complete(failed(report.reason), answer, reasoning)
    found = Verdict(
        errors_found=len(report.errors),
        score=float(scoring.deductions(report)),
        report=locate(report, instruction, output),
        recovered=ignored,
    )
    return complete(found, answer, reasoning)
