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
from excam.exceptions import ArtifactBroken, ConfigInvalid, InputInvalid
from excam.inference import chat
from excam.judges import report
from excam.records import Sample

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

SCHEMA: dict[str, Any] = {
    "id": pl.String,
    "pair": pl.String,
    "input_ids": pl.List(pl.UInt32),  # null: too long to train on
    "prompt_tokens": pl.UInt32,  # of input_ids; what follows is the report and the end of the turn
}
IGNORED = -100  # the label of a token without loss

Row = Mapping[str, list[int]]  # input_ids and labels, as many of them


def encode(tokenizer: PreTrainedTokenizerBase, samples: Iterable[Sample]) -> pl.DataFrame:
    """Return a row of SCHEMA for each sample, in the order given; no row is cut."""
    rows = []
    for sample in samples:
        messages = report.messages(sample.instruction, sample.output)
        encoded = chat.encode(tokenizer, messages, report.write(sample.report))
        rows.append((sample.id, sample.pair, list(encoded.input_ids), encoded.completion_start))
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def read(paths: Sequence[Path], wanted: Sequence[str]) -> pl.DataFrame:
    """Return the rows with these ids, pairs side by side in the order of the ids; rows that were too long are left out.

    Raises ArtifactBroken when one is in none of the files.
    """
    frames = [tables.read_frame(path) for path in paths]
    found = pl.DataFrame({"id": wanted}, schema={"id": pl.String}).join(
        pl.concat([pl.DataFrame(schema=SCHEMA), *frames]), on="id", how="left", maintain_order="left"
    )
    absent = found.filter(pl.col("pair").is_null())["id"]
    if len(absent):
        raise ArtifactBroken(
            f"{len(absent)} rows of the mixture are in none of {len(paths)} tokenised sets, the first is {absent[0]}; "
            "delete results/tokens and run again"
        )
    numbered = found.drop_nulls("input_ids").with_row_index("at")
    return numbered.sort(pl.col("at").min().over("pair"), maintain_order=True).drop("at")


def within(rows: pl.DataFrame, recipe: Recipe, positions: int | None) -> pl.DataFrame:
    """Return the rows with null tokens where a row, or the other row of its pair, is over `recipe.max_length`.

    No row is cut (spec 44). `positions`: how many tokens the base model takes, None where it does not say. Raises
    ConfigInvalid where `max_length` is more than that, and InputInvalid where a row is too long and `recipe.overflow`
    is `refuse`.
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


def labelled(rows: pl.DataFrame, loss: str) -> list[Row]:
    """Input ids and labels of each row; `loss`: on the report and the end of its turn, or on every token.

    The paper says that models are supervised with the whole report, not whether with the prompt too (spec 46).
    """
    return [
        {"input_ids": ids, "labels": [IGNORED] * prompt + ids[prompt:] if loss == "report" else list(ids)}
        for ids, prompt in rows.select("input_ids", "prompt_tokens").iter_rows()
    ]


def statistics(rows: pl.DataFrame) -> dict[str, int | float]:
    """Count rows to train on, rows too long (see `within`), and tokens: in all, of a row, of a row's report."""
    kept = rows.drop_nulls("input_ids")
    counts: dict[str, int | float] = {"rows": kept.height, "too_long": rows.height - kept.height}
    if not kept.height:
        return counts
    lengths = kept["input_ids"].list.len()
    return {
        **counts,
        "tokens": int(lengths.sum()),
        "mean": round(float(lengths.mean()), 1),  # pyright: ignore[reportArgumentType]
        "median": round(float(lengths.median()), 1),  # pyright: ignore[reportArgumentType]
        "longest": int(lengths.max()),  # pyright: ignore[reportArgumentType]
        "report_mean": round(float((lengths - kept["prompt_tokens"]).mean()), 1),  # pyright: ignore[reportArgumentType]
    }
