"""A campaign: a form and the tasks that annotators see, in one order for all, as one JSON file.

A task's `hidden` entries, such as the system behind a text, are in this file and in the owner's exports. The page does
not contain them, so that no annotator can know them.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from excam.annotation import form as forms
from excam.annotation.form import Form
from excam.annotation.form_parts import Show
from excam.core import counts, tables
from excam.core.exceptions import InputInvalid, in_a_line
from excam.core.provenance import write_text

FORMAT = "excam-campaign/2"

Passage = tuple[tuple[str, bool], ...]  # a text in pieces, each with whether it was changed; an empty piece: a gap


@dataclass(frozen=True, slots=True)
class Task:
    """What one answer is about. `assigned`: the annotators who get it; empty for all."""

    id: str  # 16 hex digits
    row: str  # what it was made of
    language: str  # English name
    culture: str
    annotators: int  # how many are wanted
    shown: Mapping[str, Any]  # texts, changed passages, mappings of slots, by the names that the form shows
    hidden: Mapping[str, str] = field(default_factory=dict[str, str])
    assigned: tuple[str, ...] = ()

    def __hash__(self) -> int:
        return hash(self.id)

    def facet(self, name: str) -> str:
        """Return what tasks are chosen by: its language, its culture, or a shown entry."""
        return str(getattr(self, name) if name in ("language", "culture") else self.shown.get(name, ""))


@dataclass(frozen=True)
class Campaign:
    """`content` is what its file holds."""

    id: str  # 16 hex digits: of everything else in it
    title: str
    form: Form
    tasks: tuple[Task, ...]
    content: Mapping[str, Any]

    def __hash__(self) -> int:
        return hash(self.id)

    @cached_property
    def by_id(self) -> dict[str, Task]:
        """Return the tasks by their ids."""
        return {task.id: task for task in self.tasks}

    def tasks_of(self, annotator: str) -> tuple[Task, ...]:
        """Return the tasks that an annotator gets, in order."""
        return tuple(task for task in self.tasks if not task.assigned or annotator in task.assigned)


_TASKS = TypeAdapter(tuple[Task, ...])


def campaign(title: str, form: Form, tasks: Sequence[Task]) -> Campaign:
    """Return a campaign with its id. Raise InputInvalid if two tasks share an id, or one lacks what the form shows."""
    content = {
        "title": title,
        "form": form.model_dump(mode="json", exclude_defaults=True),
        "tasks": [asdict(task) for task in tasks],
    }
    content = json.loads(json.dumps(content))
    name = _digest(content)
    made = _checked(Campaign(name, title, form, tuple(tasks), {"format": FORMAT, "id": name, **content}))
    return replace(made, tasks=_TASKS.validate_python(content["tasks"]))  # as they are read from its file


def write(path: Path, drawn: Campaign) -> None:
    """Write the campaign's file. Nothing in it is sorted: values and slots are shown in its order."""
    write_text(path, json.dumps(drawn.content, indent=2, ensure_ascii=False) + "\n")


def write_left_out(campaign_path: Path, left_out: Mapping[str, str]) -> str:
    """Write why rows are in no task into a CSV file beside the campaign's, and return the counts in words."""
    lines = [{"row": row, "reason": reason} for row, reason in left_out.items()]
    tables.write_lines(campaign_path.with_suffix(".left-out.csv"), ("row", "reason"), lines)
    return counts.in_words(Counter(left_out.values()))


def read(path: Path) -> Campaign:
    """Return the campaign in a file. Raises InputInvalid if it is invalid, or if its id does not match its content."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as problem:
        raise _no_campaign(str(path), problem) from None
    return parse_campaign(text, str(path))


def require_form(drawn: Campaign, *names: str) -> None:
    """Raise InputInvalid for a campaign of a form with another name."""
    if drawn.form.name not in names:
        raise InputInvalid(f"campaign {drawn.id}: of the form {drawn.form.name}; expected {' or '.join(names)}")


def parse_campaign(text: str, name: str) -> Campaign:
    """Return the campaign in a file's text; messages call the file `name`. Raises InputInvalid as `read` does."""
    try:
        raw = json.loads(text)
        if not isinstance(raw, dict):
            raise TypeError(f"found {type(raw).__name__}, expected an object")
        if raw.get("format") != FORMAT:
            raise InputInvalid(
                f"{name}: format: found {raw.get('format')!r:.40}; expected {FORMAT}; draw the campaign again"
            )
        if set(raw) != {"format", "id", "title", "form", "tasks"} or not isinstance(raw["title"], str):
            raise ValueError("expected format, id, title, form and tasks")
        form = forms.parse(raw["form"], f"{name}: form")
        drawn = Campaign(raw["id"], raw["title"], form, _TASKS.validate_python(raw["tasks"]), raw)
    except (ValueError, KeyError, TypeError, RecursionError, ValidationError) as problem:
        raise _no_campaign(name, problem) from None
    if _digest({key: raw[key] for key in ("title", "form", "tasks")}) != drawn.id:
        raise InputInvalid(f"{name}: changed after it was drawn: its id is not that of its tasks; draw it again")
    return _checked(drawn)


def _digest(content: Mapping[str, Any]) -> str:
    """Return the id of a campaign with this content, whose order counts: it is that of values and slots on the page."""
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:16]


def _checked(drawn: Campaign) -> Campaign:
    """Return the campaign. Raise InputInvalid unless its form can show every task."""
    _refuse_half_characters("title", drawn.title)
    ids = [task.id for task in drawn.tasks]
    if len(set(ids)) < len(ids):
        raise InputInvalid(f"{drawn.title}: {len(ids) - len(set(ids))} tasks with the id of another")
    for task in drawn.tasks:
        if not re.fullmatch("[0-9a-f]{16}", task.id):
            raise InputInvalid(f"task {task.id[:40]!r}: expected an id of 16 hexadecimal digits")
        for problem in unshowable(drawn.form, task):
            raise InputInvalid(f"task {task.id}: {problem}; draw the campaign again")
        _refuse_half_characters(f"task {task.id}", asdict(task))
    return drawn


def unshowable(form: Form, task: Task) -> Iterable[str]:
    """Yield why a form cannot show a task."""
    for part in form.parts():
        if isinstance(part, Show):
            for name in part.of:
                if name not in task.shown:
                    if not part.optional:
                        yield f"lacks {name}, which the form {form.name} shows"
                elif not _fits(part, task.shown[name]):
                    yield f"{name} cannot be shown as {part.show}"
        elif part.kind in ("span", "slots"):
            about = task.shown.get(part.of)
            if not (isinstance(about, str) if part.kind == "span" else _are_slots(about, part.required)):
                yield f"lacks {part.of}, which the field {part.field} of the form {form.name} is about"
            elif isinstance(text := task.shown[part.of], str) and "\r" in text:
                yield f"{part.of} holds a carriage return, in which nothing can be marked"
    for name in {bound.among for rule in form.rules for bound in rule.then.values()} - {""}:
        if name in task.shown and not _are_slots(task.shown[name], required=False):
            yield f"{name} is no mapping of slots to the values that they may hold"
    yield from (f"shows {name}, which is its owner's" for name in form.owner if name in task.shown)
    yield from (f"lacks {name}, by which tasks are chosen" for name in form.facets if not _has_facet(task, name))


def _are_slots(value: Any, required: bool) -> bool:
    """Return whether a value is a mapping of slots to hints; one that has to be filled is not empty."""
    texts = isinstance(value, dict) and all(isinstance(text, str) for pair in value.items() for text in pair)
    return texts and (bool(value) or not required)


def _has_facet(task: Task, name: str) -> bool:
    return name in ("language", "culture") or isinstance(task.shown.get(name), str)


def _fits(part: Show, value: Any) -> bool:
    if part.show == "changes":
        return isinstance(value, list | tuple) and all(
            isinstance(piece, list | tuple) and len(piece) == 2 and type(piece[0]) is str and type(piece[1]) is bool
            for piece in value
        )
    return isinstance(value, str) or (value is None and bool(part.words) and part.show in ("quote", "fact"))


def _refuse_half_characters(where: str, content: Any) -> None:
    """Raise InputInvalid for a lone surrogate, which no file can store."""
    text = json.dumps(content, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError as problem:
        half = f"U+{ord(text[problem.start]):04X}"
        raise InputInvalid(
            f"{where}: holds {half}, a lone surrogate; expected Unicode text; draw the campaign without that row"
        ) from None


def _no_campaign(name: str, problem: Exception) -> InputInvalid:
    detail = in_a_line(problem)
    command = f"`excam annotate draw {name} --form FORM --to campaign.json`"
    return InputInvalid(f"{name}: no campaign ({detail}); expected what {command} writes")
