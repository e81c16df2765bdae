"""What goes to a scoring server and comes back, as JSON, as types of its OpenAPI document, and as ours."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, create_model

from excam.exceptions import InputInvalid
from excam.metric import pairs as reading
from excam.metric.pairs import Pair
from excam.metric.scored import Scored, Seen

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
    __doc__="A text, and what is known of it. Other keys are overlooked, as columns of a file are.",
    output=(str, Field(description="the text to be judged")),
    **_OTHERS,
)


class Asked(BaseModel):
    """Pairs to be judged; ids are unique, or left out: then a pair is called by its place, from 1."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"pairs": [DISH, {"output": "Moussaka."}]}]})
    pairs: list[AskedPair] = Field(min_length=1)  # pyright: ignore[reportInvalidTypeForm]  # a model, made above


class Summary(BaseModel):
    """What became of the pairs; `not_judged` have a `failure` and no score."""

    rows: int
    with_errors: int
    not_judged: int


class Answered(BaseModel):
    """A result for each pair, in order."""

    results: list[Scored]
    summary: Summary
    signature: str


class Problem(BaseModel):
    """What cannot be done: what, found, expected, next, in one line."""

    error: str = Field(examples=["pairs:2: key output: expected text; found NoneType (text)"])


class Health(BaseModel):
    """How the server is. It takes pairs while it is loading too: they wait."""

    status: str = Field(examples=["ready"], description="loading, ready, failed or stopping")
    signature: str
    waiting: int = Field(ge=0, description="pairs in the queue")
    queue: int = Field(ge=1, description="places of the queue, one for a pair")
    max_pairs: int = Field(ge=1, description="so many may be in one request")


def read(body: bytes, max_pairs: int) -> list[Pair]:
    """The pairs of a request. Raises InputInvalid, naming the place, for none, for too many, and for others."""
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


def written(results: Sequence[Scored], signature: str) -> bytes:
    """The answer, in ASCII: a text may hold half a character, and no encoding of it is any."""
    seen = Seen()
    rows = [one.to_dict() for one in seen.each(results)]
    told = {name.replace(" ", "_"): seen.counts[name] for name in ("rows", "with errors", "not judged")}
    return json.dumps({"results": rows, "summary": told, "signature": signature}).encode("ascii")


def schemas() -> Mapping[str, Any]:
    """The types of a request by name, for the `components` of an OpenAPI document."""
    found = Asked.model_json_schema(ref_template="#/components/schemas/{model}")
    return {**found.pop("$defs"), "Asked": found}
