"""The annotation page: a campaign as one HTML file that needs nothing else (spec 68-72; `excam.pages`).

Two forms of one page: a file, which keeps answers in the browser and exports them; and served to one annotator, where
answers go to the server at every change. Neither knows which system wrote an explanation: not even the codes are there.
"""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from excam.annotation import answers
from excam.annotation.campaign import SIDES, Campaign, Task
from excam.exceptions import InputInvalid
from excam.pages import filled, packed, signs
from excam.pages import policy as content_policy

ASSETS = Path(__file__).parent / "assets"
# One script in the page; a part uses functions of any other, `start.js` runs.
PARTS = ("answers", "exchange", "storage", "server", "passages", "session", "task", "controls", "keys", "start")
COMPARISONS = 2  # spec 70


@dataclass(frozen=True, slots=True)
class Served:
    """Who a served page is for, and the path below which it asks for `/answers`, e.g. `/a/<token>`."""

    annotator: str
    api: str


def write(found: Campaign, served: Served | None = None) -> str:
    """The page of a campaign: a file, or served to one annotator. The same campaign gives the same bytes.

    Raises InputInvalid where a text holds half a character, which no file can, or a task has not two comparisons.
    """
    for task in found.tasks:
        _check(task)
    _check_text("title", found.title)
    return filled(
        asset("page.html"),
        {
            "policy": policy(served),
            "title": html.escape(found.title),
            "style": asset("page.css"),
            "script": script(),
            "instructions": asset("instructions.html"),
            "data": packed(_data(found, served)),
        },
    )


def policy(served: Served | None = None) -> str:
    """The content security policy of the page, which a server also sends as a header."""
    return content_policy(asset("page.css"), script(), *(["connect-src 'self'"] if served else []))


def asset(name: str) -> str:
    """One of the files that the page is put together from."""
    return (ASSETS / name).read_text(encoding="utf-8")


@cache
def language_tags() -> Mapping[str, str]:
    """English names of languages -> BCP 47 tags, for the choice of glyphs, line breaks and voices.

    A language that is not there is shown without. Chinese has no script: both are in the benchmarks.
    """
    lines = (line.partition("\t") for line in asset("languages.tsv").splitlines())
    return MappingProxyType({name: tag for name, _, tag in lines})


def script() -> str:
    """The page's one script."""
    return "\n".join((signs(), *(asset(f"{part}.js") for part in PARTS)))


def _data(found: Campaign, served: Served | None) -> dict[str, Any]:
    return {
        "campaign": found.id,
        "tasks": [_task(task) for task in found.tasks],
        "choices": {name: dict(values) for name, values in answers.CHOICES.items()},
        "steps": answers.STEPS,
        "fields": answers.FIELDS,
        "flags": answers.FLAGS,
        "comments": answers.COMMENTS,
        "patterns": {name: found.pattern for name, found in answers.PATTERNS.items()},
        "limits": {"comment": answers.MAX_COMMENT, "seconds": answers.MAX_SECONDS},
        "served": asdict(served) if served else None,
    }


def _task(task: Task) -> dict[str, Any]:
    return {
        "id": task.id,
        "dataset": task.dataset,
        "language": task.language,
        "tag": language_tags().get(task.language, ""),
        "boxes": [getattr(task, side) for side in SIDES],
        "explanation": task.explanation,
        "severity": task.severity,
        "error_type": task.error_type,
        "comparisons": [comparison.text for comparison in task.comparisons],
    }


def _check(task: Task) -> None:
    if len(task.comparisons) != COMPARISONS:
        raise InputInvalid(
            f"task {task.id}: {len(task.comparisons)} comparisons; expected {COMPARISONS}; draw the campaign again"
        )
    _check_text(f"task {task.id}", json.dumps(_task(task), ensure_ascii=False))


def _check_text(where: str, text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as problem:
        half = f"U+{ord(text[problem.start]):04X}"
        raise InputInvalid(
            f"{where}: holds {half}, half a character; expected Unicode text; draw the campaign without that row"
        ) from None
