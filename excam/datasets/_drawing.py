"""Stratified drawing (spec 5): which rows of a reading become samples; the order of the rows does not matter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

import polars as pl

from excam.datasets._cells import digest, digests
from excam.records import BaseSample

if TYPE_CHECKING:
    from excam.datasets.base import Reading

Allocation = Literal["equal", "proportional"]


def stratified(reading: Reading, limit: int, seed: int, allocation: Allocation = "equal") -> list[BaseSample]:
    """At most `limit` samples, sorted by id: as equally many of every stratum as there are, or in proportion.

    Inside a stratum the order is that of SHA-256(seed, id), so that rows added elsewhere reshuffle nothing. Where rows
    have labels, equally many of each label are drawn (a judge must not know the answer from how common it is): never
    more of one than there are of the scarcest.
    """
    rows = reading.frame.select("id", "stratum", "label", order=digests(pl.lit(str(seed)), pl.col("id")))
    labels = rows.partition_by("label")
    share = min(limit // len(labels), *map(len, labels)) if len(labels) > 1 else limit
    drawn = pl.concat([_drawn(part, share, seed, allocation) for part in labels])
    return reading.samples(reading.frame.join(drawn, on="id", how="semi").sort("id"))


def _drawn(rows: pl.DataFrame, limit: int, seed: int, allocation: Allocation) -> pl.DataFrame:
    sizes = dict(rows.group_by("stratum").len().iter_rows())
    quotas = (_equal if allocation == "equal" else _proportional)(sizes, max(limit, 0), seed)
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
    """Largest remainders (Hare's quota): whole shares first, then one more where most was cut off."""
    total = sum(sizes.values())
    limit = min(limit, total)
    quotas = {name: limit * size // total for name, size in sizes.items()}
    most_cut = sorted(_shuffled(sizes, seed), key=lambda name: -(limit * sizes[name] % total))
    for name in most_cut[: limit - sum(quotas.values())]:
        quotas[name] += 1
    return quotas


def _shuffled(names: Mapping[str, int], seed: int) -> list[str]:
    return sorted(names, key=lambda name: (digest(str(seed), name), name))
