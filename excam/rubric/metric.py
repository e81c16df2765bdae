"""The rubric as a metric for `excam score --metric rubric`: the score is Overall after the rules, from 1 to 5."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from excam.inference import Flow
from excam.rubric import asks, manual, responses
from excam.rubric.manual import Rubric
from excam.rubric.ratings import Rating, to_row
from excam.scoring.metrics import Outcome, Row, Wording
from excam.scoring.scored import Direction
from excam.scoring.spans import ErrorSpan

NAME, MAX_TOKENS = "rubric", 1024
HIDDEN = ("rater", "role", "phase", "overall")  # of a rating, in the parts of a row: they follow from the rest
VERSION = asks.VERSION
DIRECTION: Direction = "higher"
COLUMNS = PAIR = ("prompt", "response")
OPTIONAL = (
    "task_id",
    "culture",
    "language",
    "scenario",
    "complexity",
    "unsafe",
)  # without the last two, rules stay open
WORDING = Wording("mean Overall, 1 to 5, more is better", {}, "; Overall after the rules of the manual")


@cache
def rubric() -> Rubric:
    """Return the manual by which this metric rates."""
    return manual.load()


def flow(row: Row) -> Flow[Outcome]:
    """Ask once for a rating of a response. Raise InputInvalid for a fact about the task that is none."""
    response = response_of(row)
    rating = yield from asks.text(response, rubric(), "model")
    return outcome(rating, response)


def response_of(row: Row) -> responses.Response:
    """Return the response of a row. Raise InputInvalid for a fact about the task that is none."""
    unsafe = {"true": True, "false": False}.get(str(row.values.get("unsafe")).lower())
    return responses.parse({"task_id": row.id, **row.values, "unsafe": unsafe}, f"row {row.id}")


def outcome(rating: Rating, response: responses.Response) -> Outcome:
    """Return a rating as the outcome of a row: Overall, its parts, the rationales, and what was found."""
    if rating.scores is None:
        return Outcome(None, rating.failure)
    parts = {name: value for name, value in to_row(rating).items() if value is not None and name not in HIDDEN}
    words = "\n".join(f"{name}: {text}" for name, text in rating.rationales.items() if text)
    return Outcome(float(rating.scores["overall"]), None, parts, words, tuple(_spans(rating, response)))


def _spans(rating: Rating, response: responses.Response) -> Iterator[ErrorSpan]:
    """Yield the made-up claim and the stereotyping phrase, with their places where the response holds them."""
    for kind, words in (
        ("hallucination", rating.findings.false_claim),
        ("stereotype", rating.findings.stereotype_phrase),
    ):
        if words:
            start = response.response.find(words)
            yield ErrorSpan("response", words, "major", kind, start, start + len(words) if start >= 0 else -1)
