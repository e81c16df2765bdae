"""Verdicts beside what the judge's base model knows: are rows judged right whose facts it was taught?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import polars as pl

from excam.error_reports.evaluation.verdicts import predicted_errors
from excam.error_reports.record_files import report_from_json
from excam.stats import accuracy

BINS = 6  # of equally many facts, from the least known to the best known


def with_facts(
    judged: Iterable[pl.DataFrame], taught: Mapping[str, bool], knowledge: pl.DataFrame, answers: Mapping[str, str]
) -> pl.DataFrame:
    """Return the judgements of one system with columns `taught`, `margin`, `right` and `recalled`.

    `judged` are frames of JUDGEMENT_SCHEMA, `taught` and `answers` are by base sample, `knowledge` has the columns
    `base` and `margin` (nats). `right` is false for a parse failure; `recalled` is whether the explanation names the
    right answer, null without a report. Rows of base samples whose knowledge was not measured have a null margin.
    """
    frame = pl.concat(judged).join(knowledge.select("base", "margin"), on="base", how="left", maintain_order="left")
    verdicts = zip(frame["gold_error"], predicted_errors(frame), strict=True)
    named = [
        None if report is None else answers[base].casefold() in report_from_json(report).explanation.casefold()
        for base, report in frame.select("base", "report").iter_rows()
    ]
    return frame.with_columns(
        taught=pl.Series([taught[base] for base in frame["base"]], dtype=pl.Boolean),
        right=pl.Series([found == gold for gold, found in verdicts], dtype=pl.Boolean),
        recalled=pl.Series(named, dtype=pl.Boolean),
    )


def numbers(frame: pl.DataFrame, seed: int) -> dict[str, Any]:
    """Return the numbers of one part of the rows that `with_facts` returns; 95 % interval over groups.

    `known` is the share of facts whose right answer is likelier than every wrong one, of those that were measured;
    `recalled` that of parsed reports on wrong texts that name the right answer: of a right text it could be copied.
    """
    found = accuracy.summarise_accuracy(
        frame["gold_error"].to_list(), predicted_errors(frame), clusters=frame["group"].to_list(), seed=seed
    )
    margins = frame.unique("base")["margin"].drop_nulls().to_list()
    recalled = frame.filter("gold_error")["recalled"].drop_nulls().to_list()
    return {
        "facts": frame["base"].n_unique(),
        "known": _share([margin > 0 for margin in margins]),
        "n": found.n,
        "failures": found.failures,
        "called_error": sum(guess is True for guess in predicted_errors(frame)),
        "recalled": _share(recalled),
        "scaled_accuracy": round(found.scaled, 4),
        "low": round(found.low, 4),
        "high": round(found.high, 4),
    }


def by_margin(frame: pl.DataFrame, seed: int) -> list[dict[str, Any]]:
    """Return the numbers of BINS parts of the facts, from the smallest margin to the largest, with their mean margin.

    Facts without a margin are left out. Fewer than BINS facts make one part.
    """
    known = frame.drop_nulls("margin")
    order = known.unique("base").sort("margin", "base")["base"].to_list()
    count = BINS if len(order) >= BINS else 1
    cuts = [round(len(order) * part / count) for part in range(count + 1)]
    parts = [known.filter(pl.col("base").is_in(order[start:end])) for start, end in pairwise(cuts)]
    return [{"margin": _mean_margin(part), **numbers(part, seed)} for part in parts if part.height]


def by_fact(frame: pl.DataFrame) -> list[dict[str, Any]]:
    """Return base, margin, n and scaled accuracy of every measured fact, sorted by id."""
    known = frame.drop_nulls("margin").group_by("base", "taught", "margin").agg(pl.len().alias("n"), pl.mean("right"))
    return [
        {"base": base, "taught": is_taught, "margin": margin, "n": n, "scaled_accuracy": round(2 * right - 1, 4)}
        for base, is_taught, margin, n, right in known.sort("base").iter_rows()
    ]


def _share(found: Sequence[bool]) -> float | None:
    return round(sum(found) / len(found), 4) if found else None


def _mean_margin(part: pl.DataFrame) -> float:
    margins: Sequence[float] = part.unique("base")["margin"].to_list()
    return round(sum(margins) / len(margins), 4)
