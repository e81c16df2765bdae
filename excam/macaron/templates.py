"""Templates: an English question with typed slots, four option skeletons, tags, and a true and a false child."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import yaml
from pydantic import ConfigDict, StrictBool, StrictInt, TypeAdapter, ValidationError

from excam.core import yaml_text
from excam.core.exceptions import InputInvalid, in_a_line

REASONING = ("mathematical", "commonsense", "causal", "temporal", "logical", "spatial", "multi-hop")  # §3.2
ASPECTS = (  # §3.2
    *("Agriculture", "Brands and Commerce", "Cities and Landmarks", "Death and Funerals", "Education"),
    *("Events and Festivals", "Famous People", "Fashion and Media", "Folklore and Folktales", "Food and Cuisine"),
    *("Language and Communication", "Literature and Written works", "Music and Art", "Naming", "Objects and Units"),
    *("Politics and Governance", "Relationships", "Social Customs", "Sports", "Time", "Transportation"),
    "Socio-religious Aspects of Life",
)
KINDS = (
    *("country", "place", "person", "food", "festival", "object", "date", "number", "word", "custom", "group"),
    *("work", "text"),
)
SLOT = re.compile(r"\[([^\[\]]+)\]")
SLOT_NAME = re.compile(r"Nth|[A-Z][A-Z0-9 /'-]*")  # the paper's templates have [Nth], for an ordinal
MOST_VALUES = 1000  # that a slot may be limited to
OPTIONS = ("OPTION A", "OPTION B", "OPTION C", "OPTION D")


@dataclass(frozen=True, slots=True)
class Slot:
    """A gap in a question: the kind of its value (`KINDS`), whether it comes from the author's own culture, and, where
    only some values are valid, these `values`, or the whole numbers `low` to `high`.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    kind: str
    local: StrictBool = True
    note: str = ""
    values: tuple[str, ...] = ()
    low: StrictInt | None = None
    high: StrictInt | None = None

    @property
    def allowed(self) -> tuple[str, ...]:
        """Return the texts that it may hold; none if it may hold any."""
        if self.low is None or self.high is None:
            return self.values
        return tuple(map(str, range(self.low, self.high + 1)))

    @property
    def hint(self) -> str:
        """Return what an author reads beside it."""
        some = "" if self.low is None else f"{self.low} to {self.high}"
        return ": ".join(
            filter(None, (self.kind, "; ".join(filter(None, (self.note, some or ", ".join(self.values))))))
        )


@dataclass(frozen=True, slots=True)
class Template:
    """A template. `options` describe what the author writes, the right one first; `true` has [OPTION A], `false`
    [OPTION B]. A retired one is kept for its scenarios and given to no author.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    id: StrictInt
    question: str
    slots: Mapping[str, Slot]
    options: tuple[str, ...]
    reasoning: tuple[str, ...]
    aspects: tuple[str, ...]
    true: str
    false: str
    note: str = ""
    example: Mapping[str, Any] = field(default_factory=dict[str, Any])
    retired: StrictBool = False


def read(path: Path) -> list[Template]:
    """Return the templates of a YAML file. Raise InputInvalid for a file that is no list of templates.

    What a template says is checked by `problems`.
    """
    try:
        rows = yaml_text.load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as problem:
        raise InputInvalid(
            f"{path}: not readable as YAML: {in_a_line(problem)}; expected a list of templates"
        ) from None
    if not isinstance(rows, list) or not rows:
        raise InputInvalid(f"{path}: found {type(rows).__name__}; expected a list of templates")
    return [_template(path, number, row) for number, row in enumerate(rows, 1)]


_TEMPLATE = TypeAdapter(Template)


def _template(path: Path, number: int, row: Any) -> Template:
    if isinstance(row, dict):
        row = {{True: "true", False: "false"}.get(name, name): value for name, value in row.items()}  # YAML's booleans
    try:
        return _TEMPLATE.validate_python(row)
    except ValidationError as problem:
        first = problem.errors()[0]
        place = "".join(f"{part}: " for part in first["loc"])
        expected = first["msg"].lower().replace("input should be", "expected")
        difference = in_a_line(f"{expected}; found {first['input']!r:.60}")
        raise InputInvalid(f"{path}: template {number}: {place}{difference}; see docs/macaron.md") from None


def slots_in(text: str) -> list[str]:
    """Return the names in brackets, in order."""
    return SLOT.findall(text)


def fill(text: str, values: Mapping[str, str]) -> str:
    """Return a text with its [SLOTS] replaced in one pass: an inserted value is never searched for slots.

    A slot without a value stays as it is.
    """
    return SLOT.sub(lambda match: values.get(match[1], match[0]), text)


def children(template: Template, slots: Mapping[str, str], options: Sequence[str]) -> tuple[str, str]:
    """Return the true and the false child of a filled template."""
    values = {**slots, **dict(zip(OPTIONS, options, strict=False))}
    return fill(template.true, values), fill(template.false, values)


def problems(templates: Sequence[Template]) -> list[str]:
    """Return every breach of what a template must be, one line each; none for a good set."""
    repeated = [
        f"template {number}: the id is there twice" for number, n in Counter(t.id for t in templates).items() if n > 1
    ]
    return repeated + [
        f"template {template.id}: {problem}" for template in templates for problem in _problems(template)
    ]


def _problems(template: Template) -> Iterator[str]:
    used = slots_in(template.question)
    for name in dict.fromkeys(used):
        if name not in template.slots and name not in OPTIONS:  # a template of the paper asks about [OPTION A]
            yield f"question: [{name}] is not declared in `slots`; declare it"
    for name, slot in template.slots.items():
        if name not in used:
            yield f"slots: {name} is not in the question; use or remove it"
        if not SLOT_NAME.fullmatch(name) or name in OPTIONS:
            yield f"slots: found {name}; expected capitals, digits and spaces, or Nth, and no option"
        if slot.kind not in KINDS:
            yield f"slots: {name}: found kind {slot.kind}; expected one of {', '.join(KINDS)}"
        yield from (f"slots: {name}: {problem}" for problem in _constraint_problems(slot))
    if not used:
        yield "question: no slot; expected at least one in [BRACKETS]"
    if len(template.options) != 4:
        yield f"options: found {len(template.options)}; expected 4, the right one first"
    yield from _tag_problems(template)
    yield from _children_problems(template)
    yield from _example_problems(template.example)


def _tag_problems(template: Template) -> Iterator[str]:
    for field_, tags, words in (("reasoning", template.reasoning, REASONING), ("aspects", template.aspects, ASPECTS)):
        if not tags:
            yield f"{field_}: none; expected at least one of {', '.join(words)}"
        for tag in tags:
            if tag not in words:
                yield f"{field_}: found {tag}; expected one of {', '.join(words)}"
        if len(set(tags)) < len(tags):
            yield f"{field_}: a tag is there twice"


def _children_problems(template: Template) -> Iterator[str]:
    for name, text, option in (("true", template.true, "OPTION A"), ("false", template.false, "OPTION B")):
        inner = slots_in(text)
        if option not in inner:
            yield f"{name}: no [{option}]; expected it in the text"
        for slot in inner:
            if slot not in template.slots and slot != option:
                yield f"{name}: [{slot}] is neither a slot of the question nor [{option}]"
    if template.true.replace("[OPTION A]", "[OPTION B]") != template.false:
        yield "true and false: expected one text that differs in [OPTION A] and [OPTION B] alone"


def _constraint_problems(slot: Slot) -> Iterator[str]:
    limits = (slot.low, slot.high)
    if limits != (None, None) and (None in limits or slot.values or slot.kind != "number"):
        yield "found low or high; expected both, without `values`, of the kind number"
    elif slot.low is not None and slot.high is not None and not slot.low <= slot.high < slot.low + MOST_VALUES:
        yield f"found {slot.low} to {slot.high}; expected low to high, at most {MOST_VALUES} numbers"
    if any(not text.strip() or text != text.strip() or set(text) & set("[]\n") for text in slot.values):
        yield "values: expected texts without brackets, and without spaces around them"
    if len(set(slot.values)) < len(slot.values):
        yield "values: one is there twice"


def _example_problems(example: Mapping[str, Any]) -> Iterator[str]:
    if not example:
        return
    question, options = example.get("question"), example.get("options")
    if not isinstance(question, str) or not isinstance(options, list) or not all(isinstance(o, str) for o in options):
        yield "example: expected a `question` and a list `options`"
    elif len(options) != 4 or len(set(options)) != 4 or SLOT.search(" ".join([question, *options])):
        yield "example: expected four different options, and no [BRACKETS] left"


def coverage(templates: Sequence[Template]) -> dict[str, int]:
    """Return the number of templates for each reasoning type and aspect, 0 where there is none."""
    tags = Counter(tag for template in templates for tag in (*template.reasoning, *template.aspects))
    return {tag: tags[tag] for tag in (*REASONING, *ASPECTS)}
