"""Judgements with their gold rows -> the quality of the reports themselves (ExCAM §5).

Pure: frames in, a dictionary out. Every number is a ratio of sums with its denominator `n` and the 95 % interval
over groups. `strict` numbers are over all rows, where a parse failure found nothing and got nothing right;
the others name the rows they are over.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import polars as pl

from excam.core import tables
from excam.core.exceptions import InputInvalid
from excam.error_reports import report_agreement
from excam.error_reports.record_files import report_from_json
from excam.error_reports.records import SEVERITIES, CulturalError
from excam.error_reports.report_agreement import GoldRow
from excam.stats import bootstrap

COMMON_TYPES = 20  # pairs of a gold and a predicted type that are listed; the others are counted
NEEDED = ("id", "instruction", "errors", "explanation", "answer", "score")  # of the gold rows


def evaluate(judgements: pl.DataFrame, samples: pl.DataFrame, seed: int) -> dict[str, Any]:
    """Return the numbers of one cell; if it covers several datasets, those of each are under `by_dataset`.

    `judgements` has the columns of `JUDGEMENT_SCHEMA`, `samples` (at least) those of NEEDED. Raises InputInvalid
    if they are not the same rows, or the judge writes no reports.
    """
    rows = join(judgements, samples)
    names = sorted({row.dataset for row in rows})
    numbers = _numbers(rows, seed)
    if len(names) > 1:
        numbers["by_dataset"] = {name: _numbers([row for row in rows if row.dataset == name], seed) for name in names}
    return numbers


def join(judgements: pl.DataFrame, samples: pl.DataFrame) -> list[GoldRow]:
    """Return every judged row with its gold row, in the order of the judgements.

    Raises InputInvalid as `evaluate` does.
    """
    return [_joined_row(judged, gold) for judged, gold in tables.with_gold(judgements, samples, NEEDED)]


def _joined_row(judged: dict[str, Any], gold: dict[str, Any]) -> GoldRow:
    if (judged["failure"] is None) != (judged["report"] is not None):
        raise InputInvalid(
            f"{judged['id']}: failure {judged['failure']!r} and report {judged['report']!r}; expected one of them; "
            "only judges that write reports have any to evaluate"
        )
    return GoldRow(
        **{name: judged[name] for name in ("base", "group", "dataset", "origin", "score", "failure")},
        instruction=gold["instruction"],
        answer=gold["answer"],
        gold=tuple(CulturalError(**error) for error in json.loads(gold["errors"])),
        gold_explanation=gold["explanation"],
        gold_score=gold["score"],
        report=report_from_json(judged["report"]) if judged["report"] is not None else None,
    )


def _numbers(rows: Sequence[GoldRow], seed: int) -> dict[str, Any]:
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
        "gold": _count_errors([row.gold for row in rows]),
        "predicted": _count_errors([row.predicted for row in rows]),
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
    }


def _count_errors(listed: Sequence[Sequence[CulturalError]]) -> dict[str, int]:
    errors = [error for report in listed for error in report]
    return {
        "n": len(errors),
        "rows": sum(bool(report) for report in listed),
        "in_instruction": sum(error.where == "instruction" for error in errors),
        "not_found": sum(error.start < 0 for error in errors),  # names words that the text does not have
        "empty": sum(error.start == error.end >= 0 for error in errors),  # a position, as for a deletion
    }


def _measure(
    hits: Sequence[float], rows: Sequence[GoldRow], seed: int, of: Sequence[float] | None = None
) -> dict[str, Any]:
    """Return the share sum(hits) / sum(of), one value of each per row, with its interval and denominator; without
    `of`, that of rows.
    """
    below = [1] * len(rows) if of is None else of
    return bootstrap.share(hits, [row.group for row in rows], seed, below) | {"n": sum(below)}


def _share(hits: Sequence[tuple[GoldRow, bool]], seed: int) -> dict[str, Any]:
    return _measure([hit for _, hit in hits], [row for row, _ in hits], seed)


def _spans(rows: Sequence[GoldRow], seed: int) -> dict[str, Any]:
    """Return micro-averaged precision, recall and F1 over rows, exact and with partial credit; the `n` of F1 counts
    both sides.
    """
    counts = [report_agreement.count_spans(row.gold, row.predicted) for row in rows]
    groups = [row.group for row in rows]
    gold, predicted = [count.gold for count in counts], [count.predicted for count in counts]
    exact = [float(count.exact) for count in counts]
    partial = [count.of_predicted for count in counts], [count.of_gold for count in counts]
    numbers: dict[str, Any] = {"rows": len(rows), "gold": sum(gold), "predicted": sum(predicted)}
    for name, (precise, recalled) in (("exact", (exact, exact)), ("partial", partial)):
        numbers[name] = {
            "precision": _measure(precise, rows, seed, of=predicted),
            "recall": _measure(recalled, rows, seed, of=gold),
            "f1": bootstrap.estimate([precise, predicted, recalled, gold], report_agreement.f1, groups, seed)
            | {"n": sum(gold) + sum(predicted)},
        }
    return numbers


def _agreement(read: Sequence[GoldRow], seed: int) -> dict[str, Any]:
    """Return how often found errors are where the gold ones are, and agree in severity and type, over parsed rows."""
    pairs = [
        [(row.gold[m.gold], row.predicted[m.predicted]) for m in report_agreement.matches(row.gold, row.predicted)]
        for row in read
    ]
    placed = [(row, bool(match)) for row, match in zip(read, pairs, strict=True) if row.gold and row.predicted]
    levels, confusion = _agreeing("severity", pairs, read, seed)
    types, counts = _agreeing("type", pairs, read, seed)
    common = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return {
        "place": _share(placed, seed),  # of erroneous rows where an error was found, whether any is at a gold one
        # of confusion gold, then predicted
        "severity": levels | {"confusion": {g: {p: confusion[g, p] for p in SEVERITIES} for g in SEVERITIES}},
        "type": {
            **types,
            "common": [{"gold": g, "predicted": p, "n": n} for (g, p), n in common[:COMMON_TYPES]],
            "not_listed": sum(n for _, n in common[COMMON_TYPES:]),
        },
    }


def _agreeing(
    name: str, pairs: Sequence[Sequence[tuple[CulturalError, CulturalError]]], rows: Sequence[GoldRow], seed: int
) -> tuple[dict[str, Any], Counter[tuple[str, str]]]:
    """Return the share of pairs with an equal value, with its reference, and how often each pair of values occurs."""
    plain = report_agreement.normalise_text
    values = [[(plain(getattr(g, name)), plain(getattr(p, name))) for g, p in row] for row in pairs]
    measured = _measure([sum(g == p for g, p in row) for row in values], rows, seed, of=[*map(len, pairs)])
    counts = Counter(pair for row in values for pair in row)
    return measured | {f"one_{name}": _majority_share([gold for gold, _ in counts.elements()])}, counts


def _majority_share(names: Sequence[str]) -> float | None:
    """Return the reference for an agreement: the share that always naming the most frequent gold value reaches."""
    return max(Counter(names).values()) / len(names) if names else None


def _differences(rows: Sequence[GoldRow], seed: int, difference: Callable[[GoldRow], float]) -> dict[str, Any]:
    """Return predicted minus gold: mean, mean absolute value, share of zeros; a failure has no value."""
    numbers = {}
    for name, part in (("all", rows), ("erroneous", [row for row in rows if row.gold])):
        read = [row for row in part if row.report is not None]
        steps, groups = [difference(row) for row in read], [row.group for row in read]
        numbers[name] = {
            "signed": bootstrap.mean(steps, groups, seed) | {"n": len(read)},
            "absolute": bootstrap.mean(np.abs(steps), groups, seed) | {"n": len(read)},
            "exact": _share([(row, difference(row) == 0) for row in read], seed),
            "exact_strict": _share([(row, row.report is not None and difference(row) == 0) for row in part], seed),
        }
    return numbers


def _explanations(rows: Sequence[GoldRow], seed: int) -> dict[str, Any]:
    """Return whether explanations hold the right answer, over rows with a hard error (ExCAM §5).

    `held` is the paper's number, of the detected errors; `outside` takes no place inside the wrong words for it. The
    gold explanations' own share is the ceiling.
    """
    explained = [
        (row, _explained(row, row.report.explanation) if row.report and row.predicted else None) for row in rows
    ]
    detected = [(row, explanation) for row, explanation in explained if explanation]
    named = Counter((explanation.right, explanation.wrong) for _, explanation in detected)
    numbers = {
        "n": len(rows),
        "detected": len(detected),
        "missed": sum(row.report is not None and not row.predicted for row in rows),
        "unreadable": sum(row.report is None for row in rows),
        "held": _share([(row, explanation.held) for row, explanation in detected], seed),
        "outside": _share([(row, explanation.right) for row, explanation in detected], seed),
        "strict": _share([(row, explanation is not None and explanation.held) for row, explanation in explained], seed),
        "answer_shown": _share([(row, explanation.held) for row, explanation in detected if explanation.shown], seed),
        "answer_not_shown": _share(
            [(row, explanation.held) for row, explanation in detected if not explanation.shown], seed
        ),
        "gold_held": _share([(row, _explained(row, row.gold_explanation).held) for row in rows], seed),
        "right_only": named[True, False],
        "right_and_wrong": named[True, True],
        "wrong_only": named[False, True],
        "neither": named[False, False],
    }
    assert numbers["n"] == numbers["detected"] + numbers["missed"] + numbers["unreadable"]
    return numbers


def _explained(row: GoldRow, text: str) -> report_agreement.Explanation:
    return report_agreement.explanation(text, row.answer, [error.span for error in row.gold], row.instruction)
