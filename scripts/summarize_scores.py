"""Add up the counts of all scored shards, and check that every shard has its scores."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from excam.core.provenance import read_json, say, write_text
from excam.core.tables import write_lines
from excam.scoring import shard_summary, shards
from excam.scoring.models import parse
from scripts import run

VERSION = 2


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=Path, required=True, help="folder with shards")
    parser.add_argument("--job-megabytes", type=int, required=True, help="text of one batch")
    parser.add_argument("--metric", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--scores", type=Path, required=True, help="folder of the scored shards")
    parser.add_argument("--table", type=Path, required=True, help="CSV with a line for each shard")
    parser.add_argument("--page", type=Path, required=True)
    args = parser.parse_args(argv)

    found = shards.find(args.texts)
    files = [args.scores / "batches" / f"{name}.json" for name in shards.batches(found, args.job_megabytes * 10**6)]
    counts = {name: one for path in files if path.exists() for name, one in read_json(path).items()}
    shard_summary.check_complete(found, counts, args.scores)
    write_lines(args.table, shard_summary.COLUMNS, shard_summary.lines(counts))
    address = parse(args.model)
    model = address.name if address.endpoint else args.model
    write_text(args.page, shard_summary.page(f"{args.texts.name}: {args.metric} by {model}", counts))
    if others := shards.others(args.texts):
        say(f"{args.texts}: {len(others)} files of other kinds are not scored, the first is {others[0]}")
    say(f"{args.page}: {len(counts)} shards, {sum(one['rows'] for one in counts.values())} rows")


if __name__ == "__main__":
    run(main)
