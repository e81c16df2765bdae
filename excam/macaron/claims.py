"""What the paper says about its benchmark and its models, beside ours, or the reason why nothing compares."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from excam.macaron import breakdowns, categories, numbers, pages
from excam.macaron.answers import System
from excam.macaron.breakdowns import MEAN
from excam.macaron.cells import rounded, with_interval
from excam.macaron.scenarios import Scenario
from excam.macaron.templates import ASPECTS
from excam.pages.markdown import escape, table

Line = Mapping[str, Any]
CLAIMS = ("key", "printed", "unit", "ours", "low", "high", "difference", "reason")
ENDS = 2  # aspects at each end that are not in the band of the others
WIDEST = 3  # languages with the largest gaps that are named


class Absent(str):
    """The reason why a claim has no number of ours."""


Ours = float | str | Line  # a number, words, or an estimate with its interval
NO_MODEL = Absent("no model was asked")


@dataclass(frozen=True, slots=True)
class Data:
    """What the claims are about: scenarios, the answers of models, and their breakdowns and templates."""

    scenarios: Sequence[Scenario]
    instances: int
    models: Sequence[System]
    of_models: Mapping[str, str]  # their categories
    by: Mapping[str, Sequence[Line]]  # breakdowns, empty without models
    templates: Sequence[Line]

    def count(self, name: str) -> int:
        """Return the number of different values of a field of scenarios."""
        values = (getattr(scenario, name) for scenario in self.scenarios)
        return len({part for value in values for part in (value if isinstance(value, tuple) else (value,))})


def compare(data: Data, printed: Sequence[Mapping[str, str]]) -> list[dict[str, Any]]:
    """Return one line per printed claim, in their order, with ours and the difference, or the reason why none."""
    return [_line(claim, _ours(claim["key"], data)) for claim in printed]


def _line(claim: Mapping[str, str], ours: Ours) -> dict[str, Any]:
    line: dict[str, Any] = {"key": claim["key"], "printed": claim["value"], "unit": claim["unit"]}
    if isinstance(ours, Absent):
        return {**line, "reason": str(ours)}
    if isinstance(ours, str):
        return {**line, "ours": ours, "reason": "no difference: words, or shares of other models"}
    estimate = ours if isinstance(ours, Mapping) else {"value": ours, "low": None, "high": None}
    line |= {"ours": estimate["value"], "low": estimate["low"], "high": estimate["high"]}
    try:
        return {**line, "difference": estimate["value"] - float(claim["value"])}
    except ValueError:
        return {**line, "reason": "no difference: printed in words"}


def page(data: Data, lines: Sequence[Line], printed: Sequence[Mapping[str, str]]) -> str:
    """Return the page of all claims."""
    body = []
    for line, claim in zip(lines, printed, strict=True):
        ours, digits = line.get("ours", "–"), 0 if isinstance(line.get("ours"), int) else 1
        if not isinstance(ours, str):
            ours = with_interval({"value": ours, "low": line["low"], "high": line["high"]}) if digits else str(ours)
        gap = rounded(line["difference"], digits) if "difference" in line else line["reason"]
        shown = (claim["key"], f"{claim['value']} {claim['unit']}", ours, gap, claim["text"], claim["place"])
        body.append([escape(text) for text in shown])
    answered = f"{len(data.models)} sets of answers of {len({system.model for system in data.models})} models"
    text = (
        f"# Macaron: what the paper says, and ours\n\nOurs: {len(data.scenarios)} scenarios, {data.instances} "
        f"instances, {answered}; means and ranges are over these sets, without written sheets. A difference is ours "
        "minus printed. Scenarios and models are others: it says how far apart the two are, not who is right. "
        "Intervals are 95 % bootstraps over scenarios.\n\n"
    )
    head = ["claim", "printed", "ours", "difference, or why there is none", "what it says", "place"]
    return text + table(head, body)


def data(
    scenarios: Sequence[Scenario],
    instances: int,
    systems: Sequence[System],
    of_models: Mapping[str, str],
    seed: int,
) -> Data:
    """Return what the claims are compared with; of `systems` written sheets are left out."""
    models = categories.asked(systems)
    by = {name: breakdowns.breakdown(models, name, seed) if models else [] for name in breakdowns.GROUPS}
    return Data(scenarios, instances, models, of_models, by, pages.templates(models, seed)[0] if models else ())


# --- ours


def _ours(key: str, known: Data) -> Ours:
    if key in OF_SCENARIOS:
        return OF_SCENARIOS[key](known)
    if key == "models":
        return len({system.model for system in known.models})
    if not known.models:
        return NO_MODEL
    if key in OF_MODELS:
        return OF_MODELS[key](known)
    match = re.fullmatch(r"aspect-(mean-)?(.+?)(-highest|-lowest)?", key)
    aspect = next((name for name in ASPECTS if match and _slug(name) == match[2]), None)
    if not match or not aspect:
        return Absent("nothing here computes it")
    own = [line for line in known.by["aspects"] if (line["group"], line["lang"]) == (aspect, "all")]
    if not own:
        return Absent("no scenario has this aspect")
    if match[1]:
        return next(line for line in own if _system(line) == MEAN)
    choose = max if match[3] == "-highest" else min
    return choose((line for line in own if _system(line) != MEAN), key=lambda line: line["value"])


def _slug(name: str) -> str:
    return re.sub("[^a-z]+", "-", name.lower())


def _system(line: Line) -> tuple[str, str]:
    return line["model"], line["mode"]


def _authors(known: Data) -> Ours:
    authors: dict[str, set[str]] = defaultdict(set)
    for scenario in known.scenarios:
        authors[scenario.country].add(scenario.author)
    if "" in set().union(*authors.values()):
        return Absent("the files do not name every author")
    return sum(map(len, authors.values())) / len(authors)


OF_SCENARIOS: Mapping[str, Callable[[Data], Ours]] = {
    "templates": lambda known: known.count("template"),
    "reasoning-types": lambda known: known.count("reasoning"),
    "aspects": lambda known: known.count("aspects"),
    "scenarios": lambda known: len(known.scenarios),
    "instances": lambda known: known.instances,
    "instances-rounded": lambda known: known.instances,
    "instances-per-scenario": lambda known: known.instances / len(known.scenarios),
    "countries": lambda known: known.count("country"),
    "languages": lambda known: known.count("language"),
    "scripts": lambda known: known.count("script"),
    "annotators-per-context": _authors,
    "payment": lambda known: Absent("a benchmark's files do not say what its authors were paid"),
    "tf-random": lambda known: numbers.CHANCE["TF"],
}


def _mathematical(known: Data) -> Ours:
    worst = list(breakdowns.lowest_of(known.by["reasoning"]).values())
    return f"{worst.count('mathematical')} of {len(worst)}"


def _highest(known: Data) -> Ours:
    means = breakdowns.means_of(known.by["reasoning"])
    return max(means, key=means.__getitem__) if means else Absent("no scenario has a reasoning type")


def _means(known: Data) -> list[float]:
    return sorted(breakdowns.means_of(known.by["aspects"]).values())


def _spread(known: Data) -> Ours:
    return _means(known)[-1] - _means(known)[0] if _means(known) else Absent("no scenario has an aspect")


def _band(place: int) -> Callable[[Data], Ours]:
    def end(known: Data) -> Ours:
        others = _means(known)[ENDS:-ENDS]
        return others[place] if others else Absent("too few aspects")

    return end


def _open_weight(choose: Callable[..., Line]) -> Callable[[Data], Ours]:
    def end(known: Data) -> Ours:
        own = [one for one in known.models if categories.category_of(one, known.of_models) == "open-weight"]
        values = [numbers.estimates(one.rows)["tf_avg"] for one in own]
        values = [value for value in values if value["value"] is not None]
        return choose(values, key=lambda value: value["value"]) if values else Absent("no open-weight model was asked")

    return end


def _gaps(known: Data) -> list[tuple[float, str]]:
    lines = [line for line in known.by["contexts"] if line["lang"] == "gap" and _system(line) == MEAN]
    return sorted((line["value"], line["group"]) for line in lines)


def _not_below(known: Data) -> Ours:
    return ", ".join(country for gap, country in _gaps(known) if gap >= 0) or "none"


def _widest(known: Data) -> Ours:
    language = {scenario.country: scenario.language for scenario in known.scenarios}
    return (
        ", ".join(f"{language[country]} ({rounded(gap)})" for gap, country in _gaps(known)[:WIDEST] if gap < 0)
        or "none"
    )


OF_MODELS: Mapping[str, Callable[[Data], Ours]] = {
    "mathematical-lowest": _mathematical,
    "reasoning-highest": _highest,
    "aspect-spread": _spread,
    "aspect-band-lowest": _band(0),
    "aspect-band-highest": _band(-1),
    "tf-open-weight-lowest": _open_weight(min),
    "tf-open-weight-highest": _open_weight(max),
    "local-at-least-english": _not_below,
    "largest-gaps": _widest,
    "how-many-hardest": lambda known: sum(line["how_many"] for line in known.templates[-pages.EXTREMES :]),
}
