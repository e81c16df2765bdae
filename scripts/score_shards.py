"""Score the shards of one batch with one opened model; a shard that has its scores is not scored again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from excam.core.exceptions import InputInvalid
from excam.core.provenance import say, write_json
from excam.inference import gpus
from excam.scoring import local_model, shards
from excam.scoring.models import parse
from excam.scoring.options import Options, open_scorer
from excam.scoring.shard_scoring import score_shards
from scripts import run, step

VERSION = 2


@step
def main(
    texts_path: Annotated[Path, "folder with shards"],
    job_megabytes: Annotated[int, "text of one batch"],
    batch: str,
    metric: str,
    scores_path: Annotated[Path, "folder of the scored shards"],
    counts_path: Annotated[Path, "counts of each shard, as JSON"],
    model: Annotated[str | None, "as in `excam score`; none for a metric that asks none"] = None,
    column: Annotated[Sequence[str], "NAME=COLUMN, as in `excam score`"] = (),
    gpus: Annotated[int, "how many GPUs the model may use"] = 0,
) -> None:
    batches = shards.batches(shards.find(texts_path), job_megabytes * 10**6)
    if batch not in batches:
        raise InputInvalid(f"texts: {texts_path}: other shards than when the run was planned; run again")
    take_gpus(gpus, batch)
    judge = open_scorer(Options(metric=metric, models=(model,) if model else ()))
    columns = dict(entry.split("=", 1) for entry in column)
    settings = {"metric": metric, "model": model and parse(model).identified} | (
        {"columns": columns} if columns else {}
    )
    counts, problems = score_shards(judge, batches[batch], columns, scores_path, settings)
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


if __name__ == "__main__":
    run(main)
