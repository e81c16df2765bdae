"""Similarities of explanations -> what a table of them says: means beside floor and ceiling (ExCAM §5; spec 61, 62).

Pure: a frame as `explanation_similarity.compare` makes it in, flat dictionaries out. Means are over detected errors;
missed errors and unreadable answers are counted beside them. Intervals are 95 %, of a bootstrap over groups.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from excam.metaeval import bootstrap
from excam.metaeval.ranking import ranking

OUTCOMES = ("detected", "missed", "unreadable")
KINDS = {"soft": pl.col("origin").str.starts_with("soft"), "hard": pl.col("origin") == "hard"}
MEASURES = ("f1", "cosine")


def parts(rows: pl.DataFrame, seed: int) -> list[dict[str, Any]]:
    """The numbers of soft and of hard rows, of all datasets and of each; nothing for a kind that has no row."""
    found = []
    for kind, condition in KINDS.items():
        own = rows.filter(condition)
        names = sorted(own["dataset"].unique())
        for dataset in ["all", *names] if names else []:
            part = own if dataset == "all" else own.filter(dataset=dataset)
            found.append({"kind": kind, "dataset": dataset, **numbers(part, seed)})
    return found


def numbers(rows: pl.DataFrame, seed: int) -> dict[str, Any]:
    """Of some erroneous rows: counts, and means with `_low` and `_high` where an interval is given; None: no rows.

    `difference_*` is own minus another row's gold explanation, paired, over the `floor_n` rows that have both.
    `auroc_*` is the chance that an explanation is more alike to its own gold one than one of the dataset to another's.
    """
    counts = {outcome: rows.filter(outcome=outcome).height for outcome in OUTCOMES}
    assert sum(counts.values()) == rows.height
    detected = rows.filter(outcome="detected")
    paired, reworded = (detected.filter(pl.col(f"{name}_f1").is_not_null()) for name in ("floor", "ceiling"))
    pieces, unknown = (_total(detected, what) for what in ("tokens", "unknown"))
    found: dict[str, Any] = {"erroneous": rows.height, **counts}
    found |= {"wordless": detected.filter(tokens=0).height, "floor_n": paired.height, "ceiling_n": reworded.height}
    found |= {name: detected[name].mean() for name in ("precision", "recall")}
    for name in MEASURES:
        found |= _with_interval(name, detected, pl.col(name), seed)
        for prefix, own in (("floor", paired), ("ceiling", reworded)):
            found[f"{prefix}_{name}"] = own[f"{prefix}_{name}"].mean()
        found |= _with_interval(f"difference_{name}", paired, pl.col(name) - pl.col(f"floor_{name}"), seed)
        found[f"auroc_{name}"] = _auroc(paired, name)
    cut = detected.filter((pl.col("cut") > 0) | (pl.col("gold_cut") > 0))
    return found | {
        "rows_cut": cut.height,
        "pieces_cut": _total(detected, "cut"),
        "unknown": unknown / pieces if pieces else None,  # of the word pieces of both texts
    }


def _total(rows: pl.DataFrame, what: str) -> int:
    """Over explanations and gold explanations."""
    return int(rows[what].sum()) + int(rows[f"gold_{what}"].sum())


def _with_interval(name: str, rows: pl.DataFrame, value: pl.Expr, seed: int) -> dict[str, float | None]:
    values = rows.select(value=value)["value"].to_list()
    found = bootstrap.measure([values, [1] * len(values)], bootstrap.ratio, rows["group"].to_list(), seed)
    return {name: found["value"], f"{name}_low": found["low"], f"{name}_high": found["high"]}


def _auroc(rows: pl.DataFrame, name: str) -> float | None:
    """Over every pair of an own and a foreign similarity of one dataset: datasets differ in how alike anything is."""
    won, pairs = 0.0, 0
    for own in rows.partition_by("dataset", maintain_order=True):
        foreign = [False] * own.height + [True] * own.height  # these stand for what is to score less
        found = ranking(foreign, [*own[name], *own[f"floor_{name}"]])
        won, pairs = won + (found.auroc or 0.0) * own.height**2, pairs + own.height**2
    return won / pairs if pairs else None
