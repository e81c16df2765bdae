"""The longest rows of each benchmark in tokens of one model: what training drops, and which questions get no answer.

Only original pairs are measured: corrupted ones need the generator. Their reports are longer, so a training row is
measured with the report of an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import polars as pl

from excam.config import Recipe
from excam.error_reports import judges, record_files
from excam.error_reports.fixed_answers import PAIRS
from excam.error_reports.judges import report
from excam.error_reports.records import CulturalError, Report, Sample, Severity
from excam.excam40k.construction import generator
from excam.inference import Generate, Message, chat
from excam.preflight.plan import SOFT_ERRORS
from excam.training import tokens

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

LONGEST, EVENLY = 200, 24  # rows of a benchmark: the longest in UTF-8 bytes, and every n-th
KEPT = 64  # longest rows that are kept to train on
WRONG = Report(
    (CulturalError("output", "long noodles on the last night", "major", "incorrect information"),),
    "The dish is eaten at another time of the year, and by other people than the text says.",
)
SCHEMA = {**tokens.SCHEMA, "drawn": pl.String}  # longest or evenly


@dataclass(frozen=True, slots=True)
class Limits:
    """Most tokens of a training row; the model's positions (None: it does not say); most tokens of a question."""

    training: int
    positions: int | None
    question: int


def limits(recipe: Recipe, positions: int | None, context: int | None, max_tokens: int) -> Limits:
    """Return the limits of an entry of `models:`; a question leaves room for `max_tokens` in the context."""
    known = [limit for limit in (context, positions) if limit]
    return Limits(recipe.max_length, positions, (min(known) if known else 1 << 30) - max_tokens)


def no_training_rows() -> pl.DataFrame:
    """Return no rows to train on."""
    return pl.DataFrame(schema=SCHEMA)


def try_rows(
    weights: Path, samples: Mapping[str, Path], asked: Sequence[str], entry: Limits
) -> tuple[dict[str, Any], pl.DataFrame]:
    """Return what was found, and rows to train on: the longest that training takes, and rows drawn evenly (SCHEMA).

    `weights` is a model's folder, `samples` the right pairs by benchmark, `asked` names of judges and SOFT_ERRORS.
    Raises ModelInvalid if the tokenizer does not load or its chat template cannot be used.
    """
    tokenizer = chat.load_tokenizer(weights)
    counts, frames = {}, [no_training_rows()]
    chat.encode(tokenizer, report.messages(*PAIRS[0]), report.write(WRONG))  # also where there are no samples yet
    for name, path in samples.items():
        right = record_files.read_samples(path)
        longest = sorted(right, key=_bytes, reverse=True)[:LONGEST]
        rows = training_rows(tokenizer, longest)
        lengths = rows["input_ids"].list.len()
        evenly = training_rows(tokenizer, right[:: max(1, len(right) // EVENLY)][:EVENLY])
        counts[name] = {
            "rows": len(right),
            "looked_at": len(longest),
            "training": _counted([int(length) for length in lengths], entry.training),
            "questions": {
                way: _counted(_questions(tokenizer, longest, way), entry.question) for way in asked if _goes(way, right)
            },
        }
        frames += [_drawn(rows.filter(lengths <= entry.training), "longest"), _drawn(evenly, "evenly")]
    drawn = pl.concat(frames)
    fits = drawn.filter(pl.col("input_ids").list.len() <= entry.training)
    most = fits.filter(pl.col("drawn") == "longest").sort(pl.col("input_ids").list.len(), descending=True)
    return {"positions": entry.positions, "datasets": counts}, pl.concat(
        [most.head(KEPT), fits.filter(pl.col("drawn") == "evenly")]
    )


def training_rows(tokenizer: PreTrainedTokenizerBase, samples: Iterable[Sample]) -> pl.DataFrame:
    """Return samples as rows of `tokens.SCHEMA`, with the report of an error."""
    return tokens.encode(tokenizer, report.training_examples([replace(sample, report=WRONG) for sample in samples]))


def _drawn(rows: pl.DataFrame, how: str) -> pl.DataFrame:
    return rows.with_columns(pl.lit(how).alias("drawn"))


def _bytes(sample: Sample) -> int:
    return len(sample.instruction.encode("utf-8", "replace")) + len(sample.output.encode("utf-8", "replace"))


def _goes(way: str, samples: Sequence[Sample]) -> bool:
    """Return whether these rows are asked about in this way: the generator sees only the rows for soft errors."""
    return way != SOFT_ERRORS or any(sample.pair.endswith(("/minor", "/major")) for sample in samples)


def _questions(tokenizer: PreTrainedTokenizerBase, samples: Iterable[Sample], way: str) -> list[int]:
    return [
        len(chat.encode(tokenizer, messages).input_ids) for sample in samples for messages in _messages(sample, way)
    ]


def _messages(sample: Sample, way: str) -> list[tuple[Message, ...]]:
    """Return the first questions about a sample."""
    if way == SOFT_ERRORS:
        return [generator.messages(sample, cast(Severity, sample.pair.rsplit("/", 1)[1]))]
    return [request.messages for request in next(judges.load(way).judge(sample)) if isinstance(request, Generate)]


def _counted(lengths: Sequence[int], limit: int) -> dict[str, int]:
    return {"longest": max(lengths, default=0), "limit": limit, "over": sum(length > limit for length in lengths)}
