"""Metrics of translations at the paper's size, from our miniature repeated: seconds and memory of each step.

    python -m bench.acre --items 7959 --systems 9

The texts are those of the miniature with a number in each, so that no translation is measured twice; the scores mean
nothing. `tables` are correlations, tests and sensitivities over all rows, with labels.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from bench.processes import ROOT
from excam.acre import items, judgements, numbers, sentence_metrics, source, translations
from excam.acre.translations import Translated
from scripts import run

MINI = ROOT / "mini/cult-eval"
R = TypeVar("R")


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=7959)
    parser.add_argument("--systems", type=int, default=9)
    args = parser.parse_args(argv)

    rows = made_up(args.items, args.systems)
    print(f"{len(rows):,} translations of {args.items:,} items")
    started, computed = time.perf_counter(), time.process_time()
    bleu = timed("BLEU", lambda: sentence_metrics.bleu(sentence_metrics.texts(rows)))
    chrf = timed("chrF++", lambda: sentence_metrics.chrf(sentence_metrics.texts(rows)))
    verdicts = timed("equivalent", lambda: judgements.by_equivalents(rows))
    took = f"{time.perf_counter() - started:.1f} s, of the processor {time.process_time() - computed:.1f} s"
    print(f"metrics without a model: {took}")
    ids = [row.id for row in rows]
    metrics: dict[str, numbers.Scores] = {
        "BLEU": dict(zip(ids, bleu.scores, strict=True)),
        "chrF++": dict(zip(ids, chrf.scores, strict=True)),
        "equivalent": {row_id: verdict.acre for row_id, verdict in zip(ids, verdicts, strict=True)},
    }
    timed("tables: correlations", lambda: numbers.correlations(rows, metrics))
    timed("tables: sensitivity", lambda: numbers.sensitivity(rows, metrics))
    print(f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB at the peak")


def timed(what: str, work: Callable[[], R]) -> R:
    """Run, print the seconds and those of the processor, and return the result."""
    started, computed = time.perf_counter(), time.process_time()
    result = work()
    took = f"{time.perf_counter() - started:.1f} s, of the processor {time.process_time() - computed:.1f} s"
    print(f"{what}: {took}", flush=True)
    return result


def made_up(count: int, systems: int) -> list[Translated]:
    """Return labelled translations of `count` items by `systems` systems."""
    known = items.read(MINI / "items.jsonl")
    translated = translations.with_labels(source.written(source.files(MINI)[1:], known), MINI / "labels.jsonl")
    by_item = [[row for row in translated if row.item.id == name] for name in known]
    rows = []
    for number in range(count):
        own = by_item[number % len(by_item)]
        item = replace(own[0].item, id=str(number), reference=f"{own[0].item.reference} {number}")
        for system in range(systems):
            original = own[system % len(own)]
            text = f"{original.translation} {number + system}"
            rows.append(replace(original, item=item, system=f"system-{system}", translation=text))
    return rows


if __name__ == "__main__":
    run(main)
