"""Judgements with their gold rows -> how good the reports themselves are (ExCAM §5; spec 61, 63).

Pure: frames in, a dictionary out. Every number is a sum over a sum and stands beside its denominator `n`, with the 95 %
interval of a bootstrap over groups. `strict` numbers are over every row, where an answer that could not be read found
nothing and got nothing right; the others name the rows they are over.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import polars as pl

from excam import tables
from excam.exceptions import InputInvalid
from excam.metaeval import bootstrap, reports
from excam.metaeval.reports import Row
from excam.records import SEVERITIES, CulturalError
from excam.tables import report_from_json

COMMON_TYPES = 20  # pairs of a gold and a predicted type that are listed; the others are counted
NEEDED = ("id", "instruction", "errors", "explanation", "answer", "score")  # of the gold rows


def evaluate(judgements: pl.DataFrame, samples: pl.DataFrame, seed: int) -> dict[str, Any]:
    """The numbers of one cell; where it is of several datasets, those of each under `by_dataset`.

    `judgements` has the columns of `tables.JUDGEMENT_SCHEMA`, `samples` (at least) those of NEEDED. Raises InputInvalid
    where they are not the same rows, or the judge writes no reports.
    """
    rows = join(judgements, samples)
    names = sorted({row.dataset for row in rows})
    numbers = _numbers(rows, seed)
    if len(names) > 1:
        numbers["by_dataset"] = {name: _numbers([row for row in rows if row.dataset == name], seed) for name in names}
    return numbers


def join(judgements: pl.DataFrame, samples: pl.DataFrame) -> list[Row]:
    """Every judged row with its gold row, in the order of the judgements. Raises InputInvalid as `evaluate` does."""
    return [_row(judged, gold) for judged, gold in tables.with_gold(judgements, samples, NEEDED)]


def _row(judged: dict[str, Any], gold: dict[str, Any]) -> Row:
    if (judged["failure"] is None) != (judged["report"] is not None):
        raise InputInvalid(
            f"{judged['id']}: failure {judged['failure']!r} and report {judged['report']!r}; expected one of them; "
            "only judges that write reports have any to evaluate"
        )
    return Row(
        **{name: judged[name] for name in ("pair", "base", "group", "dataset", "origin", "score", "failure")},
        instruction=gold["instruction"],
        answer=gold["answer"],
        gold=tuple(CulturalError(**error) for error in json.loads(gold["errors"])),
        gold_explanation=gold["explanation"],
        gold_score=gold["score"],
        report=report_from_json(judged["report"]) if judged["report"] is not None else None,
    )


def _numbers(rows: Sequence[Row], seed: int) -> dict[str, Any]:
    read = [row for row in rows if row.report is not None]
    failures = Counter(row.failure for row in rows if row.failure)
    assert len(rows) == len(read) + failures.total()
    erroneous = [row for row in rows if row.gold]
    hard = [row for row in erroneous if row.origin == "hard"]
    return {
        "n": len(rows),
        "readable": len(read),
        "failures": dict(sorted(failures.items())),
        "base_samples": len({row.base for row in rows}),
        "groups": len({row.group for row in rows}),
        "gold": _errors([row.gold for row in rows]),
        "predicted": _errors([row.predicted for row in rows]),
        "spans": {
            "strict": _spans(rows, seed),
            "readable": _spans(read, seed),
            "erroneous_strict": _spans(erroneous, seed),
            "erroneous_readable": _spans([row for row in read if row.gold], seed),
        },
        "agreement": _agreement(read, seed),
        "error_count": _differences(rows, seed, lambda row: len(row.predicted) - len(row.gold)),
        "score": _differences(rows, seed, lambda row: (row.score or 0) - row.gold_score),
        "explanations": _explanations(hard, seed) | {"soft": len(erroneous) - len(hard)},
        "twins": _twins(rows, seed),
    }


def _errors(listed: Sequence[Sequence[CulturalError]]) -> dict[str, int]:
    errors = [error for report in listed for error in report]
    return {
        "n": len(errors),
        "rows": sum(bool(report) for report in listed),
        "in_instruction": sum(error.where == "instruction" for error in errors),
        "not_found": sum(error.start < 0 for error in errors),  # names words that the text does not have
        "empty": sum(error.start == error.end >= 0 for error in errors),  # a position, as for a deletion
    }


def _measure(
    values: Sequence[float], rows: Sequence[Row], seed: int, of: Sequence[float] | None = None
) -> dict[str, Any]:
    """sum(values) / sum(of), a value of each per row; the mean over rows without `of`. With denominator, interval."""
    below = [1] * len(rows) if of is None else of
    return bootstrap.measure([values, below], bootstrap.ratio, [row.group for row in rows], seed) | {"n": sum(below)}


def _share(hits: Sequence[tuple[Row, bool]], seed: int) -> dict[str, Any]:
    return _measure([hit for _, hit in hits], [row for row, _ in hits], seed)


def _spans(rows: Sequence[Row], seed: int) -> dict[str, Any]:
    """Micro precision, recall and F1 over rows, exact and with partial credit; the `n` of F1 is spans of both sides."""
    counts, groups = [reports.count_spans(row.gold, row.predicted) for row in rows], [row.group for row in rows]
    gold, predicted = [count.gold for count in counts], [count.predicted for count in counts]
    exact = [float(count.exact) for count in counts]
    partial = [count.of_predicted for count in counts], [count.of_gold for count in counts]
    numbers: dict[str, Any] = {"rows": len(rows), "gold": sum(gold), "predicted": sum(predicted)}
    for name, (precise, recalled) in (("exact", (exact, exact)), ("partial", partial)):
        numbers[name] = {
            "precision": _measure(precise, rows, seed, of=predicted),
            "recall": _measure(recalled, rows, seed, of=gold),
            "f1": bootstrap.measure([precise, predicted, recalled, gold], reports.f1, groups, seed)
            | {"n": sum(gold) + sum(predicted)},
        }
    return numbers


def _agreement(read: Sequence[Row], seed: int) -> dict[str, Any]:
    """Whether found errors are where the gold ones are, and severity and type of matched ones, over readable rows."""
    pairs = [
        [(row.gold[m.gold], row.predicted[m.predicted]) for m in reports.matches(row.gold, row.predicted)]
        for row in read
    ]
    placed = [(row, bool(match)) for row, match in zip(read, pairs, strict=True) if row.gold and row.predicted]
    levels = [[(gold.severity, predicted.severity) for gold, predicted in row] for row in pairs]
    types = [[(reports.normalised(g.type), reports.normalised(p.type)) for g, p in row] for row in pairs]
    confusion = Counter(pair for row in levels for pair in row)
    common = sorted(Counter(pair for row in types for pair in row).items(), key=lambda item: (-item[1], item[0]))
    return {
        "place": _share(placed, seed),  # of erroneous rows where an error was found, whether any is at a gold one
        "severity": _measure([sum(g == p for g, p in row) for row in levels], read, seed, of=[*map(len, pairs)])
        | {
            "one_severity": _most([gold for row in levels for gold, _ in row]),
            "confusion": {g: {p: confusion[g, p] for p in SEVERITIES} for g in SEVERITIES},  # gold, then predicted
        },
        "type": _measure([sum(g == p for g, p in row) for row in types], read, seed, of=[*map(len, pairs)])
        | {
            "one_type": _most([gold for row in types for gold, _ in row]),
            "common": [{"gold": g, "predicted": p, "n": n} for (g, p), n in common[:COMMON_TYPES]],
            "not_listed": sum(n for _, n in common[COMMON_TYPES:]),
        },
    }


def _most(names: Sequence[str]) -> float | None:
    """The floor of an agreement: the share that always naming the most frequent gold value would reach."""
    return max(Counter(names).values()) / len(names) if names else None


def _differences(rows: Sequence[Row], seed: int, difference: Callable[[Row], float]) -> dict[str, Any]:
    """Predicted minus gold: mean, mean of its size, share of rows without any; a failure has no value to subtract."""
    numbers = {}
    for name, part in (("all", rows), ("erroneous", [row for row in rows if row.gold])):
        read = [row for row in part if row.report is not None]
        numbers[name] = {
            "signed": _measure([difference(row) for row in read], read, seed),
            "absolute": _measure([abs(difference(row)) for row in read], read, seed),
            "exact": _share([(row, difference(row) == 0) for row in read], seed),
            "exact_strict": _share([(row, row.report is not None and difference(row) == 0) for row in part], seed),
        }
    return numbers


def _explanations(rows: Sequence[Row], seed: int) -> dict[str, Any]:
    """Whether explanations hold the right answer, over rows with a hard error (ExCAM §5; spec 61).

    `held` is the paper's number, of the detected errors; `outside` takes no place inside the wrong words for it. The
    gold explanations' own share is the ceiling.
    """
    found = [_explained(row, row.report.explanation) if row.report and row.predicted else None for row in rows]
    detected = [(row, one) for row, one in zip(rows, found, strict=True) if one]
    named = Counter((one.right, one.wrong) for _, one in detected)
    numbers = {
        "n": len(rows),
        "detected": len(detected),
        "missed": sum(row.report is not None and not row.predicted for row in rows),
        "unreadable": sum(row.report is None for row in rows),
        "held": _share([(row, one.held) for row, one in detected], seed),
        "outside": _share([(row, one.right) for row, one in detected], seed),
        "strict": _share([(row, one is not None and one.held) for row, one in zip(rows, found, strict=True)], seed),
        "answer_shown": _share([(row, one.held) for row, one in detected if one.shown], seed),
        "answer_not_shown": _share([(row, one.held) for row, one in detected if not one.shown], seed),
        "gold_held": _share([(row, _explained(row, row.gold_explanation).held) for row in rows], seed),
        "right_only": named[True, False],
        "right_and_wrong": named[True, True],
        "wrong_only": named[False, True],
        "neither": named[False, False],
    }
    assert numbers["n"] == numbers["detected"] + numbers["missed"] + numbers["unreadable"]
    return numbers


def _explained(row: Row, text: str) -> reports.Explanation:
    return reports.explanation(text, row.answer, [error.span for error in row.gold], row.instruction)


def _twins(rows: Sequence[Row], seed: int) -> dict[str, Any]:
    """Pairs, and base samples with all their pairs, of which every row is judged right; beside independent guessing.

    Strict: an answer that could not be read is judged wrong. A row without its twin is counted and left out.
    """
    whole = reports.twins(rows)
    by_base: dict[str, list[tuple[Row, Row]]] = {}
    for pair in whole:
        by_base.setdefault(pair[0].base, []).append(pair)
    outcome = Counter((right.right, wrong.right) for right, wrong in whole)
    return {
        "rows_without_twin": len(rows) - 2 * len(whole),
        "pairs": _consistency([[pair] for pair in whole], seed),
        "bases": _consistency(list(by_base.values()), seed),
        "both_right": outcome[True, True],  # of the pairs
        "right_row_only": outcome[True, False],
        "wrong_row_only": outcome[False, True],
        "neither": outcome[False, False],
    }


def _consistency(units: Sequence[Sequence[tuple[Row, Row]]], seed: int) -> dict[str, Any]:
    """Units (pairs of rows) right throughout, and the chance of it by the rates of all, and of each dataset."""
    judged = [[(right.right, wrong.right) for right, wrong in unit] for unit in units]
    first = [unit[0][0] for unit in units]
    return _share([(row, all(map(all, unit))) for row, unit in zip(first, judged, strict=True)], seed) | {
        "independent": reports.independent(judged),
        "independent_within_datasets": reports.independent(judged, [row.dataset for row in first]),
    }
