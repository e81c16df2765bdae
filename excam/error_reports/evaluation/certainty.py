"""Judgements -> how reliable a judge's confidence is: ranking, calibration, abstention (beyond ExCAM's Eq. 1).

The paper takes p(R) as the score of a text without errors and does not validate it. Here: does it rank texts; is it the
probability that the verdict is right; does it become the probability of an error after a map is fitted on the dev sets;
and what is the error rate of a judge that leaves its least confident answers to a person? Pure: frames in, a dictionary
out. Every number comes with its `n`. A parse failure is wrong wherever a verdict counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Literal

import numpy as np
import polars as pl

from excam import stats
from excam.error_reports.evaluation import verdicts
from excam.stats import bootstrap
from excam.stats.accuracy import is_correct

METHODS: tuple[Literal["platt", "isotonic"], ...] = ("platt", "isotonic")
POINTS = 200  # of a risk-coverage curve that are kept
Scores = Sequence[float | None]


def evaluate(test: pl.DataFrame, dev: pl.DataFrame | None, seed: int) -> dict[str, Any]:
    """Return the numbers of one system on its test sets; maps from certainty to probability are fitted on `dev`.

    Both frames have the columns of `JUDGEMENT_SCHEMA`. Without `dev` nothing is fitted: `dev` is null and the
    numbers of fitted maps are absent, as they are where dev has one class or one certainty only (`fitted` is null).
    """
    gold, predicted, signed = _verdicts(test)
    groups = test["group"].to_list()
    certainty: Scores = [None if confidence is None else abs(confidence) for confidence in signed]
    right = [bool(is_right) for is_right in is_correct(gold, predicted)]
    numbers: dict[str, Any] = {
        "n": test.height,
        "failures": sum(verdict is None for verdict in predicted),
        "without_certainty": sum(
            p is None and verdict is not None for p, verdict in zip(signed, predicted, strict=True)
        ),
        "ranking": {
            name: _ranking_measures(gold, scores, groups, seed)
            for name, scores in (
                ("score", verdicts.scores(test, fallback=False)),
                ("score_p", verdicts.scores(test, fallback=True)),
                ("certainty", _less(signed)),
            )
        },
        "by_dataset": _by_dataset(test, seed),
        "verdict": _reliability(right, certainty, groups, seed),
        "error": {"uncalibrated": _reliability(gold, stats.uncalibrated_probabilities(signed), groups, seed)},
        "abstention": {"certainty": _abstention(gold, predicted, certainty)},
        "dev": None,
    }
    if dev is None:
        return numbers
    dev_gold, dev_said, dev_signed = _verdicts(dev)
    numbers["dev"] = {"n": dev.height, "failures": sum(verdict is None for verdict in dev_said), "fitted": {}}
    for method in METHODS:
        fitted = stats.fit_calibration(dev_gold, dev_signed, method)
        numbers["dev"]["fitted"][method] = asdict(fitted) if fitted else None
        if fitted:
            chances = stats.error_probabilities(fitted, signed)
            numbers["error"][method] = _reliability(gold, chances, groups, seed)
            numbers["abstention"][method] = _abstention(gold, *_decided(chances, predicted))
    return numbers


def _verdicts(frame: pl.DataFrame) -> tuple[list[bool], list[bool | None], list[float | None]]:
    """Return gold verdicts, verdicts, and signed confidences."""
    predicted = verdicts.predicted_errors(frame)
    return frame["gold_error"].to_list(), predicted, stats.signed_certainty(predicted, frame["certainty"].to_list())


def _less(signed: Scores) -> Scores:
    """Return values as scores: a smaller value means more error."""
    return [None if value is None else -value for value in signed]


def _ranking_measures(gold: Sequence[bool], scores: Scores, groups: Sequence[str], seed: int) -> dict[str, Any]:
    low, high = stats.ranking_interval(gold, scores, groups, seed=seed) or (None, None)
    return asdict(stats.ranking(gold, scores)) | {"low": low, "high": high}


def _by_dataset(frame: pl.DataFrame, seed: int) -> dict[str, Any]:
    parts = frame.partition_by("dataset", as_dict=True, maintain_order=True)
    measures = {}
    for (name,), part in sorted(parts.items()):
        gold, _, signed = _verdicts(part)
        measures[str(name)] = _ranking_measures(gold, _less(signed), part["group"].to_list(), seed)
    return measures


def _reliability(outcomes: Sequence[bool], chances: Scores, groups: Sequence[str], seed: int) -> dict[str, Any]:
    """Return bins of equal mass; the Brier score with its interval, and that of predicting the base rate."""
    reliability = asdict(stats.reliability(outcomes, chances, binning="equal-mass"))
    known = [at for at, chance in enumerate(chances) if chance is not None]
    squares = [(float(chances[at] or 0.0) - outcomes[at]) ** 2 for at in known]
    interval = bootstrap.estimate([squares, [1.0] * len(known)], bootstrap.ratio, [groups[at] for at in known], seed)
    share = float(np.mean([outcomes[at] for at in known])) if known else None
    expected_brier = None if share is None else share * (1 - share)
    return reliability | {"brier_low": interval["low"], "brier_high": interval["high"], "brier_floor": expected_brier}


def _decided(chances: Scores, predicted: Sequence[bool | None]) -> tuple[list[bool | None], Scores]:
    """Return the verdicts of an error probability, and their confidence; without a probability the report's verdict
    counts.
    """
    return (
        [word if chance is None else chance >= 0.5 for chance, word in zip(chances, predicted, strict=True)],
        [None if chance is None else max(chance, 1 - chance) for chance in chances],
    )


def _abstention(gold: Sequence[bool], predicted: Sequence[bool | None], certainty: Scores) -> dict[str, Any]:
    """Return the area under the risk-coverage curve, and that of answers in random order."""
    curve = stats.abstention(gold, predicted, certainty)
    alike = stats.abstention(gold, predicted, [None if confidence is None else 1.0 for confidence in certainty])
    points = np.unique(np.linspace(0, len(curve.coverage) - 1, POINTS).astype(int)) if curve.coverage else []
    return {
        "area": curve.area,
        "any_order": alike.area,
        "n": curve.n,
        "unscored": curve.unscored,
        "curve": [[curve.coverage[at], curve.risk[at]] for at in points],
    }
