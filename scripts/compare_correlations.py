"""Test whether ExCAM correlates better with the gold scores than every other of Table 4 (PERM-BOTH, clustered)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import polars as pl

from excam import stats
from excam.core import provenance, tables
from excam.core.exceptions import InputInvalid
from excam.error_reports.evaluation import verdicts
from excam.error_reports.evaluation.cells import System
from excam.stats.permutation_correlation import Measure
from scripts import run, step

VERSION = 1
MEASURES: tuple[Measure, ...] = ("kendall", "tie-calibrated")
Scores = list[float | None]


@step
def main(
    systems: Annotated[Sequence[str], "<model>/<trained_on>/<judge>"],
    judgements_paths: Annotated[Sequence[Path], "the same number of each system's"],
    draws: int,
    seed: int,
    tests_path: Path,
) -> None:
    frames = tables.judgements_by_system(systems, judgements_paths)
    first = next(iter(frames.values()))
    gold, groups = first["gold_score"].to_list(), first["group"].to_list()
    metrics = {name: scores for system, frame in frames.items() for name, scores in _metrics(system, frame)}
    tests = [
        {"measure": measure, "a": a, "b": b, **_tested(measure, gold, metrics[a], metrics[b], groups, draws, seed)}
        for measure in MEASURES
        for a, b in _pairs(metrics)
    ]
    for measure in MEASURES:
        done = [test for test in tests if test["measure"] == measure and "p_value" in test]
        for test, p in zip(done, stats.holm([test["p_value"] for test in done]), strict=True):
            test["p_holm"] = p
    provenance.write_json(tests_path, {"systems": systems, "tests": tests})


def _metrics(system: str, frame: pl.DataFrame) -> list[tuple[str, Scores]]:
    """Both columns of scores that Table 4 has of a system: with 0 for a text without errors, and with p(R) (`+p`)."""
    return [(system + suffix, verdicts.scores(frame, fallback=bool(suffix))) for suffix in ("", "+p")]


def _pairs(metrics: dict[str, Scores]) -> list[tuple[str, str]]:
    """ExCAM's score of Eq. 1 against every other system's scores of both kinds; two of ExCAM's own once."""
    names = list(metrics)
    own = [name for name in names if name.endswith("+p") and _system(name).tuned]
    return [
        (a, b)
        for a in own
        for b in names
        if _system(a) != _system(b) and not (b in own and names.index(b) < names.index(a))
    ]


def _system(name: str) -> System:
    return System(*name.removesuffix("+p").split("/"))


def _tested(
    measure: Measure, gold: list[int], a: Scores, b: Scores, groups: list[str], draws: int, seed: int
) -> dict[str, Any]:
    """Return the test, or why there is none: too few answers that both gave, or scores that are all the same."""
    try:
        test = stats.correlation_permutation(gold, a, b, measure=measure, clusters=groups, draws=draws, seed=seed)
    except InputInvalid as problem:
        return {"untested": str(problem)}
    return {{"a": "correlation_a", "b": "correlation_b"}.get(name, name): value for name, value in asdict(test).items()}


if __name__ == "__main__":
    run(main)
