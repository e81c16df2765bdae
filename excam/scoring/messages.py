"""Requests and answers of a scoring server: as JSON, as types of its OpenAPI document, and as our types."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, Field

from excam.core.exceptions import InputInvalid
from excam.scoring import given_rows, summary
from excam.scoring.metric import Metric, Row
from excam.scoring.results import Result


class Asked(BaseModel):
    """Rows to score. Ids are unique; a row without one gets its number, behind a # if others have ids.

    Other keys are ignored.
    """

    rows: list[dict[str, Any]] = Field(min_length=1, description="the columns of the metric, and labels")


class Summary(BaseModel):
    """Numbers of rows; the failed ones have a `failure` and no score."""

    rows: int
    with_errors: int
    failed: int


class Answered(BaseModel):
    """One result per row, in order."""

    results: list[Result]
    summary: Summary
    signature: str


class Problem(BaseModel):
    """An error in one line: what, found, expected, next."""

    error: str = Field(examples=["rows: column output: not found; found text; give --output NAME"])


class Health(BaseModel):
    """The state of the server. Rows sent while it is loading wait."""

    status: str = Field(examples=["ready"], description="loading, ready, failed or stopping")
    signature: str
    waiting: int = Field(ge=0, description="rows in the queue")
    queue: int = Field(ge=1, description="limit of rows in the queue")
    max_rows: int = Field(ge=1, description="limit of rows in one request")


def read(body: bytes, metric: Metric, max_rows: int) -> list[Row]:
    """Return the rows of a request. Raises InputInvalid for no rows, too many, or rows without a column."""
    row = ", ".join(f'"{name}": ...' for name in metric.pair or metric.columns)
    expected = f'expected {{"rows": [{{{row}}}, ...]}}'
    try:
        request = json.loads(body.decode("utf-8-sig"))
    except (ValueError, RecursionError):  # ValueError: also digits beyond Python's limit
        raise InputInvalid(f"body: no JSON in UTF-8; {expected}") from None
    if not isinstance(request, Mapping) or request.keys() != {"rows"} or not isinstance(request["rows"], list):
        received = (
            f"keys {', '.join(map(str, request))[:100]}" if isinstance(request, Mapping) else type(request).__name__
        )
        raise InputInvalid(f"body: found {received}; {expected}")
    rows = request["rows"]
    if not 0 < len(rows) <= max_rows:
        raise InputInvalid(
            f"rows: found {len(rows)}; expected 1 to {max_rows}; send the others in a request of their own"
        )
    return list(given_rows.rows_of(rows, metric)[0])


def answer(results: Sequence[Result], signature: str) -> bytes:
    """Return the answer in ASCII, because a text may hold a lone surrogate, which UTF-8 cannot encode."""
    counter = summary.Summary()
    scored_rows = [result.to_dict() for result in counter.counting(results)]
    counts = {name.replace(" ", "_"): counter.counts[name] for name in ("rows", "with errors", "failed")}
    return json.dumps({"results": scored_rows, "summary": counts, "signature": signature}).encode("ascii")


def schemas(metric: Metric) -> Mapping[str, Any]:
    """Return the types of a request by name, for the `components` of an OpenAPI document."""
    schema = Asked.model_json_schema(ref_template="#/components/schemas/{model}")
    example = dict(metric.example) or dict.fromkeys(metric.columns, "...")
    schema["examples"] = [{"rows": [{"id": "a", **example}]}]
    return {"Asked": schema}
