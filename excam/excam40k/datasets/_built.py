"""Multiple-choice questions built from BLEnD's annotations, for regions without official ones.

The right option is the region's top answer; the others are agreed top answers of other regions that no one of the
region gave, and that no annotators grouped with the right one more than once.
"""

from __future__ import annotations

import re

import polars as pl

from excam.excam40k.datasets._annotations import PLACEHOLDER, Annotations, words
from excam.excam40k.datasets._cells import clean_columns, digest, identifier

CHOICES = {"options": pl.List(pl.String), "answer": pl.String}
_PLACEHOLDER = re.compile(PLACEHOLDER)

Built = tuple[list[str], str | None, str | None]  # options, the right one, or why there are none


def build_questions(dataset: str, annotations: Annotations, covered: set[str], least_votes: int) -> pl.DataFrame:
    """Return one row per annotated question of a region that is not covered; `before` is the reason to drop it."""
    rows = [
        (annotations.files[region], region, key, question, *_build(annotations, region, key, least_votes))
        for (region, key), question in annotations.questions.items()
        if region not in covered
    ]
    names = dict.fromkeys(("_file", "region", "group", "question"), pl.String)
    frame = pl.DataFrame(rows, {**names, **CHOICES, "before": pl.String}, orient="row")
    frame = clean_columns(frame, ("question", *CHOICES))
    return frame.with_columns(id=identifier(dataset, pl.lit("built"), pl.col("region"), pl.col("group")))


def _build(annotations: Annotations, region: str, key: str, least_votes: int) -> Built:
    """Return one multiple-choice question with four options in alphabetical order, as the official ones have them."""
    if why := annotations.disagreement(region, key, least_votes):
        return [], None, why
    answers = annotations.answers[key][region]
    answer = answers[0][1][0]
    taken = {word for _, wordings in answers for wording in wordings for word in words(wording)}
    distractors: list[str] = []
    for wordings in _agreed_elsewhere(annotations, region, key, least_votes):
        content = {word for wording in wordings for word in words(wording)}
        same = any(annotations.mean_the_same(right, wording) for right in answers[0][1] for wording in wordings)
        if content and not content & taken and not same and not _PLACEHOLDER.search(wordings[0]):
            distractors.append(wordings[0])
            taken |= content
    if len(distractors) < 3:
        return [], None, "too-few-distractors"
    return sorted([answer, *distractors[:3]], key=str.casefold), answer, None


def _agreed_elsewhere(annotations: Annotations, region: str, key: str, least_votes: int) -> list[list[str]]:
    """Return top answers of the other regions with enough votes there, in an order by region and question."""
    given = annotations.answers[key].items()
    tops = (answers[0] for other, answers in given if other != region and answers)
    return sorted(
        (wordings for votes, wordings in tops if votes >= least_votes), key=lambda found: digest(region, key, *found)
    )
