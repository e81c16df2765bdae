"""Macaron at the official size, from made-up scenarios and answers: seconds and memory of each step.

    python -m bench.macaron --scenarios 1977 --systems 21

The answers are random, so the numbers in the tables mean nothing. `plain` draws the bootstrap of one breakdown with a
loop over scenarios, as a program without our statistics would; the ratio is printed beside ours.
"""

from __future__ import annotations

import argparse
import random
import resource
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from bench.processes import ROOT
from excam.core import tables
from excam.macaron import answers, breakdowns, derive, numbers, pages, source
from excam.macaron.asks import Answered
from excam.macaron.scenarios import Scenario
from scripts import run

DRAWS = 100  # of the plain bootstrap; ours has 2,000
R = TypeVar("R")


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenarios", type=int, default=1977)
    parser.add_argument("--systems", type=int, default=21)
    args = parser.parse_args(argv)

    scenarios = made_up(args.scenarios)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        instances = timed("derive", lambda: derive.instances(scenarios, 1))
        shuffled = random.Random(1).sample(scenarios, len(scenarios))
        paths = [folder / name for name in ("given.parquet", "shuffled.parquet")]
        for path, order in zip(paths, (scenarios, shuffled), strict=True):
            tables.write_frame(path, derive.to_frame(derive.instances(order, 1)))
        assert paths[0].read_bytes() == paths[1].read_bytes(), "the order of the scenarios changes the file"
        print(f"{len(instances):,} instances, the same bytes in any order of {len(scenarios):,} scenarios")
        files = timed("write answers", lambda: [written(folder, instances, n) for n in range(args.systems)])
        systems = timed("read and join answers", lambda: answers.join(instances, files))
        timed("all tables and figures", lambda: pages.write_all(folder / "report", systems, {}, 1))
        ours = timed("one breakdown", lambda: numbers.breakdown(systems[0].rows, breakdowns.GROUPS["aspects"], 1))
        started = time.perf_counter()
        plain(systems[0].rows)
        seconds = (time.perf_counter() - started) / DRAWS * 2000
        print(f"plain: {seconds:.1f} s for the intervals of one breakdown, from {DRAWS} draws ({len(ours)} lines)")
    print(f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB at the peak")


def timed(what: str, work: Callable[[], R]) -> R:
    """Return the result of some work, and print how long it took, on the clock and of the processor."""
    started, used = time.perf_counter(), time.process_time()
    result = work()
    print(f"{what}: {time.perf_counter() - started:.2f} s, {time.process_time() - used:.2f} s of processor")
    return result


def made_up(number: int) -> list[Scenario]:
    """Return scenarios: copies of the miniature's with names and templates of their own, in twenty countries."""
    own = source.read(source.files(ROOT / "mini/macaron"), {}).scenarios
    return [
        replace(
            own[at % len(own)],
            id=f"country-{at % 20}/{at}",
            template=at // 20,
            country=f"C{at % 20}",
            language=f"L{at % 20}",
        )
        for at in range(number)
    ]


def written(folder: Path, instances: Sequence[derive.Instance], number: int) -> Path:
    """Write random answers of one system, one in fifty unanswered; return the file."""
    chance = random.Random(number)
    answered = [
        Answered(None, "no-answer-line", "text")
        if chance.random() < 0.02
        else Answered(instance.gold if chance.random() < 0.4 else chance.choice(instance.valid), None, "text")
        for instance in instances
    ]
    path = folder / f"{number}.parquet"
    tables.write_frame(path, answers.to_frame(instances, f"model-{number}", "text", answered))
    return path


def plain(rows: Sequence[Mapping[str, Any]]) -> None:
    """Draw scenarios with replacement, one by one, for each aspect and language."""
    groups: dict[tuple[str, str], dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        for aspect in row["aspects"]:
            for lang in (row["lang"], "all"):
                groups[aspect, lang][row["scenario"]].append(row["pred"] == row["gold"])
    chance = random.Random(1)
    for group in groups.values():
        names = list(group)
        for _ in range(DRAWS):
            drawn = [right for _ in names for right in group[chance.choice(names)]]
            _ = sum(drawn) / len(drawn)


if __name__ == "__main__":
    run(main)
