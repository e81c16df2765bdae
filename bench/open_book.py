"""Does an open book help a judge, and does a lying one harm it? `excam score --evidence` on pairs with known errors.

    python -m bench.open_book --model results/adapters/smollm2-135m/all --samples results/excam40k/*/test.parquet

Four ways of judging the same pairs of a right and a wrong output: closed; with passages that state the right answer of
each question; with passages about other things; with passages that state the wrong answer. Printed is the share of
pairs whose right output has the higher score (a tie counts half), with a 95 % interval over base samples, and the pairs
left out because a report could not be read.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from bench.processes import ROOT
from excam.error_reports import record_files
from excam.error_reports.metric.scorer import Metric
from excam.error_reports.records import Sample
from excam.scoring import evidence
from excam.stats.bootstrap import ratio_interval
from scripts import run

DISTRACTING = ROOT / "mini/calmqa-answers/corpus"
LICENCE = "CC-BY-4.0"  # of the mini rows


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help="an adapter, or the folder of a model")
    parser.add_argument("--samples", type=Path, nargs="+", required=True, help="tables of pairs with hard errors")
    parser.add_argument("--pairs", type=int, help="only so many, from all tables in turn")
    parser.add_argument("--max-tokens", type=int, default=128)
    parser.add_argument("--ways", nargs="+", default=["closed", "answers", "distracts", "lies"])
    args = parser.parse_args(argv)

    pairs = [pair for path in args.samples for pair in read_pairs(path)]
    pairs = sorted(pairs, key=lambda pair: pair[0].id)[:: max(1, len(pairs) // args.pairs)] if args.pairs else pairs
    metric = Metric.open(args.model, max_tokens=args.max_tokens)
    with tempfile.TemporaryDirectory() as scratch:
        for way in args.ways:
            judge = metric
            if way != "closed":
                folder = DISTRACTING if way == "distracts" else documents(pairs, way, Path(scratch, way))
                judge = metric.with_open_book(evidence.build(folder, Path(scratch, f"{way}-index")))
            print(line(way, judge, pairs), flush=True)


def read_pairs(path: Path) -> list[tuple[Sample, Sample]]:
    """Return the right and the wrong row of each pair of a table whose error is marked."""
    rows = {row.id: row for row in record_files.read_samples(path)}
    found = [(row, rows.get(f"{row.pair}/wrong")) for row in rows.values() if row.id.endswith("/right")]
    return [(right, wrong) for right, wrong in found if wrong and wrong.report.errors and wrong.report.errors[0].span]


def documents(pairs: Sequence[tuple[Sample, Sample]], way: str, folder: Path) -> Path:
    """Write one document per base sample, which states its right or its wrong answer; return the folder."""
    folder.mkdir()
    stated = {}
    for right, wrong in pairs:
        answer = right.answer if way == "answers" else wrong.report.errors[0].span
        stated[right.base] = f"{right.instruction} The right answer is: {answer}."
    rows = [{"id": base, "title": "Handbook", "text": text, "licence": LICENCE} for base, text in stated.items()]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "documents.jsonl").write_text(lines, encoding="utf-8")
    return folder


def line(way: str, judge: Metric, pairs: Sequence[tuple[Sample, Sample]]) -> str:
    """Judge all pairs, and return the share of pairs in the right order as a line."""
    started = time.perf_counter()
    rows = [{"id": row.id, "instruction": row.instruction, "output": row.output} for pair in pairs for row in pair]
    scores = {one.id: one.score for one in judge.score(rows)}
    right_first, bases = [], []
    for right, wrong in pairs:
        a, b = scores[right.id], scores[wrong.id]
        if a is not None and b is not None:
            right_first.append(float(a > b) + (a == b) / 2)
            bases.append(right.base)
    if not right_first:
        return f"{way}: no pair with two readable reports of {len(pairs)}"
    low, high = ratio_interval(right_first, [1.0] * len(bases), bases) or (None, None)
    interval = "no interval" if low is None or high is None else f"[{low:.2f}, {high:.2f}]"
    return (
        f"{way}: {sum(right_first) / len(right_first):.2f} {interval}, {len(right_first)} of {len(pairs)} pairs, "
        f"{len(set(bases))} base samples, {time.perf_counter() - started:.0f} s; {judge.signature}"
    )


if __name__ == "__main__":
    run(main)
