"""Wrong answers that are right elsewhere: each answer of a group of questions is wrong as often as it is right.

Each base sample gives its right answer to another one of its group, where it is wrong, and takes a wrong one from a
third. Then no answer tells by itself whether it is right, in the group or in the whole set, and no filter is needed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from excam.excam40k.datasets._cells import digest


def exchanged(frame: pl.DataFrame, near: str = "group") -> pl.DataFrame:
    """Return a frame of samples with `_exchanged`, and with one wrong answer where that is true.

    In every group as many rows as possible exchange answers, so that each is given and taken equally often; of the
    largest exchanges one with few minor errors and most answers from rows that are equal in the column `near`. Rows
    with a `reason` stay out.
    """
    groups: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    usable = frame.filter(pl.col("reason").is_null())
    for row in usable.iter_rows(named=True):
        groups[row["group"]].append(row)
    taken = {name: answer for group in groups.values() for name, answer in exchange(group, near).items()}
    answer = pl.col("id").replace_strict(taken, default=None, return_dtype=pl.String)
    wrong = pl.when(answer.is_not_null()).then(pl.concat_list(answer)).otherwise("wrong")
    return frame.with_columns(wrong=wrong, _exchanged=answer.is_not_null())


def exchange(rows: Sequence[dict[str, Any]], near: str = "group") -> dict[str, str]:
    """Return id -> wrong answer for the rows of one group that exchange theirs."""
    from scipy.optimize import linear_sum_assignment

    rows = sorted(rows, key=lambda row: digest("exchanged", row["id"]))  # else the order of the source would choose
    giving: defaultdict[str, list[int]] = defaultdict(list)
    for place, row in enumerate(rows):
        giving[row["answer"]].append(place)
    cost = np.full((len(rows), len(rows)), np.inf)
    np.fill_diagonal(cost, 2 * len(rows) + 1)  # a row that stays out costs more than all preferences
    for place, row in enumerate(rows):
        for answer in row["wrong"]:
            for other in giving.get(answer, ()):
                cost[place, other] = (answer in row.get("minor", ())) + (rows[other].get(near) != row.get(near))
    takers, givers = linear_sum_assignment(cost)
    pairs = zip(takers.tolist(), givers.tolist(), strict=True)
    return {rows[taker]["id"]: rows[giver]["answer"] for taker, giver in pairs if taker != giver}
