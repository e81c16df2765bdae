"""A campaign: the tasks that annotators see, in one order for all, as one JSON file.

The file names the system behind each comparison explanation. The page and the answers in the store contain a code
instead, which only this file resolves, so that no annotator can know the system.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from excam.core.exceptions import InputInvalid, in_a_line

FORMAT = "excam-campaign/1"
SIDES = ("original_instruction", "modified_instruction", "original_output", "modified_output")  # boxes A, C, B, D

Passage = tuple[tuple[str, bool], ...]  # a text in pieces, each with whether it was changed; an empty piece: a gap


@dataclass(frozen=True, slots=True)
class Comparison:
    """A model's explanation, to be rated against the provided one. `text` is None if the model found no error."""

    code: str  # 8 hex digits; tells nothing of the system
    text: str | None


@dataclass(frozen=True, slots=True)
class Task:
    """One row with an error beside its original, as the page shows it."""

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
    severity: Literal["minor", "major"]
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
    """Return a campaign with its id. Raises InputInvalid if two tasks or two comparisons share a name."""
    codes = [comparison.code for task in tasks for comparison in task.comparisons]
    for names, what in (([task.id for task in tasks], "tasks"), (codes, "comparisons")):
        if len(set(names)) < len(names):
            raise InputInvalid(f"{title}: {len(names) - len(set(names))} {what} with the name of another")
    if set(codes) != set(sources):
        raise InputInvalid(f"{title}: comparisons and their sources are not the same codes")
    content = json.dumps([title, [asdict(task) for task in tasks], dict(sources)], sort_keys=True)
    return Campaign(hashlib.sha256(content.encode()).hexdigest()[:16], title, tuple(tasks), dict(sources))


def to_json(found: Campaign) -> dict[str, Any]:
    """Return the content of the campaign's file."""
    return {"format": FORMAT, **asdict(found)}


def read(path: Path) -> Campaign:
    """Return the campaign in a file. Raises InputInvalid if it is invalid, or if its id does not match its content."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as problem:
        raise _no_campaign(str(path), problem) from None
    return parse_campaign(text, str(path))


def parse_campaign(text: str, name: str) -> Campaign:
    """Return the campaign in a file's text; messages call the file `name`. Raises InputInvalid as `read` does."""
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


def plain_text(passage: Iterable[tuple[str, bool]]) -> str:
    """Return the text of a passage without its marks."""
    return "".join(text for text, _ in passage)
