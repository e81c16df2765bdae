"""How alike annotators find a system's explanations and the provided ones, 1 to 5 (ExCAM §5, soft errors).

The paper keeps items whose provided explanation is valid as per majority (n = 90): Table 3's and Table 12's "Expl.
valid" hold 78 and 12 of them, so it is the strict vote on the explanation. Of those, a system predicted an error where
it wrote an explanation, and the mean is over every rating of these; whether the paper's is over ratings or over items
it does not say, so `mean_of_items` is given too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from operator import truediv
from typing import Any

from excam.annotation.campaign import Campaign
from excam.error_reports.evaluation.cells import rounded_text
from excam.excam40k.validation.human_answers import AnsweredTask, systems
from excam.excam40k.validation.human_votes import EXPLANATION, EXPLANATION_PARTIAL, FEW, majority
from excam.stats import bootstrap

GRADES = ("1", "2", "3", "4", "5")
VALID = "explanation valid"  # as the paper
BASES = {VALID: EXPLANATION, "explanation valid or partly": EXPLANATION_PARTIAL, "all": None}
STEP = 3
# The paper's two systems and what its claims call them.
PRINTED = {"gemma3-27b/all/report": "gemma3", "phi3-medium-4k/all/report": "phi3"}
AGAINST = ("no_error_of_text", "rated_without_text")  # "no error" of a text that names one; a rating of no text
COLUMNS = ("items", "system", "n", "found", "percent", "percent_low", "percent_high", "mean", "low", "high")
COLUMNS = (*COLUMNS, "mean_of_items", "rated_items", "ratings", *GRADES, "no_error", *AGAINST, "few")
COLUMNS = (*COLUMNS, "printed_n", "printed_percent", "printed_mean")

RatedItems = list[tuple[AnsweredTask, str | None, list[str]]]  # item, the system's explanation, its ratings


def lines(
    campaign: Campaign, items: Sequence[AnsweredTask], claims: Mapping[str, Mapping[str, str]], seed: int
) -> Iterator[Any]:
    """Return a line per selection of items and system; the paper's numbers are beside those of its selection and
    systems.
    """
    for basis, criterion in BASES.items():
        valid_items = [item for item in items if criterion is None or majority(criterion.votes(item))]
        for system in systems(campaign):
            shown_items = of_system(valid_items, system)
            name = PRINTED.get(system) if basis == VALID else None
            yield {
                "items": basis,
                "system": system,
                **_rating_numbers(shown_items, seed),
                **_paper_numbers(name, claims),
            }


def of_system(items: Sequence[AnsweredTask], system: str) -> RatedItems:
    """Return every item that showed an explanation of a system, with the ratings of annotators who answered step 3."""
    shown_items: RatedItems = []
    for item in items:
        for place in (1, 2):
            if item.task.hidden[f"source_{place}"] == system:
                ratings = [answer[f"similarity_{place}"] for answer in item.answered(STEP)]
                shown_items.append((item, item.task.shown[f"comparison_{place}"], ratings))
    return shown_items


def grades(ratings: Sequence[str]) -> list[str]:
    """Return the ratings of an item that are on the scale."""
    return [rating for rating in ratings if rating in GRADES]


def _rating_numbers(shown_items: RatedItems, seed: int) -> dict[str, Any]:
    texts = [(item, grades(ratings)) for item, text, ratings in shown_items if text is not None]
    rated = {item.task.id: list(map(int, on_scale)) for item, on_scale in texts if on_scale}
    often = Counter(grade for _, on_scale in texts for grade in on_scale)
    sums, sizes = [sum(on_scale) for on_scale in rated.values()], [len(on_scale) for on_scale in rated.values()]
    said_of = {
        there: [rating for _, text, ratings in shown_items if (text is not None) == there for rating in ratings]
        for there in (True, False)
    }
    mean = bootstrap.estimate([sums, sizes], bootstrap.ratio, list(rated), seed)
    return {
        "n": len(shown_items),
        "found": len(texts),
        **_share([text is not None for _, text, _ in shown_items], seed),
        **{name: rounded_text(mean[key]) for name, key in (("mean", "value"), ("low", "low"), ("high", "high"))},
        "mean_of_items": rounded_text(sum(map(truediv, sums, sizes)) / len(rated)) if rated else None,
        "rated_items": len(rated),
        "ratings": often.total(),
        **{grade: often[grade] for grade in GRADES},
        "no_error": said_of[False].count("no_error"),
        "no_error_of_text": said_of[True].count("no_error"),
        "rated_without_text": len(grades(said_of[False])),
        "few": "yes" if min(len(shown_items), len(rated)) < FEW else "",
    }


def _share(flags: Sequence[bool], seed: int) -> dict[str, float | None]:
    """Return a share in percent, each item once."""
    estimate = bootstrap.share(flags, range(len(flags)), seed)
    names = {"percent": estimate["value"], "percent_low": estimate["low"], "percent_high": estimate["high"]}
    return {name: None if share is None else round(100 * share, 1) for name, share in names.items()}


def _paper_numbers(name: str | None, claims: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    if name is None:
        return {}
    claim_names = {
        "n": "explanation-soft-n",
        "percent": f"explanation-soft-found-{name}",
        "mean": f"explanation-likert-{name}",
    }
    return {f"printed_{key}": claims[claim]["printed"] for key, claim in claim_names.items()}
