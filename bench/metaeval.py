"""How fast are the statistics? Exact tie calibration beside plain ones, correlation tests, the paper's whole grid.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python -m bench.metaeval --parts peers calibration draws stage

`peers`: each statistic of `excam meta` and of the agreement of raters beside the programs that give the same numbers,
which is asserted. Ours is run whole; of a peer as many draws as take a quarter of a second, continued to all; ~ marks a
peer measured at fewer rows, whose time is continued by its exponent. The exponent of ours is of the two largest sizes.
`calibration`: exact tie calibration against all pairs in NumPy and a plain double loop, in the same run, for scores
with many equal ones and with none; all give the same number, which is asserted. Each is measured in a process of its
own, for its peak memory (process and libraries included). Above a size where a plain one would take minutes, or memory
the machine has not got, its time is that of its largest size times the ratio of pairs, marked ~ (sorting makes the true
one longer). `draws`: the paired test of two metrics. `stage`: all numbers and tests of two bases with ten adapters each
and eighteen baselines, nine datasets, 7,600 rows. `CPU s` is processor time, which other jobs on the machine lengthen
less than the wall time.
"""

from __future__ import annotations

import argparse
import csv
import math
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from functools import lru_cache
from itertools import combinations
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import polars as pl

from bench.metaeval_peers import Data, Numbers, Peer, Statistic, Work, works
from excam import stats
from excam.error_reports.evaluation import certainty, verdicts
from excam.error_reports.record_files import JUDGEMENT_SCHEMA
from excam.stats import TieCalibration, tie_calibrated_accuracy

ROWS, DATASETS, ADAPTERS, BASELINES = 7600, 9, 10, 18
SYSTEMS = [
    f"{base}/{trained_on}"
    for base in ("gemma3", "phi3")
    for trained_on in ("all", *(f"without-{d}" for d in range(DATASETS)))
]
SYSTEMS += [f"baseline-{number}" for number in range(BASELINES)]
GOALS = {7600: 0.1, 40_000: 0.5}  # seconds of exact tie calibration
KINDS = ["excam", "continuous", "noise", "certainty", "heavy"]
STAGE_GOAL, MEMORY_GOAL = 180.0, 1000  # seconds on two cores, MB


def gold_and_metric(items: int, kind: str, seed: int, other: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Gold scores mixed as in ExCAM, and a metric's: ExCAM's own kind of scores, whole numbers, or no two alike.

    These are the gold scores with normal noise (continuous) or heavy-tailed noise (heavy), p(R)-like certainties, or
    unrelated to gold (noise). `other` seeds the metric alone: another metric on the same items.
    """
    rng = np.random.default_rng(seed)
    gold = rng.choice([0.0, -1, -2, -5, -10], items, p=[0.5, 0.1, 0.1, 0.25, 0.05])
    rng = rng if other is None else np.random.default_rng(other)
    if kind == "noise":
        return gold, rng.random(items)
    if kind == "continuous":
        return gold, gold + rng.normal(0, 3, items)
    if kind == "heavy":
        return gold, gold + 2 * rng.standard_cauchy(items)
    if kind == "certainty":
        return gold, np.exp(-rng.exponential(0.1, items) * (1 - gold))
    guess = np.where(rng.random(items) < 0.8, gold, rng.choice([0.0, -1, -5], items))
    if kind == "counts":
        return gold, guess
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


PLAIN: dict[str, Callable[[np.ndarray, np.ndarray], TieCalibration]] = {
    "exact": tie_calibrated_accuracy,
    "pairs": all_pairs,
    "loop": double_loop,
}


def measured(name: str, kind: str, items: int, seed: int, repeats: int) -> tuple[float, float, TieCalibration, int]:
    """Best wall and CPU seconds of `repeats`, the result, and the peak of this process in MB."""
    gold, metric = gold_and_metric(items, kind, seed)
    times, results = [], []
    for _ in range(repeats):
        wall, cpu = time.perf_counter(), time.process_time()
        results.append(PLAIN[name](gold, metric))
        times.append((time.perf_counter() - wall, time.process_time() - cpu))
    return min(times)[0], min(cpu for _, cpu in times), results[-1], peak()


def peak() -> int:
    """The most memory this process has held, in MB."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.split("VmHWM:")[1].split()[0]) // 1024


@lru_cache
def alone(*work: object) -> tuple:
    """The result of `measured` in a fresh process; the same work is measured once."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(measured, *work).result()  # pyright: ignore


def calibration(chosen: argparse.Namespace) -> None:
    heads = f"{'wall s':>9}{'CPU s':>8}{'goal':>6}{'MB':>6}"
    plain = f"{'all pairs CPU':>15}{'ratio':>8}{'MB':>7}{'loop CPU':>12}{'ratio':>8}{'MB':>7}"
    print(f"{'metric':<11}{'items':>7}{'pairs':>13}{heads}{plain}")
    for kind in chosen.kind:
        for items in chosen.items:
            wall, cpu, exact, memory = alone("exact", kind, items, chosen.seed, chosen.repeats)
            line = f"{kind:<11}{items:>7,}{items * (items - 1) // 2:>13,}{wall:>9.3f}{cpu:>8.3f}"
            line += f"{GOALS.get(items, ''):>6}{memory:>6}"
            for name, largest, width in (("pairs", chosen.pairs_items, 15), ("loop", chosen.loop_items, 12)):
                size = min(items, largest)
                _, slow, result, memory = alone(name, kind, size, chosen.seed, 1)
                same = exact if size == items else tie_calibrated_accuracy(*gold_and_metric(size, kind, chosen.seed))
                assert abs(result.accuracy - same.accuracy) < 1e-12, (result, same)
                assert result.epsilon == same.epsilon, (result, same)
                slow *= items * (items - 1) / (size * (size - 1))
                mark = "~" if size < items else ""
                line += f"{f'{mark}{slow:,.1f}':>{width}}{f'{slow / cpu:,.0f}x':>8}{f'{mark and chr(62)}{memory:,}':>7}"
            print(line, flush=True)


def draws(chosen: argparse.Namespace) -> None:
    """The paired test of two metrics of each kind, swapping bases of four rows."""
    print(f"{'metrics':<11}{'items':>7}{'draws':>7}{'measure':>16}{'wall s':>9}{'CPU s':>8}{'p':>7}{'MB':>6}")
    clusters = (np.arange(ROWS) // 4).tolist()
    for kind in ("counts", "excam", "continuous"):
        gold, a = gold_and_metric(ROWS, kind, chosen.seed)
        b = gold_and_metric(ROWS, kind, chosen.seed, other=chosen.seed + 1)[1]
        for measure in ("kendall", "tie-calibrated"):
            wall, cpu = time.perf_counter(), time.process_time()
            test = stats.correlation_permutation(
                gold, a, b, measure=measure, clusters=clusters, draws=chosen.draws, seed=chosen.seed
            )
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            line = f"{kind:<11}{ROWS:>7,}{chosen.draws:>7,}{measure:>16}{wall:>9.1f}{cpu:>8.1f}"
            print(f"{line}{test.p_value:>7.3f}{peak():>6}", flush=True)


def timed(function: Statistic, data: Data, draws: int) -> tuple[float, Numbers]:
    """Return the processor time of one call, the best of those that fit in a twentieth of a second, and its numbers."""
    times: list[float] = []
    numbers: Numbers = ()
    while sum(times) < 0.05 and len(times) < 10:
        cpu = time.process_time()
        numbers = function(data, draws)
        times.append(max(time.process_time() - cpu, 1e-6))
    return min(times), numbers


def beside(work: Work, peer: Peer, data: Data) -> float:
    """Return a peer's processor time for all draws; stop if its numbers are not ours."""
    draws, (single, _) = min(work.draws, 4), timed(peer.run, data, 1)
    seconds, numbers = timed(peer.run, data, draws)
    while draws < work.draws and seconds < single + 0.25:
        draws = min(work.draws, 6 * draws)
        seconds, numbers = timed(peer.run, data, draws)
    ours = work.ours(data, work.draws if work.whole else draws)
    if work.differs(ours, numbers, draws):
        raise AssertionError(f"{data.n} rows, {draws} draws: ours {ours}, peer {numbers}")
    return single + (seconds - single) / max(draws - 1, 1) * (work.draws - 1)


def peers(chosen: argparse.Namespace) -> None:
    """One table: ours and each peer at each size, the ratio, and how ours grows."""
    rows: list[list[object]] = []
    data = {size: Data(size, chosen.seed) for size in chosen.sizes}
    print(
        f"{'work (draws)':<72}{'peer':<38}"
        + "".join(f"{f'{size:,}: ours':>15}{'peer':>12}{'ratio':>10}" for size in data)
    )
    for name, work in works(all_pairs, double_loop).items():
        if chosen.works and not any(word in name for word in chosen.works):
            continue
        ours = [timed(work.ours, at_size, work.draws)[0] for at_size in data.values()]
        power = (
            math.log(ours[-1] / ours[-2]) / math.log(chosen.sizes[-1] / chosen.sizes[-2]) if len(ours) > 1 else math.nan
        )
        title = f"{name} ({work.draws:,})" if work.draws > 1 else name
        for peer_name, peer in work.peers.items():
            line = f"{title:<72}{peer_name:<38}"
            for (size, at_size), own in zip(data.items(), ours, strict=True):
                measured = at_size if size <= peer.largest else Data(peer.largest, chosen.seed)
                seconds = beside(work, peer, measured) * (size / measured.n) ** peer.growth
                printed = f"{'~' if measured.n < size else ''}{seconds:.3f}"
                line += f"{own:>15.4f}{printed:>12}{seconds / own:>9.1f}x"
                numbers = {"ours (s)": own, f"{peer_name} (s)": seconds, f"{peer_name}: ratio": seconds / own}
                rows += [[f"{title} | {size:,} rows | {what}", f"{value:.4g}", size] for what, value in numbers.items()]
            print(f"{line}  exponent {power:.2f}", flush=True)
        rows.append([f"{title} | {chosen.sizes[-1]:,} rows | exponent", f"{power:.2f}", chosen.sizes[-1]])
    if chosen.to:
        command, day = "python -m bench.metaeval --parts peers", datetime.now(UTC).date()
        unique = dict.fromkeys((what, value, n) for what, value, n in rows)
        with chosen.to.open("w", encoding="utf-8", newline="") as stream:
            csv.writer(stream, lineterminator="\n").writerows(
                ["speed beside peers", what, value, "", "", n, command, day] for what, value, n in unique
            )


@lru_cache(maxsize=len(SYSTEMS))
def judgements(system: int, seed: int) -> pl.DataFrame:
    """Return the judgements of one system on the test set: the same rows for all, a skill and scores of its own."""
    kind = "counts" if SYSTEMS[system].startswith("baseline") else "excam"
    gold, score = gold_and_metric(ROWS, kind, seed, other=seed + 1 + system)
    rng = np.random.default_rng([seed, system])
    failed = rng.random(ROWS) < 0.01
    base = np.arange(ROWS) // 4
    columns = {
        **{"id": np.arange(ROWS).astype(str), "pair": (np.arange(ROWS) // 2).astype(str)},
        **{"base": base.astype(str), "group": base.astype(str), "dataset": (base % DATASETS).astype(str)},
        **{"language": np.array(["English", "Turkish", "Greek"])[base % 3], "gold_score": gold, "gold_error": gold < 0},
        **{"errors_found": np.where(failed, 0, (score < 0) + 0), "score": np.minimum(score, 0)},
        **{"certainty": np.exp(-rng.exponential(0.1, ROWS)), "failure": np.where(failed, "no-json", "")},
    }
    frame = pl.DataFrame({name: columns.get(name, [None] * ROWS) for name in JUDGEMENT_SCHEMA}, strict=False)
    frame = frame.cast(JUDGEMENT_SCHEMA).with_columns(pl.col("failure").replace("", None))  # pyright: ignore
    lost = pl.col("failure").is_not_null()
    return frame.with_columns(pl.when(~lost).then(pl.col(name)).alias(name) for name in ("errors_found", "score"))


def cell(system: int, dataset: int | None, seed: int) -> tuple[str, float, int]:
    """Every number of one system on one dataset, or on all."""
    cpu, frame = time.process_time(), judgements(system, seed)
    frame = frame if dataset is None else frame.filter(pl.col("dataset") == str(dataset))
    verdicts.evaluate(frame, seed)
    if dataset is None and not SYSTEMS[system].split("/")[-1].startswith("without"):
        certainty.evaluate(frame, frame.sample(frame.height // 2, seed=seed), seed)
    return "numbers", time.process_time() - cpu, peak()


def accuracy_pair(a: int, b: int, dataset: int | None, number: int, seed: int) -> tuple[str, float, int]:
    """Two systems' accuracies: the exact test and the paper's."""
    cpu, frames = time.process_time(), [judgements(system, seed) for system in (a, b)]
    frames = [frame if dataset is None else frame.filter(pl.col("dataset") == str(dataset)) for frame in frames]
    gold, clusters = frames[0]["gold_error"].to_list(), frames[0]["group"].to_list()
    predicted = [verdicts.predicted_errors(frame) for frame in frames]
    stats.paired_permutation(gold, *predicted, clusters=clusters)
    stats.paired_permutation(gold, *predicted, clusters=clusters, mode="paper", draws=number, seed=seed)
    return "accuracy tests", time.process_time() - cpu, peak()


def correlation_pair(a: int, b: int, fallback: bool, number: int, seed: int) -> tuple[str, float, int]:
    """ExCAM's correlations, with the certainty fallback, beside another system's, with it or without."""
    cpu, frames = time.process_time(), [judgements(system, seed) for system in (a, b)]
    rows = [verdicts.scores(frames[0], fallback=True), verdicts.scores(frames[1], fallback=fallback)]
    gold, clusters = frames[0]["gold_score"].to_list(), frames[0]["group"].to_list()
    for measure in ("kendall", "tie-calibrated"):
        stats.correlation_permutation(gold, *rows, measure=measure, clusters=clusters, draws=number, seed=seed)
    return "correlation tests", time.process_time() - cpu, peak()


def stage(chosen: argparse.Namespace) -> None:
    """Table 4, Figures 3 and 11: each column's systems are its leave-one-out adapters, the full ones, the baselines."""
    start, seed, number = time.perf_counter(), chosen.seed, chosen.draws
    full = [at for at, name in enumerate(SYSTEMS) if name.endswith("/all") or name.startswith("baseline")]
    tuned = [at for at in full if SYSTEMS[at].endswith("/all")]
    pairs = [(a, b) for a in tuned for b in full if a != b]
    jobs: list[tuple] = [(correlation_pair, a, b, also, number, seed) for a, b in pairs for also in (False, True)]
    for dataset in (None, *range(DATASETS)):
        here = full + [at for at, name in enumerate(SYSTEMS) if name.endswith(f"/without-{dataset}")]
        jobs += [(accuracy_pair, a, b, dataset, number, seed) for a, b in combinations(here, 2)]
        jobs += [(cell, system, dataset, seed) for system in range(len(SYSTEMS))]
    with ProcessPoolExecutor(chosen.processes, mp_context=get_context("spawn")) as pool:
        done = [future.result() for future in [pool.submit(*job) for job in jobs]]
    wall, cpu = time.perf_counter() - start, sum(seconds for _, seconds, _ in done)
    for kind in ("numbers", "accuracy tests", "correlation tests"):
        mine = [seconds for name, seconds, _ in done if name == kind]
        print(f"{kind:<20}{len(mine):>6} jobs{sum(mine):>9.1f} CPU s")
    most = max(memory for *_, memory in done)
    print(f"{'stage':<20}{len(done):>6} jobs{cpu:>9.1f} CPU s{wall:>8.1f} wall s, {chosen.processes} processes", end="")
    print(f" (goal {STAGE_GOAL:.0f}); largest process {most} MB (goal {MEMORY_GOAL})", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", choices=["peers", "calibration", "draws", "stage"], nargs="+", default=["peers"])
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 10_000, 100_000], help="of the part peers")
    parser.add_argument("--works", nargs="*", help="words of the names of works of the part peers; all by default")
    parser.add_argument("--to", type=Path, help="a CSV file of the part peers, as docs/results/statistics.csv has it")
    parser.add_argument("--items", type=int, nargs="+", default=[500, 2000, 7600, 40_000])
    parser.add_argument("--kind", choices=KINDS, nargs="+", default=KINDS[:3])
    parser.add_argument("--pairs-items", type=int, default=7600, help="largest size for all pairs in NumPy (2 GB)")
    parser.add_argument("--loop-items", type=int, default=1000, help="largest size for the double loop")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    for part in chosen.parts:
        {"peers": peers, "calibration": calibration, "draws": draws, "stage": stage}[part](chosen)


if __name__ == "__main__":
    main()
