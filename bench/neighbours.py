"""Does a verdict hang on the rows beside it? The same rows in batches of several sizes and orders, row by row.

    python -m bench.neighbours --weights results/models/smollm2-135m/manifest.json \\
        --adapter results/adapters/smollm2-135m/all/manifest.json --samples results/excam40k/*/test.parquet

Every row is first judged alone; then in batches of each of `--sizes`, in the order of the files and shuffled. Rows
beside a row lengthen its padding and change the shape of the sums, which moves the last bits of its probabilities: this
counts how often that moves an answer, or the verdict (an error was found, none was, or unreadable).
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from random import Random

from excam import judges, provenance, scoring, tables
from excam.inference import Answer, Request, Sampling
from excam.inference.backends.transformers import Backend
from excam.inference.run import play
from excam.records import Sample
from scripts import run

Row = tuple[str, str, float | None]  # its answer, its verdict, its score


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weights", type=Path, required=True, help="manifest of the base model")
    parser.add_argument("--adapter", type=Path, help="manifest of the adapter")
    parser.add_argument("--samples", type=Path, nargs="+", required=True)
    parser.add_argument("--rows", type=int, default=64, help="so many of them, drawn")
    parser.add_argument("--sizes", type=int, nargs="+", default=[8, 64])
    parser.add_argument("--dtypes", nargs="+", default=["bfloat16", "float32"])
    parser.add_argument("--max-tokens", type=int, default=128)
    parser.add_argument("--numbers", type=Path, help="write them here, as JSON")
    args = parser.parse_args(argv)

    known = [sample for path in args.samples for sample in tables.read_samples(path)]
    samples = Random(1).sample(known, min(args.rows, len(known)))
    sampling = Sampling(max_tokens=args.max_tokens)
    table = {}
    for dtype in args.dtypes:
        adapter = args.adapter and args.adapter.parent
        backend = Backend(args.weights.parent / "files", adapter, dtype=dtype, device="cpu", batch_tokens=2**40)
        judged = partial(_judged, backend, sampling)
        alone = judged(samples, 1)
        for size in args.sizes:
            for order, rows in (("as given", samples), ("shuffled", Random(2).sample(samples, len(samples)))):
                began = time.monotonic()
                found = judged(rows, size)
                row = _compared(alone, found) | {"seconds": round(time.monotonic() - began, 1)}
                table[f"{dtype}, {size} a batch, {order}"] = row
                print(f"{dtype}, {size} a batch, {order}: {json.dumps(row)}", flush=True)
    if args.numbers:
        provenance.write_json(args.numbers, {"command": sys.argv, "neighbours": table})


def _judged(backend: Backend, sampling: Sampling, samples: Sequence[Sample], size: int) -> dict[str, Row]:
    """Each row's answer and verdict, by its id; `size` rows are in one batch of the model."""
    judge, found = judges.load("report").judge, {}
    for at in range(0, len(samples), size):
        part = samples[at : at + size]
        for sample, played in zip(part, play(judge, part, partial(_asked, backend, sampling)), strict=True):
            verdict = played.verdict
            kind = verdict.failure or ("error" if verdict.errors_found else "none")
            answer = played.rounds[0].answers[0]
            found[sample.id] = (getattr(answer, "text", ""), kind, scoring.combined(verdict))
    return found


def _asked(backend: Backend, sampling: Sampling, requests: Sequence[Request]) -> list[Answer]:
    answers = dict(pair for batch in backend.generate(requests, sampling) for pair in batch)  # pyright: ignore[reportArgumentType]  # a report is generated
    return [answers[at] for at in range(len(requests))]


def _compared(alone: dict[str, Row], found: dict[str, Row]) -> dict[str, float | int]:
    """How many rows differ from what they were alone, and how far scores are apart where the answer is the same."""
    pairs = [(alone[row], found[row]) for row in alone]
    same = [(a[2], b[2]) for a, b in pairs if a[0] == b[0] and a[2] is not None and b[2] is not None]
    return {
        "rows": len(pairs),
        "unreadable_alone": sum(a[1] not in ("error", "none") for a, _ in pairs),
        "verdicts_flipped": sum(a[1] != b[1] for a, b in pairs),
        "answers_differ": sum(a[0] != b[0] for a, b in pairs),
        "score_apart_max": max((abs(a - b) for a, b in same), default=0.0),
    }


if __name__ == "__main__":
    run(main)
