"""Tables and figures of Macaron from joined answers: lines for CSV files, Markdown for people, figures."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from excam.core import tables
from excam.core.provenance import write_text
from excam.macaron import numbers
from excam.macaron.answers import System
from excam.macaron.numbers import STATISTICS
from excam.macaron.scenarios import Scenario
from excam.macaron.templates import ASPECTS, REASONING
from excam.pages import plotting
from excam.pages.markdown import escape, table
from excam.stats.permutation import holm

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FEW = 30  # scenarios: with fewer, a mark says so
NOTE = (
    "An unanswered instance is wrong. Intervals are 95 % bootstraps over scenarios, whose instances share content. "
    f"* marks fewer than {FEW} scenarios: too few for a statement about a model.\n"
)
PAIRS = (
    "A pair is right if the model calls the true statement true and the false one false, in one language; the mean of "
    "both languages. At a given accuracy of single statements, pairs lie within the bounds; guessing each statement "
    "independently gives the square.\n"
)
SYNTHETIC = "A mode `written` is an answer sheet that people made up, to show the tables: it is no model.\n"
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
TABLE_3 = ("model", "mode", "number", "value", "low", "high", "n", "failures", "scenarios", "said_true")
SHORT = {
    **{"mc_en": "MC-EN", "mc_l": "MC-L", "delta_mc": "ΔMC", "tf_en": "TF-EN", "tf_l": "TF-L", "delta_tf": "ΔTF"},
    "overall": "Overall",
}


def rounded(value: float | None, digits: int = 1) -> str:
    """Return a number for a table, "n/a" for None; a minus is a minus sign."""
    if value is None:
        return "n/a"
    text = f"{value:.{digits}f}"
    return text.removeprefix("-") if float(text) == 0 else text.replace("-", "−")


def with_interval(estimate: Mapping[str, Any], name: str = "value") -> str:
    """Return a number with its interval, if it has one."""
    interval = "" if estimate["low"] is None else f" [{rounded(estimate['low'])}, {rounded(estimate['high'])}]"
    return rounded(estimate[name]) + interval


def named(system: System, scenarios: int) -> list[str]:
    """Return the cells that name a system, with the mark of few scenarios."""
    return [escape(system.model) + "*" * (scenarios < FEW), system.mode]


Estimates = Sequence[Mapping[str, Mapping[str, float | None]]]  # of `numbers.estimates`, one per system


def estimates(systems: Sequence[System], seed: int) -> Estimates:
    """Return every number of every system with its interval."""
    return [numbers.estimates(system.rows, seed) for system in systems]


def table_3(systems: Sequence[System], estimated: Estimates) -> tuple[list[dict[str, Any]], str]:
    """Return the lines of every number of every system and floor, and the page with Table 3."""
    lines: list[dict[str, Any]] = []
    body: list[list[str]] = []
    for system, system_estimates in zip(systems, estimated, strict=True):
        counted = numbers.counts(system.rows)
        lines += [
            {"model": system.model, "mode": system.mode, "number": name, **system_estimates[name], **counted}
            for name in STATISTICS
        ]
        cells = [with_interval(system_estimates[name]) for name in SHORT]
        body.append([*named(system, counted["scenarios"]), *cells, *_denominators(counted)])
    for name, values in numbers.floors(systems[0].rows).items():
        lines += [{"model": name, "mode": "floor", "number": key, "value": value} for key, value in values.items()]
        body.append([name, "floor", *(rounded(values[key]) for key in SHORT), "", "", ""])
    head = ["model", "mode", *SHORT.values(), "n", "unanswered", "said true, %"]
    text = "# Macaron: accuracy\n\nPercent; Δ is local minus English. " + NOTE + "\n"
    return lines, text + _synthetic(systems) + table(head, body) + "\n" + _letters(systems) + _differences(systems)


def _denominators(counted: Mapping[str, Any]) -> list[str]:
    return [str(counted["n"]), str(counted["failures"]), rounded(counted["said_true"])]


def _synthetic(systems: Sequence[System]) -> str:
    return SYNTHETIC + "\n" if any(system.mode == "written" for system in systems) else ""


def _letters(systems: Sequence[System]) -> str:
    """Return how often the likelihood of the JSON line and that of the bare letter choose the same answer."""
    body = []
    for system in systems:
        both = [row["said"] for row in system.rows if row["said"]["by"] == "json" and row["said"]["letter_answer"]]
        if both:
            same = sum(answer["answer"] == answer["letter_answer"] for answer in both)
            as_letters = [dict(row) | {"pred": row["said"]["letter_answer"]} for row in system.rows]
            other = rounded(numbers.accuracies(as_letters)["overall"])
            body.append([*named(system, FEW), f"{same} of {len(both)}", other])
    if not body:
        return ""
    head = ["model", "mode", "the JSON line and the bare letter choose the same", "Overall by bare letters"]
    return "## Two ways of reading the likelihood\n\n" + table(head, body) + "\n"


def _differences(systems: Sequence[System]) -> str:
    """Return the tests between systems: McNemar's, exact, whole scenarios swapped, with Holm's correction."""
    pairs = list(combinations(systems, 2))
    if not pairs:
        return ""
    tests = numbers.compare([system.rows for system in systems])
    body = [
        [escape(system.name), escape(other.name), rounded(100 * test.difference), f"{test.p_value:.2g}", f"{p:.2g}"]
        for (system, other), test, p in zip(pairs, tests, holm([test.p_value for test in tests]), strict=True)
    ]
    head = ["a", "b", "a − b, points", "p", "p after Holm"]
    text = "Over all instances; McNemar's test, exact, with the instances of a scenario swapped together.\n\n"
    return "## Differences between systems\n\n" + text + table(head, body)


def paired(systems: Sequence[System], estimated: Estimates) -> tuple[list[dict[str, Any]], str]:
    """Return the lines and the page of Table 5: single statements, pairs, and what pairs can be at that accuracy."""
    lines, body = [], []
    for system, system_estimates in zip(systems, estimated, strict=True):
        counted = numbers.counts(system.rows)
        tf = system_estimates["tf_avg"]["value"]
        low, high = numbers.bounds(tf) if tf is not None else (None, None)
        values = {
            name: system_estimates[name]["value"]
            for name in ("tf_avg", "paired_tf_en", "paired_tf_l", "paired_tf", "drop")
        }
        lines.append(
            {"model": system.model, "mode": system.mode, **values, "bound_low": low, "bound_high": high, **counted}
        )
        cells = [with_interval(system_estimates[name]) for name in ("tf_avg", "paired_tf", "drop")]
        body.append(
            [
                *named(system, counted["scenarios"]),
                *cells,
                f"{rounded(low)} to {rounded(high)}",
                *_denominators(counted),
            ]
        )
    for name, values in numbers.floors(systems[0].rows).items():
        cells = [rounded(values[key]) for key in ("tf_avg", "paired_tf", "drop")]
        body.append([name, "floor", *cells, "", "", "", ""])
    head = ["model", "mode", "T/F", "paired T/F", "drop", "bounds", "n", "unanswered", "said true, %"]
    return lines, f"# Macaron: pairs of statements\n\n{PAIRS}\n{NOTE}\n{_synthetic(systems)}{table(head, body)}"


PAIRED = (
    *("model", "mode", "tf_avg", "paired_tf_en", "paired_tf_l", "paired_tf", "drop", "bound_low", "bound_high"),
    *("n", "failures", "scenarios", "said_true"),
)
BREAKDOWN = ("model", "mode", "group", "lang", "accuracy", "low", "high", "above_chance", "n", "failures", "scenarios")


def breakdown(systems: Sequence[System], by: str, seed: int) -> list[dict[str, Any]]:
    """Return one line per system, group and language (EN, L, all) of a breakdown (`GROUPS`)."""
    chance = _chance(systems[0].rows, GROUPS[by])
    return [
        {
            "model": system.model,
            "mode": system.mode,
            **line,
            "above_chance": line["accuracy"] - chance[line["group"], line["lang"]],
        }
        for system in systems
        for line in numbers.breakdown(system.rows, GROUPS[by], seed)
    ]


def read_breakdown(path: Path) -> list[dict[str, Any]]:
    """Return the lines of a breakdown from its CSV file, with numbers as numbers."""
    numeric = ("accuracy", "low", "high", "above_chance", "n", "scenarios")
    return [
        line | {name: float(line[name]) if line[name] else None for name in numeric} for line in tables.read_lines(path)
    ]


def _chance(
    rows: Sequence[Mapping[str, Any]], groups: Callable[[Mapping[str, Any]], Sequence[str]]
) -> dict[tuple[str, str], float]:
    """Return the accuracy of guessing at the instances of each group and language."""
    chances: dict[tuple[str, str], list[float]] = defaultdict(list)
    for row in rows:
        for group in groups(row):
            for lang in (row["lang"], "all"):
                chances[group, lang].append(numbers.CHANCE["MC" if row["format"] == "MC" else "TF"])
    return {key: sum(values) / len(values) for key, values in chances.items()}


def breakdown_page(lines: Sequence[Mapping[str, Any]], by: str) -> str:
    """Return the page of a breakdown: each group with its denominators, and the worst group of each system."""
    systems = list(dict.fromkeys((line["model"], line["mode"]) for line in lines))
    at = {(line["model"], line["mode"], line["group"], line["lang"]): line for line in lines}
    if not lines:
        return f"# Macaron by {by}\n\nNo scenario has such a tag.\n"
    groups, means = ordered(by, lines), _means(lines)
    body = []
    for group in groups:
        first = at[*systems[0], group, "all"]
        cells = [with_interval(at[*system, group, "all"], "accuracy") for system in systems]
        body.append(
            [
                *(escape(group) + "*" * (first["scenarios"] < FEW), *cells, rounded(means[group])),
                *(f"{first['n']:.0f}", f"{first['scenarios']:.0f}"),
            ]
        )
    head = [by, *(f"{escape(model)}, {mode}" for model, mode in systems), "mean of systems", "n", "scenarios"]
    worst = {system: min(groups, key=lambda group: at[*system, group, "all"]["accuracy"]) for system in systems}
    counts = Counter(worst.values())
    listed = "".join(
        f"- {escape(group)}: {count} of {len(systems)} systems ("
        + ", ".join(f"{escape(model)}, {mode}" for (model, mode), lowest in worst.items() if lowest == group)
        + ")\n"
        for group, count in counts.most_common()
    )
    hardest, easiest = min(means, key=means.__getitem__), max(means, key=means.__getitem__)
    spread = f"{escape(easiest)} minus {escape(hardest)}, means of systems: {rounded(means[easiest] - means[hardest])}"
    return (
        f"# Macaron by {by}\n\nPercent over all instances of a group. {NOTE}\n{table(head, body)}"
        f"\nSpread, {spread} points.\n\nLowest:\n\n{listed}"
    )


def ordered(by: str, lines: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the groups of a breakdown: aspects from the hardest to the easiest (mean over systems), as in Figure 5;
    reasoning types in the order of the taxonomy; others by name, templates by number.
    """
    groups = {str(line["group"]) for line in lines}
    if by == "aspects":
        means = _means(lines)
        return sorted(groups, key=lambda name: (means[name], name))
    place = {name: at for at, name in enumerate(REASONING if by == "reasoning" else ())}
    return sorted(groups, key=lambda name: (place.get(name, len(place)), int(name) if name.isdecimal() else 0, name))


def _means(lines: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Return the accuracy of each group over both languages, the mean over systems."""
    values: dict[str, list[float]] = defaultdict(list)
    for line in lines:
        if line["lang"] == "all":
            values[str(line["group"])].append(float(line["accuracy"]))
    return {group: sum(own) / len(own) for group, own in values.items()}


def figure(lines: Sequence[Mapping[str, Any]], by: str) -> Figure:
    """Draw a breakdown above chance, from its lines: a heat map in points, for contexts intervals of both languages."""
    systems = list(dict.fromkeys((str(line["model"]), str(line["mode"])) for line in lines))
    at = {(line["model"], line["mode"], line["group"], line["lang"]): line for line in lines}
    groups = ordered(by, lines)
    if not lines:
        return plotting.words(TITLES[by], "No scenario has such a tag.")
    few = "Groups hold few scenarios: differences between cells are mostly chance. " if _is_few(lines) else ""
    unit = "Share of right answers" if by == "contexts" else "Points"
    note = f"{few}{unit} above that of guessing at the same instances; an unanswered instance is wrong."
    if by == "contexts":
        rows = [(*system, lang) for system in systems for lang in ("EN", "L")]
        panels = {group: [_point(at[model, mode, group, lang]) for model, mode, lang in rows] for group in groups}
        names = [f"{model}, {mode}: {'English' if lang == 'EN' else 'local'}" for model, mode, lang in rows]
        note += " Filled: English; open: the local language; lines are 95 % intervals over scenarios."
        return plotting.forest(panels, names, tuned=[lang == "EN" for *_, lang in rows], title=TITLES[by], note=note)
    sizes = {group: int(at[*systems[0], group, "all"]["n"]) for group in groups}
    values = [[float(at[*system, group, "all"]["above_chance"]) for system in systems] for group in groups]
    rows = [f"{group} (n = {sizes[group]})" for group in groups]
    return plotting.heat_map(
        values, rows, [f"{m}, {mode}" for m, mode in systems], title=TITLES[by], note=note, digits=0
    )


def _is_few(lines: Sequence[Mapping[str, Any]]) -> bool:
    return min(int(line["scenarios"]) for line in lines if line["lang"] == "all") < FEW


def _point(line: Mapping[str, Any]) -> tuple[float, float, float]:
    """Return the share above chance with its interval; the axis of intervals is made for shares."""
    shift = float(line["above_chance"]) - float(line["accuracy"])
    value = float(line["accuracy"])
    low, high = (value if line[name] is None else float(line[name]) for name in ("low", "high"))
    return (value + shift) / 100, (low + shift) / 100, (high + shift) / 100


TEMPLATES = ("template", "accuracy", "n", "systems", "question")


def templates(systems: Sequence[System]) -> tuple[list[dict[str, Any]], str]:
    """Return the accuracy of each template, the mean over systems, easiest first; and the five easiest and hardest."""
    right: dict[int, list[list[bool]]] = defaultdict(list)
    for system in systems:
        own: dict[int, list[bool]] = defaultdict(list)
        for row in system.rows:
            own[row["template"]].append(numbers.is_right(row))
        for name, own_right in own.items():
            right[name].append(own_right)
    means = {name: [100 * sum(each) / len(each) for each in by_system] for name, by_system in right.items()}
    sizes = {name: len(by_system[0]) for name, by_system in right.items()}
    questions = [row for row in systems[0].rows if (row["format"], row["lang"]) == ("MC", "EN")]
    shown = {row["template"]: row["text"] for row in reversed(questions)}
    lines = [
        {
            "template": name,
            "accuracy": sum(v) / len(v),
            "n": sizes[name],
            "systems": len(v),
            "question": shown.get(name, ""),
        }
        for name, v in sorted(means.items(), key=lambda pair: (-sum(pair[1]) / len(pair[1]), pair[0]))
    ]
    text = (
        "# Macaron: easiest and hardest templates\n\nMean accuracy over systems, with one of the scenarios of each.\n\n"
    )
    for title, part in (("Easiest", lines[:5]), ("Hardest", lines[::-1][:5])):
        body = [
            [str(line["template"]), rounded(line["accuracy"]), str(line["n"]), escape(line["question"])]
            for line in part
        ]
        text += f"## {title}\n\n{table(['template', 'accuracy', 'n each', 'a question'], body)}\n"
    return lines, text


SCRIPTS = ("model", "mode", "script", "accuracy", "languages", "n")
COVERAGE = ("country", "language", "script", "scenarios", "instances", "templates", "authors")


def scripts(systems: Sequence[System]) -> list[dict[str, Any]]:
    """Return the accuracy in the local language by script: the mean over its languages."""
    return [
        {"model": system.model, "mode": system.mode, **line}
        for system in systems
        for line in numbers.by_script(system.rows)
    ]


def coverage(scenarios: Sequence[Scenario], rows: Sequence[Mapping[str, Any]]) -> tuple[list[dict[str, Any]], str]:
    """Return scenarios and instances of each country (Table 2), and a page that counts tags too."""
    instances = Counter(row["country"] for row in rows)
    lines = []
    for country in dict.fromkeys(scenario.country for scenario in scenarios):
        own = [scenario for scenario in scenarios if scenario.country == country]
        sizes = {
            "scenarios": len(own),
            "instances": instances[country],
            "templates": len({scenario.template for scenario in own}),
        }
        authors = len({scenario.author for scenario in own if scenario.author})
        lines.append(
            {"country": country, "language": own[0].language, "script": own[0].script, **sizes, "authors": authors}
        )
    total = {name: sum(line[name] for line in lines) for name in ("scenarios", "instances")}
    body = [[escape(str(line[name])) for name in COVERAGE] for line in lines]
    body.append(
        ["all", "", "", str(total["scenarios"]), str(total["instances"]), str(len({s.template for s in scenarios})), ""]
    )
    tags = Counter(tag for scenario in scenarios for tag in (*scenario.reasoning, *scenario.aspects))
    text = (
        "# Macaron: coverage\n\n"
        + table(COVERAGE, body)
        + "\n## Scenarios by tag\n\nA scenario counts for each of its tags.\n\n"
    )
    all_tags = dict.fromkeys((*REASONING, *ASPECTS, *sorted(tags)))  # those of no taxonomy last
    return lines, text + table(["tag", "scenarios"], [[escape(tag), str(tags[tag])] for tag in all_tags])


def write_all(folder: Path, systems: Sequence[System], seed: int) -> list[Path]:
    """Write every table and figure that answers alone give into a folder; return the files."""
    estimated = estimates(systems, seed)
    lines, page = table_3(systems, estimated)
    tables.write_lines(folder / "table-3.csv", TABLE_3, lines)
    write_text(folder / "table-3.md", page)
    lines, page = paired(systems, estimated)
    tables.write_lines(folder / "paired.csv", PAIRED, lines)
    write_text(folder / "paired.md", page)
    for by in TITLES:
        lines = breakdown(systems, by, seed)
        tables.write_lines(folder / f"{by}.csv", BREAKDOWN, lines)
        write_text(folder / f"{by}.md", breakdown_page(lines, by))
        plotting.save(figure(lines, by), [folder / f"{by}.pdf"])
    tables.write_lines(folder / "scripts.csv", SCRIPTS, scripts(systems))
    lines, page = templates(systems)
    tables.write_lines(folder / "templates.csv", TEMPLATES, lines)
    write_text(folder / "templates.md", page)
    return sorted(folder.iterdir())
