"""What models are trained on, as token ids: made once per base model and set, filtered for every mixture (spec 46).

A row is the conversation that asks for a report and the report, in the base model's own chat template.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from excam import tables
from excam.config import Recipe
from excam.exceptions import ArtifactBroken, InputInvalid
from excam.inference import chat
from excam.judges import report
from excam.records import Sample

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

SCHEMA: dict[str, Any] = {
    "id": pl.String,
    "pair": pl.String,
    "input_ids": pl.List(pl.UInt32),
    "prompt_tokens": pl.UInt32,  # of input_ids; what follows is the report and the end of the turn
}
IGNORED = -100  # the label of a token without loss

Row = Mapping[str, list[int]]  # input_ids and labels, as many of them


def encode(tokenizer: PreTrainedTokenizerBase, samples: Iterable[Sample]) -> pl.DataFrame:
    """A row of SCHEMA for each sample, in the order given; nothing is ever cut."""
    rows = []
    for sample in samples:
        messages = report.messages(sample.instruction, sample.output)
        encoded = chat.encode(tokenizer, messages, report.write(sample.report))
        rows.append((sample.id, sample.pair, list(encoded.input_ids), encoded.completion_start))
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def read(paths: Sequence[Path], wanted: Sequence[str]) -> pl.DataFrame:
    """The rows with these ids, twins side by side, pairs in the order of the ids.

    Raises ArtifactBroken when one is in none of the files.
    """
    frames = [tables.read_frame(path) for path in paths]
    found = pl.DataFrame({"id": wanted}, schema={"id": pl.String}).join(
        pl.concat([pl.DataFrame(schema=SCHEMA), *frames]), on="id", how="left", maintain_order="left"
    )
    absent = found.filter(pl.col("input_ids").is_null())["id"]
    if len(absent):
        raise ArtifactBroken(
            f"{len(absent)} rows of the mixture are in none of {len(paths)} tokenised sets, the first is {absent[0]}; "
            "delete results/tokens and run again"
        )
    numbered = found.with_row_index("at")
    return numbered.sort(pl.col("at").min().over("pair"), maintain_order=True).drop("at")


def fitting(rows: pl.DataFrame, recipe: Recipe) -> pl.DataFrame:
    """The rows of at most `recipe.max_length` tokens, and how longer ones are met (spec 44).

    No row is cut: with `overflow: refuse` the first that is longer raises InputInvalid, with `drop` it is left out
    together with its twin.
    """
    length = pl.col("input_ids").list.len()
    too_long = rows.filter(length > recipe.max_length)
    if not too_long.height:
        return rows
    if recipe.overflow == "refuse":
        first = too_long.row(0, named=True)
        raise InputInvalid(
            f"{first['id']}: {len(first['input_ids'])} tokens; expected at most "
            f"training.max_length={recipe.max_length}; raise it, or set training.overflow to drop"
        )
    return rows.filter(~pl.col("pair").is_in(too_long["pair"].implode()))


def labelled(rows: pl.DataFrame, loss: str) -> list[Row]:
    """Input ids and labels of each row; `loss`: on the report and the end of its turn, or on every token.

    The paper says that models are supervised with the whole report, not whether with the prompt too (spec 46).
    """
    return [
        {"input_ids": ids, "labels": [IGNORED] * prompt + ids[prompt:] if loss == "report" else list(ids)}
        for ids, prompt in rows.select("input_ids", "prompt_tokens").iter_rows()
    ]


def statistics(rows: pl.DataFrame) -> dict[str, int | float]:
    """Tokens per row: how many rows, and the mean, median and longest of them; of the report alone, the mean."""
    lengths = rows["input_ids"].list.len()
    if not rows.height:
        return {"rows": 0}
    return {
        "rows": rows.height,
        "tokens": int(lengths.sum()),
        "mean": round(float(lengths.mean()), 1),  # pyright: ignore[reportArgumentType]
        "median": round(float(lengths.median()), 1),  # pyright: ignore[reportArgumentType]
        "longest": int(lengths.max()),  # pyright: ignore[reportArgumentType]
        "report_mean": round(float((lengths - rows["prompt_tokens"]).mean()), 1),  # pyright: ignore[reportArgumentType]
    }
