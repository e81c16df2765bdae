"""Find sentences and expressions that may be culture-loaded with a model: recall first, people decide (§3.3)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from excam.acre.asks import filled
from excam.acre.items import shown
from excam.core import row_files
from excam.core.counts import failures
from excam.core.exceptions import InputInvalid
from excam.core.phrases import PhraseFinder
from excam.core.text import id_text, is_text
from excam.inference import Completion, Flow, Message, ask_for_text
from excam.inference.json_answers import Rejected, answer_decoder, answer_of, objects

DECODER = answer_decoder("key-twice", "not-finite")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a corpus; `rest` are its other columns."""

    id: str
    source: str
    rest: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _FoundExpressions:
    """The expressions of a sentence, each with its span; `absent` are those that the sentence does not hold."""

    rows: tuple[Mapping[str, Any], ...] = ()
    absent: int = 0
    failure: str | None = None


def read(path: Path) -> list[Sentence]:
    """Return the sentences of a file. Raise InputInvalid for a row without `id` or `source`, or there twice."""
    sentences: dict[str, Sentence] = {}
    for number, row in row_files.rows(path):
        raw_id, text = row.get("id"), row.get("source")
        name = id_text(raw_id)
        if not name or not is_text(text) or not text.strip() or name in sentences:
            raise InputInvalid(f"{path}:{number}: id {shown(raw_id)}, {shown(text)}; expected a unique id and text")
        rest = {key: value for key, value in row.items() if key not in ("id", "source")}
        _refuse_unwritable(rest, f"{path}:{number}")
        sentences[name] = Sentence(name, text, rest)
    if not sentences:
        raise InputInvalid(f"{path}: 0 sentences; expected one JSON object a line, or a table")
    return list(sentences.values())


def _refuse_unwritable(rest: Mapping[str, Any], where: str) -> None:
    """Raise InputInvalid for a value that no line of JSON can hold, such as bytes or a lone surrogate."""
    for name, value in rest.items():
        try:
            json.dumps({name: value}, ensure_ascii=False).encode()
        except (TypeError, ValueError):  # UnicodeEncodeError too
            raise InputInvalid(f"{where}: {name}: found {shown(value)}; expected what JSON can hold") from None


def flow(sentence: Sentence) -> Flow[_FoundExpressions]:
    """Ask for the expressions of a sentence."""
    text = filled("candidates", {"source": json.dumps(sentence.source, ensure_ascii=False)})
    answer = yield from ask_for_text((Message("user", text),))
    return parse(sentence, answer)


def parse(sentence: Sentence, answer: Completion) -> _FoundExpressions:
    """Return the expressions of an answer that the sentence holds, once each, in their order there."""
    try:
        value = list(objects(answer_of(answer), DECODER, set()))[-1]
    except Rejected as problem:
        return _FoundExpressions(failure=str(problem))
    listed = value.get("expressions") if isinstance(value, dict) else None
    if not isinstance(listed, list) or not all(isinstance(each, str) for each in listed):
        return _FoundExpressions(failure="no-list")
    finder = PhraseFinder(sentence.source)
    places = [next(finder.places(term), None) for term in dict.fromkeys(map(str.strip, listed)) if term]
    rows = [
        {"id": f"{sentence.id}/{number}", "source": sentence.source, "term": sentence.source[start:end]}
        | {"source_start": start, "source_end": end, **sentence.rest}
        for number, (start, end) in enumerate(sorted({place for place in places if place}), 1)
    ]
    return _FoundExpressions(tuple(rows), places.count(None))


def summary(extractions: Sequence[_FoundExpressions]) -> str:
    """Return how many expressions were found, and what was left out, in words."""
    rows = sum(len(extraction.rows) for extraction in extractions)
    absent = sum(extraction.absent for extraction in extractions)
    without = sum(not extraction.rows and not extraction.failure for extraction in extractions)
    counted = f"{rows} candidates; sentences without one {without}; not in the sentence {absent}"
    return f"{counted}; failures: {failures(extractions)}"
