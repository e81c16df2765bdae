"""The rubric as a metric: the score is Overall after the rules of the manual, from 1 to 5.

`rubric` asks for a rating as JSON; `rubric-choice` for the likelihood of each score, for models too small for that:
Overall is the rounded mean of the likeliest scores, so it has few values; the parts have the expected scores as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, ClassVar

from excam.core.phrases import PhraseFinder
from excam.inference import Flow
from excam.rubric import asks, manual, responses
from excam.rubric.manual import ScoringRubric
from excam.rubric.ratings import Rating, to_row
from excam.scoring.metric import Asks, Metric, Outcome, Row
from excam.scoring.spans import ErrorSpan

HIDDEN = ("rater", "role", "phase", "overall")  # of a rating, in the parts of a row: they follow from the rest


@cache
def rubric() -> ScoringRubric:
    """Return the manual by which these metrics rate."""
    return manual.load()


class RubricText(Metric):
    """A rating of a response with findings and rationales."""

    name = "rubric"
    version = asks.VERSION + 2  # before, phrases beside markup had no place
    columns = pair = ("prompt", "response")
    # without `complexity` and `unsafe`, rules stay open
    optional = ("task_id", "culture", "language", "scenario", "complexity", "unsafe")
    values = ("unsafe",)
    structured, max_tokens, evidence = True, 1024, "before"
    title, mean, legend = "Ratings by the rubric", "mean Overall, 1 to 5, more is better", "Overall, 1 to 5"
    range = (1.0, 5.0)
    example: ClassVar[Mapping[str, Any]] = {"prompt": "How do I greet my host in Japan?", "response": "With a bow."}

    def flow(self, row: Row) -> Flow[Outcome]:
        """Ask once for a rating of a response. Raise InputInvalid for a fact about the task that is none."""
        response = _response_of(row)
        rating = yield from asks.text(response, rubric(), "model")
        return _outcome(rating, response)


class _RubricChoice(RubricText):
    """A rating by the likelihoods of scores."""

    name, max_tokens, structured = "rubric-choice", 1, False
    asks: ClassVar[Asks] = "likelihoods"

    @property
    def signature(self) -> str:
        """Return the metric's part of a signature."""
        return f"by:choose|{super().signature}"

    def flow(self, row: Row) -> Flow[Outcome]:
        """Ask for the likelihood of each score of each dimension. Raise InputInvalid as `RubricText.flow`."""
        response = _response_of(row)
        rating = yield from asks.choose(response, rubric(), "model")
        outcome = _outcome(rating, response)
        if outcome.score is None:
            return outcome
        expected = {
            f"expected_{name}": sum(score * chance for score, chance in enumerate(chances, 1))
            for name, chances in rating.chances.items()
        }
        mean = {"expected_mean": sum(expected.values()) / len(expected)}
        return Outcome(outcome.score, None, {**outcome.parts, **expected, **mean}, outcome.explanation, outcome.spans)


def _response_of(row: Row) -> responses.Response:
    unsafe = {"true": True, "false": False}.get(str(row.values.get("unsafe")).lower())
    return responses.parse({"task_id": row.id, **row.values, "unsafe": unsafe}, f"row {row.id}")


def _outcome(rating: Rating, response: responses.Response) -> Outcome:
    """Return a rating as the outcome of a row: Overall, its parts, the rationales, and what was found."""
    if rating.scores is None:
        return Outcome(None, rating.failure)
    parts = {name: value for name, value in to_row(rating).items() if value is not None and name not in HIDDEN}
    words = "\n".join(f"{name}: {text}" for name, text in rating.rationales.items() if text)
    return Outcome(float(rating.scores["overall"]), None, parts, words, tuple(_spans(rating, response)))


def _spans(rating: Rating, response: responses.Response) -> Iterator[ErrorSpan]:
    """Yield the made-up claim and the stereotyping phrase, with their places where the response holds them."""
    finder = PhraseFinder(response.response)
    for kind, words in (
        ("hallucination", rating.findings.false_claim),
        ("stereotype", rating.findings.stereotype_phrase),
    ):
        if words:
            start, end = next(finder.places(words), (-1, -1))
            span = finder.text[start:end] if start >= 0 else words
            yield ErrorSpan("response", span, "major", kind, start, end)


METRICS = (RubricText(), _RubricChoice())
