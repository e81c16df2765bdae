"""How often 95 % intervals hold the true value, by statistic and number of clusters: of the bootstrap alone, and ours.

    python -m bench.coverage --to docs/results/coverage.csv

Rows are in clusters of three that are alike by half; scores with ties are rounded to whole numbers, skewed ones are the
exponential of normal ones. The true value is that of 20,000 clusters (tau-b: 600 of them, 40 times). A sample without
an interval holds nothing and is counted beside.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from excam.core import tables
from excam.stats import agreement, bootstrap
from excam.stats.few_clusters import FEW
from excam.stats.grouped_pairs import GroupedPairs
from excam.stats.icc import icc11, icc21, icc21_bootstrap

CLUSTERS = 8, 12, 20, 30, 80
HEAD = "topic", "what", "value", "low", "high", "n", "command", "commit_or_date"
Floats = NDArray[np.float64]
Interval = tuple[float, float] | None
Sample = Callable[[np.random.Generator, int], Floats]  # rows of clusters, three each
Statistic = Callable[[Floats], tuple[float, Interval]]


def alike(rng: np.random.Generator, clusters: int, half: float = 0.5) -> Floats:
    """Return normal numbers, shape (clusters, 3), whose variance is by `half` that of clusters."""
    return rng.normal(size=(clusters, 1)) * half**0.5 + rng.normal(size=(clusters, 3)) * (1 - half) ** 0.5


def skewed(rng: np.random.Generator, clusters: int) -> Floats:
    return np.exp(alike(rng, clusters)).round()


def two_metrics(rng: np.random.Generator, clusters: int) -> Floats:
    """Return labels and scores with ties that correlate by .6."""
    labels = alike(rng, clusters)
    return np.floor(1.2 * np.stack([labels, 0.6 * labels + 0.8 * alike(rng, clusters)]))


def ratings(rng: np.random.Generator, clusters: int) -> Floats:
    """Return ratings of three raters, the second and third more generous."""
    return np.round(1.2 * alike(rng, clusters, 0.6) + 3 + 0.3 * np.arange(3))


def numbers(clusters: int) -> list[int]:
    return np.repeat(np.arange(clusters), 3).tolist()


def of(value: float | None, low: float | None, high: float | None) -> tuple[float, Interval]:
    return value or 0.0, None if low is None or high is None else (low, high)


def mean(rows: Floats) -> tuple[float, Interval]:
    return float(rows.mean()), bootstrap.ratio_interval(rows.ravel(), np.ones(rows.size), numbers(len(rows)))


def share(rows: Floats) -> tuple[float, Interval]:
    return float(rows.mean()), bootstrap.share_interval(rows.ravel(), None, numbers(len(rows)))


def f1(rows: Floats) -> tuple[float, Interval]:
    """Take the first rater's mark above 3 as gold, the second's as the prediction."""
    gold, said = rows[:, 0] > 3, rows[:, 1] > 3
    estimate = bootstrap.share(2 * (gold & said), range(len(rows)), 0, gold.astype(int) + said)
    return of(estimate["value"], estimate["low"], estimate["high"])


def tau_b(rows: Floats) -> tuple[float, Interval]:
    pairs = GroupedPairs(rows[0].ravel(), rows[1].ravel())
    clusters = rows.shape[1]
    return pairs.sums().tau_b, None if clusters > 500 else pairs.intervals(numbers(clusters), 400, 0)[0]


def alpha(rows: Floats) -> tuple[float, Interval]:
    words = [["low", "middle", "high"][int(value)] for value in np.clip(rows - 2, 0, 2).ravel()]
    items = [words[at : at + 3] for at in range(0, len(words), 3)]
    estimate = agreement.alpha(items, ["low", "middle", "high"], "nominal", 0)
    return of(estimate.value, estimate.low, estimate.high)


def alpha_of_numbers(rows: Floats) -> tuple[float, Interval]:
    estimate = agreement.alpha_of_numbers(rows.tolist(), 0)
    return of(estimate.value, estimate.low, estimate.high)


def one_way(rows: Floats) -> tuple[float, Interval]:
    estimate = icc11(rows.tolist(), 0)
    return of(estimate.value, estimate.low, estimate.high)


def by_f(rows: Floats) -> tuple[float, Interval]:
    estimate = icc21(rows)
    return of(estimate.value, estimate.low, estimate.high)


CASES: Mapping[str, tuple[Sample, Statistic]] = {
    "mean of normal scores": (alike, mean),
    "mean of skewed scores with ties": (skewed, mean),
    "difference of two systems": (lambda rng, size: skewed(rng, size) - 0.5 * skewed(rng, size), mean),
    "share of .1": (lambda rng, size: (alike(rng, size) < -1.2816).astype(float), share),
    "share of .5": (lambda rng, size: (alike(rng, size) < 0).astype(float), share),
    "F1": (ratings, f1),
    "tau-b": (two_metrics, tau_b),
    "alpha (nominal)": (ratings, alpha),
    "alpha of numbers": (ratings, alpha_of_numbers),
    "ICC(1,1)": (ratings, one_way),
    "ICC(2,1), these raters": (ratings, lambda rows: (by_f(rows)[0], icc21_bootstrap(rows, 0))),
    "ICC(2,1) by F": (ratings, by_f),
}


@contextmanager
def percentiles_alone() -> Iterator[None]:
    """Let the bootstrap judge few clusters too."""
    limits = bootstrap.FEW, bootstrap.FEWEST
    bootstrap.FEW = bootstrap.FEWEST = 0
    try:
        yield
    finally:
        bootstrap.FEW, bootstrap.FEWEST = limits


def true_value(sample: Sample, statistic: Statistic) -> float:
    rng = np.random.default_rng(1)
    if statistic is tau_b:
        return float(np.mean([statistic(sample(rng, 600))[0] for _ in range(40)]))
    return statistic(sample(rng, 20_000))[0]


def coverage(name: str, clusters: int, truth: float, draws: int) -> tuple[float, float, int]:
    """Return the share of samples whose interval holds the truth, the median width, and those without an interval."""
    sample, statistic = CASES[name]
    rng = np.random.default_rng([clusters, *name.encode()])
    intervals = [statistic(sample(rng, clusters))[1] for _ in range(draws)]
    widths = [bounds[1] - bounds[0] for bounds in intervals if bounds]
    held = sum(bounds[0] <= truth <= bounds[1] for bounds in intervals if bounds)
    return held / draws, float(np.median(widths)) if widths else float("nan"), draws - len(widths)


def lines(draws: int) -> Iterator[dict[str, object]]:
    for name, case in CASES.items():
        truth = true_value(*case)
        for clusters in CLUSTERS:
            ours = coverage(name, clusters, truth, draws)
            with percentiles_alone():
                bootstrapped = ours if clusters > FEW else coverage(name, clusters, truth, draws)
            for way, (held, width, absent) in (("bootstrap", bootstrapped), ("ours", ours)):
                what = f"{name} | {clusters} clusters: {way}"
                print(f"{what}: {held:.3f}, width {width:.3f}, {absent} without", flush=True)
                yield {"topic": "coverage", "what": what, "value": f"{held:.3f}", "n": draws}


def main() -> None:
    """Simulate, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=400, help="samples of each statistic and number of clusters")
    parser.add_argument("--to", type=Path, required=True, help="CSV file to write")
    arguments = parser.parse_args()
    command = {"command": f"python -m bench.coverage --draws {arguments.draws}"}
    tables.write_lines(arguments.to, HEAD, [line | command for line in lines(arguments.draws)])


if __name__ == "__main__":
    main()
