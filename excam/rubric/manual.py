"""The scoring manual as versioned data: anchors, flags, decision rules and the numbers of its quality control."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from importlib import resources
from itertools import accumulate
from math import lcm
from pathlib import Path
from typing import Any, Literal, get_args

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from excam.core import yaml_text
from excam.core.exceptions import InputInvalid, in_a_line

Dimension = Literal["accuracy", "appropriateness", "sensitivity", "depth"]
DIMENSIONS: tuple[Dimension, ...] = get_args(Dimension)
SCORES: tuple[str, ...] = (*DIMENSIONS, "overall")
SCALE = (1, 2, 3, 4, 5)
CURRENT = "manual-0.1"
FINDINGS: Mapping[str, tuple[Any, ...]] = {  # what raters find, and its values; the first is that of no finding
    "refusal": ("none", "proper", "over-broad"),
    "off_topic": ("no", "partial", "yes"),
    "grammar": ("none", "minor", "impedes"),
    "under_informative": (False, True),
    "insightfully_concise": (False, True),
    "false_claim": ("",),  # any text: the claim
    "stereotype_phrase": ("",),  # any text: the phrase
    "frames": ("none", "compares", "imposes"),
}
FACTS: Mapping[str, tuple[Any, ...]] = {  # what rules may need to know of a task
    "unsafe": (False, True),
    "complexity": ("low", "medium", "high"),
}
WORKFLOW = ("read", "rate", "overall", "tags")  # the steps of rating a response, in order
GIVEN = "given"  # in a rule: any text


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)


class _Level(_Part):
    name: str
    text: str


class _Anchored(_Part):
    short: str = ""
    definition: str
    anchors: dict[int, str]
    red_flags: list[str]
    template: str


class _OverallRule(_Part):
    short: str = ""
    definition: str
    start: str = ""
    text: str
    limit: str = ""
    template: str
    deviation: int = Field(ge=0)


class ScoreRule(_Part):
    when: dict[str, list[str | bool]]
    needs: dict[str, list[str | bool]] = {}
    at_most: dict[str, int] = {}
    lower: dict[str, int] = {}
    mention: dict[str, str] = {}
    text: str


class Timing(_Part):
    items: int
    minutes: float
    sd: float
    window: int
    rest_hours: float
    text: str


class Target(_Part):
    icc: float
    difference: int
    text: str


class Shared(_Part):
    items: list[int]
    text: str


class _SelfReview(_Part):
    every: int
    review: list[int]
    text: str


class Exemplar(_Part):
    dimension: Dimension
    score: int
    text: str
    note: str = ""


class _Adjustment(_Part):
    number: int
    time: str
    reason: str
    examples: list[str]


class Manual(_Part):
    """The content of a manual's file. What has a default is not in the versions that studies made of it earlier."""

    name: str
    title: str
    source: str
    licence: str
    users: str = ""
    scope: str = ""
    purpose: str = ""
    principles: list[str] = []
    adjustments: list[_Adjustment]
    scale_note: str = ""
    scale: dict[int, _Level]
    dimensions: dict[Dimension, _Anchored]
    overall: _OverallRule
    weights: dict[Dimension, float] | None
    suggested_weights: dict[Dimension, float]
    rules: dict[str, ScoreRule]
    flags: list[str]
    aliases: dict[str, str]
    minutes: dict[str, int]
    workflow: dict[str, str] = {}
    sentences: dict[Literal["rationale", "overall", "notes"], list[int]] = {}
    audit: str = ""
    calibration: Shared
    self_calibration: _SelfReview
    fatigue: Timing
    reliability: Target
    examples: list[Exemplar]
    exemplar: str
    do: list[str]
    dont: list[str]
    checklist: list[str]


@dataclass(frozen=True)
class ScoringRubric:
    """A manual that was read and checked. `content` is the mapping of its file, from which `hash` is computed."""

    manual: Manual
    content: Mapping[str, Any]

    @property
    def name(self) -> str:
        """Return the version that ratings name."""
        return self.manual.name

    @cached_property
    def hash(self) -> str:
        """Return the SHA-256 of the content; comments and layout of the file do not count."""
        text = json.dumps(self.content, sort_keys=True, ensure_ascii=True)
        return hashlib.sha256(text.encode("ascii")).hexdigest()

    @property
    def signature(self) -> str:
        """Return the version, and the weights of the base if the study declares some."""
        weights = self.manual.weights
        return self.name + (f"|weights:{','.join(f'{weights[name]:g}' for name in DIMENSIONS)}" if weights else "")

    @property
    def steps(self) -> dict[str, str]:
        """Return the steps of rating a response: the minutes of each, and what is done in them, if the manual says."""
        lengths = [self.manual.minutes[name] for name in WORKFLOW]
        return {
            name: f"Minute {end - length}–{end}: {self.manual.workflow.get(name, name)}"
            for name, length, end in zip(WORKFLOW, lengths, accumulate(lengths), strict=True)
        }

    @cached_property
    def whole_weights(self) -> Mapping[str, int]:
        """Return the weights of the base as whole numbers, equal ones if the study declares none."""
        weights = {name: Fraction(str((self.manual.weights or {}).get(name, 1))) for name in DIMENSIONS}
        factor = lcm(*(weight.denominator for weight in weights.values()))
        return {name: int(weight * factor) for name, weight in weights.items()}


def load(version: str = CURRENT) -> ScoringRubric:
    """Return a manual by the name of a version of this package, or by the path of its YAML file. Raise InputInvalid."""
    return parse(_yaml(text(version), version), version)


def text(version: str) -> str:
    """Return the YAML text of a manual, named as for `load`. Raise InputInvalid."""
    path = Path(version)
    if path.suffix in (".yaml", ".yml"):
        try:
            return path.read_text(encoding="utf-8")
        except (OSError, ValueError) as problem:
            raise InputInvalid(f"{path}: not readable: {in_a_line(problem)}; expected a manual") from None
    if version not in shipped():
        raise InputInvalid(f"rubric {version}: no such version; expected {', '.join(shipped())}, or a .yaml file")
    return resources.files("excam.rubric").joinpath(f"{version}.yaml").read_text(encoding="utf-8")


def shipped() -> Sequence[str]:
    """Return the versions of this package."""
    names = [file.name for file in resources.files("excam.rubric").iterdir()]
    return sorted(name.removesuffix(".yaml") for name in names if name.endswith(".yaml"))


def _yaml(text: str, where: str) -> Any:
    try:
        return yaml_text.load(text)
    except yaml.YAMLError as problem:
        raise InputInvalid(f"{where}: not readable as YAML: {in_a_line(problem)}; expected a manual") from None


def parse(content: Any, where: str) -> ScoringRubric:
    """Return the manual of a file's content; messages call it `where`. Raise InputInvalid naming the first problem."""
    try:
        manual = Manual.model_validate(content)
    except ValidationError as problem:
        first = problem.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        raise InputInvalid(f"{where}: {place}: {first['msg'].lower()}; expected a manual as `manual-0.1`") from None
    if problem := next(_problems(manual), None):
        raise InputInvalid(f"{where}: {problem}")
    return ScoringRubric(manual, content)


def _problems(manual: Manual) -> Iterator[str]:
    """Yield what types cannot say of a manual."""
    if tuple(manual.scale) != SCALE:
        yield f"scale: found {list(manual.scale)}; expected {list(SCALE)}"
    if set(manual.dimensions) != set(DIMENSIONS):
        yield f"dimensions: found {', '.join(manual.dimensions)}; expected {', '.join(DIMENSIONS)}"
    for name, anchored in manual.dimensions.items():
        if tuple(anchored.anchors) != SCALE:
            yield f"dimensions.{name}.anchors: found {list(anchored.anchors)}; expected {list(SCALE)}"
    for part, keys in (("minutes", manual.minutes), ("workflow", manual.workflow or manual.minutes)):
        if set(keys) != set(WORKFLOW):
            yield f"{part}: found {', '.join(keys)}; expected {', '.join(WORKFLOW)}"
    for name, range_ in manual.sentences.items():
        if len(range_) != 2 or not 1 <= range_[0] <= range_[1]:
            yield f"sentences.{name}: found {range_}; expected the least and the most, from 1 on"
    weights = manual.weights
    if weights is not None and (
        set(weights) != set(DIMENSIONS) or not all(0 < weight < 1e9 for weight in weights.values())
    ):
        yield f"weights: found {weights}; expected a number above 0 for each of {', '.join(DIMENSIONS)}"
    for alias, flag in manual.aliases.items():
        if flag not in manual.flags:
            yield f"aliases.{alias}: found {flag}; expected one of {', '.join(manual.flags)}"
    for name, rule in manual.rules.items():
        yield from _rule_problems(name, rule)


def _rule_problems(name: str, rule: ScoreRule) -> Iterator[str]:
    for part, conditions, names in (("when", rule.when, FINDINGS), ("needs", rule.needs, FACTS)):
        for key, values in conditions.items():
            allowed = names.get(key, ())
            allowed = (GIVEN,) if allowed == ("",) else allowed
            if not values or not all(any(value is option or value == option for option in allowed) for value in values):
                yield f"rules.{name}.{part}.{key}: found {values}; expected some of {allowed or list(names)}"
    for part, effects in (("at_most", rule.at_most), ("lower", rule.lower)):
        for key, value in effects.items():
            if key not in SCORES or value not in SCALE:
                yield f"rules.{name}.{part}.{key}: found {value}; expected 1 to 5 for one of {', '.join(SCORES)}"
    for key, finding in rule.mention.items():
        if key not in SCORES or FINDINGS.get(finding) != ("",) or finding not in rule.when:
            yield f"rules.{name}.mention.{key}: found {finding}; expected a score, and a text that the rule finds"
    if "overall" in rule.lower:
        yield f"rules.{name}.lower.overall: expected a dimension: Overall follows from the four"
