"""Scenarios: what authors submitted, filled, checked and reviewed. Option 1 is the right one, as authors write it."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import regex

from excam.core import row_files
from excam.core.exceptions import InputInvalid
from excam.core.folders import files_below
from excam.core.sanitize import rejection_reason
from excam.core.text import IN_WORD, SURROGATE, is_text, plain_name
from excam.core.typed_tables import read_typed
from excam.macaron import templates as forms
from excam.macaron.contexts import Context
from excam.macaron.templates import Template

STATEMENTS = ("true_en", "false_en", "true_local", "false_local")
REVIEWED = ("question_en", "question_local", "options_en", "options_local", *STATEMENTS)  # what a reviewer may revise
LETTERED = re.compile(r"^\s*[-•]?\s*\(?[A-Da-d][):]\s")  # "A) rice": the letter is added by the prompt
NAMES = ("id", "country", "language")  # what no scenario lacks, besides its texts
LOCAL = ("question_local", "true_local", "false_local")
TOLD = ("author", "licence", "why", "source")  # of a submission, as far as it is known


@dataclass(frozen=True, slots=True)
class Scenario:
    """One cultural situation in two languages. `options_*` are aligned by index, the right one first.

    The statements are None where a source has none. `false_option` (1 to 3) is the index of the option that the false
    statements state.
    """

    id: str
    template: int
    country: str
    language: str
    script: str
    reasoning: tuple[str, ...]
    aspects: tuple[str, ...]
    slots: Mapping[str, str]
    question_en: str
    options_en: tuple[str, ...]
    question_local: str
    options_local: tuple[str, ...]
    true_en: str | None
    false_en: str | None
    true_local: str | None
    false_local: str | None
    false_option: int = 1
    author: str = ""
    status: str = "submitted"
    licence: str = ""
    why: str = ""
    source: str = ""

    @property
    def content(self) -> tuple[Any, ...]:
        """Return all that a model is asked, and where."""
        statements = tuple(getattr(self, name) for name in STATEMENTS)
        questions = (self.question_en, self.options_en, self.question_local, self.options_local)
        return (self.country, self.language, *questions, *statements)


def repeats(scenarios: Iterable[Scenario]) -> dict[str, str]:
    """Return the scenarios that ask what another asks, each with that one: the first of them by id."""
    first: dict[tuple[Any, ...], str] = {}
    ordered = sorted(scenarios, key=lambda scenario: scenario.id)
    same = {scenario.id: first.setdefault(scenario.content, scenario.id) for scenario in ordered}
    return {name: other for name, other in same.items() if name != other}


_LISTS = ("reasoning", "aspects", "options_en", "options_local")
SCHEMA: dict[str, Any] = {field.name: pl.String() for field in fields(Scenario)} | {
    "template": pl.Int64(),
    "false_option": pl.Int8(),
    **dict.fromkeys(_LISTS, pl.List(pl.String)),
}


@dataclass(frozen=True, slots=True)
class DroppedScenario:
    """A submission that is no scenario, and why. `reason` is one of a closed list, `detail` names the place."""

    scenario: str
    reason: str
    detail: str = ""


DROPPED = tuple(field.name for field in fields(DroppedScenario))


@dataclass(frozen=True, slots=True)
class Built:
    """The scenarios, sorted by id, and every submission that was left out."""

    scenarios: tuple[Scenario, ...]
    dropped: tuple[DroppedScenario, ...]

    @classmethod
    def of(cls, scenarios: Mapping[str, Scenario], dropped: Iterable[DroppedScenario]) -> Built:
        """Return scenarios by id, each content once: the others are dropped, since a copy is no second observation."""
        copies = repeats(scenarios.values())
        distinct = tuple(scenarios[name] for name in sorted(scenarios.keys() - copies.keys()))
        return cls(distinct, (*dropped, *(DroppedScenario(name, "repeated", other) for name, other in copies.items())))

    @property
    def dropped_lines(self) -> list[dict[str, str]]:
        """Return what was left out as lines of a table (`DROPPED`), lone surrogates as U+FFFD."""
        return [
            {name: SURROGATE.sub("\ufffd", value) for name, value in asdict(submission).items()}
            for submission in self.dropped
        ]

    @property
    def reasons(self) -> dict[str, int]:
        """Return the number of left-out submissions for each reason."""
        return dict(sorted(Counter(submission.reason for submission in self.dropped).items()))


def read_exports(path: Path) -> list[Mapping[str, Any]]:
    """Return the submissions of a JSON Lines file, or of all such files of a folder. Raise InputInvalid for none."""
    files = [file for file in files_below(path) if file.suffix == ".jsonl"] if path.is_dir() else [path]
    if not files or not files[0].is_file():
        raise InputInvalid(f"{path}: no submissions; expected .jsonl files that authors exported")
    return [row for file in files for _, row in row_files.rows(file)]


def build(
    templates: Sequence[Template],
    contexts: Sequence[Context],
    submissions: Sequence[Mapping[str, Any]],
    reviews: Sequence[Mapping[str, Any]] = (),
) -> Built:
    """Fill the templates with what authors submitted, check the result, apply the reviews.

    The last submission of an author for a template counts. Local texts are kept to the letter. Raise InputInvalid for
    templates with a problem, two countries with one name in ids, a review that is none, and a second review of a
    scenario.
    """
    if problems := forms.problems(templates):
        raise InputInvalid(f"templates: {problems[0]} ({len(problems)} problems); see `excam macaron lint`")
    template_of = {template.id: template for template in templates}
    places = {(context.country, context.language): context for context in contexts}
    if len({_slug(context.country) for context in contexts}) < len({context.country for context in contexts}):
        raise InputInvalid("contexts: two countries differ in no letter; expected names that ids can tell apart")
    scenarios: dict[str, Scenario] = {}
    dropped: list[DroppedScenario] = []
    for name, row, superseded in _latest(submissions):
        dropped += [DroppedScenario(name, "superseded")] * superseded
        made = _scenario(name, row, template_of, places)
        if isinstance(made, DroppedScenario):
            dropped.append(made)
        else:
            scenarios[name] = made
    reviewed = Counter(str(review.get("scenario")) for review in reviews)
    if twice := [name for name, count in reviewed.items() if count > 1]:
        raise InputInvalid(
            f"review of {twice[0][:60]}: found {reviewed[twice[0]]}; expected one; keep the one that counts"
        )
    for review in reviews:
        outcome = _reviewed(scenarios, review)
        if isinstance(outcome, DroppedScenario):
            del scenarios[outcome.scenario]
            dropped.append(outcome)
        else:
            scenarios[outcome.id] = outcome
    return Built.of(scenarios, sorted(dropped, key=lambda submission: submission.scenario))


def _latest(submissions: Sequence[Mapping[str, Any]]) -> Iterable[tuple[str, Mapping[str, Any], int]]:
    """Yield the name, the last submission, and the number of earlier ones, of each author and template."""
    groups: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for row in submissions:
        names = (plain_name(str(row.get(name))) for name in ("country", "template", "author"))
        groups.setdefault(tuple(names), []).append(row)
    for (country, *others), rows in groups.items():
        name = "/".join((_slug(country), *others))
        yield name, max(enumerate(rows), key=lambda pair: (_saved(pair[1]), pair[0]))[1], len(rows) - 1


def _slug(country: str) -> str:
    """Return a country as ids of scenarios name it."""
    return regex.sub(rf"[^{IN_WORD}]+", "-", country.casefold()).strip("-")


def _saved(row: Mapping[str, Any]) -> datetime:
    """Return when a submission was saved. What is no time with a zone is the earliest: the order in the file counts."""
    try:
        saved = datetime.fromisoformat(str(row.get("saved")))
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)
    return saved if saved.tzinfo else datetime.min.replace(tzinfo=UTC)


def _scenario(
    name: str, row: Mapping[str, Any], template_of: Mapping[int, Template], places: Mapping[tuple[str, str], Context]
) -> Scenario | DroppedScenario:
    number = row.get("template")
    template = template_of.get(number) if type(number) is int else None
    context = places.get((str(row.get("country")), str(row.get("language"))))
    slots: Any = row.get("slots")
    problem = _submission_problem(row, template, context) or (template and _slot_problem(template, slots))
    if problem:
        return DroppedScenario(name, *problem)
    assert template is not None
    assert context is not None
    true_en, false_en = forms.children(template, slots, row["options"])
    texts: dict[str, Any] = {key: row[key] for key in LOCAL}
    facts: dict[str, Any] = {key: row.get(key) or "" for key in TOLD}
    made = Scenario(
        id=name,
        template=template.id,
        **asdict(context),
        reasoning=template.reasoning,
        aspects=template.aspects,
        slots={key: slots[key] for key in template.slots},
        question_en=forms.fill(template.question, slots),
        options_en=tuple(row["options"]),
        options_local=tuple(row["options_local"]),
        true_en=true_en,
        false_en=false_en,
        **texts,
        **facts,
    )
    problem = text_problem(made)
    return DroppedScenario(name, *problem) if problem else made


def _submission_problem(
    row: Mapping[str, Any], template: Template | None, context: Context | None
) -> tuple[str, str] | None:
    """Return the reason and the place of the first field that has not the form of a submission; None without one."""
    status, slots = row.get("status", "submitted"), row.get("slots")
    local: list[Any] = [row.get(key) for key in LOCAL]
    not_text = [key for key in TOLD if not isinstance(row.get(key, ""), str | None)]
    both = (row.get("options"), row.get("options_local"))
    are_four = [isinstance(options, list) and len(options) == 4 and _are_texts(options) for options in both]
    place = f"{row.get('template')}, {row.get('country')}, {row.get('language')}"
    problems = (
        (status == "not-applicable", "not-applicable", str(row.get("why") or "")),
        (status != "submitted", "not-submitted", str(status)),
        (not_text, "not-text", ", ".join(not_text)),
        (not str(row.get("author") or "").strip(), "author-missing", ""),
        (template is None, "unknown-template", place),
        (context is None, "unknown-context", place),
        (not isinstance(slots, dict) or not _are_texts(slots.values()), "slots-not-texts", ""),
        (not _are_texts(local) or not all(map(str.strip, local)), "local-text-missing", ""),
        (not all(are_four), "not-four-options", ""),
    )
    return next(((reason, detail) for is_there, reason, detail in problems if is_there), None)


def _are_texts(values: Iterable[Any]) -> bool:
    return all(isinstance(value, str) for value in values)


def _slot_problem(template: Template, slots: Mapping[str, str]) -> tuple[str, str] | None:
    for name in template.slots:
        value = slots.get(name, "")
        if not value.strip():
            return "slot-unfilled", name
        if "[" in value or "]" in value:
            return "slot-with-brackets", f"{name}: {value}"
        if (allowed := template.slots[name].allowed) and value.strip() not in allowed:
            return "slot-not-allowed", f"{name}: {value}"
    if more := sorted(slots.keys() - template.slots.keys()):
        return "unknown-slot", ", ".join(more)
    if len({value.strip().lower() for value in slots.values()}) < len(slots):
        return "equal-slots", ", ".join(slots.values())
    return None


def text_problem(scenario: Scenario) -> tuple[str, str] | None:
    """Return the reason and the place of the first problem of a scenario's texts; None if there is none."""
    for place, options in (("options_en", scenario.options_en), ("options_local", scenario.options_local)):
        if len(options) != 4:
            return "not-four-options", place
        if not all(option.strip() for option in options):
            return ("option-missing" if place == "options_en" else "local-option-missing"), place
        if len({option.strip().casefold() for option in options}) < 4:
            return "equal-options", place
        in_turn = [option.lstrip()[:2].upper() for option in options] == ["A.", "B.", "C.", "D."]
        if in_turn or any(map(LETTERED.match, options)):
            return "option-with-letter", f"{place}: {options[0]}"
    texts = [scenario.question_en, scenario.question_local, *scenario.options_en, *scenario.options_local]
    statements = [text for name in STATEMENTS if (text := getattr(scenario, name)) is not None]
    facts = [getattr(scenario, name) for name in TOLD]
    if SURROGATE.search("".join([*texts, *statements, *scenario.slots.values(), *facts])):
        return "lone-surrogate", scenario.id.encode("ascii", "replace").decode()
    if reason := rejection_reason(*texts, *statements):
        return reason, scenario.id
    if not all(text.strip() for text in (*texts, *statements)):
        return "text-missing", scenario.id
    for first, second in ((scenario.true_en, scenario.false_en), (scenario.true_local, scenario.false_local)):
        if first is not None and first == second:
            return "equal-statements", first
    return None


def _reviewed(scenarios: Mapping[str, Scenario], review: Mapping[str, Any]) -> Scenario | DroppedScenario:
    """Return a scenario as a review leaves it. Raise InputInvalid for a review of no scenario, or of another form."""
    name, decision, changes = str(review.get("scenario")), review.get("decision"), review.get("changes") or {}
    for problem in _review_problems(scenarios, name, decision, changes):
        raise InputInvalid(f"review of {name}: {problem}")
    if decision == "remove":
        return DroppedScenario(name, "removed-in-review", str(review.get("reason") or ""))
    changes = {key: tuple(value) if isinstance(value, list) else value for key, value in changes.items()}
    revised = replace(scenarios[name], **changes, status="approved" if decision == "approve" else "revised")
    problem = text_problem(revised)
    return DroppedScenario(name, *problem) if problem else revised


def _review_problems(scenarios: Mapping[str, Scenario], name: str, decision: Any, changes: Any) -> Iterator[str]:
    if name not in scenarios:
        yield f"no such scenario; expected one of {len(scenarios)}, such as {next(iter(scenarios), 'none')}"
    if decision == "remove":
        return
    if decision not in ("approve", "revise") or (decision == "approve" and changes) or not isinstance(changes, dict):
        yield f"found {decision}; expected approve, revise with `changes`, or remove"
    if unknown := sorted(changes.keys() - set(REVIEWED)):
        yield f"changes {', '.join(unknown)}; expected some of {', '.join(REVIEWED)}"
    if decision == "revise" and not changes:
        yield f"revise without changes; expected some of {', '.join(REVIEWED)}"
    for key, value in changes.items():
        has_list = isinstance(value, list) and _are_texts(value)
        if not (has_list if key.startswith("options") else isinstance(value, str)):
            yield f"{key}: found {value!r:.60}; expected text, for options a list of texts"


def to_frame(scenarios: Iterable[Scenario]) -> pl.DataFrame:
    """Return scenarios as a table, one row each, with the slots as JSON."""
    rows = [
        asdict(scenario) | {"slots": json.dumps(dict(scenario.slots), ensure_ascii=False)} for scenario in scenarios
    ]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


WHAT = "scenarios, made by `excam macaron build` or `read`"


def read(path: Path) -> list[Scenario]:
    """Return the scenarios of a Parquet file of `to_frame`.

    Raise InputInvalid for other columns or types, no rows, an id that occurs twice, what is no scenario, and one that
    asks what another asks.
    """
    filled = [name for name in SCHEMA if name not in STATEMENTS]
    frame = read_typed(path, SCHEMA, WHAT, filled, ("id",), may_be_empty=False)
    rows = [_read_row(row, f"{path}: row {number}") for number, row in enumerate(frame.iter_rows(named=True), 1)]
    if copies := repeats(rows):
        (name, other), *_ = copies.items()
        copied = f"{name[:60]} asks what {other[:60]} asks ({len(copies)} copies)"
        raise InputInvalid(f"{path}: {copied}; expected {WHAT}, each once; make it again")
    return rows


def _read_row(row: Mapping[str, Any], where: str) -> Scenario:
    slots = _slots(row["slots"])
    scenario = Scenario(**{**row, **{name: tuple(row[name]) for name in _LISTS}, "slots": slots or {}})
    problem = ("slots-not-texts", row["slots"][:60]) if slots is None else text_problem(scenario)
    problem = problem or next(((f"no-{name}", "") for name in NAMES if not getattr(scenario, name).strip()), None)
    if not problem and scenario.false_option not in (1, 2, 3):
        problem = "unknown-false-option", str(scenario.false_option)
    if problem:
        reason, detail = problem
        raise InputInvalid(f"{where}: {scenario.id[:60]}: {reason} {detail[:60]}; expected {WHAT}; make it again")
    return scenario


def _slots(text: str) -> dict[str, str] | None:
    """Return the slots in a JSON text; None if it holds anything but an object of texts."""
    try:
        slots = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return slots if isinstance(slots, dict) and all(map(is_text, (*slots, *slots.values()))) else None
