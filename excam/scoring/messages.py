"""Requests and answers of a scoring server: as JSON, as types of its OpenAPI document, and as our types."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, create_model

from excam.core.exceptions import InputInvalid
from excam.scoring import pairs as reading
from excam.scoring import summary
from excam.scoring.pairs import Pair
from excam.scoring.scored import Scored

DISH: dict[str, Any] = {
    "instruction": "Name a Greek dish.",
    "output": "Sushi.",
    "id": "a",
    "language": "English",
    "system": "my-model",
}
EXPECTED = 'expected {"pairs": [{"instruction": ..., "output": ...}, ...]}'

_OTHERS: dict[str, Any] = {name: (str | None, None) for name in reading.FIELDS if name != "output"}
AskedPair = create_model(
    "Pair",
    __config__=ConfigDict(json_schema_extra={"examples": [DISH]}),
    __doc__="A text with its labels. Other keys are ignored, as columns of a file are.",
    output=(str, Field(description="the text to be judged")),
    **_OTHERS,
)


class Asked(BaseModel):
    """Pairs to judge. Ids are unique; a pair without id gets its number, from 1."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"pairs": [DISH, {"output": "Moussaka."}]}]})
    pairs: list[AskedPair] = Field(min_length=1)  # pyright: ignore[reportInvalidTypeForm]  # a model, created above


class Summary(BaseModel):
    """Numbers of pairs; those of `not_judged` have a `failure` and no score."""

    rows: int
    with_errors: int
    not_judged: int


class Answered(BaseModel):
    """One result per pair, in order."""

    results: list[Scored]
    summary: Summary
    signature: str


class Problem(BaseModel):
    """An error in one line: what, found, expected, next."""

    error: str = Field(examples=["pairs:2: key output: expected text; found NoneType (text)"])


class Health(BaseModel):
    """The state of the server. Pairs sent while it is loading wait."""

    status: str = Field(examples=["ready"], description="loading, ready, failed or stopping")
    signature: str
    waiting: int = Field(ge=0, description="pairs in the queue")
    queue: int = Field(ge=1, description="limit of pairs in the queue")
    max_pairs: int = Field(ge=1, description="limit of pairs in one request")


def read(body: bytes, max_pairs: int) -> list[Pair]:
    """Return the pairs of a request. Raises InputInvalid, naming the place, for no pairs, too many, or invalid ones."""
    try:
        asked = json.loads(body.decode("utf-8-sig"))
    except (ValueError, RecursionError):  # ValueError: also digits beyond Python's limit
        raise InputInvalid(f"body: no JSON in UTF-8; {EXPECTED}") from None
    if not isinstance(asked, Mapping) or asked.keys() != {"pairs"} or not isinstance(asked["pairs"], list):
        found = f"keys {', '.join(map(str, asked))[:100]}" if isinstance(asked, Mapping) else type(asked).__name__
        raise InputInvalid(f"body: found {found}; {EXPECTED}")
    rows = asked["pairs"]
    if not 0 < len(rows) <= max_pairs:
        raise InputInvalid(
            f"pairs: found {len(rows)}; expected 1 to {max_pairs}; send the others in a request of their own"
        )
    return list(reading.distinct(reading.pair(number, row, "pairs") for number, row in enumerate(rows, 1)))


def answer(results: Sequence[Scored], signature: str) -> bytes:
    """Return the answer in ASCII, because a text may hold a lone surrogate, which UTF-8 cannot encode."""
    counter = summary.Summary()
    rows = [one.to_dict() for one in counter.counting(results)]
    counts = {name.replace(" ", "_"): counter.counts[name] for name in ("rows", "with errors", "not judged")}
    return json.dumps({"results": rows, "summary": counts, "signature": signature}).encode("ascii")


def schemas() -> Mapping[str, Any]:
    """Return the types of a request by name, for the `components` of an OpenAPI document."""
    found = Asked.model_json_schema(ref_template="#/components/schemas/{model}")
    return {**found.pop("$defs"), "Asked": found}
