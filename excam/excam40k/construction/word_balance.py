"""Leave out pairs until their words do not tell which row is wrong.

A classifier that is shown nothing but words of an output is trained on some groups and guesses which rows of the others
are corrupted. While it can, the pairs that it tells most surely are left out (adversarial filtering: Le Bras et al.,
2020). What is left has the same words in right and in wrong rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from excam.error_reports.records import Sample
from excam.excam40k import text_classifier

LEVEL = 0.95
HIGHEST = 0.10  # scaled accuracy; the high end of its interval may reach it. The audit allows .15 of other folds
WIDEST = 0.15  # half of an interval; with a wider one nothing can be said to be at chance
SHARE = 0.03  # of the pairs, left out at a time
DIVISIONS = 4  # into folds, whose guesses are averaged: with one, rows would be fitted to that division


@dataclass(frozen=True, slots=True)
class Balance:
    """What words tell about a data set before and after: scaled accuracy and its interval; pairs before and left out.

    `decided`: whether words tell nothing for sure; False if they do, or if the rows are too few to say so.
    """

    pairs: int
    left_out: int
    before: tuple[float, float, float]
    after: tuple[float, float, float]
    decided: bool

    def as_line(self) -> str:
        """Return what a person should know of it."""
        first, last = (f"{scaled:.2f} [{low:.2f}, {high:.2f}]" for scaled, low, high in (self.before, self.after))
        now = f"words tell {last}" if not self.left_out else f"words told {first}; without {self.left_out} pairs {last}"
        why = "words tell which row is wrong" if self.after[1] > 0 else "too few pairs to say that words tell nothing"
        return f"{self.pairs} pairs, {now}{'' if self.decided else f'; {why}'}"


def telling_pairs(pairs: Sequence[Sample], *, keep_all: bool = False) -> tuple[frozenset[str], Balance]:
    """Return the names of the pairs to leave out, and what that does.

    `pairs` is what `splits.pair_up` returns: each original row before its corrupted one. Pairs are left out while the
    interval, also that of a single division into folds, is above 0 or, in a set that is large enough for an interval of
    `WIDEST`, while it reaches above `HIGHEST` and the guesses are better than chance. With `keep_all` none is left out:
    what words tell is only measured.
    """
    right, wrong = pairs[0::2], pairs[1::2]
    groups = np.array([sample.group or sample.base for sample in right])
    texts = [sample.output for sample in (*right, *wrong)]
    matrices = [text_classifier.word_matrix(texts), text_classifier.character_matrix(texts)]
    kept = np.arange(len(right))
    before = None
    while True:
        margins = [_margins(matrix, kept, groups, len(right)) for matrix in matrices]
        interval = max(
            (_interval(view_margins.mean(axis=0), groups[kept]) for view_margins in margins),
            key=lambda bounds: bounds[2],
        )
        before = before or interval
        scaled, _, high = interval
        each = [interval, *(_interval(division, groups[kept]) for view_margins in margins for division in view_margins)]
        above = max(low for _, low, _ in each) > 0
        too_high = high - scaled <= WIDEST and scaled > 0 and high > HIGHEST
        if keep_all or not (above or too_high) or len(set(groups[kept])) < 3:
            break
        surest = np.argsort(-np.max([view_margins.sum(axis=(0, 2)) for view_margins in margins], axis=0), kind="stable")
        kept = np.delete(kept, surest[: max(1, round(SHARE * len(kept)))])
    names = {right[place].pair for place in kept.tolist()}
    left_out = frozenset(sample.pair for sample in right if sample.pair not in names)
    decided = max(high for _, _, high in each) <= WIDEST
    return left_out, Balance(len(right), len(left_out), before, interval, decided)


def _margins(
    matrix: Any, kept: NDArray[np.intp], groups: NDArray[Any], pairs: int
) -> NDArray[np.float64]:  # (divisions, kept pairs, 2)
    """Return how surely each row of the kept pairs is guessed: above 0 for right guesses; right rows, wrong rows."""
    rows = np.concatenate([kept, kept + pairs])
    here, labels = matrix[rows], np.repeat([False, True], len(kept))
    of_rows = np.concatenate([groups[kept], groups[kept]])
    margins = np.zeros((DIVISIONS, len(rows)))
    for number in range(DIVISIONS):
        for learned, tested in text_classifier.folds(of_rows, shuffled=number):
            margins[number, tested] = text_classifier.fit(here[learned], labels[learned]).decision_function(
                here[tested]
            )
    return np.where(labels, margins, -margins).reshape(DIVISIONS, 2, len(kept)).swapaxes(1, 2)


def _interval(margins: NDArray[np.float64], groups: NDArray[Any]) -> tuple[float, float, float]:
    """Return scaled accuracy and its interval. A margin of 0 says "right": of two equal outputs one is guessed."""
    hits = np.concatenate([margins[:, 0] >= 0, margins[:, 1] > 0])
    return text_classifier.interval(*text_classifier.by_group(np.concatenate([groups, groups]), hits), LEVEL)
