"""A form: what people are asked about a task, as data that the page, the server, the import and the tests share.

A form has steps; a step has blocks: what it shows of a task, and fields of eight kinds. Rules say which answers cannot
be submitted. A form is a YAML file, or is made by a program (`Form.model_validate`); a campaign contains its form.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Self

import yaml
from pydantic import Field, ValidationError, model_validator

from excam.annotation.form_errors import message, one_of, place
from excam.annotation.form_parts import (
    Bound,
    Chapter,
    Columns,
    Compare,
    FormPart,
    FormQuestion,
    Kind,
    Pause,
    Review,
    Rule,
    Show,
    Step,
    are_weights,
)
from excam.annotation.form_rules import rule_problems
from excam.core import yaml_text
from excam.core.exceptions import InputInvalid

FORMS = Path(__file__).parent / "forms"
SUBMITTED = "submitted"  # the column of a form with `submit`
RESERVED = ("campaign", "row", "task", "annotator", "seconds", "saved", SUBMITTED)
NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
TYPED: tuple[Kind, ...] = ("text", "number", "span", "slots")  # kinds whose answer can be taken back by writing

EMPTY: Mapping[Kind, Any] = {
    **{"choice": "", "scale": None, "flags": False, "text": "", "number": None},
    **{"span": [], "order": [], "slots": {}},
}


class Form(FormPart):
    """A form. `facets` are what tasks are chosen by: `language`, `culture`, or shown entries; exports name them too."""

    name: str
    version: str
    title: str
    purpose: str
    warning: str = ""
    instructions: tuple[Chapter, ...] = ()
    facets: tuple[str, ...] = ("language",)
    owner: tuple[str, ...] = Field(default=(), description="hidden entries that the owner's CSV export has as columns")
    shows: tuple[Show, ...] = Field(default=(), description="what all steps are about, above them")
    steps: tuple[Step, ...]
    skip: str = Field(default="", description="the flag that ends a task without answers")
    submit: bool = Field(default=False, description="a task is finished when it is submitted, which rules can refuse")
    rules: tuple[Rule, ...] = ()
    clock: bool = Field(default=False, description="show the time on the task")
    minutes: int = Field(default=0, ge=0, description="about how long a task takes, shown beside the clock")
    pauses: tuple[Pause, ...] = ()
    compare: Compare | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        for problem in _problems(self):
            raise ValueError(problem)
        return self

    @property
    def questions(self) -> tuple[FormQuestion, ...]:
        """Return all fields, in order."""
        return tuple(question for step in self.steps for question in step.questions)

    def parts(self) -> Iterator[Show | FormQuestion]:
        """Return everything that it shows and asks, in order."""
        yield from self.shows
        for step in self.steps:
            yield from step.parts()

    @property
    def entries(self) -> list[str]:
        """Return the names of the entries of a task that it shows, asks about, chooses by or names in its rules."""
        among = [bound.among for rule in self.rules for bound in rule.then.values()]
        named = [name.removeprefix("task.") for rule in self.rules for name in rule.when if name.startswith("task.")]
        compared = self.compare.when if self.compare else ()
        return list(filter(None, dict.fromkeys((*self.visible, *self.facets, *among, *named, *compared))))

    @property
    def visible(self) -> list[str]:
        """Return the names of the entries of a task that it shows or asks about."""
        names = (name for part in self.parts() for name in (part.of if isinstance(part, Show) else (part.of,)))
        return list(filter(None, dict.fromkeys(names)))

    @property
    def columns(self) -> dict[str, FormQuestion]:
        """Return the field of each column, in the order of an answer; without `submitted`."""
        return {column: question for question in self.questions for column in question.columns}

    def empty(self) -> dict[str, Any]:
        """Return the values of an answer to nothing."""
        values = {column: EMPTY[question.kind] for column, question in self.columns.items()}
        return {**values, SUBMITTED: False} if self.submit else values


def _problems(form: Form) -> Iterator[str]:
    columns = form.columns
    yield from _field_problems(form)
    yield from _reveal_problems(form)
    shown = {name.removeprefix("task-") for name in _page_ids()}  # where the page shows a facet
    yield from _name_problems("facet", form.facets, shown)
    if form.skip and (form.skip not in columns or columns[form.skip].kind != "flags"):
        flags = [column for column, question in columns.items() if question.kind == "flags"]
        yield f"skip: {form.skip!r} is no flag; expected {one_of(flags) if flags else 'none: the form has no flags'}"
    keys = [key for question in form.questions for key in question.keys.values()]
    for key in keys:
        if len(key) != 1 or keys.count(key) > 1 or key in "jkrcnpuif?0123456789":
            yield f"key {key!r}: taken, there twice, or not one letter"
    for part in (part for part in form.parts() if isinstance(part, Show)):
        if strange := [name for name in part.by if name not in columns]:
            yield f"show {part.show}: {strange[0]!r} is no field; expected {one_of(columns)}"
    for rule in form.rules:
        yield from rule_problems(rule, columns)
    yield from _pause_problems(form)
    yield from _comparison_problems(form)


def _field_problems(form: Form) -> Iterator[str]:
    names = [question.field for question in form.questions]
    column_names = [column for question in form.questions for column in question.columns]
    for name in dict.fromkeys(column_names + names):
        if column_names.count(name) > 1 or names.count(name) > 1:
            yield f"two fields named {name}; expected each name once"
        yield from _name_problems("field", (name,), {*form.facets, *_page_ids()})
    if not form.steps or not names:
        yield "no field; expected steps with fields"


def _name_problems(kind: str, names: Iterable[str], taken: Collection[str]) -> Iterator[str]:
    for name in names:
        if not NAME.fullmatch(name) or name in RESERVED or name in taken:
            yield f"{kind} {name!r}: taken by the page, or not lower-case letters, digits and _; expected another name"


def _reveal_problems(form: Form) -> Iterator[str]:
    for at, step in enumerate(form.steps):
        earlier = [question for before in form.steps[:at] for question in before.questions]
        if step.reveal and (
            texts := [question.field for question in earlier if question.required and question.kind in TYPED]
        ):
            yield f"step {step.title!r}: reveal behind {texts[0]}, which can be emptied again; expected it open"
    if form.steps and form.steps[0].reveal:
        yield f"step {form.steps[0].title!r}: reveal; expected an open first step"


def _pause_problems(form: Form) -> Iterator[str]:
    titles = [section.title for section in form.instructions]
    for pause in form.pauses:
        review = pause.review
        for where in (pause.spread, *((*review.mean, review.sure) if review else ())):
            if where and (where not in form.columns or form.columns[where].kind not in ("scale", "number")):
                yield f"pauses: {where!r} is no scale or number"
        if review and not (are_weights(review.mean.values()) and review.least <= review.most):
            yield f"pauses: review of {review.least} to {review.most}; expected weights of a mean, and least to most"
        if strange := [title for title in pause.read if title not in titles]:
            yield f"pauses: {strange[0]!r} is no section of the instructions; expected one of {', '.join(titles)}"


def _comparison_problems(form: Form) -> Iterator[str]:
    if form.compare and not form.submit:
        yield "compare: others' answers are shown after one's own is submitted; expected `submit: true`"
    for where in form.compare.fields if form.compare else ():
        if where not in form.columns:
            yield f"compare: {where!r} is no field; expected {one_of(form.columns)}"


@cache
def _page_ids() -> frozenset[str]:
    """Return the ids of the page, which no field can have."""
    return frozenset(re.findall(r'\bid="([\w-]+)"', (FORMS.parent / "assets/page.html").read_text(encoding="utf-8")))


def names() -> tuple[str, ...]:
    """Return the names of the forms of this package."""
    return tuple(sorted(path.stem for path in FORMS.glob("*.yaml")))


def load(form: str) -> Form:
    """Return a form of this package by its name, or that of a YAML file. Raise InputInvalid with one line."""
    if form in names():
        return _packaged(form)
    if not form.endswith((".yaml", ".yml")):
        expected = f"expected one of {', '.join(names())}, or a .yaml file; `excam annotate form` lists them"
        raise InputInvalid(f"form {form[:60]!r}: unknown; {expected}")
    return read(Path(form))


@cache
def _packaged(name: str) -> Form:
    """Return a form of this package. It is kept: a server compares it with that of its campaign at each page."""
    return read(FORMS / f"{name}.yaml")


def read(path: Path) -> Form:
    """Return the form in a YAML file. Raise InputInvalid with one line for anything else."""
    try:
        raw = yaml_text.load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as problem:
        raise InputInvalid(f"{path}: no form ({' '.join(str(problem).split())[:200]}); expected YAML") from None
    return parse(raw, str(path))


def parse(raw: Any, name: str) -> Form:
    """Return the form of a dictionary; messages call it `name`. Raise InputInvalid with the first problem."""
    if not isinstance(raw, dict):
        raise InputInvalid(f"{name}: no form: found {type(raw).__name__}; expected a mapping with name, steps, ...")
    try:
        return Form.model_validate(raw)
    except ValidationError as problem:
        first = problem.errors()[0]
        where, line = place(raw, first["loc"]), message(first, PARTS)
        more = f" ({len(problem.errors())} problems)" if len(problem.errors()) > 1 else ""
        raise InputInvalid(f"{name}: {where + ': ' if where else ''}{line}{more}") from None


PARTS: Mapping[str, type[FormPart]] = {
    **{"": Form, "instructions": Chapter, "shows": Show, "steps": Step, "rules": Rule, "then": Bound, "pauses": Pause},
    **{"review": Review, "compare": Compare, "show": Show, "field": FormQuestion, "columns": Columns},
}
