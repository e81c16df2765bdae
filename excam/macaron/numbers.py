"""The numbers of Macaron: accuracies, gaps between languages, pairs of statements, breakdowns. Percent, unrounded.

An unanswered instance is wrong. Intervals are 95 %, over scenarios: the six instances of one share content.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from excam.core.exceptions import InputInvalid
from excam.stats import bootstrap
from excam.stats.sign_permutation import pairwise_sign_permutation

Rows = Iterable[Mapping[str, Any]]  # scenario, language, format (MC, T, F), lang (EN, L), gold, pred (None: unanswered)
Floats = NDArray[np.float64]
NEEDED = ("scenario", "language", "format", "lang", "gold", "pred")
CELLS = ("mc_en", "mc_l", "tf_en", "tf_l", "paired_tf_en", "paired_tf_l")  # each with its sums of right ones and of all
MEANS = {  # numbers that are the mean of cells
    "overall": ("mc_en", "mc_l", "tf_en", "tf_l"),
    "tf_avg": ("tf_en", "tf_l"),
    "paired_tf": ("paired_tf_en", "paired_tf_l"),
}
CHANCE = {"mc": 25.0, "tf": 50.0, "paired": 25.0}  # by how the names of cells begin


def _share(cell: str) -> Callable[[Floats], Floats]:
    at = 2 * CELLS.index(cell)
    return lambda sums: 100 * bootstrap.ratio(sums[at : at + 2])


def _mean(number: str) -> Callable[[Floats], Floats]:
    return lambda sums: np.mean([STATISTICS[name](sums) for name in MEANS[number]], axis=0)


def _minus(minuend: str, subtrahend: str) -> Callable[[Floats], Floats]:
    return lambda sums: STATISTICS[minuend](sums) - STATISTICS[subtrahend](sums)


STATISTICS: dict[str, Callable[[Floats], Floats]] = {  # of the twelve sums
    "mc_en": _share("mc_en"),
    "mc_l": _share("mc_l"),
    "delta_mc": _minus("mc_l", "mc_en"),
    "tf_en": _share("tf_en"),
    "tf_l": _share("tf_l"),
    "delta_tf": _minus("tf_l", "tf_en"),
    "overall": _mean("overall"),
    "tf_avg": _mean("tf_avg"),
    "paired_tf_en": _share("paired_tf_en"),
    "paired_tf_l": _share("paired_tf_l"),
    "paired_tf": _mean("paired_tf"),
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
    """Return every number of `accuracies` with `value`, and its interval `low` to `high`, both None if undefined.

    That of a cell has its `n` instances, too.
    """
    return averages([rows], seed)


def averages(systems: Sequence[Rows], seed: int = 0) -> dict[str, dict[str, float | None]]:
    """Return the mean over systems of every number, as `estimates` does.

    All systems answered the same instances: a draw takes the same scenarios for each of them.
    """
    summed = [_sums(rows) for rows in systems]
    columns = list(np.concatenate([sums for _, sums in summed]))

    def mean_of(statistic: Callable[[Floats], Floats]) -> Callable[[Floats], Floats]:
        size = 2 * len(CELLS)
        return lambda sums: np.mean([statistic(sums[at : at + size]) for at in range(0, len(sums), size)], axis=0)

    scenarios = summed[0][0]
    numbers = {
        name: bootstrap.estimate(columns, mean_of(statistic), scenarios, seed) for name, statistic in STATISTICS.items()
    }
    shares = {
        name: {**_percent(columns[2 * at], columns[2 * at + 1], scenarios, seed), "n": int(columns[2 * at + 1].sum())}
        for at, name in enumerate(CELLS)
    }
    return numbers | (shares if len(systems) == 1 else {})


def _percent(hits: ArrayLike, sizes: ArrayLike, scenarios: Sequence[Hashable], seed: int) -> dict[str, float | None]:
    share = bootstrap.share(hits, scenarios, seed, sizes)
    return {name: None if value is None else 100 * value for name, value in share.items()}


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


def counts(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return instances, unanswered ones, scenarios, and the percentage of answered statements called true."""
    answered = [row["pred"] for row in rows if row["format"] != "MC" and row["pred"] is not None]
    said_true = 100 * answered.count("T") / len(answered) if answered else None
    return {**_denominators(rows), "said_true": said_true}


def floors(rows: Rows) -> dict[str, dict[str, float | None]]:
    """Return the numbers of two answerers without knowledge: always the first answer (A, T), and a fair coin or die."""
    first = [dict(row) | {"pred": "A" if row["format"] == "MC" else "T"} for row in rows]
    first_accuracies = accuracies(first)
    guessed = np.array([[share] for cell in CELLS for share in (CHANCE[cell.partition("_")[0]], 100)])
    chance = {name: float(statistic(guessed)[0]) for name, statistic in STATISTICS.items()}
    return {
        "always A and T": first_accuracies,
        "chance": {name: None if first_accuracies[name] is None else value for name, value in chance.items()},
    }


def breakdown(rows: Rows, groups: Callable[[Mapping[str, Any]], Sequence[str]], seed: int = 0) -> list[dict[str, Any]]:
    """Return the accuracy over the instances of each group, in English, in the local language and together.

    `groups` returns the groups of a row; a row counts in each. Lines have `group`, `lang` (EN, L, all, or gap: local
    minus English, in points), `value`, `low`, `high`, `n`, `failures` and `scenarios`, sorted by group.
    """
    members: dict[tuple[str, str], list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        for group in groups(row):
            members[group, row["lang"]].append(row)
            members[group, "all"].append(row)
    lines = [
        {"group": group, "lang": lang, **accuracy(group_rows, seed)} for (group, lang), group_rows in members.items()
    ]
    for group in {group for group, lang in members if lang == "all"}:
        if all((group, lang) in members for lang in ("EN", "L")):
            shares = members[group, "all"]
            local = [row["lang"] == "L" for row in shares]
            lines.append({"group": group, "lang": "gap", **difference(shares, local, seed)})
    return sorted(lines, key=lambda line: (line["group"], line["lang"]))


def accuracy(rows: Sequence[Mapping[str, Any]], seed: int = 0) -> dict[str, Any]:
    """Return the accuracy over instances with its interval, and its denominators."""
    right = [is_right(row) for row in rows]
    return {**_percent(right, [1] * len(right), _scenarios(rows), seed), **_denominators(rows)}


def difference(rows: Sequence[Mapping[str, Any]], is_first: Sequence[bool], seed: int = 0) -> dict[str, Any]:
    """Return the accuracy of the rows that are first minus that of the others, as `accuracy` does."""
    right = [100.0 * is_right(row) for row in rows]
    return {**bootstrap.difference_of_means(right, is_first, _scenarios(rows), seed), **_denominators(rows)}


def _scenarios(rows: Sequence[Mapping[str, Any]]) -> list[Hashable]:
    return [(row["language"], row["scenario"]) for row in rows]


def _denominators(rows: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    failures = sum(row["pred"] is None for row in rows)
    return {"n": len(rows), "failures": failures, "scenarios": len(set(_scenarios(rows)))}


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


def compare(systems: Sequence[Sequence[Mapping[str, Any]]], number: str, seed: int = 0) -> list[dict[str, Any]]:
    """Test whether systems differ in a number of `MEANS`, each pair in the order of `itertools.combinations`.

    Return each difference in points (`value`, `low`, `high`) with `p`, two-sided, from random swaps of whole scenarios.
    Raise InputInvalid unless all systems have the same
    instances in the same order, and some in each cell.
    """
    first = systems[0]
    for rows in systems:
        if [row["id"] for row in rows] != [row["id"] for row in first]:
            raise InputInvalid(f"{len(first)} and {len(rows)} instances; expected the same ones in the same order")
    scenarios = _sums(first)[0]
    shares = [_contributions(rows, number) for rows in systems]
    steps = [first - second for first, second in combinations(shares, 2)]
    p_values = pairwise_sign_permutation(np.column_stack(shares), seed=seed)
    return [
        {**bootstrap.mean(len(step) * step, scenarios, seed), "value": float(step.sum()), "p": p_value}
        for step, p_value in zip(steps, p_values, strict=True)
    ]


def _contributions(rows: Rows, number: str) -> Floats:
    """Return what each scenario adds to a number of `MEANS`: the number is their sum."""
    _, sums = _sums(rows)
    cells = [2 * CELLS.index(cell) for cell in MEANS[number]]
    totals = [sums[at + 1].sum() for at in cells]
    if not all(totals):
        raise InputInvalid(f"{number}: a cell without instances; expected some in each of {', '.join(MEANS[number])}")
    return np.mean([100 * sums[at] / total for at, total in zip(cells, totals, strict=True)], axis=0)
