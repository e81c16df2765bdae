"""Score the texts of a user in shards, and sum them up."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from excam.core.exceptions import InputInvalid
from excam.core.provenance import read_json, say, write_json, write_text
from excam.core.tables import write_lines
from excam.inference import gpus
from excam.scoring import local_model, shard_summary, shards
from excam.scoring.models import parse
from excam.scoring.options import Options, open_scorer
from excam.scoring.shard_scoring import score_shards as score_each
from scripts import step


@step(version=3)
def score_shards(
    texts_path: Annotated[Path, "folder with shards"],
    job_megabytes: Annotated[int, "text of one batch"],
    batch: str,
    metric: str,
    scores_path: Annotated[Path, "folder of the scored shards"],
    counts_path: Annotated[Path, "counts of each shard, as JSON"],
    model: Annotated[str | None, "as in `excam score`; none for a metric that asks none"] = None,
    column: Annotated[Sequence[str], "NAME=COLUMN, as in `excam score`; NAME= for --without NAME"] = (),
    gpus: Annotated[int, "how many GPUs the model may use"] = 0,
) -> None:
    """Score the shards of one batch with one opened model; a shard that has its scores is not scored again."""
    batches = shards.batches(shards.find(texts_path), job_megabytes * 10**6)
    if batch not in batches:
        raise InputInvalid(f"texts: {texts_path}: other shards than when the run was planned; run again")
    take_gpus(gpus, batch)
    columns = dict(entry.split("=", 1) for entry in column)
    named = {name: theirs for name, theirs in columns.items() if theirs}
    without = tuple(name for name in columns if name not in named)
    judge = open_scorer(Options(metric=metric, models=(model,) if model else (), without=without))
    settings = {"metric": metric, "model": model and parse(model).identified} | (
        {"columns": columns} if columns else {}
    )
    counts, problems = score_each(judge, batches[batch], named, scores_path, settings)
    if problems:
        for line in problems[1:]:
            say(f"not scored: {line}")
        raise InputInvalid(f"{problems[0]} ({len(counts)} of {len(batches[batch])} shards of this job are scored)")
    write_json(counts_path, counts)


def take_gpus(wanted: int, job: str) -> None:
    """Take the GPUs of the model, unless it runs with vLLM: its process takes them. 0 hides all of them."""
    if not wanted or local_model.choose_engine(None) == "transformers":
        gpus.refuse_unusable(wanted, "give model_gpus=0")
        gpus.take_gpus(wanted, job)


@step(
    version=3,
    inputs={"counts": "score_counts"},
    settings={
        "texts": "texts",
        "metric": "metric",
        "model": "scores_model",
        "job_megabytes": "job_megabytes",
        "scores": "scores_folder",
    },
    outputs={
        "table": "results/scores/{texts}/{metric}/{scored_by}/shards.csv",
        "page": "results/scores/{texts}/{metric}/{scored_by}/summary.md",
    },
    silent=["counts"],
)
def summarize_scores(
    texts_path: Annotated[Path, "folder with shards"],
    job_megabytes: Annotated[int, "text of one batch"],
    metric: str,
    model: str,
    scores_path: Annotated[Path, "folder of the scored shards"],
    table_path: Annotated[Path, "CSV with a line for each shard"],
    page_path: Path,
) -> None:
    """Add up the counts of all scored shards, and check that every shard has its scores."""
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
