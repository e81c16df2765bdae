"""How far annotators agree beyond chance about every question (the paper reports vote shares only).

Krippendorff's alpha takes every item with two ratings or more; Fleiss' kappa needs the same number for each, so it is
computed for three and for two. "Don't know" is not a point of any scale and is left out, and counted; in the yes-or-no
questions of Table 3 it is a no, as there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from excam.annotation.campaign import Campaign
from excam.error_reports.evaluation.cells import rounded_text
from excam.excam40k.validation import human_ratings, human_votes
from excam.excam40k.validation.human_answers import AnsweredTask, systems
from excam.excam40k.validation.human_votes import Criterion
from excam.stats import agreement
from excam.stats.agreement import Agreement, Scale

COLUMNS = ("question", "scale", "measure", "raters", "value", "low", "high", "n", "ratings", "annotators", "left_out")
COLUMNS = (*COLUMNS, "few", "why")
EXTENT = ("not_valid", "partly", "valid")


class _RatedQuestion(NamedTuple):
    """Ratings per item, the possible values, and the scale on which they are compared."""

    name: str
    ratings: list[list[str]]
    values: Sequence[str]
    scale: Scale
    annotators: int


def lines(campaign: Campaign, items: Sequence[AnsweredTask], seed: int) -> Iterator[dict[str, Any]]:
    """Return alpha and kappas of every question, one line each."""
    for question in _questions(campaign, items):
        values = set(question.values)
        ratings = [[rating for rating in item if rating in values] for item in question.ratings]
        left_out = sum(map(len, question.ratings)) - sum(map(len, ratings))
        common = {"question": question.name, "annotators": question.annotators, "left_out": left_out}
        alpha = agreement.alpha(ratings, question.values, question.scale, seed)
        yield common | {"scale": question.scale, "measure": "alpha", "raters": "2 or more"} | _agreement_columns(alpha)
        for raters in (3, 2):
            kappa = agreement.kappa(ratings, question.values, raters, seed)
            if kappa.n or raters == 3:
                yield common | {"scale": "nominal", "measure": "kappa", "raters": raters} | _agreement_columns(kappa)


def _questions(campaign: Campaign, items: Sequence[AnsweredTask]) -> Iterator[_RatedQuestion]:
    criteria = human_votes
    yield _asked("Culture-related", items, criteria.CULTURE, ("no", "yes"), "nominal")
    yield _asked("Error valid, partly or not", items, criteria.STRICT, EXTENT, "ordinal")
    yield _asked("Error: any answer but don't know", items, criteria.STRICT, (*EXTENT, "no_change"), "nominal")
    yield _asked("Explanation valid, partly or not", items, criteria.EXPLANATION, EXTENT, "ordinal")
    yield _asked("Changed mind", items, criteria.CHANGED, ("no", "yes"), "nominal")
    for criterion in (*criteria.VOTED, criteria.SEVERITY, criteria.TYPE):
        votes = [["yes" if vote else "no" for vote in criterion.votes(item)] for item in items]
        name = f"{criterion.name}: yes or not"
        yield _RatedQuestion(name, votes, ("no", "yes"), "nominal", _annotators(items, criterion.step))
    for system in systems(campaign):
        shown_items = human_ratings.of_system(items, system)
        ratings = [ratings for _, text, ratings in shown_items if text is not None]
        name = f"Similarity of {system}"
        yield _RatedQuestion(name, ratings, human_ratings.GRADES, "ordinal", _annotators(items, human_ratings.STEP))


def _asked(
    name: str, items: Sequence[AnsweredTask], criterion: Criterion, values: Sequence[str], scale: Scale
) -> _RatedQuestion:
    return _RatedQuestion(name, list(map(criterion.values, items)), values, scale, _annotators(items, criterion.step))


def _annotators(items: Sequence[AnsweredTask], step: int) -> int:
    return len({answer.annotator for item in items for answer in item.answered(step)})


def _agreement_columns(coefficient: Agreement) -> dict[str, Any]:
    why = "" if coefficient.value is not None else "no variation" if coefficient.n else "no items"
    return {
        **{name: rounded_text(getattr(coefficient, name)) for name in ("value", "low", "high")},
        "n": coefficient.n,
        "ratings": coefficient.ratings,
        "few": "yes" if coefficient.n < human_votes.FEW else "",
        "why": why,
    }
