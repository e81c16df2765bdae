"""The parts of a form: what a step shows of a task, fields of eight kinds, rules, pauses, comparisons."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from math import isfinite
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, model_validator

Kind = Literal["choice", "scale", "flags", "text", "number", "span", "order", "slots"]
Value = str | int | float | bool | list[Any] | dict[str, str] | None
LONGEST = 5000  # characters of a text
MOST_SPANS = 100  # of one field
ANY = "*"  # in a condition: any value that is not empty


class FormPart(BaseModel):
    """A part of a form: immutable, unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Show(FormPart):
    """Something of the task that a step shows. `of` names entries of `Task.shown`.

    - `text`: in the task's language; `quote`: in another one; `fact`: a short text on one line
    - `changes`: pieces with the changed ones marked, each side as `marks` says
    - `filled`: a template with its [SLOTS] replaced by what the fields `by` hold
    - `mean`: the mean of the fields `by`, rounded half up
    - `note`: the form's own `words`

    Of a `quote`, `words` stand where an entry is null.
    """

    show: Literal["text", "quote", "fact", "changes", "filled", "mean", "note"]
    of: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    marks: tuple[Literal["gone", "new"], ...] = ()
    by: tuple[str, ...] = ()
    weights: tuple[float, ...] = Field(default=(), description="of the fields of a mean; 1 each where absent")
    words: str = ""
    optional: bool = Field(default=False, description="a task may lack it; it is left out there")

    @model_validator(mode="after")
    def _complete(self) -> Self:
        needs = {"note": bool(self.words), "mean": bool(self.by), "filled": bool(self.of and self.by)}
        if not needs.get(self.show, bool(self.of)):
            raise ValueError(f"show {self.show}: lacks what it shows")
        if len(self.weights) not in (0, len(self.by)) or (self.weights and not are_weights(self.weights)):
            raise ValueError(f"show {self.show}: as many weights as fields, from 0 on, some above it")
        if len(self.labels) not in (0, len(self.of) or 1) or len(self.marks) not in (0, len(self.of)):
            raise ValueError(f"show {self.show}: as many labels and marks as things shown")
        return self


class FormQuestion(FormPart):
    """A field. Its answer is one column, but `flags` have one for each of `values`.

    | kind | value | empty |
    |---|---|---|
    | choice | one of `values` | "" |
    | scale | a whole number of `values`, whose words are its anchors | null |
    | flags | true or false for each of `values` | false |
    | text | a text of at most `longest` characters | "" |
    | number | from `low` to `high` with at most `decimals` decimals | null |
    | span | [[start, end, label], ...] in characters of the shown text `of`, labels of `values`; at most `marks` | [] |
    | order | all of `values`, best first | [] |
    | slots | {slot: text} for the slots of the shown mapping `of`, each with a hint | {} |
    """

    field: str
    kind: Kind
    label: str
    hint: str = ""
    optional: bool = False
    values: dict[str, str] = {}
    hints: dict[str, str] = Field(default={}, description="of values, by value")
    keys: dict[str, str] = Field(default={}, description="single keys that tick a flag, by value")
    of: str = ""
    low: float = Field(default=0, ge=-(10**12))
    high: float = Field(default=10**9, le=10**12)
    decimals: int = Field(default=0, ge=0, le=4)
    longest: int = Field(default=LONGEST, ge=1, le=LONGEST)
    lines: int = Field(default=2, ge=1, le=30)
    sentences: tuple[int, int] | None = Field(default=None, description="of a text that is not empty: from, to")
    marks: int = Field(default=MOST_SPANS, ge=1, le=MOST_SPANS, description="of a span, at most")

    @model_validator(mode="before")
    @classmethod
    def _texts_of_numbers(cls, raw: Any) -> Any:
        """YAML reads `1:` and `yes:` as a number and a truth value; values are texts."""
        if isinstance(raw, dict):
            names = {True: "yes", False: "no"}
            for key in ("values", "hints"):
                if isinstance(mapping := raw.get(key), dict):
                    fixed = {names[v] if isinstance(v, bool) else str(v): words for v, words in mapping.items()}
                    raw = {**raw, key: fixed}
        return raw

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.kind in ("choice", "scale", "flags", "span", "order") and not self.values:
            raise ValueError(f"{self.field}: a {self.kind} without values")
        if self.kind == "scale" and not all(re.fullmatch("0|[1-9][0-9]{0,2}", value) for value in self.values):
            raise ValueError(f"{self.field}: the values of a scale are whole numbers")
        if self.sentences and (self.kind != "text" or not 1 <= self.sentences[0] <= self.sentences[1]):
            raise ValueError(f"{self.field}: sentences {list(self.sentences)}; expected a text, and from 1 to as many")
        if self.kind in ("span", "slots") and not self.of:
            raise ValueError(f"{self.field}: a {self.kind} without `of`, the shown entry that it is about")
        numbers = [value for value in self.values if re.fullmatch("0|[1-9][0-9]*", value)]
        if list(self.values)[: len(numbers)] != sorted(numbers, key=int):  # a browser puts them first, in this order
            raise ValueError(f"{self.field}: values that are whole numbers come first and ascend")
        if self.low > self.high:
            raise ValueError(f"{self.field}: low {self.low:g} is above high {self.high:g}")
        return self

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the names of its columns in an answer."""
        return tuple(self.values) if self.kind == "flags" else (self.field,)

    @property
    def required(self) -> bool:
        """Return whether its step is unanswered without it. No flag has to be ticked."""
        return not self.optional and self.kind != "flags"


def _block_kind(raw: Any) -> str | None:
    names = raw if isinstance(raw, dict) else type(raw).model_fields if isinstance(raw, FormPart) else ()
    return next((name for name in ("show", "field", "columns") if name in names), None)


Shown = Annotated[Annotated[Show, Tag("show")] | Annotated[FormQuestion, Tag("field")], Discriminator(_block_kind)]


class Columns(FormPart):
    """Blocks side by side; below each other on a narrow screen."""

    columns: tuple[tuple[Shown, ...], ...]


Block = Annotated[
    Annotated[Show, Tag("show")] | Annotated[FormQuestion, Tag("field")] | Annotated[Columns, Tag("columns")],
    Discriminator(_block_kind),
]


class Step(FormPart):
    """A step. One with `reveal`, the words of its button, opens when those before it are answered."""

    title: str
    intro: str = ""
    reveal: str = ""
    left: str = Field(default="", description="what it says once the step after it is revealed")
    blocks: tuple[Block, ...]

    def parts(self) -> Iterator[Show | FormQuestion]:
        """Return what it shows and asks, columns taken apart."""
        for block in self.blocks:
            if isinstance(block, Columns):
                for column in block.columns:
                    yield from column
            else:
                yield block

    @property
    def questions(self) -> tuple[FormQuestion, ...]:
        """Return its fields."""
        return tuple(part for part in self.parts() if isinstance(part, FormQuestion))


class Bound(FormPart):
    """What a rule asks of a field; all that is given must hold. An empty field breaks `needed` alone."""

    most: float | None = None
    least: float | None = None
    needed: bool = False
    near: dict[str, float] = Field(default={}, description="weights of the fields of a mean, rounded half up")
    by: float = Field(default=0, ge=0, description="how far from that mean")
    one_of: tuple[str, ...] = Field(default=(), description="what a choice may be")
    distinct: bool = Field(default=False, description="no two slots hold the same text")
    without: tuple[str, ...] = Field(default=(), description="what a text, or that of a slot, may not contain")
    among: str = Field(default="", description="the shown mapping of slots to what they may hold, one value a line")
    names: str = Field(default="", description="the text field whose words a text must name, if it has some")


class Rule(FormPart):
    """Where all conditions of `when` hold, `then` must hold, or the answer cannot be submitted: `say` tells why.

    A condition is a column, or `task.NAME` of the shown entries, with the values that fulfil it; "" is an empty one,
    "*" any other.
    """

    say: str
    when: dict[str, tuple[bool | int | str, ...]] = {}
    then: dict[str, Bound]


class Review(FormPart):
    """Which own answers a pause sends one back to: `least` to `most` of those since the pause before it.

    First those in which one point more or less on one scale of `mean` would change the rounded mean; then the least
    `sure` ones, a scale, and the latest.
    """

    mean: dict[str, float] = Field(description="weights of the scales of the mean")
    sure: str
    least: int = Field(ge=1)
    most: int


class Pause(FormPart):
    """When the page proposes a pause, and what it links: sections of the instructions (`read`, by title), own answers
    (`review`). At each `every` finished tasks; or where, over the `last` ones and not before
    there are as many, the mean time is above `minutes`, or the standard deviation of the scale `spread` above `above`.
    """

    say: str
    every: int = Field(default=0, ge=0)
    last: int = Field(default=50, ge=2)
    minutes: float = Field(default=0, ge=0)
    spread: str = ""
    above: float = 0
    read: tuple[str, ...] = ()
    review: Review | None = None


class Compare(FormPart):
    """The `fields` of others' submitted answers that are shown after one's own, about tasks with the entries `when`."""

    when: dict[str, tuple[str, ...]]
    fields: tuple[str, ...]


class Chapter(FormPart):
    """A section of the instructions."""

    title: str
    text: tuple[str, ...] = ()
    points: tuple[str, ...] = ()


def are_weights(weights: Iterable[float]) -> bool:
    listed = list(weights)
    return all(isfinite(weight) and weight >= 0 for weight in listed) and sum(listed) > 0
