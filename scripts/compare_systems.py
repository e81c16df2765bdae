"""Run paired permutation tests between all systems of one column: accuracies, clustered by base sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from itertools import combinations
from pathlib import Path
from typing import Annotated

from excam.core import provenance, tables
from excam.error_reports.evaluation import verdicts
from excam.stats import permutation
from scripts import run, step

VERSION = 2


@step
def main(
    systems: Annotated[Sequence[str], "<model>/<trained_on>/<judge>"],
    judgements_paths: Annotated[Sequence[Path], "the same number of each system's"],
    seed: int,
    tests_path: Path,
) -> None:
    frames = tables.judgements_by_system(systems, judgements_paths)
    tests = []
    for a, b in combinations(systems, 2):
        gold, clusters = frames[a]["gold_error"].to_list(), frames[a]["group"].to_list()
        guesses = [verdicts.predicted_errors(frames[system]) for system in (a, b)]
        result = permutation.paired_permutation(gold, *guesses, clusters=clusters, seed=seed)
        tests.append({"a": a, "b": b, **asdict(result)})
    adjusted = permutation.holm([test["p_value"] for test in tests])
    for test, p in zip(tests, adjusted, strict=True):
        test["p_holm"] = p
    provenance.write_json(tests_path, {"systems": systems, "tests": tests})


if __name__ == "__main__":
    run(main)
