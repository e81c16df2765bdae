"""The numbers of Macaron: accuracies, gaps between languages, pairs of statements, breakdowns. Percent, unrounded.

An unanswered instance is wrong. Intervals are 95 % bootstraps over scenarios: the six instances of one share content.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from excam.core.exceptions import InputInvalid
from excam.stats import bootstrap
from excam.stats.permutation import PairedPermutation, paired_permutation

Rows = Iterable[Mapping[str, Any]]  # scenario, language, format (MC, T, F), lang (EN, L), gold, pred (None: unanswered)
Floats = NDArray[np.float64]
NEEDED = ("scenario", "language", "format", "lang", "gold", "pred")
CELLS = ("mc_en", "mc_l", "tf_en", "tf_l", "paired_tf_en", "paired_tf_l")  # each with its sums of right ones and of all
CHANCE = {"MC": 25.0, "TF": 50.0, "paired": 25.0}


def _share(cell: str) -> Callable[[Floats], Floats]:
    at = 2 * CELLS.index(cell)
    return lambda sums: 100 * bootstrap.ratio(sums[at : at + 2])


def _mean(*names: str) -> Callable[[Floats], Floats]:
    return lambda sums: np.mean([STATISTICS[name](sums) for name in names], axis=0)


def _minus(minuend: str, subtrahend: str) -> Callable[[Floats], Floats]:
    return lambda sums: STATISTICS[minuend](sums) - STATISTICS[subtrahend](sums)


STATISTICS: dict[str, Callable[[Floats], Floats]] = {  # of the twelve sums
    "mc_en": _share("mc_en"),
    "mc_l": _share("mc_l"),
    "delta_mc": _minus("mc_l", "mc_en"),
    "tf_en": _share("tf_en"),
    "tf_l": _share("tf_l"),
    "delta_tf": _minus("tf_l", "tf_en"),
    "overall": _mean("mc_en", "mc_l", "tf_en", "tf_l"),
    "tf_avg": _mean("tf_en", "tf_l"),
    "paired_tf_en": _share("paired_tf_en"),
    "paired_tf_l": _share("paired_tf_l"),
    "paired_tf": _mean("paired_tf_en", "paired_tf_l"),
    "drop": _minus("tf_avg", "paired_tf"),
}


def is_right(row: Mapping[str, Any]) -> bool:
    """Return whether an instance is answered right; an unanswered one is not."""
    return row["pred"] is not None and row["pred"] == row["gold"]


def accuracies(rows: Rows) -> dict[str, float | None]:
    """Return the numbers of Tables 3 and 5 (`STATISTICS`) in percent, unrounded; None where there are no instances.

    `rows` are mappings with `scenario`, `language`, `format`, `lang`, `gold` and `pred`. A pair is right if both its
    statements in one language are. Raise InputInvalid for an instance that is there twice, or another format or lang.
    """
    _, sums = _sums(rows)
    total = sums.sum(axis=1, keepdims=True)
    values = {name: float(statistic(total)[0]) for name, statistic in STATISTICS.items()}
    return {name: None if np.isnan(value) else value for name, value in values.items()}


def estimates(rows: Rows, seed: int = 0) -> dict[str, dict[str, float | None]]:
    """Return every number of `accuracies` with `value`, and its interval `low` to `high`, both None if undefined."""
    scenarios, sums = _sums(rows)
    return {name: bootstrap.estimate(list(sums), statistic, scenarios, seed) for name, statistic in STATISTICS.items()}


def _sums(rows: Rows) -> tuple[list[Hashable], Floats]:
    """Return the scenarios, and for each the right ones and all of each cell, shape (12, scenarios)."""
    right: dict[Hashable, dict[tuple[str, str], bool]] = defaultdict(dict)
    for row in rows:
        if absent := [name for name in NEEDED if name not in row]:
            raise InputInvalid(f"a row without {', '.join(absent)}; expected {', '.join(NEEDED)}")
        scenario, instance = (row["language"], row["scenario"]), (row["format"], row["lang"])
        if instance[0] not in ("MC", "T", "F") or instance[1] not in ("EN", "L"):
            raise InputInvalid(
                f"{row['scenario']}: found {'/'.join(map(str, instance))}; expected MC, T or F, and EN or L"
            )
        if instance in right[scenario]:
            raise InputInvalid(f"{row['scenario']}: {'/'.join(instance)} is there twice; expected each instance once")
        right[scenario][instance] = is_right(row)
    sums = np.zeros((2 * len(CELLS), len(right)))
    for place, by_instance in enumerate(right.values()):
        for lang, name in (("EN", "en"), ("L", "l")):
            statements = [by_instance[truth, lang] for truth in ("T", "F") if (truth, lang) in by_instance]
            questions = [by_instance["MC", lang]] if ("MC", lang) in by_instance else []
            pairs = [all(statements)] if len(statements) == 2 else []
            for cell, values in ((f"mc_{name}", questions), (f"tf_{name}", statements), (f"paired_tf_{name}", pairs)):
                at = 2 * CELLS.index(cell)
                sums[at : at + 2, place] = sum(values), len(values)
    return list(right), sums


def bounds(accuracy: float) -> tuple[float, float]:
    """Return the lowest and the highest share of right pairs (percent) at an accuracy of single statements.

    They hold where true and false statements are equally many (Fréchet's bounds of a joint probability).
    """
    return max(0.0, 2 * accuracy - 100), accuracy


def counts(rows: Rows) -> dict[str, Any]:
    """Return instances, unanswered ones, scenarios, and the percentage of answered statements called true."""
    listed = list(rows)
    answered = [row["pred"] for row in listed if row["format"] != "MC" and row["pred"] is not None]
    return {
        "n": len(listed),
        "failures": sum(row["pred"] is None for row in listed),
        "scenarios": len({(row["language"], row["scenario"]) for row in listed}),
        "said_true": 100 * answered.count("T") / len(answered) if answered else None,
    }


def floors(rows: Rows) -> dict[str, dict[str, float | None]]:
    """Return the numbers of two answerers without knowledge: always the first answer (A, T), and a fair coin or die."""
    first = [dict(row) | {"pred": "A" if row["format"] == "MC" else "T"} for row in rows]
    coin = {
        name: CHANCE["MC" if name.startswith("mc") else "TF"] for name in ("mc_en", "mc_l", "tf_en", "tf_l", "tf_avg")
    }
    coin |= dict.fromkeys(("paired_tf_en", "paired_tf_l", "paired_tf", "drop"), CHANCE["paired"])
    coin |= {"delta_mc": 0.0, "delta_tf": 0.0, "overall": (2 * CHANCE["MC"] + 2 * CHANCE["TF"]) / 4}
    first_accuracies = accuracies(first)
    return {
        "always A and T": first_accuracies,
        "chance": {name: None if first_accuracies[name] is None else coin[name] for name in STATISTICS},
    }


def breakdown(rows: Rows, groups: Callable[[Mapping[str, Any]], Sequence[str]], seed: int = 0) -> list[dict[str, Any]]:
    """Return the accuracy over the instances of each group, in English, in the local language and together.

    `groups` returns the groups of a row; a row counts in each. Lines have `group`, `lang` (EN, L or all), `accuracy`,
    `low`, `high`, `n`, `failures` and `scenarios`, sorted by group.
    """
    members: dict[tuple[str, str], list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        for group in groups(row):
            members[group, row["lang"]].append(row)
            members[group, "all"].append(row)
    return [
        {"group": group, "lang": lang, **accuracy(group_rows, seed)}
        for (group, lang), group_rows in sorted(members.items())
    ]


def accuracy(rows: Sequence[Mapping[str, Any]], seed: int = 0) -> dict[str, Any]:
    """Return the accuracy over instances with its interval, and its denominators."""
    right = [100.0 * (is_right(row)) for row in rows]
    scenarios = [(row["language"], row["scenario"]) for row in rows]
    estimate = bootstrap.estimate([right, np.ones(len(right))], bootstrap.ratio, scenarios, seed)
    return {
        **{"accuracy": estimate["value"], "low": estimate["low"], "high": estimate["high"], "n": len(rows)},
        **{"failures": sum(row["pred"] is None for row in rows), "scenarios": len(set(scenarios))},
    }


def by_script(rows: Rows) -> list[dict[str, Any]]:
    """Return the mean accuracy over the languages of each script, of local-language instances alone."""
    languages: dict[tuple[str, str], list[float]] = defaultdict(list)
    for row in rows:
        if row["lang"] == "L":
            languages[row["script"], row["language"]].append(100.0 * (is_right(row)))
    scripts: dict[str, list[tuple[str, list[float]]]] = defaultdict(list)
    for (script, language), right in sorted(languages.items()):
        scripts[script].append((language, right))
    return [
        {
            "script": script,
            "accuracy": float(np.mean([np.mean(right) for _, right in by_language])),
            "languages": ", ".join(language for language, _ in by_language),
            "n": sum(len(right) for _, right in by_language),
        }
        for script, by_language in scripts.items()
    ]


def compare(systems: Sequence[Sequence[Mapping[str, Any]]]) -> list[PairedPermutation]:
    """Test whether systems differ in accuracy, each pair in the order of `itertools.combinations`.

    McNemar's test, exact, with whole scenarios swapped. Raise InputInvalid unless all have the same instances in the
    same order.
    """
    first = systems[0]
    for rows in systems:
        if [row["id"] for row in rows] != [row["id"] for row in first]:
            raise InputInvalid(f"{len(first)} and {len(rows)} instances; expected the same ones in the same order")
    right = [np.array([is_right(row) for row in rows]) for rows in systems]
    scenarios, gold = [(row["language"], row["scenario"]) for row in first], np.ones(len(first), bool)
    return [
        paired_permutation(gold, system_right, other_right, clusters=scenarios)
        for system_right, other_right in combinations(right, 2)
    ]
