"""ACRE as a flow (§5): a semantic validator first, then a fidelity and a nuance critic together for valid rows only.

The paper's prompts are lost: those in `prompts/` are ours, and every signature says so. The explication is what
decides; the reference is shown to the nuance critic alone, as a model of style.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np

from excam.acre.items import Protocol, route
from excam.acre.translations import Translated
from excam.inference import Completion, Flow, Message, ask_for_choice, ask_for_text, prompts
from excam.inference.chat import replace_lone_surrogates
from excam.inference.json_answers import Rejected, answer_decoder, answer_of, objects
from excam.inference.run import together

VERSION = 3  # of prompts and parser
Variant = Literal["full", "no-gate", "no-routing", "no-explication", "no-reference"]
VARIANTS: tuple[Variant, ...] = ("full", "no-gate", "no-routing", "no-explication", "no-reference")
Mode = Literal["choose", "text"]
MODES: tuple[Mode, ...] = ("choose", "text")
filled = partial(prompts.filled, "excam.acre")
LOWEST, HIGHEST = 1, 5  # ratings of critics, which count as x/5: with (x - 1)/4 the worst valid one would be invalid
NO_EXPLICATION = "no-explication"  # the failure of a row that has none, where it is what decides


@dataclass(frozen=True, slots=True)
class Case:
    """What ACRE reads of one translation, and in which variant and way it is asked."""

    row: str
    source: str
    term: str
    translation: str
    category: str
    explication: str = ""
    reference: str = ""
    protocol: Protocol | None = None
    variant: Variant = "full"
    mode: Mode = "text"

    @property
    def id(self) -> str:
        """Return <item>/<system>/<shots>/<variant>."""
        return f"{self.row}/{self.variant}"


def case(row: Translated) -> Case:
    """Return the case of a translation."""
    names = ("source", "term", "category", "explication", "reference", "protocol")
    texts: dict[str, Any] = {name: getattr(row.item, name) for name in names}
    return Case(row=row.id, translation=row.translation, **texts)


@dataclass(frozen=True, slots=True)
class Grades:
    """The verdict of one variant. `acre` is None exactly where there is a `failure`, and exactly 0 for an invalid one.

    `fidelity` and `clarity` are 1 to 5: whole numbers by text, means over the likelihoods by choice. Of a failed critic
    nothing is counted: `quality` and `acre` are None though the other one answered.
    """

    protocol: Protocol | None
    valid: bool | None = None
    valid_certainty: float | None = None
    fidelity: float | None = None
    clarity: float | None = None
    quality: float | None = None
    acre: float | None = None
    rationale: str = ""
    failure: str | None = None


@dataclass(frozen=True, slots=True)
class _Agent:
    """One of the three agents: its prompt, the key of its answer and what the value may be."""

    name: str
    key: str
    values: tuple[bool | int, ...]

    @property
    def options(self) -> tuple[str, ...]:
        """Return the lines that it may answer."""
        return tuple(json.dumps({self.key: value}) for value in self.values)

    @property
    def schema(self) -> str:
        """Return the JSON Schema of its answer, for servers that constrain texts."""
        kind = {"type": "boolean"} if self.key == "valid" else {"type": "integer", "enum": list(self.values)}
        properties = {self.key: kind, "rationale": {"type": "string"}}
        return json.dumps(
            {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
        )


VALIDATOR = _Agent("validator", "valid", (True, False))
FIDELITY = _Agent("fidelity", "score", tuple(range(LOWEST, HIGHEST + 1)))
NUANCE = _Agent("nuance", "score", FIDELITY.values)


@dataclass(frozen=True, slots=True)
class _Said:
    """The value an agent gave, None with a `failure`; `certainty` is the probability of a validator's choice."""

    value: float | None
    failure: str | None = None
    certainty: float | None = None
    rationale: str = ""


def messages(agent: _Agent, case_: Case) -> tuple[Message, ...]:
    """Return what an agent is asked about a case: its instructions, which many cases share, and the texts of the case.

    Texts stand as JSON strings, so that none ends before its end.
    """
    rule = "any" if case_.variant == "no-routing" else protocol(case_)
    instructions = filled(
        agent.name, {"rule": "" if agent is NUANCE else prompts.template("excam.acre", f"{agent.name}-{rule}")}
    )
    quoted = {name: json.dumps(getattr(case_, name), ensure_ascii=False) for name in ("source", "term", "translation")}
    with_explication = agent is not NUANCE and case_.variant != "no-explication" and case_.explication
    with_reference = agent is NUANCE and case_.variant != "no-reference" and case_.reference
    quoted |= {
        "explication": _line("What it means", case_.explication) if with_explication else "",
        "reference": _line("A good translation, as a model of style", case_.reference) if with_reference else "",
    }
    return Message("system", instructions), Message("user", filled("case", quoted))


def _line(label: str, text: str) -> str:
    return f"{label}: {json.dumps(text, ensure_ascii=False)}\n"


def protocol(case_: Case) -> Protocol:
    """Return the protocol of a case: its own, or that of its category. A lookup: no agent is asked."""
    return case_.protocol or route(case_.category)


def acre(case_: Case) -> Flow[Grades]:
    """Judge one translation: one request, and two more together if it is valid; without the gate all three at once.

    `choose` compares the likelihoods of the answers; a server that gives none is asked for a text.
    """
    variant = case_.variant
    judged = Grades(None if variant == "no-routing" else protocol(case_))
    if not case_.explication and variant != "no-explication":
        return replace(judged, failure=NO_EXPLICATION)
    if not case_.translation.strip():  # nothing to ask about: the expression is omitted
        return replace(judged, valid=False, valid_certainty=1.0, acre=0.0)
    first = (VALIDATOR, FIDELITY, NUANCE) if variant == "no-gate" else (VALIDATOR,)
    valid, *critics = yield from _asked(first, case_)
    validity = {"valid": None if valid.value is None else bool(valid.value), "valid_certainty": valid.certainty}
    judged = replace(judged, **validity, rationale=valid.rationale)
    if valid.failure and variant != "no-gate":
        return replace(judged, failure=f"validator: {valid.failure}")
    if not critics:
        if not valid.value:
            return replace(judged, acre=0.0)
        critics = yield from _asked((FIDELITY, NUANCE), case_)
    return _with_quality(judged, critics)


def _with_quality(judged: Grades, critics: Sequence[_Said]) -> Grades:
    """Return the verdict with the critics' ratings; a critic that failed makes it a failure."""
    fidelity, clarity = critics
    reasons = [judged.rationale, fidelity.rationale, clarity.rationale]
    rated = replace(judged, fidelity=fidelity.value, clarity=clarity.value, rationale=" / ".join(filter(None, reasons)))
    for agent, judgement in ((FIDELITY, fidelity), (NUANCE, clarity)):
        if judgement.failure:
            return replace(rated, failure=f"{agent.name}: {judgement.failure}")
    assert fidelity.value is not None, "without a failure there is a value"
    assert clarity.value is not None, "without a failure there is a value"
    q = quality(fidelity.value, clarity.value)
    return replace(rated, quality=q, acre=q)


def quality(fidelity: float, clarity: float) -> float:
    """Return Q, the mean of two ratings as shares of the highest."""
    return (fidelity / HIGHEST + clarity / HIGHEST) / 2


def _asked(agents: Sequence[_Agent], case_: Case) -> Flow[list[_Said]]:
    """Ask agents together; by likelihoods if the case says so and the model gives them, else for texts."""
    conversations = [messages(agent, case_) for agent in agents]
    if case_.mode == "choose":
        choices = yield from together([*map(ask_for_choice, conversations, (agent.options for agent in agents))])
        logprobs = [choice.logprobs for choice in choices if choice.logprobs is not None]
        if len(logprobs) == len(agents):
            return list(map(_chosen, agents, logprobs))
    completions = yield from together([*map(ask_for_text, conversations, (agent.schema for agent in agents))])
    return list(map(read, agents, completions))


def _chosen(agent: _Agent, logprobs: Sequence[float]) -> _Said:
    """Return the likeliest verdict of the validator; of a critic, the mean rating under its likelihoods."""
    shares = np.exp(np.asarray(logprobs) - max(logprobs))
    shares /= shares.sum()
    if agent is VALIDATOR:
        return _Said(float(agent.values[int(shares.argmax())]), certainty=float(shares.max()))
    return _Said(float(shares @ np.asarray(agent.values, dtype=float)))


def _whole_number(digits: str) -> int | None:
    """Return a number of few digits; another is no rating, and costs no time."""
    return int(digits) if len(digits) < 4 and digits.removeprefix("-").isdigit() else None


DECODER = answer_decoder("key-twice", "no-value", number=_whole_number)


def read(agent: _Agent, completion: Completion) -> _Said:
    """Return what a text says: one JSON object after any reasoning. Two that differ, or a value out of range, fail."""
    try:
        json_objects = list(objects(answer_of(completion), DECODER, set()))
    except Rejected as problem:
        cut = completion.finish == "length" and str(problem) in ("no-json", "bad-json")
        return _Said(None, "truncated" if cut else str(problem))
    values = {json.dumps(each.get(agent.key) if isinstance(each, dict) else None) for each in json_objects}
    if len(values) > 1:
        return _Said(None, "several-objects")
    value = json_objects[-1].get(agent.key) if isinstance(json_objects[-1], dict) else None
    if isinstance(value, bool) != (agent is VALIDATOR) or not isinstance(value, int):
        return _Said(None, "no-value")
    if value not in agent.values:
        return _Said(None, "out-of-range")
    rationale = json_objects[-1].get("rationale")
    words = replace_lone_surrogates(rationale) if isinstance(rationale, str) else ""  # no table holds one
    return _Said(float(value), rationale=words)


def signature(variant: str, mode: str) -> str:
    """Return the part of a signature that says how ACRE was asked and computed."""
    return f"variant:{variant}|by:{mode}|q:mean|prompts:ours"


def tasks(rows: Sequence[Translated], variants: Sequence[Variant], mode: Mode) -> list[Case]:
    """Return every translation in every variant, by variant. Grades together, variants share what they ask alike."""
    cases = [replace(case(row), mode=mode) for row in rows]
    return [replace(case_, variant=variant) for variant in variants for case_ in cases]


PARTS: tuple[str, ...] = ("valid", "fidelity", "clarity", "quality")


def parts(judged: Grades) -> dict[str, Any]:
    """Return what a verdict holds beside its score."""
    values = asdict(judged)
    return {name: values[name] for name in ("protocol", "valid_certainty", *PARTS)}
