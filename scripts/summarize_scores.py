"""Add up the counts of all scored shards, and check that every shard has its scores."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from excam.core.provenance import read_json, say, write_text
from excam.core.tables import write_lines
from excam.scoring import shard_summary, shards
from excam.scoring.models import parse
from scripts import run, step

VERSION = 2


@step
def main(
    texts_path: Annotated[Path, "folder with shards"],
    job_megabytes: Annotated[int, "text of one batch"],
    metric: str,
    model: str,
    scores_path: Annotated[Path, "folder of the scored shards"],
    table_path: Annotated[Path, "CSV with a line for each shard"],
    page_path: Path,
) -> None:
    text_shards = shards.find(texts_path)
    files = [scores_path / "batches" / f"{name}.json" for name in shards.batches(text_shards, job_megabytes * 10**6)]
    counts = {name: shard_counts for path in files if path.exists() for name, shard_counts in read_json(path).items()}
    shard_summary.check_complete(text_shards, counts, scores_path)
    write_lines(table_path, shard_summary.COLUMNS, shard_summary.lines(counts))
    address = parse(model)
    judge = address.name if address.endpoint else model
    write_text(page_path, shard_summary.page(f"{texts_path.name}: {metric} by {judge}", counts))
    if others := shards.others(texts_path):
        say(f"{texts_path}: {len(others)} files of other kinds are not scored, the first is {others[0]}")
    say(f"{page_path}: {len(counts)} shards, {sum(shard_counts['rows'] for shard_counts in counts.values())} rows")


if __name__ == "__main__":
    run(main)
