"""The annotation page: a campaign as one HTML file without external resources (see `excam.pages.html`).

The page has two forms: a file, which keeps answers in the browser and exports them; and a page served to one annotator,
which sends every change to the server. Neither contains the systems that wrote the explanations.
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
from excam.core.exceptions import InputInvalid
from excam.pages.html import content_security_policy as content_policy
from excam.pages.html import fill_template, pack_json, shared_script

ASSETS = Path(__file__).parent / "assets"
# One script in the page; a part uses functions of any other, `start.js` runs.
PARTS = ("answers", "exchange", "storage", "server", "passages", "session", "task", "controls", "keys", "start")
COMPARISONS = 2  # explanations per task (ExCAM App. G)


@dataclass(frozen=True, slots=True)
class Served:
    """The annotator of a served page, and the path prefix of its `/answers`, e.g. `/a/<token>`."""

    annotator: str
    api: str


def write(found: Campaign, served: Served | None = None) -> str:
    """Return the page of a campaign as text: a file, or a page served to one annotator. The same campaign gives the
    same bytes.

    Raises InputInvalid if a text holds a lone surrogate, which no file can store, or if a task does not have two
    comparisons.
    """
    for task in found.tasks:
        _refuse_unshowable(task)
    _check_text("title", found.title)
    return fill_template(
        asset("page.html"),
        {
            "policy": policy(served),
            "title": html.escape(found.title),
            "style": asset("page.css"),
            "script": script(),
            "instructions": asset("instructions.html"),
            "data": pack_json(_page_data(found, served)),
        },
    )


def policy(served: Served | None = None) -> str:
    """Return the content security policy of the page, which a server also sends as a header."""
    return content_policy(asset("page.css"), script(), *(["connect-src 'self'"] if served else []))


def asset(name: str) -> str:
    """Return the text of one of the files that the page is composed of."""
    return (ASSETS / name).read_text(encoding="utf-8")


@cache
def language_tags() -> Mapping[str, str]:
    """Return the BCP 47 tags of languages by their English names, for glyphs, line breaks and voices.

    An unknown language gets no tag. Chinese has no script: the benchmarks contain both.
    """
    lines = (line.partition("\t") for line in asset("languages.tsv").splitlines())
    return MappingProxyType({name: tag for name, _, tag in lines})


def script() -> str:
    """Return the JavaScript of the page."""
    return "\n".join((shared_script(), *(asset(f"{part}.js") for part in PARTS)))


def _page_data(found: Campaign, served: Served | None) -> dict[str, Any]:
    return {
        "campaign": found.id,
        "tasks": [_task_data(task) for task in found.tasks],
        "choices": {name: dict(values) for name, values in answers.CHOICES.items()},
        "steps": answers.STEPS,
        "fields": answers.FIELDS,
        "flags": answers.FLAGS,
        "comments": answers.COMMENTS,
        "patterns": {name: found.pattern for name, found in answers.PATTERNS.items()},
        "limits": {"comment": answers.MAX_COMMENT, "seconds": answers.MAX_SECONDS},
        "served": asdict(served) if served else None,
    }


def _task_data(task: Task) -> dict[str, Any]:
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


def _refuse_unshowable(task: Task) -> None:
    if len(task.comparisons) != COMPARISONS:
        raise InputInvalid(
            f"task {task.id}: {len(task.comparisons)} comparisons; expected {COMPARISONS}; draw the campaign again"
        )
    _check_text(f"task {task.id}", json.dumps(_task_data(task), ensure_ascii=False))


def _check_text(where: str, text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as problem:
        half = f"U+{ord(text[problem.start]):04X}"
        raise InputInvalid(
            f"{where}: holds {half}, a lone surrogate; expected Unicode text; draw the campaign without that row"
        ) from None
