"""Score the shards of one batch with one opened model; a shard that has its scores is not scored again."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from excam.core.exceptions import InputInvalid
from excam.core.provenance import say, write_json
from excam.inference import gpus
from excam.scoring import local_model, shards
from excam.scoring.models import parse
from excam.scoring.options import Options, open_scorer
from excam.scoring.shard_scoring import score_shards
from scripts import run

VERSION = 2


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=Path, required=True, help="folder with shards")
    parser.add_argument("--job-megabytes", type=int, required=True, help="text of one batch")
    parser.add_argument("--batch", required=True)
    parser.add_argument("--metric", required=True)
    parser.add_argument("--model", help="as in `excam score`; none for a metric that asks none")
    parser.add_argument("--column", action="append", default=[], help="NAME=COLUMN, as in `excam score`")
    parser.add_argument("--gpus", type=int, default=0, help="how many GPUs the model may use")
    parser.add_argument("--scores", type=Path, required=True, help="folder of the scored shards")
    parser.add_argument("--counts", type=Path, required=True, help="counts of each shard, as JSON")
    args = parser.parse_args(argv)

    batches = shards.batches(shards.find(args.texts), args.job_megabytes * 10**6)
    if args.batch not in batches:
        raise InputInvalid(f"texts: {args.texts}: other shards than when the run was planned; run again")
    take_gpus(args.gpus, args.batch)
    judge = open_scorer(Options(metric=args.metric, models=(args.model,) if args.model else ()))
    columns = dict(one.split("=", 1) for one in args.column)
    settings = {"metric": args.metric, "model": args.model and parse(args.model).identified} | (
        {"columns": columns} if columns else {}
    )
    counts, problems = score_shards(judge, batches[args.batch], columns, args.scores, settings)
    if problems:
        for line in problems[1:]:
            say(f"not scored: {line}")
        raise InputInvalid(f"{problems[0]} ({len(counts)} of {len(batches[args.batch])} shards of this job are scored)")
    write_json(args.counts, counts)


def take_gpus(wanted: int, job: str) -> None:
    """Take the GPUs of the model, unless it runs with vLLM: its process takes them. 0 hides all of them."""
    if not wanted or local_model.choose_engine(None) == "transformers":
        gpus.refuse_unusable(wanted, "give model_gpus=0")
        gpus.take_gpus(wanted, job)


if __name__ == "__main__":
    run(main)
