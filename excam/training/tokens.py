"""Training rows as token ids: made once per base model and data set, and filtered for every mixture.

A row is a prompt and its target, in the base model's own chat template.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from excam.config import Recipe
from excam.core import tables
from excam.core.exceptions import ArtifactBroken, ConfigInvalid, InputInvalid
from excam.inference import Message, chat
from excam.inference.tokenizer_files import ChatTokenizer

SCHEMA: dict[str, Any] = {
    "id": pl.String,
    "pair": pl.String,  # rows of one pair stay together
    "input_ids": pl.List(pl.UInt32),  # null: too long to train on
    "prompt_tokens": pl.UInt32,  # number of prompt tokens in input_ids; the target and the end of turn follow
}
REPORT_SHARE = 8  # an error and its report may take one part in eight of `max_length`: 512 of 4,096 tokens
IGNORED_LABEL = -100  # label of a token that is excluded from the loss

Row = Mapping[str, list[int]]  # input_ids and labels, of equal length
Example = tuple[str, str, Sequence[Message], str]  # id, pair, prompt, and the answer to learn


def encode(tokenizer: ChatTokenizer, examples: Iterable[Example]) -> pl.DataFrame:
    """Return a row of SCHEMA for each example, in order; rows are not truncated."""
    rows = []
    for row, pair, messages, target in examples:
        encoded = chat.encode(tokenizer, messages, target)
        rows.append((row, pair, list(encoded.input_ids), encoded.completion_start))
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def read(paths: Sequence[Path], wanted: Sequence[str]) -> pl.DataFrame:
    """Return the rows with these ids in their order, but with pairs adjacent, without rows that are too long.

    Raise ArtifactBroken if an id is in none of the files.
    """
    frames = [tables.read_frame(path) for path in paths]
    joined = pl.DataFrame({"id": wanted}, schema={"id": pl.String}).join(
        pl.concat([pl.DataFrame(schema=SCHEMA), *frames]), on="id", how="left", maintain_order="left"
    )
    absent = joined.filter(pl.col("pair").is_null())["id"]
    if len(absent):
        raise ArtifactBroken(
            f"{len(absent)} rows of the mixture are in none of {len(paths)} tokenised sets, the first is {absent[0]}; "
            "delete results/tokens and run again"
        )
    numbered = joined.drop_nulls("input_ids").with_row_index("at")
    return numbered.sort(pl.col("at").min().over("pair"), maintain_order=True).drop("at")


def without_long_rows(rows: pl.DataFrame, recipe: Recipe, positions: int | None) -> pl.DataFrame:
    """Return the rows with null tokens for pairs of which a row is longer than `recipe.max_length`.

    Rows are not truncated. `positions` is the base model's maximum of tokens, None if unknown. Raise ConfigInvalid if
    `max_length` exceeds it, and InputInvalid if a row is too long and `recipe.overflow` is `refuse`.
    """
    limit = recipe.max_length
    if positions is not None and limit > positions:
        raise ConfigInvalid(
            f"training.max_length={limit}: the base model takes {positions} tokens; expected at most that"
        )
    too_long = rows.filter(pl.col("input_ids").list.len() > limit)
    if not too_long.height:
        return rows
    if recipe.overflow == "refuse":
        first = too_long.row(0, named=True)
        longest = too_long["input_ids"].list.len().max()
        raised = f", or max_length to at most {positions}" if positions is None or limit < positions else ""
        raise InputInvalid(
            f"{first['id']}: {len(first['input_ids'])} tokens, the first of {too_long.height} rows over "
            f"training.max_length={limit} (longest: {longest}); set training.overflow to drop{raised}"
        )
    dropped = pl.col("pair").is_in(too_long["pair"].implode())
    return rows.with_columns(pl.when(~dropped).then(name).alias(name) for name in ("input_ids", "prompt_tokens"))


def too_long_originals(rows: pl.DataFrame, recipe: Recipe, positions: int | None) -> tuple[list[str], int]:
    """Return the pairs whose original leaves no room for an error and its report, and the most tokens that do.

    `rows` are originals with their empty reports. An error and its report may take `max_length` / REPORT_SHARE tokens.
    If `recipe.overflow` is `refuse` there are no such pairs. Raise as `without_long_rows`.
    """
    without_long_rows(rows, recipe, positions)
    room = recipe.max_length - (recipe.max_length // REPORT_SHARE if recipe.overflow == "drop" else 0)
    return rows.filter(pl.col("input_ids").list.len() > room)["pair"].unique(maintain_order=True).to_list(), room


def with_labels(rows: pl.DataFrame, loss: str) -> list[Row]:
    """Return input ids and labels of each row; `loss` "report": only on the target and its end of turn.

    The paper states that models are supervised with the report, but not whether the prompt is included.
    """
    return [
        {"input_ids": ids, "labels": [IGNORED_LABEL] * prompt + ids[prompt:] if loss == "report" else list(ids)}
        for ids, prompt in rows.select("input_ids", "prompt_tokens").iter_rows()
    ]


def statistics(rows: pl.DataFrame) -> dict[str, int | float]:
    """Count rows to train on, rows that are too long, and tokens (in all, per row, per target)."""
    short_rows = rows.drop_nulls("input_ids")
    counts: dict[str, int | float] = {"rows": short_rows.height, "too_long": rows.height - short_rows.height}
    if not short_rows.height:
        return counts
    lengths = short_rows["input_ids"].list.len()
    return {
        **counts,
        "tokens": int(lengths.sum()),
        "mean": round(float(lengths.mean()), 1),  # pyright: ignore[reportArgumentType]
        "median": round(float(lengths.median()), 1),  # pyright: ignore[reportArgumentType]
        "longest": int(lengths.max()),  # pyright: ignore[reportArgumentType]
        "report_mean": round(float((lengths - short_rows["prompt_tokens"]).mean()), 1),  # pyright: ignore[reportArgumentType]
    }
