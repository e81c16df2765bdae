"""Stratified sampling: which rows of a reading become samples. The order of the rows does not matter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import polars as pl

from excam.error_reports.records import BaseSample, Errors
from excam.excam40k.construction.wrapping import bases_for, rows_of
from excam.excam40k.datasets._cells import digest, digests
from excam.excam40k.datasets.base import Reading

Allocation = Literal["equal", "proportional"]


def draw_stratified(reading: Reading, limit: int, seed: int, allocation: Allocation = "equal") -> list[BaseSample]:
    """Return at most `limit` samples, sorted by id, with equal or proportional numbers per stratum.

    Inside a stratum the order is that of SHA-256(seed, id), so that rows added elsewhere change nothing. If rows have
    labels, every label is drawn equally often, at most as often as the rarest one (otherwise a judge could guess the
    answer from its frequency).
    """
    rows = reading.frame.select("id", "stratum", "label", order=digests(pl.lit(str(seed)), pl.col("id")))
    labels = rows.partition_by("label")
    share = min(limit // len(labels), *map(len, labels)) if len(labels) > 1 else limit
    drawn = pl.concat([_drawn_rows(part, share, seed, allocation) for part in labels])
    return reading.samples(reading.frame.join(drawn, on="id", how="semi").sort("id"))


def draw_to_cap(
    reading: Reading, errors: Errors, cap: int, seed: int, allocation: Allocation = "equal"
) -> list[BaseSample]:
    """Return samples for at most `cap` final rows of hard errors, or with some to spare for soft ones, which may fail.

    A question that needs its options has one pair instead of two: as many more are drawn as surely fit, four rows each.
    """
    limit = bases_for(cap, reading.task, errors)
    drawn = draw_stratified(reading, limit, seed, allocation)
    while errors == "hard" and len(drawn) == limit and (missing := (cap - rows_of(drawn, errors)) // 4) > 0:
        limit += missing
        drawn = draw_stratified(reading, limit, seed, allocation)
    return drawn


def _drawn_rows(rows: pl.DataFrame, limit: int, seed: int, allocation: Allocation) -> pl.DataFrame:
    sizes = dict(rows.group_by("stratum").len().iter_rows())
    quotas = (_equal if allocation == "equal" else _proportional)(sizes, limit, seed)
    place = pl.int_range(pl.len()).over("stratum")
    return rows.sort("order", "id").filter(place < pl.col("stratum").replace_strict(quotas)).select("id")


def _equal(sizes: Mapping[str, int], limit: int, seed: int) -> dict[str, int]:
    """Water-filling: strata below the common level give all they have, the others share the rest."""
    quotas: dict[str, int] = {}
    waiting = _shuffled(sizes, seed)  # the first get what does not divide
    left = limit
    while waiting and (small := [name for name in waiting if sizes[name] <= left // len(waiting)]):
        quotas |= {name: sizes[name] for name in small}
        left -= sum(sizes[name] for name in small)
        waiting = [name for name in waiting if name not in quotas]
    for place, name in enumerate(waiting):
        quotas[name] = left // len(waiting) + (place < left % len(waiting))
    return quotas


def _proportional(sizes: Mapping[str, int], limit: int, seed: int) -> dict[str, int]:
    """Return integer shares by largest remainders (Hare quota): integer parts, then one more per largest remainder."""
    total = sum(sizes.values())
    limit = min(limit, total)
    quotas = {name: limit * size // total for name, size in sizes.items()}
    most_cut = sorted(_shuffled(sizes, seed), key=lambda name: -(limit * sizes[name] % total))
    for name in most_cut[: limit - sum(quotas.values())]:
        quotas[name] += 1
    return quotas


def _shuffled(names: Mapping[str, int], seed: int) -> list[str]:
    return sorted(names, key=lambda name: (digest(str(seed), name), name))
