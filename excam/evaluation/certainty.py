"""Judgements -> how far a judge's certainty can be trusted: ranking, calibration, abstention (beyond ExCAM's Eq. 1).

The paper takes p(R) as the score of a text without errors and never asks what it is worth. Here: does it order texts,
is it the chance that the verdict is right, does it become the probability of an error once a map is fitted on the dev
sets, and how wrong is a judge that leaves its least certain answers to a person? Pure: frames in, a dictionary out;
every number stands beside its `n`, and an answer that could not be read is wrong wherever a verdict counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Literal

import numpy as np
import polars as pl

from excam import metaeval
from excam.evaluation import verdicts
from excam.metaeval import bootstrap
from excam.metaeval.accuracy import correct

METHODS: tuple[Literal["platt", "isotonic"], ...] = ("platt", "isotonic")
POINTS = 200  # of a risk-coverage curve that are kept
Scores = Sequence[float | None]


def evaluate(test: pl.DataFrame, dev: pl.DataFrame | None, seed: int) -> dict[str, Any]:
    """The numbers of one system on its test sets; maps from certainty to probability are fitted on `dev`.

    Both frames have the columns of `tables.JUDGEMENT_SCHEMA`. Without `dev` nothing is fitted: `dev` is null and the
    numbers of fitted maps are absent, as they are where dev has one class or one certainty only (`fitted` is null).
    """
    gold, said, signed = _verdicts(test)
    groups = test["group"].to_list()
    certainty: Scores = [None if one is None else abs(one) for one in signed]
    right = [bool(one) for one in correct(gold, said)]
    found: dict[str, Any] = {
        "n": test.height,
        "failures": sum(one is None for one in said),
        "without_certainty": sum(p is None and one is not None for p, one in zip(signed, said, strict=True)),
        "ranking": {
            name: _ranking(gold, scores, groups, seed)
            for name, scores in (
                ("score", verdicts.scores(test, fallback=False)),
                ("score_p", verdicts.scores(test, fallback=True)),
                ("certainty", _less(signed)),
            )
        },
        "by_dataset": _by_dataset(test, seed),
        "verdict": _reliability(right, certainty, groups, seed),
        "error": {"uncalibrated": _reliability(gold, metaeval.uncalibrated(signed), groups, seed)},
        "abstention": {"certainty": _abstention(gold, said, certainty)},
        "dev": None,
    }
    if dev is None:
        return found
    dev_gold, dev_said, dev_signed = _verdicts(dev)
    found["dev"] = {"n": dev.height, "failures": sum(one is None for one in dev_said), "fitted": {}}
    for method in METHODS:
        fitted = metaeval.fit_calibration(dev_gold, dev_signed, method)
        found["dev"]["fitted"][method] = asdict(fitted) if fitted else None
        if fitted:
            chances = metaeval.error_probabilities(fitted, signed)
            found["error"][method] = _reliability(gold, chances, groups, seed)
            found["abstention"][method] = _abstention(gold, *_decided(chances, said))
    return found


def _verdicts(frame: pl.DataFrame) -> tuple[list[bool], list[bool | None], list[float | None]]:
    """Gold verdicts, verdicts, and signed certainties."""
    said = verdicts.predicted(frame)
    return frame["gold_error"].to_list(), said, metaeval.signed_certainty(said, frame["certainty"].to_list())


def _less(signed: Scores) -> Scores:
    """As a score: less means more error."""
    return [None if one is None else -one for one in signed]


def _ranking(gold: Sequence[bool], scores: Scores, groups: Sequence[str], seed: int) -> dict[str, Any]:
    low, high = metaeval.ranking_interval(gold, scores, groups, seed=seed) or (None, None)
    return asdict(metaeval.ranking(gold, scores)) | {"low": low, "high": high}


def _by_dataset(frame: pl.DataFrame, seed: int) -> dict[str, Any]:
    parts = frame.partition_by("dataset", as_dict=True, maintain_order=True)
    found = {}
    for (name,), part in sorted(parts.items()):
        gold, _, signed = _verdicts(part)
        found[str(name)] = _ranking(gold, _less(signed), part["group"].to_list(), seed)
    return found


def _reliability(outcomes: Sequence[bool], chances: Scores, groups: Sequence[str], seed: int) -> dict[str, Any]:
    """Bins of equal mass; the Brier score with its interval, and that of always naming the outcomes' own share."""
    found = asdict(metaeval.reliability(outcomes, chances, binning="equal-mass"))
    kept = [at for at, one in enumerate(chances) if one is not None]
    squares = [(float(chances[at] or 0.0) - outcomes[at]) ** 2 for at in kept]
    interval = bootstrap.measure([squares, [1.0] * len(kept)], bootstrap.ratio, [groups[at] for at in kept], seed)
    share = float(np.mean([outcomes[at] for at in kept])) if kept else None
    floor = None if share is None else share * (1 - share)
    return found | {"brier_low": interval["low"], "brier_high": interval["high"], "brier_floor": floor}


def _decided(chances: Scores, said: Sequence[bool | None]) -> tuple[list[bool | None], Scores]:
    """Verdicts of a probability of an error, and how sure they are; without one the report's verdict stands, unsure."""
    return (
        [word if one is None else one >= 0.5 for one, word in zip(chances, said, strict=True)],
        [None if one is None else max(one, 1 - one) for one in chances],
    )


def _abstention(gold: Sequence[bool], said: Sequence[bool | None], certainty: Scores) -> dict[str, Any]:
    """Area under the risk-coverage curve, beside that of answering in any order what has a certainty at all."""
    found = metaeval.abstention(gold, said, certainty)
    alike = metaeval.abstention(gold, said, [None if one is None else 1.0 for one in certainty])
    kept = np.unique(np.linspace(0, len(found.coverage) - 1, POINTS).astype(int)) if found.coverage else []
    return {
        "area": found.area,
        "any_order": alike.area,
        "n": found.n,
        "unscored": found.unscored,
        "curve": [[found.coverage[at], found.risk[at]] for at in kept],
    }
