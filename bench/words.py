"""The judge `words` on rows that people wrote: what its probabilities are fitted on, and how often it is right.

    python -m bench.words --reading FOLDER --data FOLDER --to docs/grounded/words.csv

Rows are those of `bench.reading`. Dev rows are every second paragraph of XQuAD, the same in all languages, and the dev
rows of prose; the others are test rows. Printed are the shares that `excam/error_reports/readers/words.py` holds as
RIGHT. The table has, of test rows, the share with a verdict, how often that is right, and the scaled accuracy
2 * accuracy - 1 with a row that is not known half right, which of rows that passages do not decide means nothing;
`taken back` and `added` are right answers within the words of TAKEN_BACK and ADDED.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from bench.reading_rows import Row, parts, sets, xquad
from excam.core import tables
from excam.error_reports.readers import words
from excam.error_reports.readers.base import Reading, Task
from excam.stats import bootstrap
from scripts import run

PAIRS = 200  # right answers that words are put around
COLUMNS = ("rows", "n", "paragraphs", "with_verdict", "right", "right_low", "right_high", "scaled", "low", "high")
SETS = ("prose", "hard", "absent")
TAKEN_BACK = (
    *("It is a myth that {}.", "{}, but that is wrong.", "# Myth\n{}", "Not {}", "{}? No.", "~~{}~~", "False: {}"),
    *("I do not believe that. {}", "Everything but {}", "{} ❌", "Some say {}; they are mistaken.", "hardly {}"),
)
ADDED = ("{}.", "**{}**", "The answer is {}.", "It is {}.", "Answer: {}", "{} [1]", "“{}”", " {} \n", "- {}")


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reading", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--to", type=Path, required=True)
    args = parser.parse_args(argv)
    splits = {True: dict[str, list[Row]](), False: dict[str, list[Row]]()}
    questions = [replace(row, fit=int(row.group) // 2 % 2 == 0) for row in xquad(args.reading)]
    read = {f"XQuAD, {name}": [row for row in questions if row.part == name] for name in parts(questions)}
    read |= {f"{name}, English": sets(None, args.data, None)[name]() for name in SETS}
    for is_dev, split in splits.items():
        split |= {name: own for name, rows in read.items() if (own := [row for row in rows if row.fit == is_dev])}
    fitted(splits[True])
    for name, forms in (("taken back", TAKEN_BACK), ("added", ADDED)):
        known = [row for rows in splits[False].values() for row in rows if row.right and _of(row).supported > 0.5]
        splits[False][name] = [replace(row, text=form.format(row.text)) for row in known[:PAIRS] for form in forms]
    tables.write_lines(args.to, COLUMNS, [numbers(name, rows) for name, rows in splits[False].items()])


def fitted(dev: Mapping[str, Sequence[Row]]) -> None:
    """Print how many answers are right by what is read of them, in dev rows where passages state the answer."""
    counts = defaultdict[float, list[bool]](list)
    for name, rows in dev.items():
        if name.startswith(("XQuAD", "prose")):
            for row in rows:
                counts[_of(row).supported].append(bool(row.right))
    for probability, right in sorted(counts.items()):
        print(f"{probability:.2f}: {np.mean(right):.3f} of {len(right)}" + ", not known" * (not probability))


def numbers(name: str, rows: Sequence[Row]) -> dict[str, Any]:
    """Return a line of the table; intervals of 95 % are over paragraphs or base samples."""
    read = [_of(row) for row in rows]
    groups = [row.group for row in rows]
    known = np.array([reading.not_stated < 1 for reading in read])
    right = np.array([(reading.supported > 0.5) == bool(row.right) for reading, row in zip(read, rows, strict=True)])
    hits = np.where(known, right, 0.5)
    low, high = bootstrap.share_interval(hits, None, groups, seed=0) or (0.0, 1.0)
    line = {"rows": name, "n": len(rows), "paragraphs": len(set(groups)), "with_verdict": float(known.mean())}
    kept = [group for group, is_known in zip(groups, known, strict=True) if is_known]
    bounds = bootstrap.share_interval(right[known].astype(float), None, kept, seed=0) if kept else None
    line |= {"right": float(right[known].mean()) if kept else None}
    line |= dict(zip(("right_low", "right_high"), bounds or (None, None), strict=True))
    return line | {"scaled": float(2 * hits.mean() - 1), "low": 2 * low - 1, "high": 2 * high - 1}


def _of(row: Row) -> Reading:
    return words.reading_of(Task(row.question, row.text, row.passages, language=row.language))


if __name__ == "__main__":
    run(main)
