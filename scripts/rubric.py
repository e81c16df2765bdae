"""Rate responses with the raters' manual: people and models, and how far they agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from excam.annotation import page
from excam.annotation.campaign import write
from excam.core import provenance, tables
from excam.core.provenance import say, write_text
from excam.inference import transcript
from excam.rubric import asks, campaign, changes, checks, ratings, responses
from excam.rubric.manual import DIMENSIONS, ScoringRubric
from excam.rubric.responses import Response
from scripts import step
from scripts.asking import RecordedOptions, recorder_of


@dataclass(frozen=True, kw_only=True)
class _RatingOptions:
    """The manual of the configuration and what is rated, read by `rubric_of` and `responses_of`."""

    rubric: Annotated[str, "version of the manual, or the .yaml file of a study's version"]
    responses_paths: Annotated[Sequence[Path], "what is rated, as JSON Lines"]


def rubric_of(options: _RatingOptions) -> ScoringRubric:
    """Return the manual of the options."""
    return changes.opened(options.rubric)


def responses_of(options: _RatingOptions) -> Sequence[Response]:
    """Return the responses of the options."""
    return responses.read(options.responses_paths)


@step(
    version=15,
    inputs={"responses": "rubric_responses", "manual": "rubric_version"},
    settings={
        "rubric": "rubric_version",
        "raters": "rubric_raters",
        "overlap": "rubric.overlap",
        "calibration": "rubric.calibration",
        "seed": "seed",
    },
    outputs={"campaign": "results/rubric/campaign.json", "page": "results/rubric/campaign.html"},
    silent=["manual"],
)
def rubric_campaign(
    rating: _RatingOptions,
    raters: Annotated[Sequence[str], "the evaluator, then the validators"],
    overlap: Annotated[float, "share of responses that validators rate too"],
    calibration: Annotated[int, "responses that all rate first"],
    seed: int,
    campaign_path: Path,
    page_path: Path,
) -> None:
    """Draw who rates which response; write the campaign with the rater's form, and the page that needs no server."""
    drawn = campaign.drawn(responses_of(rating), raters, overlap, calibration, rubric_of(rating), seed)
    write(campaign_path, drawn)
    write_text(page_path, page.write(drawn))
    say(f"rubric: {len(drawn.tasks)} responses for {len(raters)} raters")


@step(
    version=4,
    inputs={"responses": "rubric_responses", "manual": "rubric_version", "given": "rubric_ratings"},
    settings={"rubric": "rubric_version"},
    outputs={"ratings": "results/rubric/ratings.parquet"},
    silent=["manual"],
)
def rubric_collect(
    rating: _RatingOptions,
    given_paths: Annotated[Sequence[Path], "ratings: .jsonl of people, .parquet of models"],
    ratings_path: Path,
) -> None:
    """Check the ratings of people and models, and write them as one table; a breach of the rules stops."""
    reading = checks.sound(given_paths, responses_of(rating), [rubric_of(rating)])
    tables.write_frame(ratings_path, ratings.to_frame([*reading.ratings, *reading.superseded]))
    say(f"{len(reading.ratings)} ratings; replaced by a later one of the same rater: {len(reading.superseded)}")


@step(
    version=2,
    asks="model",
    minutes=120,
    journal="results/journal/rubric/{model}.jsonl",
    inputs={"responses": "rubric_responses", "manual": "rubric_version"},
    settings={"rubric": "rubric_version", "name": "model", "ask": "rubric.mode"},
    outputs={
        "transcript": "results/rubric/raters/{model}/transcript.jsonl",
        "manifest": "results/rubric/raters/{model}/manifest.json",
    },
    silent=["manual"],
    stages=["rubric/asks"],
)
def rubric_rate(
    asking: RecordedOptions,
    rating: _RatingOptions,
    name: Annotated[str, "the key of the model in config.yaml"],
    ask: Literal["text", "choose"],
) -> None:
    """Ask one model to rate every response; write a transcript of every request and answer."""
    asker = recorder_of(asking, name, f"{name} rates")
    rated, rubric = responses_of(rating), rubric_of(rating)
    requests = len(rated) * (len(DIMENSIONS) if ask == "choose" else 1)
    asker.record(f"rating by {name}, requests", asks.rater(ask, rubric, name), rated, requests)
    asker.write_manifest(rating.responses_paths, rubric=rubric.signature, rubric_hash=rubric.hash, seed=asking.seed)
    provenance.say(f"{name}: {len(rated)} responses rated in {asker.seconds:.0f} s")


@step(
    version=2,
    inputs={
        "responses": "rubric_responses",
        "manual": "rubric_version",
        "transcript": "results/rubric/raters/{model}/transcript.jsonl",
    },
    settings={"rubric": "rubric_version", "name": "model", "ask": "rubric.mode"},
    outputs={"ratings": "results/rubric/raters/{model}/ratings.parquet"},
    silent=["manual"],
    stages=["rubric/asks"],
)
def rubric_settle(
    rating: _RatingOptions,
    name: Annotated[str, "the model"],
    ask: Literal["text", "choose"],
    transcript_path: Path,
    ratings_path: Path,
) -> None:
    """Parse a transcript into ratings and settle them by the rules. A new parser, or new rules, need no model."""
    rated = responses_of(rating)
    model_ratings = transcript.replay(asks.rater(ask, rubric_of(rating), name), rated, transcript_path)
    tables.write_frame(ratings_path, ratings.to_frame(model_ratings))
    failed = Counter(model_rating.failure for model_rating in model_ratings if model_rating.failure)
    reasons = ", ".join(f"{reason} {count}" for reason, count in sorted(failed.items())) or "none"
    corrected = sum(model_rating.corrected for model_rating in model_ratings)
    say(f"{name}: {len(model_ratings)} ratings; corrected {corrected}; failures: {reasons}")
