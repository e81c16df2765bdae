"""All numbers of the ratings of one study, and the words that its tables share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any

from excam.pages.markdown import rounded
from excam.rubric import quality
from excam.rubric.checks import FileRatings
from excam.rubric.manual import ScoringRubric
from excam.rubric.quality import FEW, Reliability
from excam.rubric.ratings import Rating, by_rater
from excam.rubric.responses import Response
from excam.scoring.joining import distinct, repeated_note


@dataclass(frozen=True)
class RubricStudy:
    """All numbers of the ratings of one study."""

    rubrics: Sequence[ScoringRubric]
    ratings: Sequence[Rating]
    superseded: int
    repeated: int  # ratings of responses that repeat another under a new id, with the same ratings
    responses: Sequence[Response]
    reliability: Sequence[Reliability]
    disagreements: Sequence[Mapping[str, Any]]
    fatigue: Sequence[Mapping[str, Any]]
    conditions: Sequence[Mapping[str, Any]]
    rules: Sequence[Mapping[str, Any]]

    @property
    def rubric(self) -> ScoringRubric:
        """Return the rubric whose targets are used."""
        return self.rubrics[0]


def study(reading: FileRatings, items: Sequence[Response], rubrics: Sequence[ScoringRubric], seed: int) -> RubricStudy:
    """Return the numbers of ratings; raters that read nothing stand beside the others where agreement is shown.

    The targets and limits of quality control are those of the first rubric.
    """
    rubric = rubrics[0]
    ratings = _of_distinct(reading.ratings, items)
    people = [rating for rating in ratings if rating.role != "model"]
    compared = [*ratings, *(quality.trivial_raters(items, people) if people else ())]
    return RubricStudy(
        rubrics,
        ratings,
        len(reading.superseded),
        len(reading.ratings) - len(ratings),
        items,
        quality.reliability(compared, rubric, seed),
        quality.disagreements(ratings, rubric),
        quality.fatigue(ratings, rubric.manual.fatigue),
        quality.conditions(ratings, items, seed),
        quality.rule_counts(ratings, items, rubrics),
    )


def _of_distinct(ratings: Sequence[Rating], items: Sequence[Response]) -> list[Rating]:
    """Return the ratings without those of a response that repeats another, text and ratings, under a new id."""
    by_task: dict[str, list[tuple[str, ...]]] = {rating.task_id: [] for rating in ratings}
    for rating in ratings:
        by_task[rating.task_id].append((rating.rater, rating.phase, str(rating.scores), str(rating.flags)))
    texts = {response.task_id: astuple(response)[1:] for response in items}
    names = list(by_task)
    contents = [name in texts and (texts[name], tuple(sorted(by_task[name]))) for name in names]
    distinct_ids = {names[at] for at in distinct(names, contents)}
    return [rating for rating in ratings if rating.task_id in distinct_ids]


def interval(low: float | None, high: float | None) -> str:
    """Return an interval for a table, "n/a" where there is none."""
    return "n/a" if low is None or high is None else f"{rounded(low)} to {rounded(high)}"


def counted(n: int) -> str:
    """Return a number of items, with a mark where they are few."""
    return f"{n}*" if n < FEW else str(n)


def _number(count: int, name: str, several: str) -> str:
    return f"{count} {name if count == 1 else several}"


def overview(rating_study: RubricStudy) -> str:
    """Return who rated how much, in one sentence."""
    people = {rating.rater for rating in rating_study.ratings if rating.role != "model"}
    models = {rating.rater for rating in rating_study.ratings if rating.role == "model"}
    items = len({rating.task_id for rating in rating_study.ratings})
    failed = sum(rating.scores is None for rating in rating_study.ratings)
    versions = sorted({rating.rubric for rating in rating_study.ratings})
    return (
        f"{len(rating_study.ratings)} ratings of {items} responses by {_number(len(people), 'person', 'people')} and "
        f"{_number(len(models), 'model', 'models')}, "
        f"rubric {' and '.join(versions)}; {failed} failures of models, "
        f"{rating_study.superseded} earlier ratings replaced.{repeated_note(rating_study.repeated)}"
    )


def how(rating_study: RubricStudy) -> str:
    """Return how agreement was computed, and what its marks mean."""
    return (
        f"ICC(2,1): two-way random effects, absolute agreement, of a single rater, over responses "
        f"that all of the raters rated. The interval is 95 %, "
        f"by F; beside it, over responses. ICC(2,k) is that of the mean of all k raters. "
        f"Alpha is Krippendorff's, ordinal. The manual's target, for ICC(2,1), is "
        f"{rating_study.rubric.manual.reliability.icc:g}: met or not met if the whole interval is on one side, else "
        f"undecided. * marks fewer than {FEW} responses: too few for a statement about raters."
    )


def cautions(rating_study: RubricStudy) -> list[str]:
    """Return, in words, which numbers say nothing, and whether scores follow the length of responses."""
    lines = list(_agreement_cautions(rating_study))
    for rater, ratings in by_rater(rating for rating in rating_study.ratings if rating.scores).items():
        scores = {rating.scores["overall"] for rating in ratings if rating.scores}
        if len(scores) == 1 and len(ratings) > 1:
            lines.append(
                f"{rater}: Overall is {scores.pop()} for all {len(ratings)} responses: it tells nothing apart."
            )
    for counts in (counts for counts in rating_study.rules if counts["rule"] == "all"):
        if counts["failures"]:
            lines.append(f"{counts['rater']}: {counts['failures']} of {counts['ratings']} answers could not be read.")
        if counts["unworded"]:
            lines.append(
                f"{counts['rater']}: {counts['unworded']} of {counts['ratings']} ratings have a rationale of another "
                "length than the manual asks, or one that does not name the made-up claim; they are kept as written."
            )
    few = len({rating.task_id for rating in rating_study.ratings})
    if few < FEW:
        lines.append(f"{few} responses: too few to say anything about raters, models or conditions in general.")
    return lines


def _agreement_cautions(rating_study: RubricStudy) -> Iterator[str]:
    """Yield which agreement of Overall says nothing; a model's has to exceed that of raters that read nothing."""
    main = [line for line in rating_study.reliability if (line.score, line.phase) == ("overall", "main")]
    trivial = [line for line in main if line.raters.endswith(quality.TRIVIAL)]
    models = tuple({rating.rater for rating in rating_study.ratings if rating.role == "model"})
    if main == trivial:
        yield "Agreement: n/a with one rater; expected at least two on the same responses."
    for line in main:
        icc = f"{line.raters}: ICC of Overall {rounded(line.icc)}, {interval(line.low, line.high)}"
        bar = max([0.0, *(other.icc or 0.0 for other in trivial)]) if line.raters.endswith(models) else 0.0
        if line in trivial:
            if line.low is not None and line.low > 0:
                yield f"{icc}: scores follow length here, so agreement up to that may come from length alone."
        elif line.icc is None:
            yield f"{line.raters}: ICC of Overall is undefined: all scores are equal, too few responses, or no fit."
        elif line.low is None or line.low <= bar:
            worth = "no better than a rater that reads nothing" if bar else "which may be chance"
            yield f"{icc}: {worth}, so this says nothing."
