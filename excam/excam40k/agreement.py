"""How far other annotators give the same label as a base sample, and what a judge reaches that knows it.

A benchmark may keep the labels of single annotators, as EPIC does: then a judge is asked for one person's view, and how
most others see the text says less than it seems. `BaseSample.agreement` is the share of the others with the same label.
Base samples without a `label`, such as those of a survey, are left out: there, less than half may still be the most
frequent answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from excam.error_reports.records import BaseSample


def of(bases: Iterable[BaseSample]) -> dict[str, float]:
    """Return id of a base sample -> its agreement, of those that have a label and others who were asked."""
    return {base.id: base.agreement for base in bases if base.label and base.agreement is not None}


def chance_of_no_error(tested: pl.DataFrame, agreement: Mapping[str, float]) -> NDArray[np.float64]:
    """Return the probability of "no error" that a judge gives to each row if it follows the vote of all others.

    `tested` has the columns `base` and `score`. A right row says what its annotator said, so it gets the agreement; a
    wrong row says the other label and gets the rest. 0.5 where nobody else was asked.
    """
    shares = np.array([agreement.get(base, 0.5) for base in tested["base"]], dtype=np.float64)
    return np.where(tested["score"].to_numpy() < 0, 1 - shares, shares)


def summary(bases: Iterable[BaseSample]) -> dict[str, Any]:
    """Return numbers of base samples with an agreement: for how many most others, half of them or fewer give the same
    label; the mean number of others, None where it is not known; and `vote_of_others`, the scaled accuracy of a judge
    that follows their vote, from -1 to 1, on one right and one wrong row of each. {} if there are none.
    """
    labelled_bases = [base for base in bases if base.label and base.agreement is not None]
    if not labelled_bases:
        return {}
    shares = np.array([base.agreement for base in labelled_bases], dtype=np.float64)
    most, fewer = int(np.sum(shares > 0.5)), int(np.sum(shares < 0.5))
    rater_counts = [base.asked for base in labelled_bases if base.asked is not None]
    return {
        "base_samples": len(labelled_bases),
        "with_most": most,
        "with_half": len(labelled_bases) - most - fewer,
        "with_fewer": fewer,
        "mean_asked": round(float(np.mean(rater_counts)), 2) if rater_counts else None,
        "vote_of_others": round((most - fewer) / len(labelled_bases), 3),
    }
