"""Write how far ratings can be trusted: agreement, disagreements, fatigue, rules, means by condition, and a page."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from excam.rubric import checks, pages, study
from scripts import run
from scripts._rubric import add_rubric_options, responses_of, rubric_of

VERSION = 2
PAGE = {
    "result": "results/rubric/reliability",
    "outputs": ["numbers", "page"],
    "more": {
        "disagreements": "results/rubric/disagreements.csv",
        "fatigue": "results/rubric/fatigue.csv",
        "conditions": "results/rubric/conditions.csv",
        "rules": "results/rubric/rules.csv",
        "summary": "results/rubric/summary.html",
    },
    "target": "rubric",
    "category": "Rubric",
    "inputs": {"ratings": "results/rubric/ratings.parquet", "responses": "rubric_responses"},
    "settings": {"rubric": "rubric_version", "base": "rubric_weights", "icc": "rubric_icc", "seed": "seed"},
}


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_rubric_options(parser)
    parser.add_argument("--ratings", type=Path, required=True)
    parser.add_argument("--icc", choices=("complete", "mixed"), required=True)
    parser.add_argument("--seed", type=int, required=True)
    for name in pages.FILES:
        parser.add_argument(f"--{name}", type=Path, required=True)
    args = parser.parse_args(argv)

    known, rubric = responses_of(args), rubric_of(args)
    reading = checks.read([args.ratings], known, [rubric])
    files = {name: getattr(args, name) for name in pages.FILES}
    pages.write(study.study(reading, known, [rubric], args.icc, args.seed), **files)


if __name__ == "__main__":
    run(main)
