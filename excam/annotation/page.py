"""The annotation page: a campaign as one HTML file without external resources (see `excam.pages.html`).

The page has two forms: a file, which keeps answers in the browser and exports them; and a page served to one annotator,
which sends every change to the server. Neither contains the hidden entries of tasks.
"""

from __future__ import annotations

import html
import json
from collections.abc import Mapping, Sequence, Set
from dataclasses import asdict, dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from excam.annotation import answers, exchange, wording
from excam.annotation.campaign import Campaign, Task
from excam.annotation.form import FORMS, Form, load
from excam.annotation.form_parts import Chapter
from excam.pages.html import content_security_policy as content_policy
from excam.pages.html import fill_template, pack_json, shared_script

ASSETS = Path(__file__).parent / "assets"
# One script in the page; a part uses functions of any other, `start.js` runs.
PARTS = (
    "answers", "wording", "rules", "exchange", "storage", "server", "passages", "session", "spans", "fields", "folds",
    "task", "controls", "pauses", "keys", "start",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Served:
    """The annotator of a served page, and the path prefix of its `/answers`, e.g. `/a/<token>`."""

    annotator: str
    api: str


def write(campaign: Campaign, served: Served | None = None) -> str:
    """Return the page of a campaign as text: a file, or a page served to one annotator, with the tasks of theirs. The
    same campaign gives the same bytes.
    """
    return fill_template(
        asset("page.html"),
        {
            "policy": policy(served),
            "title": html.escape(campaign.title),
            "purpose": html.escape(campaign.form.purpose),
            "warning": _warning(campaign.form),
            "style": asset("page.css"),
            "script": script(),
            "instructions": _instructions(campaign.form),
            "data": _packed(campaign, _served_tasks(campaign, served.annotator) if served else campaign.tasks),
            "served": json.dumps(asdict(served) if served else None),  # names and tokens: letters, digits, . _ - /
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


def _warning(form: Form) -> str:
    if not form.warning:
        return ""
    text = f"{html.escape(form.warning)} Stop whenever you want; what you answered is kept."
    return f'<p class="warning"><strong>The texts may offend.</strong> {text}</p>'


def _instructions(form: Form) -> str:
    """Return the instructions as HTML: the page of one of our forms, if it has one, else the form's sections."""
    file = FORMS / f"{form.name}.html"
    if file.exists() and form == load(form.name):
        return file.read_text(encoding="utf-8")
    sections = "".join(_section(number, section) for number, section in enumerate(form.instructions, 1))
    return (
        '<div class="prose"><h2 id="instructions-head" tabindex="-1">Instructions</h2>'
        f"{_warning(form)}<p>{html.escape(form.purpose)}</p>"
        f'<p><a class="button" href="#tasks">Go to the tasks</a></p>{sections}</div>'
    )


def _section(number: int, section: Chapter) -> str:
    text = "".join(f'<p dir="auto">{html.escape(paragraph)}</p>' for paragraph in section.text)
    points = "".join(f'<li dir="auto">{html.escape(point)}</li>' for point in section.points)
    listed = f"<ul>{points}</ul>" if points else ""
    return f'<h3 id="section-{number}" tabindex="-1">{number} {html.escape(section.title)}</h3>{text}{listed}'


def _served_tasks(campaign: Campaign, annotator: str) -> tuple[Task, ...]:
    """Return the tasks of an annotator, without the names of the others who have them."""
    return tuple(replace(task, assigned=()) for task in campaign.tasks_of(annotator))


@lru_cache(maxsize=64)
def _packed(campaign: Campaign, tasks: tuple[Task, ...]) -> str:
    """Return the campaign with these tasks as the page unpacks it. Two hundred people open it at once: it is kept."""
    return pack_json(_page_data(campaign, tasks))


def _page_data(campaign: Campaign, tasks: Sequence[Task]) -> dict[str, Any]:
    used = set(campaign.form.entries)  # no other reaches the page
    return {
        "campaign": campaign.id,
        "form": campaign.form.model_dump(mode="json", exclude={"instructions", "purpose", "warning", "owner"}),
        "columns": answers.columns(campaign.form),
        "kinds": exchange.kinds(campaign.form),
        "empty": campaign.form.empty(),
        "head": exchange.head(campaign.form),
        "tasks": [_task_data(task, used) for task in tasks],
        "patterns": {name: pattern.pattern for name, pattern in answers.PATTERNS.items()},
        "limits": {"seconds": answers.MAX_SECONDS, "slot": answers.SLOT_LONGEST},
        "wording": {**wording.PATTERNS, "run": wording.RUN},
        "sections": [section.title for section in campaign.form.instructions],
    }


def _task_data(task: Task, used: Set[str]) -> dict[str, Any]:
    return {
        "id": task.id,
        "language": task.language,
        "culture": task.culture,
        "tag": language_tags().get(task.language, ""),
        "assigned": task.assigned,
        "shown": {name: value for name, value in task.shown.items() if name in used},
    }
