"""Accuracy by reasoning type, cultural aspect or context (Figures 3 to 5): lines for CSV files, pages, figures."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from excam.core import tables
from excam.macaron import numbers
from excam.macaron.answers import ModelRun
from excam.macaron.cells import FEW, NOTE, rounded, with_interval
from excam.macaron.templates import REASONING
from excam.pages import plotting
from excam.pages.markdown import escape, table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GROUPS: dict[str, Callable[[Mapping[str, Any]], Sequence[str]]] = {
    "reasoning": lambda row: row["reasoning"],
    "aspects": lambda row: row["aspects"],
    "contexts": lambda row: (row["country"],),
}
TITLES = {
    "reasoning": "Accuracy by reasoning type, above chance",
    "aspects": "Accuracy by cultural aspect, above chance",
    "contexts": "English and local language, above chance",
}
BREAKDOWN = ("model", "mode", "group", "lang", "value", "low", "high", "above_chance", "n", "failures", "scenarios")
MEAN = ("mean of systems", "")  # in place of a model and a mode
Line = Mapping[str, Any]


def breakdown(systems: Sequence[ModelRun], by: str, seed: int) -> list[dict[str, Any]]:
    """Return one line per system, group and language (EN, L, all, gap) of a breakdown (`GROUPS`).

    The last lines are of `MEAN`. All systems answered the same instances, so that the accuracy over the answers of all
    of them is the mean of theirs.
    """
    chance = _chance(systems[0].rows, GROUPS[by])
    named = [(system.model, system.mode, system.rows) for system in systems]
    named.append((*MEAN, tuple(row for system in systems for row in system.rows)))
    return [
        {"model": model, "mode": mode, **line, "above_chance": _above(line, chance)}
        for model, mode, rows in named
        for line in numbers.breakdown(rows, GROUPS[by], seed)
    ]


def _above(line: Line, chance: Mapping[tuple[str, str], float]) -> float | None:
    return None if line["lang"] == "gap" else line["value"] - chance[line["group"], line["lang"]]


def _chance(rows: Sequence[Line], groups: Callable[[Line], Sequence[str]]) -> dict[tuple[str, str], float]:
    """Return the accuracy of guessing at the instances of each group and language."""
    chances: dict[tuple[str, str], list[float]] = defaultdict(list)
    for row in rows:
        for group in groups(row):
            for lang in (row["lang"], "all"):
                chances[group, lang].append(numbers.CHANCE["mc" if row["format"] == "MC" else "tf"])
    return {key: sum(values) / len(values) for key, values in chances.items()}


def read(path: Path) -> list[dict[str, Any]]:
    """Return the lines of a breakdown from its CSV file, with numbers as numbers."""
    numeric = ("value", "low", "high", "above_chance", "n", "scenarios")
    return [
        line | {name: float(line[name]) if line[name] else None for name in numeric} for line in tables.read_lines(path)
    ]


def system_of(line: Line) -> tuple[str, str]:
    """Return the model and the mode that a line is of."""
    return str(line["model"]), str(line["mode"])


def systems_of(lines: Sequence[Line]) -> list[tuple[str, str]]:
    """Return the model and the mode of each system that the lines are of, without the mean."""
    return [name for name in dict.fromkeys(map(system_of, lines)) if name != MEAN]


def ordered(by: str, lines: Sequence[Line]) -> list[str]:
    """Return the groups of a breakdown: aspects from the hardest to the easiest (mean over systems), as in Figure 5;
    reasoning types in the order of the taxonomy; others by name.
    """
    means = means_of(lines)
    if by == "aspects":
        return sorted(means, key=lambda name: (means[name], name))
    place = {name: at for at, name in enumerate(REASONING if by == "reasoning" else ())}
    return sorted(means, key=lambda name: (place.get(name, len(place)), name))


def means_of(lines: Sequence[Line], lang: str = "all") -> dict[str, float]:
    """Return the mean over systems of each group, in one language or in both."""
    return {
        str(line["group"]): float(line["value"]) for line in lines if system_of(line) == MEAN and line["lang"] == lang
    }


def lowest_of(lines: Sequence[Line]) -> dict[tuple[str, str], str]:
    """Return the group in which each system is worst."""
    worst: dict[tuple[str, str], Line] = {}
    for line in lines:
        name = system_of(line)
        if line["lang"] == "all" and name != MEAN and (name not in worst or line["value"] < worst[name]["value"]):
            worst[name] = line
    return {name: str(line["group"]) for name, line in worst.items()}


def page(lines: Sequence[Line], by: str) -> str:
    """Return the page of a breakdown: each group with its denominators, and the worst group of each system."""
    if not lines:
        return f"# Macaron by {by}\n\nNo scenario has such a tag.\n"
    systems, groups = systems_of(lines), ordered(by, lines)
    at = _by_place(lines)
    body = []
    for group in groups:
        cells = [with_interval(at[*system, group, "all"]) for system in (*systems, MEAN)]
        body.append([_marked(at, systems[0], group), *cells, *_sizes(at[*systems[0], group, "all"])])
    head = [by, *(f"{escape(model)}, {mode}" for model, mode in systems), MEAN[0], "n", "scenarios"]
    text = f"# Macaron by {by}\n\nPercent over all instances of a group. {NOTE}\n{table(head, body)}"
    return text + _languages(at, systems, groups, by) + _spread(lines)


def _languages(
    at: Mapping[tuple[str, ...], Line], systems: Sequence[tuple[str, str]], groups: Sequence[str], by: str
) -> str:
    """Return English and the local language side by side, the mean over systems."""
    body = []
    for group in groups:
        parts = [at.get((*MEAN, group, lang)) for lang in ("EN", "L", "gap")]
        cells = [with_interval(line) if line else "n/a" for line in parts]
        body.append([_marked(at, systems[0], group), *cells, *_sizes(at[*systems[0], group, "all"])])
    head = [by, "English", "local", "local − English, points", "n", "scenarios"]
    return f"\n## English and the local language, mean of {len(systems)} systems\n\n{table(head, body)}"


def _spread(lines: Sequence[Line]) -> str:
    means, worst = means_of(lines), lowest_of(lines)
    hardest, easiest = min(means, key=means.__getitem__), max(means, key=means.__getitem__)
    listed = "".join(
        f"- {escape(group)}: {count} of {len(worst)} systems ("
        + ", ".join(f"{escape(model)}, {mode}" for (model, mode), lowest in worst.items() if lowest == group)
        + ")\n"
        for group, count in Counter(worst.values()).most_common()
    )
    spread = f"{escape(easiest)} minus {escape(hardest)}, means of systems: {rounded(means[easiest] - means[hardest])}"
    return f"\nSpread, {spread} points.\n\nLowest:\n\n{listed}"


def _by_place(lines: Sequence[Line]) -> dict[tuple[str, ...], Line]:
    return {(*system_of(line), line["group"], line["lang"]): line for line in lines}


def _marked(at: Mapping[tuple[str, ...], Line], system: tuple[str, str], group: str) -> str:
    return escape(group) + "*" * (at[*system, group, "all"]["scenarios"] < FEW)


def _sizes(line: Line) -> tuple[str, str]:
    return f"{line['n']:.0f}", f"{line['scenarios']:.0f}"


def figure(lines: Sequence[Line], by: str) -> Figure:
    """Draw a breakdown above chance, from its lines: a heat map in points, for contexts intervals of both languages."""
    if not lines:
        return plotting.words(TITLES[by], "No scenario has such a tag.")
    systems, groups, at = systems_of(lines), ordered(by, lines), _by_place(lines)
    note = "Groups hold few scenarios: differences between cells are mostly chance. " if _is_few(lines) else ""
    note += (
        f"{'Share of right answers' if by == 'contexts' else 'Points'} above that of guessing at the same instances; "
    )
    note += "an unanswered instance is wrong."
    if by == "contexts":
        return _contexts(lines, systems, note)
    sizes = {group: int(at[*systems[0], group, "all"]["n"]) for group in groups}
    return plotting.heat_map(
        [
            [plotting.Tile(float(at[*system, group, "all"]["above_chance"]), sizes[group]) for system in systems]
            for group in groups
        ],
        plotting.Axis([f"{group} (n = {sizes[group]})" for group in groups]),
        plotting.Axis([_label(*system) for system in systems]),
        plotting.Scale("points above guessing", digits=0),
        title=TITLES[by],
        note=note,
    )


def _contexts(lines: Sequence[Line], systems: Sequence[tuple[str, str]], note: str) -> Figure:
    """Draw both languages of each context with intervals; contexts with few instances are counted in the note."""
    at, by, languages = _by_place(lines), "contexts", {"EN": "English", "L": "local"}
    groups = [group for group in ordered(by, lines) if at[*systems[0], group, "EN"]["n"] >= plotting.LEAST]
    hidden = len(ordered(by, lines)) - len(groups)
    if not groups:
        return plotting.words(TITLES[by], f"No context has {plotting.LEAST} instances in a language.")
    rows = {
        (*system, lang): plotting.ForestRow(f"{_label(*system)}: {language}", lang == "EN")
        for system in (MEAN, *systems)
        for lang, language in languages.items()
    }
    note += " Filled: English; open: the local language; lines are 95 % intervals over scenarios."
    note += " One language stands for each context: no ranking of cultures."
    note += f" Not drawn, fewer than {plotting.LEAST} instances: {hidden} of the contexts." if hidden else ""
    return plotting.forest(
        {group: [_point(at[model, mode, group, lang]) for model, mode, lang in rows] for group in groups},
        list(rows.values()),
        "share of right answers above guessing",
        title=TITLES[by],
        note=note,
    )


def _label(model: str, mode: str) -> str:
    return f"{model}, {mode}" if mode else model


def _is_few(lines: Sequence[Line]) -> bool:
    return min(int(line["scenarios"]) for line in lines if line["lang"] == "all") < FEW


def _point(line: Line) -> tuple[float, float, float]:
    """Return the share above chance with its interval; the axis of intervals is made for shares."""
    shift = float(line["above_chance"]) - float(line["value"])
    value = float(line["value"])
    low, high = (value if line[name] is None else float(line[name]) for name in ("low", "high"))
    return (value + shift) / 100, (low + shift) / 100, (high + shift) / 100
