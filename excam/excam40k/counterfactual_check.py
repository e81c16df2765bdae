"""Verdicts on counterfactual rows -> what a judge's verdict depends on.

Pure: frames and verdicts in, a dictionary out. Every number is a share of rows with its denominator `n` and the 95 %
interval of a bootstrap over groups. A parse failure is a third outcome: it stays in the denominator, and counts neither
as a changed nor as an unchanged verdict.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from excam.core.exceptions import InputInvalid
from excam.error_reports.records import CulturalError, Verdict
from excam.excam40k import counterfactuals
from excam.stats import bootstrap


@dataclass(frozen=True, slots=True)
class Row:
    """A judged row (`counterfactuals.ROW_SCHEMA`) and the verdicts on its counterfactuals, by arm."""

    was: Mapping[str, Any]
    verdicts: Mapping[str, Verdict]
    places: Mapping[str, Sequence[CulturalError]]  # by arm: the place of the flagged words, or their place in the sham


Test = Callable[[Row], bool]


def rows(judged: pl.DataFrame, made: pl.DataFrame, verdicts: Sequence[Verdict]) -> list[Row]:
    """Return every judged row with the verdicts on its counterfactuals.

    `judged` has the columns of `counterfactuals.ROW_SCHEMA`, `made` those of COUNTERFACTUAL_SCHEMA, a verdict for each
    row of it. Raises InputInvalid if a checked row has no counterfactual, or another row has one.
    """
    by_row: dict[str, dict[str, tuple[Verdict, list[CulturalError]]]] = {}
    for counterfactual, verdict in zip(made.iter_rows(named=True), verdicts, strict=True):
        column = "undone" if counterfactual["arm"] == "restored" else "errors"  # in a sham they are what is left
        places = [CulturalError(**error) for error in json.loads(counterfactual[column])]
        by_row.setdefault(counterfactual["made_from"], {})[counterfactual["arm"]] = verdict, places
    judged_rows = []
    for was in judged.iter_rows(named=True):
        arms = by_row.pop(was["id"], {})
        if arms.keys() != ARMS.get(was["outcome"], set()):
            raise InputInvalid(
                f"{was['id']}: {was['outcome']}, but counterfactuals {sorted(arms)}; expected "
                f"{sorted(ARMS.get(was['outcome'], ()))}; make the counterfactuals again"
            )
        judged_rows.append(Row(was, {a: v for a, (v, _) in arms.items()}, {a: p for a, (_, p) in arms.items()}))
    if by_row:
        raise InputInvalid(f"{min(by_row)}: has counterfactuals, but was not judged; make the counterfactuals again")
    return judged_rows


ARMS = {"all-undone": {"restored"}, "some-undone": {"restored", "sham"}}


def evaluate(judged_rows: Sequence[Row], seed: int) -> dict[str, Any]:
    """Return the numbers of one system, and under `by_dataset` those of each dataset."""
    names = sorted({row.was["dataset"] for row in judged_rows})
    parts = {name: _numbers([row for row in judged_rows if row.was["dataset"] == name], seed) for name in names}
    return _numbers(judged_rows, seed) | {"by_dataset": parts}


def _numbers(judged_rows: Sequence[Row], seed: int) -> dict[str, Any]:
    by_outcome = {name: [row for row in judged_rows if row.was["outcome"] == name] for name in counterfactuals.OUTCOMES}
    all_undone, some_undone = by_outcome["all-undone"], by_outcome["some-undone"]
    with_original = [row for row in judged_rows if row.was["said_of_twin"]]  # of every erroneous row that has one
    missed, elsewhere = ([row for row in with_original if row.was["outcome"] == name] for name in TWINS)
    return counterfactuals.total_counts([row.was for row in judged_rows]) | {
        "all_undone": {
            "turned": _share(all_undone, _clear("restored"), seed),
            "error": _share(all_undone, _still("restored"), seed),
            "unreadable": _share(all_undone, _unreadable("restored"), seed),
            "at_place": _share(all_undone, _at_place("restored"), seed),
            "turned_nothing_elsewhere": _share(
                [r for r in all_undone if not r.was["elsewhere"]], _clear("restored"), seed
            ),
            "as_the_twin": _share([r for r in all_undone if r.was["to_the_letter"]], _as_the_twin, seed),
        },
        "twins": {
            "all": _share(with_original, _twin_clear, seed),
            "missed": _share(missed, _twin_clear, seed),
            "flagged_elsewhere": _share(elsewhere, _twin_clear, seed),
        },
        "turned_more": _difference_from_originals(all_undone, elsewhere, seed),
        "some_undone": {arm: _arm_numbers(some_undone, arm, seed) for arm in ("restored", "sham")}
        | {
            "more_rise": _difference_from_sham(some_undone, _rises, seed),
            "more_gone": _difference_from_sham(some_undone, _no_error_at_place, seed),
        },
    }


TWINS = ("no-error-reported", "flagged-elsewhere")


def _arm_numbers(some: Sequence[Row], arm: str, seed: int) -> dict[str, Any]:
    tests = {
        "rises": _rises,
        "gone": _no_error_at_place,
        "at_place": _at_place,
        "turned": _clear,
        "unreadable": _unreadable,
    }
    return {name: _share(some, test(arm), seed) for name, test in tests.items()}


def _share(judged_rows: Sequence[Row], test: Test, seed: int) -> dict[str, Any]:
    """Return the share of rows that pass, its interval over groups, its denominator."""
    return _mean_with_interval(judged_rows, [test(row) for row in judged_rows], seed)


def _mean_with_interval(judged_rows: Sequence[Row], values: Sequence[float], seed: int) -> dict[str, Any]:
    groups = [row.was["group"] for row in judged_rows]
    return bootstrap.estimate([values, [1] * len(judged_rows)], bootstrap.ratio, groups, seed) | {"n": len(judged_rows)}


def _difference_from_sham(some: Sequence[Row], test: Callable[[str], Test], seed: int) -> dict[str, Any]:
    """Return how much more often a row passes with the flagged words undone than its sham does."""
    return _mean_with_interval(some, [test("restored")(row) - test("sham")(row) for row in some], seed)


def _difference_from_originals(all_undone: Sequence[Row], elsewhere: Sequence[Row], seed: int) -> dict[str, Any]:
    """Return the share of changed verdicts minus the share of originals of other rows that are judged right."""
    turned, here = _clear("restored"), [*all_undone, *elsewhere]
    columns = [
        [turned(row) for row in all_undone] + [0] * len(elsewhere),
        [1] * len(all_undone) + [0] * len(elsewhere),
        [0] * len(all_undone) + [_twin_clear(row) for row in elsewhere],
        [0] * len(all_undone) + [1] * len(elsewhere),
    ]
    return bootstrap.estimate(columns, _difference, [row.was["group"] for row in here], seed) | {
        "n": len(here) if all_undone and elsewhere else 0
    }


def _difference(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    return bootstrap.ratio(sums[:2]) - bootstrap.ratio(sums[2:])


def _clear(arm: str) -> Test:
    return lambda row: row.verdicts[arm].errors_found == 0


def _still(arm: str) -> Test:
    return lambda row: bool(row.verdicts[arm].errors_found)


def _unreadable(arm: str) -> Test:
    return lambda row: row.verdicts[arm].failure is not None


def _rises(arm: str) -> Test:
    """Return whether the score is higher than the one of the wrong row."""
    return lambda row: (score := row.verdicts[arm].score) is not None and score > row.was["score"]


def _at_place(arm: str) -> Test:
    """Return whether an error is reported where the flagged words were (in the sham: where they are)."""

    def test(row: Row) -> bool:
        report = row.verdicts[arm].report
        pairs = product(row.places[arm], report.errors if report else ())
        return any(counterfactuals.overlap(place, error) for place, error in pairs)

    return test


def _no_error_at_place(arm: str) -> Test:
    """Return whether the answer could be read, and reports no error there."""
    return lambda row: not _unreadable(arm)(row) and not _at_place(arm)(row)


def _twin_clear(row: Row) -> bool:
    return row.was["said_of_twin"] == "no error"


def _as_the_twin(row: Row) -> bool:
    """Return whether the verdict equals the one on the original, which has the same text."""
    return counterfactuals.verdict_word(row.verdicts["restored"].report) == row.was["said_of_twin"]
