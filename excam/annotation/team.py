"""Who gets which task of a campaign: people by the languages of the tasks, and at most one co-author a task."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from excam.annotation.answers import PATTERNS
from excam.annotation.campaign import Campaign, campaign
from excam.core import row_files
from excam.core.exceptions import InputInvalid
from excam.core.hash_order import digest

COLUMNS = ("annotator", "languages", "coauthor")


@dataclass(frozen=True, slots=True)
class _Member:
    """Someone who answers. `languages`: of the tasks that they get, as the campaign names them."""

    name: str
    languages: frozenset[str]
    is_coauthor: bool


def read(path: Path) -> list[_Member]:
    """Return the team of a table (`COLUMNS`). Raise InputInvalid for a line that is none, or an annotator twice."""
    team = []
    for number, row in row_files.rows(path):
        name, languages, coauthor = (str(row.get(column) or "").strip() for column in COLUMNS)
        listed = frozenset(filter(None, map(str.strip, languages.split(";"))))
        if not PATTERNS["annotator"].fullmatch(name) or not listed or coauthor not in ("yes", "no"):
            raise InputInvalid(
                f"{path}:{number}: found {name[:40]!r}, {languages[:60]!r}, {coauthor[:40]!r}; expected under "
                f"{', '.join(COLUMNS)} a name, languages parted by semicolons, yes or no"
            )
        team.append(_Member(name, listed, coauthor == "yes"))
    if len({member.name for member in team}) < max(len(team), 1):
        raise InputInvalid(f"{path}: found {len(team)} lines; expected some, each annotator once")
    return team


def assign(drawn: Campaign, team: Sequence[_Member], seed: int) -> tuple[Campaign, Counter[str]]:
    """Return the campaign with the people of each task, and how many tasks everyone of the team has.

    A task gets as many as it wants of those with its language, the least busy ones, of several co-authors one. Raise
    InputInvalid for a task that somebody has already, or that too few can get.
    """
    load = Counter({member.name: 0 for member in team})
    people: dict[str, tuple[str, ...]] = {}
    for task in sorted(drawn.tasks, key=lambda task: digest(seed, "annotation/team", task.id)):
        able = [member for member in team if task.language in member.languages]
        able.sort(key=lambda member: (load[member.name], digest(seed, task.id, member.name)))
        coauthors = [member for member in able if member.is_coauthor]
        chosen = [member.name for member in able if member not in coauthors[1:]][: task.annotators]
        if task.assigned:
            raise InputInvalid(f"task {task.id}: assigned to {', '.join(task.assigned)}; expected nobody yet")
        if len(chosen) < task.annotators:
            lack = f"{task.annotators} are wanted, {len(chosen)} of the team can be, with one co-author at most"
            raise InputInvalid(f"task {task.id} ({task.language}): {lack}; expected a larger team")
        load.update(chosen)
        people[task.id] = tuple(sorted(chosen))
    tasks = [replace(task, assigned=people[task.id]) for task in drawn.tasks]
    return campaign(drawn.title, drawn.form, tasks), load
