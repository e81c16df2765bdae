"""How fast are the statistics, beside the programs that give the same numbers?

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python -m bench.metaeval

Each statistic of `excam meta` and of the agreement of raters beside the programs that give the same numbers, which is
asserted. Ours is run whole; of a peer as many draws as take a quarter of a second, continued to all; ~ marks a peer
measured at fewer rows, whose time is continued by its exponent. The exponent of ours is of the two largest sizes.
"""

from __future__ import annotations

import argparse
import csv
import math
import time
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from bench.metaeval_peers import Data, Numbers, Peer, Statistic, Work, works
from excam.stats.correlation import TieCalibration


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
    for name, work in works(all_pairs).items():
        if chosen.works and not any(word in name for word in chosen.works):
            continue
        ours = [timed(work.ours, at_size, work.draws)[0] for at_size in data.values()]
        power = (
            math.log(ours[-1] / ours[-2]) / math.log(chosen.sizes[-1] / chosen.sizes[-2]) if len(ours) > 1 else math.nan
        )
        title = f"{name} ({work.draws:,})" if work.draws > 1 else name
        for peer_name, peer in work.peers.items():
            line = f"{title:<72}{peer_name:<38}"
            for (size, at_size), our_time in zip(data.items(), ours, strict=True):
                measured = at_size if size <= peer.largest else Data(peer.largest, chosen.seed)
                seconds = beside(work, peer, measured) * (size / measured.n) ** peer.growth
                printed = f"{'~' if measured.n < size else ''}{seconds:.3f}"
                line += f"{our_time:>15.4f}{printed:>12}{seconds / our_time:>9.1f}x"
                numbers = {"ours (s)": our_time, f"{peer_name} (s)": seconds, f"{peer_name}: ratio": seconds / our_time}
                rows += [[f"{title} | {size:,} rows | {what}", f"{value:.4g}", size] for what, value in numbers.items()]
            print(f"{line}  exponent {power:.2f}", flush=True)
        rows.append([f"{title} | {chosen.sizes[-1]:,} rows | exponent", f"{power:.2f}", chosen.sizes[-1]])
    if chosen.to:
        command, day = "python -m bench.metaeval", datetime.now(UTC).date()
        with chosen.to.open("w", encoding="utf-8", newline="") as stream:
            csv.writer(stream, lineterminator="\n").writerows(
                ["speed beside peers", what, value, "", "", n, command, day]
                for what, value, n in dict.fromkeys(map(tuple, rows))
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 10_000, 100_000])
    parser.add_argument("--works", nargs="*", help="words of the names of works; all by default")
    parser.add_argument("--to", type=Path, help="a CSV file, as docs/results/statistics.csv has it")
    parser.add_argument("--seed", type=int, default=0)
    peers(parser.parse_args())


if __name__ == "__main__":
    main()
