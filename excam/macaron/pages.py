"""Tables and figures of Macaron from joined answers: lines for CSV files, Markdown for people, figures."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from excam.macaron import categories, numbers
from excam.macaron.answers import ModelRun
from excam.macaron.categories import Average
from excam.macaron.cells import FEW, NOTE, rounded, with_interval
from excam.macaron.numbers import STATISTICS
from excam.macaron.scenarios import Scenario
from excam.macaron.templates import ASPECTS, REASONING
from excam.pages.markdown import escape, table
from excam.stats.permutation import floor_note, holm
from excam.stats.sign_permutation import DRAWS

PAIRS = (
    "A pair is right if the model calls the true statement true and the false one false, in one language; the mean of "
    "both languages. At a given accuracy of single statements, pairs lie within the bounds; guessing each statement "
    "independently gives the square.\n"
)
TABLE_3 = ("model", "mode", "number", "value", "low", "high", "n", "failures", "scenarios", "said_true")
SHORT = {
    **{"mc_en": "MC-EN", "mc_l": "MC-L", "delta_mc": "ΔMC", "tf_en": "TF-EN", "tf_l": "TF-L", "delta_tf": "ΔTF"},
    "overall": "Overall",
}
SHORT_PAIRED = {"tf_avg": "T/F", "paired_tf": "paired T/F", "drop": "drop"}


def named(system: ModelRun, scenarios: int) -> list[str]:
    """Return the cells that name a system, with the mark of few scenarios."""
    return [escape(system.model) + "*" * (scenarios < FEW), system.mode]


Estimates = Sequence[Mapping[str, Mapping[str, float | None]]]  # of `numbers.estimates`, one per system


def estimates(systems: Sequence[ModelRun], seed: int) -> Estimates:
    """Return every number of every system with its interval."""
    return [numbers.estimates(system.rows, seed) for system in systems]


def table_3(
    systems: Sequence[ModelRun],
    estimated: Estimates,
    averaged: Sequence[Average],
    seed: int,
    printed: Mapping[str, Mapping[str, str]],
) -> tuple[list[dict[str, Any]], str]:
    """Return the lines of every number of every system, average and floor, and the page with Table 3.

    `printed` are the averages that the paper prints, by category.
    """
    lines: list[dict[str, Any]] = []
    for system, system_estimates in zip(systems, estimated, strict=True):
        facts = {"model": system.model, "mode": system.mode, **numbers.counts(system.rows)}
        lines += [{**facts, "number": name, **system_estimates[name]} for name in STATISTICS]
    for average in averaged:
        lines += [
            {"model": f"average: {average.category}", "mode": "average", "number": name, **values}
            for name, values in (average.estimates or {}).items()
        ]
    for name, values in numbers.floors(systems[0].rows).items():
        lines += [{"model": name, "mode": "floor", "number": key, "value": value} for key, value in values.items()]
    text = "# Macaron: accuracy\n\nPercent; Δ is local minus English. " + NOTE + "\n"
    text += _table(systems, estimated, SHORT, {})
    text += categories.section(averaged, SHORT, printed) + _letters(systems)
    return lines, text + _differences(systems, estimated, "overall", "Overall", seed)


def printed_models(systems: Sequence[ModelRun], estimated: Estimates, lines: Sequence[Mapping[str, str]]) -> str:
    """Return Table 3 as the paper prints it, with ours where a model of the same name was asked in the same way."""
    ours: dict[str, float | None] = {}
    for system, estimate in zip(systems, estimated, strict=True):
        name = f"{system.model}-thinking" if system.mode == "thinking" else system.model
        ours.setdefault(name, estimate["overall"]["value"])  # the first mode: likelihoods, where there are some
    body = []
    for line in lines:
        value = ours.get(line["model"])
        gap = "not asked" if value is None else rounded(value - float(line["overall"]))
        body.append([*map(escape, line.values()), rounded(value), gap])
    note = "Models of the same name, mode `thinking` for those that end in `-thinking`.\n\n"
    head = [*lines[0], "ours, overall", "difference"]
    return f"\n## Printed in the paper, by model\n\n{note}{table(head, body)}"


def _table(
    systems: Sequence[ModelRun], estimated: Estimates, names: Mapping[str, str], more: Mapping[str, Sequence[str]]
) -> str:
    """Return a line for each system and floor, with these numbers, `more` cells of each system, and its denominators.

    `names` are the headings by number; `more` are by heading.
    """
    body = []
    for system, estimate, *others in zip(systems, estimated, *more.values(), strict=True):
        counted = numbers.counts(system.rows)
        cells = [*named(system, counted["scenarios"]), *(with_interval(estimate[name]) for name in names), *others]
        body.append([*cells, str(counted["n"]), str(counted["failures"]), rounded(counted["said_true"])])
    for name, values in numbers.floors(systems[0].rows).items():
        body.append([name, "floor", *(rounded(values[key]) for key in names), *[""] * (len(more) + 3)])
    return table(["model", "mode", *names.values(), *more, "n", "unanswered", "said true, %"], body)


def _letters(systems: Sequence[ModelRun]) -> str:
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
    return "\n## Two ways of reading the likelihood\n\n" + table(head, body)


def _differences(systems: Sequence[ModelRun], estimated: Estimates, number: str, title: str, seed: int) -> str:
    """Return the paired tests between systems, of a number that the table above them has."""
    ordered = sorted(systems, key=lambda system: system.name)  # so that the order of files turns no sign
    pairs = list(combinations(ordered, 2))
    if not pairs or estimated[0][number]["value"] is None:
        return ""
    tests = numbers.compare([system.rows for system in ordered], number, seed)
    p_values = [test["p"] for test in tests]
    body = [
        [escape(first.name), escape(other.name), with_interval(test), f"{test['p']:.2g}", f"{p:.2g}"]
        for (first, other), test, p in zip(pairs, tests, holm(p_values), strict=True)
    ]
    head = ["a", "b", "a − b, points", "p", "p after Holm"]
    scenarios = numbers.counts(systems[0].rows)["scenarios"]
    text = (
        f"Of {title}, as the table has it, over {scenarios} scenarios. The interval draws scenarios; p is two-sided, "
        "from 10,000 random swaps of whole scenarios.\n\n"
    )
    note = floor_note(p_values, DRAWS)
    return "\n## Differences between systems\n\n" + text + table(head, body) + f"\n{note}\n" * bool(note)


def paired(
    systems: Sequence[ModelRun],
    estimated: Estimates,
    averaged: Sequence[Average],
    seed: int,
    printed: Mapping[str, Mapping[str, str]],
) -> tuple[list[dict[str, Any]], str]:
    """Return the lines and the page of Table 5: single statements, pairs, and what pairs can be at that accuracy.

    `printed` are the averages that the paper prints, by category.
    """
    lines, bounds = [], []
    for system, system_estimates in zip(systems, estimated, strict=True):
        line, of_pairs = _pairs_line(system_estimates)
        lines.append({"model": system.model, "mode": system.mode, **line, **numbers.counts(system.rows)})
        bounds.append(of_pairs)
    for average in averaged:
        if average.estimates:
            line, _ = _pairs_line(average.estimates)
            lines.append({"model": f"average: {average.category}", "mode": "average", **line})
    text = f"# Macaron: pairs of statements\n\n{PAIRS}\n{NOTE}\n"
    text += _table(systems, estimated, SHORT_PAIRED, {"bounds": bounds})
    text += categories.section(averaged, SHORT_PAIRED, printed)
    return lines, text + _differences(systems, estimated, "paired_tf", "paired T/F", seed)


def _pairs_line(estimate: Mapping[str, Mapping[str, float | None]]) -> tuple[dict[str, float | None], str]:
    """Return the numbers of single statements and pairs, and the bounds of pairs in words."""
    values = {name: estimate[name]["value"] for name in ("tf_avg", "paired_tf_en", "paired_tf_l", "paired_tf", "drop")}
    low, high = (None, None) if values["tf_avg"] is None else numbers.bounds(values["tf_avg"])
    return {**values, "bound_low": low, "bound_high": high}, f"{rounded(low)} to {rounded(high)}"


PAIRED = (
    *("model", "mode", "tf_avg", "paired_tf_en", "paired_tf_l", "paired_tf", "drop", "bound_low", "bound_high"),
    *("n", "failures", "scenarios", "said_true"),
)
TEMPLATES = ("template", "value", "low", "high", "n", "scenarios", "systems", "how_many", "question")
HOW_MANY = "how many"
EXTREMES = 5  # templates that Table 4 has of each side


def templates(systems: Sequence[ModelRun], seed: int) -> tuple[list[dict[str, Any]], str]:
    """Return the accuracy of each template, the mean over systems, easiest first; and the page with Table 4."""
    questions = [row for row in systems[0].rows if (row["format"], row["lang"]) == ("MC", "EN")]
    text_of = {row["template"]: row["text"] for row in sorted(questions, key=lambda row: row["scenario"], reverse=True)}
    rows_of: dict[int, list[Mapping[str, Any]]] = defaultdict(list)
    for system in systems:
        for row in system.rows:
            rows_of[row["template"]].append(row)
    lines = []
    for template, rows in rows_of.items():
        question = text_of.get(template, "")
        accuracy = numbers.accuracy(rows, seed)
        lines.append(
            {
                **{"template": template, **{name: accuracy[name] for name in ("value", "low", "high", "scenarios")}},
                **{"n": len(rows) // len(systems), "systems": len(systems)},
                **{"how_many": HOW_MANY in question.casefold(), "question": question},
            }
        )
    lines.sort(key=lambda line: (-line["value"], line["template"]))
    text = (
        "# Macaron: easiest and hardest templates\n\nMean accuracy over systems with its 95 % interval over scenarios, "
        "and one of the scenarios of each template.\n\n"
    )
    for title, part in (("Easiest", lines[:EXTREMES]), ("Hardest", lines[::-1][:EXTREMES])):
        body = [[str(line["template"]), with_interval(line), str(line["n"]), escape(line["question"])] for line in part]
        text += f"## {title}\n\n{table(['template', 'accuracy', 'n each', 'a question'], body)}\n"
    return lines, text + _how_many(systems, lines, seed)


def _how_many(systems: Sequence[ModelRun], lines: Sequence[Mapping[str, Any]], seed: int) -> str:
    """Return whether templates that ask "how many" are the hardest ones, as the paper finds."""
    counting = {line["template"] for line in lines if line["how_many"]}
    if not counting or len(counting) == len(lines):
        return f'## "How many"\n\n{len(counting)} of {len(lines)} templates ask "how many": nothing to compare.\n'
    hardest = [line for line in lines[::-1][:EXTREMES] if line["how_many"]]
    body = []
    for system in systems:
        sides = [[row for row in system.rows if (row["template"] in counting) is side] for side in (True, False)]
        cells = [with_interval(numbers.accuracy(side, seed)) for side in sides]
        gap = numbers.difference(system.rows, [row["template"] in counting for row in system.rows], seed)
        scenarios = [str(numbers.counts(side)["scenarios"]) for side in sides]
        body.append([*named(system, int(scenarios[0])), *cells, with_interval(gap), *scenarios])
    head = ["model", "mode", '"how many"', "all others", "difference, points", 'scenarios with "how many"', "others"]
    return (
        f'## "How many"\n\n{len(counting)} of {len(lines)} templates ask "how many" in their English question, '
        f"{len(hardest)} of the {min(EXTREMES, len(lines))} hardest do. {NOTE}\n{table(head, body)}"
    )


SCRIPTS = ("model", "mode", "script", "accuracy", "languages", "n")
COVERAGE = ("country", "language", "script", "scenarios", "instances", "templates", "authors")


def scripts(systems: Sequence[ModelRun]) -> list[dict[str, Any]]:
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
        local = [scenario for scenario in scenarios if scenario.country == country]
        sizes = {
            "scenarios": len(local),
            "instances": instances[country],
            "templates": len({scenario.template for scenario in local}),
        }
        authors = len({scenario.author for scenario in local if scenario.author})
        lines.append(
            {"country": country, "language": local[0].language, "script": local[0].script, **sizes, "authors": authors}
        )
    total = {name: sum(line[name] for line in lines) for name in ("scenarios", "instances")}
    body = [[escape(str(line[name])) for name in COVERAGE] for line in lines]
    body.append(
        ["all", "", "", str(total["scenarios"]), str(total["instances"]), str(len({s.template for s in scenarios})), ""]
    )
    text = "# Macaron: coverage\n\n" + table(COVERAGE, body)
    return lines, text + "".join(
        _tags(title, vocabulary, [(scenario.template, of(scenario)) for scenario in scenarios])
        for title, vocabulary, of in (
            ("Reasoning types", REASONING, lambda scenario: scenario.reasoning),
            ("Cultural aspects", ASPECTS, lambda scenario: scenario.aspects),
        )
    )


def _tags(title: str, vocabulary: Sequence[str], tagged: Sequence[tuple[int, Sequence[str]]]) -> str:
    """Return how often each tag stands in the scenarios, and in the set of their templates (Figures 6 and 7).

    `tagged` are the template and the tags of each scenario.
    """
    of_scenarios = Counter(tag for _, tags in tagged for tag in tags)
    of_templates = Counter(tag for tags in dict(tagged).values() for tag in tags)
    total = of_templates.total()
    body = [
        [escape(tag), str(of_scenarios[tag]), str(of_templates[tag]), rounded(100 * of_templates[tag] / (total or 1))]
        for tag in dict.fromkeys((*vocabulary, *sorted(of_scenarios)))  # those of no taxonomy last
    ]
    n = f"{len(tagged)} scenarios, {len(dict(tagged))} templates that have one, {total} tags of templates"
    note = "Each counts for every tag that it has; percent are of the tags of templates."
    return f"\n## {title}\n\n{n}. {note}\n\n{table(['tag', 'scenarios', 'templates', '% of tags'], body)}"
