"""The report of the rubric: quality control of ratings, of the workflow and of `excam rubric analyse`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from excam.core.step_programs import step
from excam.rubric import changes, checks, pages, responses, study


@step(
    version=10,
    result="results/rubric/reliability",
    outputs=["numbers", "page"],
    more={
        "disagreements": "results/rubric/disagreements.csv",
        "fatigue": "results/rubric/fatigue.csv",
        "conditions": "results/rubric/conditions.csv",
        "rules": "results/rubric/rules.csv",
    },
    target="rubric",
    category="Rubric",
    inputs={"ratings": "results/rubric/ratings.parquet", "responses": "rubric_responses"},
    optional=["responses"],
    settings={"rubric": "rubric_version", "seed": "seed"},
)
def rubric_quality(
    ratings_paths: Sequence[Path],
    rubric: Annotated[Sequence[str], "versions of the manual, or the .yaml files of a study's versions"],
    seed: int,
    files: pages.QualityFiles,
    responses_paths: Annotated[Sequence[Path], "what is rated, as JSON Lines"] = (),
) -> None:
    """Write how far ratings can be trusted: agreement, disagreements, fatigue, rules, means by condition; a page.

    Ratings by the scoring manual, and how far to trust them: agreement of raters with intervals beside raters that read
    nothing, responses to review, fatigue, what the rules changed, and means by condition.
    """
    all_responses = responses.read(responses_paths) if responses_paths else []
    rubrics = [changes.opened(name) for name in rubric]
    reading = checks.sound(ratings_paths, all_responses, rubrics)
    pages.write(study.study(reading, all_responses, rubrics, seed), files)
