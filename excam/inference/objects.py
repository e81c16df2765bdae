"""JSON objects in a model's answer: tolerant of how they are spelled, strict in what they say."""

from __future__ import annotations

import json
from typing import Any


def decoder(refused: type[Exception], twice: str, not_finite: str) -> json.JSONDecoder:
    """A decoder for answers none of whose fields is a number.

    It raises `refused(twice)` for a key that an object has twice (which one is meant is anyone's guess) and
    `refused(not_finite)` for NaN and Infinity, and reads bare control characters inside strings: models put line breaks
    there, and what they mean is plain.
    """

    def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(value := dict(found)) < len(found):
            raise refused(twice)
        return value

    def constant(name: str) -> None:
        raise refused(not_finite)

    return json.JSONDecoder(
        object_pairs_hook=pairs, parse_int=no_number, parse_float=no_number, parse_constant=constant, strict=False
    )


def no_number(digits: str) -> None:
    """In place of any number: an integer of a million digits costs nothing this way."""
