"""What the paper says about its benchmark and its models, answered from an experiment."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from excam.macaron import breakdowns, categories, numbers, pages
from excam.macaron.answers import ModelRun
from excam.macaron.breakdowns import MEAN, system_of
from excam.macaron.cells import rounded
from excam.macaron.scenarios import Scenario
from excam.macaron.templates import ASPECTS
from excam.pages.claims import Ours, Quote

Line = Mapping[str, Any]
ENDS = 2  # aspects at each end that are not in the band of the others
WIDEST = 3  # languages with the largest gaps that are named


_absent = partial(Ours, "")  # with the reason why a claim has no number of ours
Value = float | str | Line | Ours  # a number, words, or an estimate with its interval
NO_MODEL = _absent("no model was asked")


@dataclass(frozen=True, slots=True)
class Data:
    """What the claims are about: scenarios, the answers of models, and their breakdowns and templates."""

    scenarios: Sequence[Scenario]
    instances: int
    models: Sequence[ModelRun]
    of_models: Mapping[str, str]  # their categories
    by: Mapping[str, Sequence[Line]]  # breakdowns, empty without models
    means: Mapping[str, Mapping[str, Line]]  # of the categories that have a model
    templates: Sequence[Line]

    def count(self, name: str) -> int:
        """Return the number of different values of a field of scenarios."""
        values = (getattr(scenario, name) for scenario in self.scenarios)
        return len({part for value in values for part in (value if isinstance(value, tuple) else (value,))})


def answers(data: Data, printed: Sequence[Quote]) -> dict[str, Ours]:
    """Return ours of each claim by its id, or the reason why there is none."""
    return {claim.id: _answer(_value(claim.id, data)) for claim in printed if not (claim.ours or claim.why)}


def _answer(value: Value) -> Ours:
    if isinstance(value, Ours):
        return value
    if isinstance(value, str):
        return Ours(value, "words, or shares of other models")
    if isinstance(value, Mapping):
        return Ours(value["value"], f"95 % interval [{rounded(value['low'])}, {rounded(value['high'])}]")
    return Ours(value, "")


def introduction(data: Data) -> str:
    """Return what the claims are compared with, and how."""
    sets, models = len(data.models), len({system.model for system in data.models})
    answered = f"{sets} set{'s' * (sets != 1)} of answers of {models} model{'s' * (models != 1)}"
    return (
        f"Ours: {len(data.scenarios)} scenarios, {data.instances} instances, {answered}; means and ranges are over "
        "these sets. Scenarios and models are others than the paper's: a difference says how "
        "far apart the two are, not who is right. Intervals are over scenarios.\n\n"
    )


def data(
    scenarios: Sequence[Scenario], instances: int, systems: Sequence[ModelRun], of_models: Mapping[str, str], seed: int
) -> Data:
    """Return what the claims are compared with."""
    by = {name: breakdowns.breakdown(systems, name, seed) if systems else [] for name in breakdowns.GROUPS}
    averaged = categories.averages(systems, of_models, seed) if systems else ()
    means = {average.category: average.estimates for average in averaged if average.estimates}
    return Data(
        scenarios, instances, systems, of_models, by, means, pages.templates(systems, seed)[0] if systems else ()
    )


# --- ours


def _value(key: str, data: Data) -> Value:
    if key in OF_SCENARIOS:
        return OF_SCENARIOS[key](data)
    if key == "models":
        return len({system.model for system in data.models})
    if not data.models:
        return NO_MODEL
    if key in OF_MODELS:
        return OF_MODELS[key](data)
    if category := next((name for name in categories.CATEGORIES if key.endswith(f"-{name}")), None):
        number = key.removesuffix(f"-{category}").replace("-", "_")
        return data.means[category][number] if category in data.means else _absent(f"no {category} model was asked")
    match = re.fullmatch(r"aspect-(mean-)?(.+?)(-highest|-lowest)?", key)
    aspect = next((name for name in ASPECTS if match and _slug(name) == match[2]), None)
    if not match or not aspect:
        return _absent("nothing here computes it")
    lines = [line for line in data.by["aspects"] if (line["group"], line["lang"]) == (aspect, "all")]
    if not lines:
        return _absent("no scenario has this aspect")
    if match[1]:
        return next(line for line in lines if system_of(line) == MEAN)
    choose = max if match[3] == "-highest" else min
    return choose((line for line in lines if system_of(line) != MEAN), key=lambda line: line["value"])


def _slug(name: str) -> str:
    return re.sub("[^a-z]+", "-", name.lower())


def _authors(data: Data) -> Value:
    authors: dict[str, set[str]] = defaultdict(set)
    for scenario in data.scenarios:
        authors[scenario.country].add(scenario.author)
    if "" in set().union(*authors.values()):
        return _absent("the files do not name every author")
    return sum(map(len, authors.values())) / len(authors)


OF_SCENARIOS: Mapping[str, Callable[[Data], Value]] = {
    "templates": lambda data: data.count("template"),
    "reasoning-types": lambda data: data.count("reasoning"),
    "aspects": lambda data: data.count("aspects"),
    "scenarios": lambda data: len(data.scenarios),
    "instances": lambda data: data.instances,
    "instances-rounded": lambda data: data.instances,
    "instances-per-scenario": lambda data: data.instances / len(data.scenarios),
    "countries": lambda data: data.count("country"),
    "languages": lambda data: data.count("language"),
    "scripts": lambda data: data.count("script"),
    "annotators-per-context": _authors,
}


def _reasoning(data: Data) -> Value:
    return _order(breakdowns.means_of(data.by["reasoning"])) or _absent("no scenario has a reasoning type")


def _means(data: Data) -> list[float]:
    return sorted(breakdowns.means_of(data.by["aspects"]).values())


def _spread(data: Data) -> Value:
    return _means(data)[-1] - _means(data)[0] if _means(data) else _absent("no scenario has an aspect")


def _order(values: Mapping[str, float]) -> str:
    return " > ".join(f"{name} ({rounded(values[name])})" for name in sorted(values, key=values.__getitem__)[::-1])


def _categories(data: Data, number: str) -> dict[str, float]:
    return {name: mean[number]["value"] for name, mean in data.means.items() if name != categories.ALL}


def _of_categories(number: str) -> Callable[[Data], Value]:
    return lambda data: _order(_categories(data, number)) or _absent("no category of a model is known")


def _count(are: Sequence[bool]) -> str:
    return f"{sum(are)} of {len(are)}"


def _above_chance(data: Data) -> Value:
    accuracies = [numbers.accuracies(system.rows) for system in data.models]
    return _count([min(values["mc_en"] or 0, values["mc_l"] or 0) > numbers.CHANCE["mc"] for values in accuracies])


def _band(place: int) -> Callable[[Data], Value]:
    def end(data: Data) -> Value:
        others = _means(data)[ENDS:-ENDS]
        return others[place] if others else _absent("too few aspects")

    return end


def _open_weight(choose: Callable[..., Line]) -> Callable[[Data], Value]:
    def end(data: Data) -> Value:
        systems = [system for system in data.models if categories.category_of(system, data.of_models) == "open-weight"]
        values = [numbers.estimates(system.rows)["tf_avg"] for system in systems]
        values = [value for value in values if value["value"] is not None]
        return choose(values, key=lambda value: value["value"]) if values else _absent("no open-weight model was asked")

    return end


def _gaps(data: Data) -> list[tuple[float, str]]:
    lines = [line for line in data.by["contexts"] if line["lang"] == "gap" and system_of(line) == MEAN]
    return sorted((line["value"], line["group"]) for line in lines)


def _widest(data: Data) -> Value:
    language = {scenario.country: scenario.language for scenario in data.scenarios}
    return (
        ", ".join(f"{language[country]} ({rounded(gap)})" for gap, country in _gaps(data)[:WIDEST] if gap < 0) or "none"
    )


OF_MODELS: Mapping[str, Callable[[Data], Value]] = {
    "mathematical-lowest": lambda data: _count(
        [worst == "mathematical" for worst in breakdowns.lowest_of(data.by["reasoning"]).values()]
    ),
    "reasoning-highest": _reasoning,
    "reasoning-easier": _reasoning,
    "order-overall": _of_categories("overall"),
    "order-gap": _of_categories("delta_mc"),
    "pairs-below-single": lambda data: _count([drop > 0 for drop in _categories(data, "drop").values()]),
    "above-chance-mc": _above_chance,
    "aspect-spread": _spread,
    "aspect-band-lowest": _band(0),
    "aspect-band-highest": _band(-1),
    "tf-open-weight-lowest": _open_weight(min),
    "tf-open-weight-highest": _open_weight(max),
    "local-at-least-english": lambda data: ", ".join(name for gap, name in _gaps(data) if gap >= 0) or "none",
    "largest-gaps": _widest,
    "how-many-hardest": lambda data: sum(line["how_many"] for line in data.templates[-pages.EXTREMES :]),
}
