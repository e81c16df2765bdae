"""The judge `words` on rows that people wrote: what its probabilities are fitted on, and how often it is right.

    python -m bench.words --reading FOLDER --rows FOLDER --to docs/grounded/words.csv

`--reading` holds XQuAD as `xquad.LANG.jsonl.gz` (passage, instruction, output, label, language, paragraph), a right and
a wrong answer of the same paragraph for each question; `--rows` is the folder of `bench.grounded_rows`. Dev rows are
every second paragraph, the same in all languages, and the dev split; the others are test rows. Printed are the shares
that `excam/error_reports/readers/words.py` holds as RIGHT. The table has, of test rows, the share with a
verdict, how often that is right, and the scaled accuracy 2 * accuracy - 1 with a row that is not known half right;
`taken back` and `added` are right answers within the words of TAKEN_BACK and ADDED.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from excam.core import tables
from excam.core.language_identity import code_name
from excam.error_reports.readers import words
from excam.error_reports.readers.base import Reading, Task
from excam.stats import bootstrap
from scripts import run

PAIRS = 200  # right answers that words are put around
COLUMNS = ("rows", "n", "paragraphs", "with_verdict", "right", "right_low", "right_high", "scaled", "low", "high")
SETS = ("prose", "absent", "unrelated", "contradicting")
TAKEN_BACK = (
    *("It is a myth that {}.", "{}, but that is wrong.", "# Myth\n{}", "Not {}", "{}? No.", "~~{}~~", "False: {}"),
    *("I do not believe that. {}", "Everything but {}", "{} ❌", "Some say {}; they are mistaken.", "hardly {}"),
)
ADDED = ("{}.", "**{}**", "The answer is {}.", "It is {}.", "Answer: {}", "{} [1]", "“{}”", " {} \n", "- {}")


@dataclass(frozen=True, slots=True)
class Row:
    """An answer to be read, whether it is right, and the paragraph or base sample that it is of."""

    task: Task
    is_right: bool
    group: str


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reading", type=Path, required=True)
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument("--to", type=Path, required=True)
    args = parser.parse_args(argv)
    splits = [dict[str, list[Row]](), dict[str, list[Row]]()]
    for file in sorted(args.reading.glob("xquad.*.jsonl.gz")):
        for is_test, rows in enumerate(xquad(file)):
            splits[is_test][f"XQuAD, {rows[0].task.language}"] = rows
    for is_test, split in enumerate(("dev", "test")):
        splits[is_test] |= {f"{kind}, English": list(prose(args.rows / f"{split}.jsonl", kind)) for kind in SETS}
    fitted(splits[0])
    for name, forms in (("taken back", TAKEN_BACK), ("added", ADDED)):
        known = [row for rows in splits[1].values() for row in rows if row.is_right and _of(row).supported > 0.5]
        splits[1][name] = [
            replace(row, task=replace(row.task, text=form.format(row.task.text)))
            for row in known[:200]
            for form in forms
        ]
    tables.write_lines(args.to, COLUMNS, [numbers(name, rows) for name, rows in splits[1].items()])


def xquad(file: Path) -> tuple[list[Row], list[Row]]:
    """Return the dev and the test rows of a language."""
    halves = list[Row](), list[Row]()
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            task = Task(row["instruction"], row["output"], (row["passage"],), language=code_name(row["language"]))
            paragraph = int(row["paragraph"])
            halves[paragraph // 2 % 2].append(Row(task, row["label"] == "right", str(paragraph)))
    return halves


def prose(file: Path, kind: str) -> Iterator[Row]:
    """Yield rows of `bench.grounded_rows` with one of their lists of passages."""
    for row in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
        passages = tuple(f"{passage['title']}: {passage['text']}" for passage in row[kind])
        task = Task(row["instruction"], row["text"], passages, language=row["language"])
        yield Row(task, row["label"] == "right", row["base"])


def fitted(dev: Mapping[str, Sequence[Row]]) -> None:
    """Print how many answers are right by what is read of them, in dev rows where passages state the answer."""
    counts = defaultdict[float, list[bool]](list)
    for name, rows in dev.items():
        if name.startswith(("XQuAD", "prose")):
            for row in rows:
                counts[_of(row).supported].append(row.is_right)
    for probability, right in sorted(counts.items()):
        print(f"{probability:.2f}: {np.mean(right):.3f} of {len(right)}" + ", not known" * (not probability))


def numbers(name: str, rows: Sequence[Row]) -> dict[str, Any]:
    """Return a line of the table; intervals of 95 % are over paragraphs or base samples."""
    read = [_of(row) for row in rows]
    groups = [row.group for row in rows]
    known = np.array([reading.not_stated < 1 for reading in read])
    right = np.array([(reading.supported > 0.5) == row.is_right for reading, row in zip(read, rows, strict=True)])
    hits = np.where(known, right, 0.5)
    low, high = bootstrap.share_interval(hits, None, groups, seed=0) or (0.0, 1.0)
    line = {"rows": name, "n": len(rows), "paragraphs": len(set(groups)), "with_verdict": float(known.mean())}
    kept = [group for group, is_known in zip(groups, known, strict=True) if is_known]
    bounds = bootstrap.share_interval(right[known].astype(float), None, kept, seed=0) if kept else None
    line |= {"right": float(right[known].mean()) if kept else None}
    line |= dict(zip(("right_low", "right_high"), bounds or (None, None), strict=True))
    return line | {"scaled": float(2 * hits.mean() - 1), "low": 2 * low - 1, "high": 2 * high - 1}


def _of(row: Row) -> Reading:
    return words.reading_of(row.task)


if __name__ == "__main__":
    run(main)
