"""Run paired permutation tests between all systems of one column: accuracies, clustered by base sample."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from itertools import combinations
from pathlib import Path

from excam.core import provenance, tables
from excam.error_reports.evaluation import verdicts
from excam.stats import permutation
from scripts import run

VERSION = 2


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--systems", nargs="+", required=True, help="<model>/<trained_on>/<judge>")
    parser.add_argument("--judgements", type=Path, nargs="+", required=True, help="the same number of each system's")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--tests", type=Path, required=True)
    args = parser.parse_args(argv)

    frames = tables.judgements_by_system(args.systems, args.judgements)
    tests = []
    for a, b in combinations(args.systems, 2):
        gold, clusters = frames[a]["gold_error"].to_list(), frames[a]["group"].to_list()
        guesses = [verdicts.predicted_errors(frames[system]) for system in (a, b)]
        result = permutation.paired_permutation(gold, *guesses, clusters=clusters, seed=args.seed)
        tests.append({"a": a, "b": b, **asdict(result)})
    adjusted = permutation.holm([test["p_value"] for test in tests])
    for test, p in zip(tests, adjusted, strict=True):
        test["p_holm"] = p
    provenance.write_json(args.tests, {"systems": args.systems, "tests": tests})


if __name__ == "__main__":
    run(main)
