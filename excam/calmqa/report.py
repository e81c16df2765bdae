"""The report of CaLMQA: its tables, of the workflow and of `excam calmqa report`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from excam.calmqa import numbers, pages, printed, ratings, source
from excam.core import tables
from excam.core.step_programs import step
from excam.pages import claims
from excam.pages.table_files import TableFiles

TABLE = {"target": "calmqa", "category": "CaLMQA", "outputs": ["numbers", "page"]}  # of the steps here


@step(
    version=8,
    result="results/calmqa/table",
    inputs={"scores": "calmqa_scores", "languages": "calmqa_languages", "printed": "excam/calmqa/paper/table.csv"},
    settings={"seed": "seed", "how": "calmqa_how"},
    more={"gaps": "results/calmqa/type-gaps.csv"},
    **TABLE,
)
def calmqa_table(
    files: TableFiles,
    scores_path: Path,
    languages_path: Path,
    seed: int,
    how: Annotated[str, "how answers were judged, for the page"],
    gaps_path: Path,
) -> None:
    """Write S of every subject by type of question and language, with its parts, beside the paper's.

    S of every subject by type of question and by language: surface, factuality and relevance, with intervals over
    questions and all denominators.
    """
    rows = tables.read_frame(scores_path).to_dicts()
    lines = numbers.table(rows, seed)
    gaps = numbers.type_gaps(rows, seed)
    tables.write_lines(gaps_path, numbers.GAPS, gaps)
    page = pages.table_page(lines, tables.read_lines(languages_path), how, gaps)
    files.write(numbers.TABLE, lines, page, "Other questions, answers, judges and evidence than those above.")


@step(
    version=8,
    result="results/calmqa/regression",
    inputs={"ratings": "calmqa_ratings"},
    more={"ranks": "results/calmqa/ranks.csv"},
    **TABLE,
)
def calmqa_regression(ratings_path: Path, files: TableFiles, ranks_path: Path) -> None:
    """Write how much of people's ratings each predictor explains, by every usual R², beside the paper's; rank models.

    How much of people's ratings of long answers omissions, factual errors, model and type of question explain, by every
    usual R², and the order of the models.
    """
    human_ratings = ratings.read(ratings_path)
    ranks = ratings.ranks(human_ratings)
    tables.write_lines(ranks_path, ratings.RANKS, ranks)
    lines = ratings.r2_lines(human_ratings)
    files.write(ratings.R2, lines, pages.regression_page(human_ratings, ranks, lines))


@step(
    version=4,
    result="results/calmqa/printed",
    inputs={
        "questions": "calmqa_questions",
        "surface": "calmqa_surface",
        "scores": "calmqa_scores",
        "languages": "calmqa_languages",
        "ratings": "calmqa_ratings",
        "printed": "excam/calmqa/paper/claims.csv",
    },
    optional=["ratings"],
    settings={"seed": "seed", "settings": "calmqa_claimed"},
    **TABLE,
)
def calmqa_printed(
    files: TableFiles,
    questions_path: Path,
    surface_path: Path,
    scores_path: Path,
    languages_path: Path,
    seed: int,
    settings: Annotated[dict[str, Any], json.loads, "models and repetition, as JSON"],
    ratings_paths: Annotated[Sequence[Path], "ratings by people"] = (),
) -> None:
    """Write every claim of the CaLMQA paper beside ours, with the difference, or the reason why there is none.

    Every claim of the CaLMQA paper: what it prints, what this experiment gives, and the difference, ours minus printed;
    where there is nothing of ours, the reason. Models, questions and documents are others than the paper's.
    """
    lines = files.printed
    rows = tables.read_frame(surface_path).drop("surface", "empty").join(tables.read_frame(scores_path), on="answer")
    answered = printed.answers(
        source.questions_of(questions_path),
        rows.to_dicts(),
        numbers.type_gaps(rows.to_dicts(), seed),
        tables.read_lines(languages_path),
        [rating for path in ratings_paths for rating in ratings.read(path)],
        settings,
    )
    head = "# CaLMQA: every claim of the paper beside ours\n\n"
    answered["cost"] = printed.cost({line["id"]: line["printed"] for line in lines})
    files.write_claims(head, claims.stated(lines), answered)
