"""Regressions of a rating on categories: how much of it each predictor explains, by every usual R².

"R²" has many meanings for an ordinal rating, and they differ by a factor of two, so each has its name here: of least
squares on the rating, and McFadden's, Cox and Snell's and Nagelkerke's of a binary logit and of proportional odds.
Fits are statsmodels'; a fit that separates the classes perfectly has no finite solution and is returned as None.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from excam.core.exceptions import InputInvalid
from excam.core.extras import require_extra
from excam.stats.clusters import cluster_numbers

Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _PseudoR2:
    """R² of a model of classes, from its log-likelihood and that of a model without predictors."""

    mcfadden: float  # 1 - L / L0
    cox_snell: float  # 1 - exp(2 (L0 - L) / n)
    nagelkerke: float  # Cox and Snell's, divided by its maximum
    n: int


@dataclass(frozen=True, slots=True)
class OddsRatio:
    """The odds ratio of a yes-or-no predictor with its 95 % interval and Wald's p."""

    ratio: float
    low: float
    high: float
    p_value: float
    n: int


def dummies(values: Sequence[Hashable]) -> Matrix:
    """Return indicator columns of all levels but the first in sorted order, shape (n, levels - 1).

    Raises InputInvalid for fewer than two levels.
    """
    levels = sorted(set(values), key=str)
    if len(levels) < 2:
        raise InputInvalid(f"predictor: found the one level {levels[:1]}; expected two or more")
    return np.array([[value == level for level in levels[1:]] for value in values], dtype=np.float64)


def ols_r2(rating: ArrayLike, predictors: Matrix) -> float:
    """Return R² of least squares with an intercept: the share of the variance of the rating. `predictors` is (n, p)."""
    require_extra("calmqa", "statsmodels")
    import statsmodels.api as sm

    return float(sm.OLS(_vector(rating, predictors), sm.add_constant(predictors, has_constant="add")).fit().rsquared)


def logit_r2(high: ArrayLike, predictors: Matrix) -> _PseudoR2 | None:
    """Return the R² of a binary logit of yes or no (1, 0); None if a predictor separates the two."""
    result = _logit(_vector(high, predictors), predictors)
    return None if result is None else pseudo_r2(float(result.llf), float(result.llnull), len(predictors))


def proportional_odds_r2(rating: ArrayLike, predictors: Matrix) -> _PseudoR2 | None:
    """Return the R² of a cumulative logit (proportional odds) of an ordinal rating; None if it does not converge."""
    require_extra("calmqa", "statsmodels")
    from statsmodels.miscmodels.ordinal_model import OrderedModel

    grades = _vector(rating, predictors)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        result = OrderedModel(grades, predictors, distr="logit").fit(method="bfgs", disp=False, maxiter=500)
    if not result.mle_retvals["converged"] or not math.isfinite(result.llf):
        return None
    _, counts = np.unique(grades, return_counts=True)
    null = float(np.sum(counts * np.log(counts / len(grades))))
    return pseudo_r2(float(result.llf), null, len(grades))


def pseudo_r2(loglik: float, null: float, n: int) -> _PseudoR2:
    """Return the three R² for the log-likelihoods of a model and of the one without predictors, of n rows."""
    cox_snell = 1 - math.exp(2 * (null - loglik) / n)
    most = 1 - math.exp(2 * null / n)
    return _PseudoR2(1 - loglik / null, cox_snell, cox_snell / most, n)


def odds_ratio(high: ArrayLike, first: ArrayLike, others: Matrix | None = None) -> OddsRatio | None:
    """Return the odds ratio of `high` (1, 0) for `first` (1, 0), adjusted for `others`; None if they separate it."""
    columns = _columns(first, others)
    result = _logit(_vector(high, columns), columns)
    return None if result is None else _ratio(result, len(columns))


def gee_odds_ratio(
    high: ArrayLike, first: ArrayLike, clusters: Sequence[Hashable], others: Matrix | None = None
) -> OddsRatio | None:
    """Return the odds ratio as `odds_ratio` does, by a GEE: independence inside clusters, with robust errors."""
    require_extra("calmqa", "statsmodels")
    import statsmodels.api as sm

    columns = _columns(first, others)
    if _logit(_vector(high, columns), columns) is None:
        return None  # its estimate is that of the logit, and there is none
    numbers = cluster_numbers(clusters, len(columns))
    how = {"family": sm.families.Binomial(), "cov_struct": sm.cov_struct.Independence()}
    design = sm.add_constant(columns, has_constant="add")
    return _ratio(sm.GEE(_vector(high, columns), design, numbers, **how).fit(), len(columns))


def _columns(first: ArrayLike, others: Matrix | None) -> Matrix:
    column = np.asarray(first, dtype=np.float64)[:, None]
    return column if others is None else np.column_stack([column, others])


def _logit(high: Matrix, predictors: Matrix) -> Any:
    """Return statsmodels' fit with an intercept, None where the likelihood has no finite maximum."""
    require_extra("calmqa", "statsmodels")
    import statsmodels.api as sm
    from statsmodels.tools.sm_exceptions import PerfectSeparationError

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            model = sm.Logit(high, sm.add_constant(predictors, has_constant="add"))
            result = model.fit(disp=False, maxiter=100)
        except (PerfectSeparationError, np.linalg.LinAlgError):
            return None
    # A coefficient beyond 15 is odds of a million to one: a class of the predictor has only one outcome.
    return result if result.mle_retvals["converged"] and np.abs(result.params).max() < 15 else None


def _ratio(result: Any, n: int) -> OddsRatio:
    low, high = np.exp(np.asarray(result.conf_int())[1])
    return OddsRatio(float(np.exp(result.params[1])), float(low), float(high), float(result.pvalues[1]), n)


def _vector(values: ArrayLike, predictors: Matrix) -> Matrix:
    outcomes = np.asarray(values, dtype=np.float64)
    if (
        outcomes.ndim != 1
        or len(outcomes) != len(predictors)
        or not np.isfinite(outcomes).all()
        or np.ptp(outcomes) == 0
    ):
        raise InputInvalid(
            f"regression: got {outcomes.size} outcomes for {len(predictors)} rows; expected one each, not all equal"
        )
    return outcomes
