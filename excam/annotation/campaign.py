"""A campaign: the tasks that annotators see, in one order for all, as one JSON file (spec 67-70).

The file names the system behind each comparison explanation. The page and the store's answers do not: there an
explanation has a code, which only this file resolves, so that nobody who annotates can know whose it is.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from excam.exceptions import InputInvalid, in_a_line
from excam.records import Severity

FORMAT = "excam-campaign/1"
SIDES = ("original_instruction", "modified_instruction", "original_output", "modified_output")  # boxes A, C, B, D

Passage = tuple[tuple[str, bool], ...]  # a text in pieces, each with whether it was changed; an empty piece: a gap


@dataclass(frozen=True, slots=True)
class Comparison:
    """A model's explanation to be rated against the provided one. `text` is None where it found no error (spec 70)."""

    code: str  # 8 hex digits; tells nothing of the system
    text: str | None


@dataclass(frozen=True, slots=True)
class Task:
    """One row with an error, beside its right twin, as it is shown."""

    id: str  # 16 hex digits: of the campaign's seed and the row's id
    row: str  # id of the wrong row in ExCAM40k
    dataset: str
    language: str  # English name
    culture: str
    annotators: int  # how many are wanted
    original_instruction: Passage
    modified_instruction: Passage
    original_output: Passage
    modified_output: Passage
    explanation: str
    severity: Severity
    error_type: str
    comparisons: tuple[Comparison, ...]


@dataclass(frozen=True, slots=True)
class Campaign:
    """`sources`: the system (`model/trained_on/judge`) of each comparison's code."""

    id: str  # 16 hex digits: of everything else in it
    title: str
    tasks: tuple[Task, ...]
    sources: Mapping[str, str]


_READER = TypeAdapter(Campaign)


def campaign(title: str, tasks: Sequence[Task], sources: Mapping[str, str]) -> Campaign:
    """A campaign with its id. Raises InputInvalid where two tasks or two comparisons share a name."""
    codes = [comparison.code for task in tasks for comparison in task.comparisons]
    for names, what in (([task.id for task in tasks], "tasks"), (codes, "comparisons")):
        if len(set(names)) < len(names):
            raise InputInvalid(f"{title}: {len(names) - len(set(names))} {what} with the name of another")
    if set(codes) != set(sources):
        raise InputInvalid(f"{title}: comparisons and their sources are not the same codes")
    content = json.dumps([title, [asdict(task) for task in tasks], dict(sources)], sort_keys=True)
    return Campaign(hashlib.sha256(content.encode()).hexdigest()[:16], title, tuple(tasks), dict(sources))


def to_json(found: Campaign) -> dict[str, Any]:
    """What the file holds."""
    return {"format": FORMAT, **asdict(found)}


def read(path: Path) -> Campaign:
    """A campaign's file. Raises InputInvalid where it is none, or its id is not that of its content."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as problem:
        raise _no_campaign(str(path), problem) from None
    return parsed(text, str(path))


def parsed(text: str, name: str) -> Campaign:
    """The campaign that a file's text is; `name` is what messages call it. Raises InputInvalid as `read` does."""
    try:
        raw = json.loads(text)
        if not isinstance(raw, dict) or raw.pop("format", None) != FORMAT:
            raise ValueError(f"no {FORMAT}")
        found = _READER.validate_python(raw)
    except (ValueError, RecursionError, ValidationError) as problem:
        raise _no_campaign(name, problem) from None
    if campaign(found.title, found.tasks, found.sources).id != found.id:
        raise InputInvalid(f"{name}: changed after it was drawn: its id is not that of its tasks; draw it again")
    return found


def _no_campaign(name: str, problem: Exception) -> InputInvalid:
    detail = in_a_line(problem)
    return InputInvalid(f"{name}: no campaign ({detail}); expected what `draw_campaign` writes")


def plain(passage: Iterable[tuple[str, bool]]) -> str:
    """The text of a passage."""
    return "".join(text for text, _ in passage)
