"""The effect of removing one dataset from training (ExCAM Appendix J, Figure 11).

The paper says that in-domain performance "is only weakly influenced" and gives no number. Here each leave-one-out
adapter is compared with the adapter that was trained on all data, on the same rows: the difference in scaled accuracy,
its 95 % interval (over groups) and an exact paired permutation test over groups. `OTHERS` are the test sets
of all datasets that both adapters were trained on: the claim is about these. On the left-out dataset the same
difference is the effect of training on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import mean

import numpy as np
import polars as pl

from excam.core.exceptions import ArtifactBroken
from excam.error_reports.evaluation import verdicts
from excam.error_reports.evaluation.cells import LEVEL
from excam.stats import accuracy, permutation
from excam.stats.bootstrap import ratio_interval

OTHERS = "others"

Frames = Mapping[str, pl.DataFrame]  # judgements of one adapter, by dataset


@dataclass(frozen=True, slots=True)
class Change:
    """Scaled accuracy on the same `n` rows in `groups` groups, of the adapter for all datasets and of a leave-one-out
    adapter.
    """

    left_out: str
    on: str
    complete: float
    without: float
    difference: float  # without minus complete
    low: float | None  # None: one group alone, nothing can be drawn
    high: float | None
    p_value: float
    p_holm: float  # over the adapters on `OTHERS`; over adapters and datasets in the cells
    n: int
    groups: int


def changes(complete: Frames, without: Mapping[str, Frames], seed: int) -> list[Change]:
    """Return one change per adapter and dataset, and one on `OTHERS`; `without` maps left-out datasets to adapters.

    Raises ArtifactBroken if two adapters judged different rows.
    """
    single, together = [], []
    for left_out, frames in without.items():
        single += [_accuracy_change(left_out, on, complete[on], frames[on], seed) for on in complete]
        if seen := [on for on in complete if on != left_out]:
            pooled = [pl.concat([own[on] for on in seen]) for own in (complete, frames)]
            together.append(_accuracy_change(left_out, OTHERS, pooled[0], pooled[1], seed))
    return [*_with_holm_p_values(together), *_with_holm_p_values(single)]


def _accuracy_change(left_out: str, on: str, complete: pl.DataFrame, without: pl.DataFrame, seed: int) -> Change:
    if complete["id"].to_list() != without["id"].to_list():
        raise ArtifactBroken(f"{on}: the adapters of all and without {left_out} judged different rows; judge again")
    gold, groups = complete["gold_error"].to_list(), complete["group"].to_list()
    guesses = [verdicts.predicted_errors(frame) for frame in (complete, without)]
    test = verdicts.paired_permutation(without, complete)
    right = [accuracy.is_correct(gold, guess).astype(np.float64) for guess in guesses]
    interval = ratio_interval(2 * (right[1] - right[0]), np.ones(len(gold)), groups, seed=seed) or (None, None)
    scaled = [accuracy.scaled_accuracy(gold, guess) for guess in guesses]
    return Change(
        **{"left_out": left_out, "on": on, "complete": scaled[0], "without": scaled[1]},
        **{"difference": 2 * test.difference, "low": interval[0], "high": interval[1]},
        **{"p_value": test.p_value, "p_holm": 1.0, "n": test.n, "groups": test.clusters},
    )


def _with_holm_p_values(family: Sequence[Change]) -> Iterator[Change]:
    for change, p_holm in zip(family, permutation.holm([change.p_value for change in family]), strict=True):
        yield replace(change, p_holm=p_holm)


def statement(name: str, model_changes: Sequence[Change]) -> str:
    """Return sentences about the claim of Appendix J for one model, with numbers, and about left-out datasets."""
    others = [change for change in model_changes if change.on == OTHERS]
    own = [change for change in model_changes if change.on == change.left_out]
    text = ""
    if others:
        text += (
            f"{name}: one dataset less in training changes scaled accuracy on the test sets of the other datasets by "
        )
        text += _summary_text(others)
        edges = [abs(edge) for change in others for edge in (change.low, change.high) if edge is not None]
        text += f"; no 95 % interval reaches farther from 0 than {max(edges):.3f}" if edges else ""
        text += f" (n = {_range_text([change.n for change in others])} rows a test). "
    if own:
        text += f"On the test set of the left-out dataset itself it changes by {_summary_text(own)}"
        text += f" (n = {_range_text([change.n for change in own])})."
    return text.strip()


def _summary_text(summarised: Sequence[Change]) -> str:
    differences = [change.difference for change in summarised]
    significant = sum(change.p_holm <= LEVEL for change in summarised)
    if len(summarised) == 1:
        return f"{differences[0]:+.3f}, {'' if significant else 'not '}significantly (p ≤ {LEVEL:.2f})"
    text = f"{mean(differences):+.3f} on average, from {min(differences):+.3f} to {max(differences):+.3f}"
    return text + f"; {significant} of {len(summarised)} changes are significant (Holm, p ≤ {LEVEL:.2f})"


def _range_text(numbers: Sequence[int]) -> str:
    low, high = min(numbers), max(numbers)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
