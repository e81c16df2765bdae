"""Does an open book help a judge, and does a lying one harm it? `excam score --evidence` on pairs with known errors.

    python -m bench.open_book --model results/adapters/smollm2-135m/all --samples results/excam40k/*/test.parquet

Five ways of judging the same pairs of a right and a wrong output: closed; with passages that state the right answer of
each question; with passages about other things; with passages that state the right answers of other questions, of the
pairs that `--pairs` leaves out; with passages that state the wrong answer. Printed is the share of
pairs whose right output has the higher score (a tie counts half), with a 95 % interval over base samples, and the pairs
left out because a report could not be read.

`--by likelihood` asks no report: the score is how much likelier the model finds "yes" than "no" to the question whether
the text is right. That is none of ExCAM's judges; it shows in a minute whether a model takes up what passages say.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from bench.processes import ROOT
from excam.core.provenance import Progress
from excam.error_reports import record_files
from excam.error_reports.records import Sample
from excam.inference import Flow, Message, Sampling, ask_for_choice
from excam.inference.journal import InMemory, ask
from excam.inference.run import run as run_flows
from excam.knowledge import index as packs
from excam.knowledge.index import Index
from excam.knowledge.open_book import open_book
from excam.scoring.models import open_model
from excam.scoring.options import Options, open_scorer
from excam.scoring.scorer import Scorer
from excam.stats.bootstrap import ratio_interval
from scripts import run

DISTRACTING = ROOT / "mini/calmqa-answers/corpus"
LICENCE = "CC-BY-4.0"  # of the mini rows


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help="an adapter, or the folder of a model")
    parser.add_argument("--samples", type=Path, nargs="+", required=True, help="tables of pairs with hard errors")
    parser.add_argument("--pairs", type=int, help="only so many, from all tables in turn")
    parser.add_argument("--by", choices=["report", "likelihood"], default="report")
    parser.add_argument("--max-tokens", type=int, default=128)
    parser.add_argument("--ways", nargs="+", default=["closed", "answers", "distracts", "others", "lies"])
    args = parser.parse_args(argv)

    all_pairs = sorted((pair for path in args.samples for pair in read_pairs(path)), key=lambda pair: pair[0].id)
    pairs = all_pairs[:: max(1, len(all_pairs) // args.pairs)] if args.pairs else all_pairs
    judged = {right.base for right, _ in pairs}
    others = [pair for pair in all_pairs if pair[0].base not in judged]
    judge = Reports(args.model, args.max_tokens) if args.by == "report" else Likelihoods(args.model)
    with tempfile.TemporaryDirectory() as scratch:
        for way in args.ways:
            index = None
            if way != "closed":
                stated = others if way == "others" else pairs
                folder = DISTRACTING if way == "distracts" else documents(stated, way, Path(scratch, way))
                index = packs.build([folder], Path(scratch, f"{way}-index"))
            print(line(way, lambda rows, index=index: judge.scores(rows, index), pairs), flush=True)


class Reports:
    """ExCAM's judge: the score of an error report."""

    def __init__(self, model: str, max_tokens: int) -> None:
        opened = open_scorer(Options(models=(model,), max_tokens=max_tokens))
        assert isinstance(opened, Scorer), "of one model that judges once"
        self._scorer = opened

    def scores(self, rows: Sequence[Sample], index: Index | None) -> list[float | None]:
        """Return a score for each row, None for an unreadable report."""
        judge = self._scorer.with_open_book(index) if index else self._scorer
        inputs = [{"id": row.id, "instruction": row.instruction, "output": row.output} for row in rows]
        return [result.score for result in judge.score(inputs)]


class Likelihoods:
    """How much likelier "yes" is than "no" to the question whether a text is right."""

    def __init__(self, model: str) -> None:
        backend = open_model(model).backend
        progress = Progress("rows", None, 60)
        self._ask = partial(ask, backend, Sampling(max_tokens=8), InMemory(), progress=progress)

    def scores(self, rows: Sequence[Sample], index: Index | None) -> list[float | None]:
        """Return a score for each row, None where a prompt does not fit."""
        flow = (
            open_book(likelihood, lambda row: index.passages_for(row.instruction, row.output)) if index else likelihood
        )
        return run_flows(flow, rows, self._ask)


def likelihood(row: Sample) -> Flow[float | None]:
    """Ask whether the text is right; return the difference of the log-likelihoods of yes and no."""
    text = f"Instruction: {row.instruction}\nText: {row.output}\nIs the text right? Answer yes or no."
    choice = yield from ask_for_choice((Message("user", text),), ("yes", "no"))
    return None if choice.logprobs is None else choice.logprobs[0] - choice.logprobs[1]


def read_pairs(path: Path) -> list[tuple[Sample, Sample]]:
    """Return the right and the wrong row of each pair of a table whose error is marked."""
    rows = {row.id: row for row in record_files.read_samples(path)}
    pairs = [(row, rows.get(f"{row.pair}/wrong")) for row in rows.values() if row.id.endswith("/right")]
    return [(right, wrong) for right, wrong in pairs if wrong and wrong.report.errors and wrong.report.errors[0].span]


def documents(pairs: Sequence[tuple[Sample, Sample]], way: str, folder: Path) -> Path:
    """Write one document per base sample with its right answer, or a wrong one (`lies`); return the folder."""
    folder.mkdir()
    stated = {}
    for right, wrong in pairs:
        answer = wrong.report.errors[0].span if way == "lies" else right.answer
        stated[right.base] = f"{right.instruction} The right answer is: {answer}."
    rows = [{"id": base, "title": "Handbook", "text": text, "licence": LICENCE} for base, text in stated.items()]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "documents.jsonl").write_text(lines, encoding="utf-8")
    return folder


def line(
    way: str, judge: Callable[[Sequence[Sample]], list[float | None]], pairs: Sequence[tuple[Sample, Sample]]
) -> str:
    """Judge all pairs, and return the share of pairs in the right order as a line."""
    started = time.perf_counter()
    rows = [row for pair in pairs for row in pair]
    scores = dict(zip((row.id for row in rows), judge(rows), strict=True))
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
        f"{len(set(bases))} base samples, {time.perf_counter() - started:.0f} s"
    )


if __name__ == "__main__":
    run(main)
