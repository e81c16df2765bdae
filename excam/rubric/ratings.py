"""Ratings of people and models: one record for both, and how files hold it (`checks` reads them)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, astuple, dataclass, field
from datetime import datetime
from typing import Any

import polars as pl

from excam.rubric.manual import DIMENSIONS, FINDINGS, SCORES
from excam.rubric.rules import Cap, Draft, Findings

ROLES = ("evaluator", "validator", "model")
PHASES = ("main", "calibration")
NAMES = ("task_id", "rater", "role", "rubric")
RATIONALES = tuple(f"rationale_{name}" for name in SCORES)
DRAFTS = tuple(f"draft_{name}" for name in SCORES)
CHANCES = tuple(f"chances_{name}" for name in DIMENSIONS)
CAP_KEYS = ("rule", "dimension", "from", "to")
SCHEMA: dict[str, Any] = {
    **dict.fromkeys((*NAMES, "phase"), pl.String()),
    **dict.fromkeys(SCORES, pl.Int8()),
    **dict.fromkeys(RATIONALES, pl.String()),
    "confidence": pl.Int8(),
    "flags": pl.List(pl.String),
    "findings": pl.Struct({name: pl.Boolean if values[0] is False else pl.String for name, values in FINDINGS.items()}),
    "caps": pl.List(pl.Struct(dict(zip(CAP_KEYS, (pl.String, pl.String, pl.Int8, pl.Int8), strict=True)))),
    "edge_case": pl.String(),
    "seconds": pl.Float64(),
    "notes": pl.String(),
    "saved": pl.String(),
    "failure": pl.String(),
    **dict.fromkeys(DRAFTS, pl.Int8()),
    **dict.fromkeys(CHANCES, pl.List(pl.Float64)),
}


@dataclass(frozen=True, slots=True)
class Rating:
    """What one rater gave one response. `scores` is None exactly where there is a `failure`, which only models have.

    `draft` is what a model gave before the rules, `chances` its likelihood of each score, by dimension. `saved` is None
    for models, `seconds` too where nobody measured.
    """

    task_id: str
    rater: str
    role: str  # of ROLES
    rubric: str  # signature of the rubric
    phase: str  # of PHASES
    scores: Mapping[str, int] | None
    rationales: Mapping[str, str]  # of each score, "" if there is none
    confidence: int | None = None
    flags: tuple[str, ...] = ()
    findings: Findings = field(default=Findings())
    caps: tuple[Cap, ...] = ()
    edge_case: str = ""
    seconds: float | None = None
    notes: str = ""
    saved: datetime | None = None
    failure: str | None = None
    draft: Mapping[str, int | None] | None = None
    chances: Mapping[str, tuple[float, ...]] = field(default_factory=dict[str, tuple[float, ...]])

    @property
    def corrected(self) -> bool:
        """Return whether the rules changed a score of the draft."""
        drafted = self.draft or {}
        return self.scores is not None and any(score != self.scores[name] for name, score in drafted.items() if score)


def draft_of(rating: Rating) -> Draft:
    """Return the scores of a rating that has some, as a draft for the rules."""
    assert rating.scores is not None, "a failure has no scores"
    return Draft(**rating.scores, sentence=rating.rationales["overall"], edge_case=rating.edge_case, caps=rating.caps)


def to_frame(ratings: Iterable[Rating]) -> pl.DataFrame:
    """Return ratings as a table of `SCHEMA`."""
    return pl.DataFrame([to_row(rating) for rating in ratings], schema=SCHEMA, orient="row")


def to_row(rating: Rating) -> dict[str, Any]:
    """Return a rating as a JSON object, as `parse` reads it."""
    drafted, scores = rating.draft or {}, rating.scores or {}
    return {
        **{name: getattr(rating, name) for name in (*NAMES, "phase")},
        **{name: scores.get(name) for name in SCORES},
        **{f"rationale_{name}": rating.rationales.get(name, "") for name in SCORES},
        **{"confidence": rating.confidence, "flags": list(rating.flags), "findings": asdict(rating.findings)},
        "caps": [dict(zip(CAP_KEYS, astuple(cap), strict=True)) for cap in rating.caps],
        **{name: getattr(rating, name) for name in ("edge_case", "seconds", "notes")},
        **{"saved": rating.saved and rating.saved.isoformat(), "failure": rating.failure},
        **{f"draft_{name}": drafted.get(name) for name in SCORES},
        **{f"chances_{name}": list(rating.chances[name]) if name in rating.chances else None for name in DIMENSIONS},
    }


def by_rater(ratings: Iterable[Rating]) -> dict[str, list[Rating]]:
    """Return the ratings of each rater, in order."""
    grouped: dict[str, list[Rating]] = defaultdict(list)
    for rating in ratings:
        grouped[rating.rater].append(rating)
    return dict(grouped)
