"""Write how far ratings can be trusted: agreement, disagreements, fatigue, rules, means by condition, and a page."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from excam.rubric import checks, pages, study
from scripts import run, step
from scripts._rubric import RatingOptions, responses_of, rubric_of

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


@step
def main(
    rating: RatingOptions,
    ratings_path: Path,
    icc: Literal["complete", "mixed"],
    seed: int,
    numbers_path: Path,
    page_path: Path,
    disagreements_path: Path,
    fatigue_path: Path,
    conditions_path: Path,
    rules_path: Path,
    summary_path: Path,
) -> None:
    known, rubric = responses_of(rating), rubric_of(rating)
    reading = checks.read([ratings_path], known, [rubric])
    pages.write(
        study.study(reading, known, [rubric], icc, seed),
        numbers=numbers_path,
        page=page_path,
        disagreements=disagreements_path,
        fatigue=fatigue_path,
        conditions=conditions_path,
        rules=rules_path,
        summary=summary_path,
    )


if __name__ == "__main__":
    run(main)
