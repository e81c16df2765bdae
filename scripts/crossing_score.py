"""Score with one metric all rows that have its columns; keep every request and answer."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path

from excam.core import provenance
from excam.core.exceptions import InputInvalid
from excam.crossing import rows
from excam.inference import transcript
from excam.knowledge.index import open_index
from excam.scoring import models, options, result_files
from excam.scoring.metric import Setup
from excam.scoring.options import Options
from excam.scoring.scorer import Scorer, ask_nobody
from scripts import run
from scripts._asking import Asker, add_asking_options

VERSION = 3


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--name", required=True, help="the key of the metric in crossing.metrics")
    parser.add_argument(
        "--judge", required=True, help="the key of its model in config.yaml, with what it was tuned on, or none"
    )
    add_asking_options(parser)
    parser.add_argument("--metric", required=True, help="as in `excam score`")
    parser.add_argument("--evidence", type=Path, help="folder with an index of documents")
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument("--scores", type=Path, required=True)
    parser.add_argument("--transcript", type=Path, required=True)
    parser.add_argument("--manifest", type=Path, required=True, help="what it was made of, and what it cost")
    args = parser.parse_args(argv)

    started = time.monotonic()
    asker = None if args.model == "null" else Asker(args, args.judge.split("/")[0], f"crossing, {args.name}")
    judges = (args.judge,) if asker else ()
    metric = options.checked(Options(metric=args.metric, models=judges, evidence=args.evidence))
    wanted = rows.for_metric(rows.read(args.rows), metric)
    if not wanted:
        raise InputInvalid(
            f"crossing.metrics.{args.name}: 0 rows have {', '.join(metric.columns)}; "
            "expected some; switch their system on"
        )
    model = models.of_entry(asker.name, asker.model, asker.backend, args.weights, args.adapter) if asker else None
    index = open_index(args.evidence) if args.evidence else None
    own = index if metric.evidence == "own" else None
    scorer = Scorer(metric.prepared(Setup(model, own)), model, asker.sampling if asker else None)
    scorer = (scorer.with_open_book(index) if index and own is None else scorer).for_rows(wanted)
    ask = asker.ask_with_progress(f"scoring with {args.name}, requests", None) if asker else ask_nobody
    results, entries = transcript.record(scorer.flow, wanted, ask)
    transcript.write(args.transcript, entries)
    result_files.write(args.scores, results)
    provenance.write_manifest(
        args.manifest,
        inputs=[path for path in (args.rows, args.weights, args.adapter) if path],
        outputs=[args.transcript, args.scores],
        settings={"metric": args.metric, "model": json.loads(args.model)},
        seconds=time.monotonic() - started,
        **(asker.facts(answer for entry in entries for one in entry.rounds for answer in one.answers) if asker else {}),
        seed=args.seed,
    )
    failures = sum(one.score is None for one in results)
    provenance.say(f"{args.name}: {len(results)} rows in {time.monotonic() - started:.0f} s; {failures} failures")


if __name__ == "__main__":
    run(main)
