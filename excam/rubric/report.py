"""The report of the rubric: quality control of ratings, of the workflow and of `excam rubric analyse`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from excam.core import tables
from excam.core.step_programs import step
from excam.pages import claims
from excam.rubric import changes, checks, pages, printed, responses, study


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
    settings={"rubric": "rubric_version", "base": "rubric_weights", "seed": "seed"},
)
def rubric_quality(
    ratings_paths: Sequence[Path],
    rubric: Annotated[Sequence[str], "versions of the manual, or the .yaml files of a study's versions"],
    base: Annotated[str, "weights of the base as JSON, null for the plain mean"],
    seed: int,
    files: pages.QualityFiles,
    responses_paths: Annotated[Sequence[Path], "what is rated, as JSON Lines"] = (),
) -> None:
    """Write how far ratings can be trusted: agreement, disagreements, fatigue, rules, means by condition; a page.

    Ratings by the scoring manual, and how far to trust them: agreement of raters with intervals beside raters that read
    nothing, responses to review, fatigue, what the rules changed, and means by condition.
    """
    all_responses = responses.read(responses_paths) if responses_paths else []
    rubrics = [changes.opened(name).with_weights(json.loads(base)) for name in rubric]
    reading = checks.sound(ratings_paths, all_responses, rubrics)
    pages.write(study.study(reading, all_responses, rubrics, seed), files)


@step(
    version=1,
    result="results/rubric/printed",
    outputs=["numbers", "page"],
    target="rubric",
    category="Rubric",
    inputs={"printed": "excam/rubric/paper/numbers.csv", "flags": "excam/rubric/paper/flags.csv"},
    settings={"rubric": "rubric_version", "base": "rubric_weights"},
)
def rubric_printed(
    rubric: Annotated[Sequence[str], "as for `rubric_quality`; of several the last"],
    base: Annotated[str, "weights of the base as JSON, null for the plain mean"],
    printed_path: Annotated[Path, "the manual's numbers"],
    flags_path: Annotated[Path, "its flags"],
    numbers_path: Path,
    page_path: Path,
) -> None:
    """Write every number and flag that the manual prints beside that of the rubric used here.

    Every number and flag that the scoring manual prints, what the rubric of this study has in its place, and the
    difference, ours minus printed: 0 unless the study changed the manual.
    """
    used = changes.opened(rubric[-1]).with_weights(json.loads(base))
    numbers, flags = tables.read_lines(printed_path), tables.read_lines(flags_path)
    head = "# Rubric: every number of the manual beside ours\n\n"
    claims.write(numbers_path, page_path, head, printed.claims(numbers, flags), printed.answers(used, flags))
