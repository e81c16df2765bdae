"""The analysis of ratings at the size of a study, from made-up ratings: seconds of each step.

python -m bench.rubric --responses 200 --raters 3
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from excam.core import tables
from excam.rubric import checks, manual, pages, ratings, responses, study
from excam.rubric.manual import DIMENSIONS, SCORES
from scripts import run

R = TypeVar("R")


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--responses", type=int, default=200)
    parser.add_argument("--raters", type=int, default=3)
    args = parser.parse_args(argv)

    rubric = manual.load()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        write(folder, args.responses, args.raters)
        known = timed("read responses", lambda: responses.read([folder / "responses.jsonl"]))
        read = timed("read and check ratings", lambda: checks.read([folder / "ratings.jsonl"], known, [rubric]))
        assert not read.breaches, read.breaches[0]
        study.study(read, known[:20], [rubric], "complete", 0)  # libraries are imported once
        result = timed("all numbers", lambda: study.study(read, known, [rubric], "complete", 0))
        timed("all tables and the page", lambda: pages.write_all(folder, result))
        timed("all numbers, mixed model", lambda: study.study(read, known, [rubric], "mixed", 0))
        timed(
            "write ratings as Parquet", lambda: tables.write_frame(folder / "r.parquet", ratings.to_frame(read.ratings))
        )


def timed(what: str, work: Callable[[], R]) -> R:
    """Return the result of some work, and print how long it took: on the clock, and of the processor."""
    started, used = time.perf_counter(), time.process_time()
    result = work()
    print(f"{what}: {time.perf_counter() - started:.2f} s, processor {time.process_time() - used:.2f} s")
    return result


def write(folder: Path, number: int, raters: int) -> None:
    """Write made-up responses and ratings: raters that agree in part, a tenth of ratings missing."""
    chance = random.Random(1)
    tasks = [
        {
            **{"task_id": f"t{at}", "prompt": "a question", "response": "a word " * chance.randint(5, 200)},
            **{
                "culture": f"C{at % 6}",
                "complexity": chance.choice(("low", "medium", "high")),
                "scenario": f"S{at % 5}",
            },
        }
        for at in range(number)
    ]
    rows = []
    for rater in range(raters):
        for at in range(number):
            true = 1 + at % 5
            scores = [min(5, max(1, true + chance.choice((-1, 0, 0, 1)))) for _ in DIMENSIONS]
            named_scores = dict(zip(SCORES, [*scores, (sum(scores) + 2) // 4], strict=True))
            row = {
                **{"task_id": f"t{at}", "rater": f"r{rater}", "role": "validator" if rater else "evaluator"},
                **{"rubric": manual.CURRENT, "confidence": 3, "seconds": 300, **named_scores},
                **{f"rationale_{name}": "So it is." for name in DIMENSIONS},
                "saved": f"2026-11-{1 + at // 24 % 28:02d}T{at % 24:02d}:00:00+00:00",
            }
            if rater == 0 or chance.random() < 0.9:
                rows.append(row)
    for name, lines in (("responses", tasks), ("ratings", rows)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    run(main)
