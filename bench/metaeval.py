"""How fast is exact tie calibration? Against all pairs in NumPy and against a plain double loop, in the same run.

    python -m bench.metaeval --items 1000 7600 --loop-items 300

All three give the same number, which is asserted. The others are skipped above sizes where they would take minutes or
memory the machine has not got (24 bytes and more per pair).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

from excam.metaeval import TieCalibration, tie_calibrated_accuracy


def gold_and_metric(items: int, kind: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Gold scores mixed as in ExCAM, and a metric: its own kind of scores, continuous ones, or noise."""
    rng = np.random.default_rng(seed)
    gold = rng.choice([0.0, -1, -2, -5, -10], items, p=[0.5, 0.1, 0.1, 0.25, 0.05])
    if kind == "noise":
        return gold, rng.random(items)
    if kind == "continuous":
        return gold, gold + rng.normal(0, 3, items)
    guess = np.where(rng.random(items) < 0.8, gold, rng.choice([0.0, -1, -5], items))
    return gold, np.where(guess < 0, guess, np.exp(-rng.exponential(0.1, items)))


def all_pairs(gold: np.ndarray, metric: np.ndarray) -> TieCalibration:
    """Sort every pair by its difference."""
    first, second = np.triu_indices(len(gold), 1)
    step, order = metric[second] - metric[first], np.sign(gold[second] - gold[first])
    tied, concordant = order == 0, (order != 0) & (np.sign(step) == order)
    size = np.abs(step)
    by_size = np.argsort(size)
    size = size[by_size]
    agreeing = concordant.sum() + np.cumsum((tied.astype(np.int64) - concordant)[by_size])
    last = np.flatnonzero(np.r_[np.diff(size) != 0, True])
    winner = last[np.argmax(agreeing[last])]
    at_zero = concordant.sum() + np.sum(tied & (step == 0))
    if at_zero >= agreeing[winner]:
        return TieCalibration(at_zero / len(first), 0.0)
    return TieCalibration(agreeing[winner] / len(first), float(size[winner]))


def double_loop(gold: np.ndarray, metric: np.ndarray) -> TieCalibration:
    """One Python object per pair, as the reference implementation has it."""
    pairs, agreeing = [], 0
    for i, (gold_i, metric_i) in enumerate(zip(gold.tolist(), metric.tolist(), strict=True)):
        for gold_j, metric_j in zip(gold[:i].tolist(), metric[:i].tolist(), strict=True):
            concordant = (gold_i - gold_j) * (metric_i - metric_j) > 0
            agreeing += concordant
            pairs.append((abs(metric_i - metric_j), (gold_i == gold_j) - concordant))
    pairs.sort()
    best, epsilon, at = -1, 0.0, 0
    if pairs[0][0] > 0:
        best = agreeing
    while at < len(pairs):
        size = pairs[at][0]
        while at < len(pairs) and pairs[at][0] == size:
            agreeing += pairs[at][1]
            at += 1
        if agreeing > best:
            best, epsilon = agreeing, size
    return TieCalibration(best / len(pairs), epsilon)


def seconds(work: Callable[[], TieCalibration], repeats: int) -> tuple[float, TieCalibration]:
    """Best wall time of `repeats`, and the result."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = work()
        times.append(time.perf_counter() - start)
    return min(times), result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, nargs="+", default=[500, 2000, 7600, 40000])
    parser.add_argument("--kind", choices=["excam", "continuous", "noise"], nargs="+", default=["excam", "continuous"])
    parser.add_argument("--pairs-items", type=int, default=2000, help="largest size for all pairs in NumPy")
    parser.add_argument("--loop-items", type=int, default=500, help="largest size for the double loop")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    heads = f"{'exact s':>10}{'all pairs s':>13}{'ratio':>8}{'loop s':>9}{'ratio':>8}"
    print(f"{'metric':<11}{'items':>7}{'pairs':>13}{heads}")
    for kind in chosen.kind:
        for items in chosen.items:
            gold, metric = gold_and_metric(items, kind, chosen.seed)
            fast, result = seconds(lambda g=gold, m=metric: tie_calibrated_accuracy(g, m), chosen.repeats)
            line = f"{kind:<11}{items:>7,}{items * (items - 1) // 2:>13,}{fast:>10.4f}"
            for slow, largest, width in ((all_pairs, chosen.pairs_items, 13), (double_loop, chosen.loop_items, 9)):
                if items > largest:
                    line += f"{'-':>{width}}{'-':>8}"
                    continue
                taken, same = seconds(lambda g=gold, m=metric, s=slow: s(g, m), 1)
                assert abs(same.accuracy - result.accuracy) < 1e-12, (same, result)
                assert same.epsilon == result.epsilon, (same, result)
                line += f"{taken:>{width}.3f}{taken / fast:>7.0f}x"
            print(line, flush=True)


if __name__ == "__main__":
    main()
