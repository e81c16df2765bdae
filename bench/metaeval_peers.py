"""Statistics of `excam meta` and of the agreement of raters, and the other programs that give the same numbers.

Each takes data of one size and a number of draws, which a value alone does not use, and returns its numbers. The first
`same` numbers of a work are to be equal; where a peer draws as we do, these are all, intervals and p-values too.
"""

# pyright: reportAttributeAccessIssue=false
# SciPy's results have no types that say which fields they have.
from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from excam.stats import agreement, bootstrap, icc
from excam.stats.binary_gold import association
from excam.stats.correlation import tie_calibrated_accuracy, tie_calibration_by_item
from excam.stats.grouped_pairs import GroupedPairs
from excam.stats.permutation import swap_masks
from excam.stats.permutation_correlation import correlation_permutation, standardise
from excam.stats.sign_permutation import sign_permutation
from excam.stats.system_level import system_level

ITEM, RATERS, SYSTEMS = 10, 3, 10
VALUES = ["1", "2", "3", "4", "5"]
Numbers = Sequence[float | None]


class Data:
    """Labels 1 to 5 of `n` rows, two metrics with scores that are all different, and ratings of `n` items by three."""

    def __init__(self, n: int, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self.n = n
        self.gold = rng.integers(1, 6, n).astype(float)
        self.fine_gold = self.gold + rng.normal(0, 1, n)
        self.a, self.b = (self.gold + rng.normal(0, spread, n) for spread in (2.0, 2.2))
        self.yes = self.gold > 3
        self.cluster = np.arange(n) // 2
        self.item = np.arange(n) // ITEM
        self.clusters = self.cluster.tolist()
        self.ratings = np.clip(self.gold[:, None] + rng.integers(-1, 2, (n, RATERS)), 1, 5)
        self.words = [[str(int(rating)) for rating in row] for row in self.ratings.tolist()]

    def draws_of_rows(self, draws: int) -> Iterator[np.ndarray]:
        """Yield the rows of each draw of clusters."""
        rng, size = np.random.default_rng(1), int(self.cluster.max()) + 1
        for _ in range(draws):
            times = np.bincount(rng.integers(size, size=size), minlength=size)
            yield np.repeat(np.arange(self.n), times[self.cluster])

    def draws_of_items(self, draws: int) -> Iterator[np.ndarray]:
        rng = np.random.default_rng(1)
        return (rng.integers(self.n, size=self.n) for _ in range(draws))


Statistic = Callable[[Data, int], Numbers]


@dataclass(frozen=True, slots=True)
class Peer:
    run: Statistic
    largest: int = 10**9  # of more rows it would take minutes, or memory that the machine has not got
    growth: float = 1.0  # exponent by which its time is continued above that


@dataclass(frozen=True, slots=True)
class Work:
    """What a command computes, with the number of its draws; 1: a value alone."""

    ours: Statistic
    peers: Mapping[str, Peer]
    draws: int = 1
    same: int | None = None  # numbers that are to be equal, from the first; None: all
    whole: bool = False  # ours has no other number of draws

    def differs(self, ours: Numbers, theirs: Numbers, draws: int) -> bool:
        """Return whether numbers are not those of ours: None is not compared, random ones within five errors."""
        pairs = [(a, b) if a is not None and b is not None else (0, 0) for a, b in zip(ours, theirs, strict=True)]
        equal = pairs[: self.same]
        random = [abs(a - b) for a, b in pairs[len(equal) :]]
        width = ours[-1] - ours[-2] if len(ours) > 2 else 1  # an interval, else a p-value  # pyright: ignore
        equals = all(math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-11) for a, b in equal)
        return not equals or max(random, default=0) > 4 * width / draws**0.5


def with_interval(value: float, drawn: Sequence[float] | np.ndarray) -> Numbers:
    return value, *np.quantile(drawn, [0.025, 0.975]).tolist()


# --- ranks


def tau_interval(gold: str) -> Work:
    from scipy.stats import kendalltau

    def ours(data: Data, draws: int) -> Numbers:
        pairs = GroupedPairs(getattr(data, gold), data.a)
        low, high = pairs.intervals(data.clusters, draws, 0)[0] or (None, None)
        return [pairs.sums().tau_b, low, high]

    def loop(data: Data, draws: int) -> Numbers:
        labels = getattr(data, gold)
        drawn = [kendalltau(labels[rows], data.a[rows]).statistic for rows in data.draws_of_rows(draws)]
        return with_interval(kendalltau(labels, data.a).statistic, drawn)

    return Work(ours, {"SciPy loop": Peer(loop)}, 1000, same=1)


def two_labels() -> Work:
    from scipy.stats import kendalltau, pearsonr, spearmanr
    from sklearn.metrics import roc_auc_score

    measures: dict[str, Callable[[Any, Any], float]] = {
        "pearson": lambda yes, scores: pearsonr(yes, scores).statistic,
        "spearman": lambda yes, scores: spearmanr(yes, scores).statistic,
        "auc": roc_auc_score,
        "tau": lambda yes, scores: kendalltau(yes, scores).statistic,
    }

    def ours(data: Data, draws: int) -> Numbers:
        result = association(data.yes, data.a, data.clusters, draws, 0)
        numbers = result.point_biserial, result.spearman, result.auc, result.tau_b
        return [*(number.value for number in numbers), *(end for each in numbers for end in (each.low, each.high))]

    def loop(*names: str) -> Statistic:
        def run(data: Data, draws: int) -> Numbers:
            numbers = [measures[name](data.yes, data.a) if name in names else None for name in measures]
            drawn = np.array(
                [
                    [measures[name](data.yes[rows], data.a[rows]) if name in names else np.nan for name in measures]
                    for rows in data.draws_of_rows(draws)
                ]
            )
            ends = np.quantile(drawn, [0.025, 0.975], axis=0).T.ravel()
            return [*numbers, *(None if np.isnan(end) else float(end) for end in ends)]

        return run

    peers = {"SciPy and scikit-learn, all four": Peer(loop(*measures)), "scikit-learn, AUC alone": Peer(loop("auc"))}
    return Work(ours, peers, 1000, same=4)


def ordered_pairs() -> Work:
    from excam.scoring.meta_numbers import ordered_pairs as ordered

    def ours(data: Data, _: int) -> Numbers:
        names = list(map(str, data.item))
        pairs, share = ordered(data.gold.tolist(), data.a.tolist(), names, names, 0)
        return [pairs, share.value, share.low, share.high]

    def loop(data: Data, draws: int) -> Numbers:
        sums = []
        for item in range(int(data.item.max()) + 1):
            rows = slice(item * ITEM, (item + 1) * ITEM)
            first, second = np.triu_indices(len(data.gold[rows]), 1)
            order, step = (np.sign(values[rows][first] - values[rows][second]) for values in (data.gold, data.a))
            sums.append((((order * step + 1) / 2)[order != 0].sum(), (order != 0).sum()))
        table, rng = np.array(sums), np.random.default_rng(1)
        drawn = [table[rng.integers(len(table), size=len(table))].sum(axis=0) for _ in range(draws)]
        ends = np.quantile([right / pairs for right, pairs in drawn], [0.025, 0.975])
        return [int(table[:, 1].sum()), table[:, 0].sum() / table[:, 1].sum(), *ends.tolist()]

    return Work(ours, {"NumPy loop over items": Peer(loop)}, 2000, same=2, whole=True)


# --- ties


def tie_calibration(all_pairs: Callable[..., Any]) -> Work:
    def of(function: Callable[..., Any]) -> Statistic:
        def run(data: Data, _: int) -> Numbers:
            result = function(data.gold, data.a)
            return [result.accuracy, result.epsilon]

        return run

    return Work(of(tie_calibrated_accuracy), {"NumPy, all pairs": Peer(of(all_pairs), 4000, 2.0)})


def tie_calibration_in_items() -> Work:
    def ours(data: Data, _: int) -> Numbers:
        result = tie_calibration_by_item(data.gold, data.a, list(map(str, data.item)))
        return [] if result is None else [result.accuracy, result.epsilon]

    def loop(data: Data, _: int) -> Numbers:
        pairs, agreeing, gold, a = [], 0.0, data.gold.tolist(), data.a.tolist()
        weight = 1 / (ITEM * (ITEM - 1) / 2) / (data.n / ITEM)
        for start in range(0, data.n, ITEM):
            for i, j in combinations(range(start, start + ITEM), 2):
                concordant = (gold[i] - gold[j]) * (a[i] - a[j]) > 0
                agreeing += weight * concordant
                pairs.append((abs(a[i] - a[j]), weight * ((gold[i] == gold[j]) - concordant)))
        best, epsilon = agreeing, 0.0
        for size, gain in sorted(pairs):
            agreeing += gain
            if agreeing > best + 1e-12:
                best, epsilon = agreeing, size
        return [best, epsilon]

    return Work(ours, {"Python loop": Peer(loop)})


# --- permutation


def tau_test() -> Work:
    from scipy.stats import kendalltau

    def difference(gold: np.ndarray) -> Callable[[Any, Any], float]:
        return lambda first, second: kendalltau(gold, first).statistic - kendalltau(gold, second).statistic

    def ours(data: Data, draws: int) -> Numbers:
        test = correlation_permutation(data.gold, data.a, data.b, draws=draws)
        return [test.difference, test.p_value]

    def loop(data: Data, draws: int) -> Numbers:
        a, b, of = standardise(data.a), standardise(data.b), difference(data.gold)
        observed, hits = of(a, b), 0
        for batch in swap_masks(data.n, draws, np.random.default_rng(0)):
            for swap in batch.astype(bool):
                hits += abs(of(np.where(swap, b, a), np.where(swap, a, b))) >= abs(observed) - 1e-12
        return [float(observed), (hits + 1) / (draws + 1)]

    return Work(ours, {"SciPy loop": Peer(loop)}, 1000, same=1)


def score_test() -> Work:
    from scipy.stats import permutation_test

    def ours(data: Data, draws: int) -> Numbers:
        return [sign_permutation(data.a - data.b, draws=draws)]

    def scipy(data: Data, draws: int) -> Numbers:
        test = permutation_test(
            (data.a - data.b,),
            lambda steps, axis: steps.mean(axis=axis),
            permutation_type="samples",
            vectorized=True,
            n_resamples=draws,
            batch=max(1, 10**6 // data.n),
            rng=np.random.default_rng(1),
        )
        return [float(test.pvalue)]

    return Work(ours, {"scipy.stats.permutation_test": Peer(scipy)}, 10_000, same=0)


def soft_pairwise_accuracy() -> Work:
    from scipy.stats import permutation_test

    def ours(data: Data, draws: int) -> Numbers:
        names = [str(row % SYSTEMS) for row in range(data.n)]
        return [system_level(data.gold, data.a, names, (np.arange(data.n) // SYSTEMS).tolist(), draws).soft]

    def scipy(data: Data, draws: int) -> Numbers:
        tables, apart = [values.reshape(-1, SYSTEMS) for values in (data.gold, data.a)], []
        for first, second in combinations(range(SYSTEMS), 2):
            p = [
                permutation_test(
                    (table[:, first] - table[:, second],),
                    lambda steps, axis: steps.mean(axis=axis),
                    permutation_type="samples",
                    alternative="greater",
                    vectorized=True,
                    n_resamples=draws,
                    batch=max(1, 10**6 // len(table)),
                    rng=np.random.default_rng(1),
                ).pvalue
                for table in tables
            ]
            apart.append(abs(p[0] - p[1]))
        return [1 - float(np.mean(apart))]

    return Work(ours, {"scipy.stats.permutation_test": Peer(scipy)}, 1000, same=0)


# --- raters


def mean_interval() -> Work:
    def ours(data: Data, draws: int) -> Numbers:
        low, high = bootstrap.ratio_interval(data.a, np.ones(data.n), draws=draws) or (None, None)
        return [data.a.mean(), low, high]

    from scipy.stats import bootstrap as resample

    def scipy(data: Data, draws: int) -> Numbers:
        batch, rng = max(1, 10**6 // data.n), np.random.default_rng(1)
        result = resample((data.a,), np.mean, n_resamples=draws, method="percentile", batch=batch, rng=rng)
        return [data.a.mean(), *result.confidence_interval]

    return Work(ours, {"scipy.stats.bootstrap": Peer(scipy)}, 2000, same=1)


def icc21_of(table: np.ndarray) -> float:
    n, k = table.shape
    mean, items, raters = table.mean(), table.mean(axis=1), table.mean(axis=0)
    rest = ((table - items[:, None] - raters + mean) ** 2).sum() / ((n - 1) * (k - 1))
    of_items, of_raters = k * ((items - mean) ** 2).sum() / (n - 1), n * ((raters - mean) ** 2).sum() / (k - 1)
    return (of_items - rest) / (of_items + (k - 1) * rest + k * (of_raters - rest) / n)


def icc21() -> Work:
    import pandas as pd
    from pingouin import intraclass_corr

    def ours(data: Data, _: int) -> Numbers:
        result = icc.icc21(data.ratings.astype(float))
        return [result.value, result.low, result.high]

    def pingouin(data: Data, _: int) -> Numbers:
        n, k = data.ratings.shape
        rows = {"item": np.repeat(np.arange(n), k), "rater": np.tile(np.arange(k), n), "rating": data.ratings.ravel()}
        table = intraclass_corr(pd.DataFrame(rows), targets="item", raters="rater", ratings="rating")
        row = table[table["Type"].isin(["ICC2", "ICC(A,1)"])].iloc[0]
        return [row["ICC"], None, None]  # its bounds are rounded to two digits

    return Work(ours, {"pingouin": Peer(pingouin)})


def icc21_interval(of_scores: bool) -> Work:
    """`excam meta` has the labels and the scores of a metric as two raters; `excam annotate agreement` has ratings."""

    def table_of(data: Data) -> np.ndarray:
        return np.stack([data.gold, data.a], axis=1) if of_scores else data.ratings

    def ours(data: Data, _: int) -> Numbers:
        table = table_of(data)
        return [icc.icc21(table).value, *(icc.icc21_bootstrap(table, 0) or (None, None))]

    def loop(data: Data, draws: int) -> Numbers:
        table = table_of(data)
        return with_interval(icc21_of(table), [icc21_of(table[rows]) for rows in data.draws_of_items(draws)])

    return Work(ours, {"NumPy loop": Peer(loop)}, 2000, same=1, whole=True)


def alpha() -> Work:
    def ours(data: Data, _: int) -> Numbers:
        result = agreement.alpha(data.words, VALUES, "ordinal", 0)
        return [result.value, result.low, result.high]

    def loop(data: Data, draws: int) -> Numbers:
        from krippendorff import alpha as reference

        def value(table: np.ndarray) -> float:
            return float(reference(table.T, level_of_measurement="ordinal"))

        return with_interval(value(data.ratings), [value(data.ratings[rows]) for rows in data.draws_of_items(draws)])

    return Work(ours, {"krippendorff, loop": Peer(loop)}, 2000, same=1, whole=True)


def cohens_kappa() -> Work:
    from sklearn.metrics import cohen_kappa_score

    def ours(data: Data, _: int) -> Numbers:
        result = agreement.cohens_kappa([(first, second) for first, second, _ in data.words], 0)
        return [result.value, result.low, result.high]

    def loop(data: Data, draws: int) -> Numbers:
        first, second = data.ratings[:, 0].astype(int), data.ratings[:, 1].astype(int)
        drawn = [cohen_kappa_score(first[rows], second[rows]) for rows in data.draws_of_items(draws)]
        return with_interval(float(cohen_kappa_score(first, second)), drawn)

    return Work(ours, {"scikit-learn loop": Peer(loop)}, 2000, same=1, whole=True)


def works(all_pairs: Callable[..., Any]) -> dict[str, Work]:
    """Return all works by name; the function calibrates ties over all pairs."""
    return {
        "tau-b, interval": tau_interval("gold"),
        "tau-b, interval, labels all different": tau_interval("fine_gold"),
        "AUC, Spearman, Pearson and tau-b of two labels, intervals": two_labels(),
        "ordered pairs inside items, interval": ordered_pairs(),
        "tie calibration": tie_calibration(all_pairs),
        "tie calibration inside items": tie_calibration_in_items(),
        "test of two tau-b": tau_test(),
        "test of mean scores (excam compare)": score_test(),
        "soft pairwise accuracy of ten systems": soft_pairwise_accuracy(),
        "mean, interval": mean_interval(),
        "ICC(2,1), F interval": icc21(),
        "ICC(2,1) of ratings, interval": icc21_interval(of_scores=False),
        "ICC(2,1) of labels and scores, interval": icc21_interval(of_scores=True),
        "alpha (ordinal), interval": alpha(),
        "kappa (Cohen), interval": cohens_kappa(),
    }
