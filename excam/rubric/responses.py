"""Responses to be rated, and what is known of their tasks. What is unknown is null, and leaves some rules undecided."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal, cast

from excam.core import row_files
from excam.core.exceptions import InputInvalid
from excam.core.provenance import say
from excam.core.text import is_text, plain_name, respelled
from excam.inference.answer_text import answers_alone

Complexity = Literal["low", "medium", "high"]
CONDITIONS = ("culture", "language_condition", "complexity", "scenario", "model")  # by which results are broken down
SHOWN = ("model", "culture", "language", "scenario")  # as `plain_name`
NEEDED = ("task_id", "prompt", "response")
VALUES: Mapping[str, tuple[Any, ...]] = {
    "language_condition": ("native", "non-native", None),
    "complexity": ("low", "medium", "high", None),
    "unsafe": (True, False, None),
}


@dataclass(frozen=True, slots=True)
class Response:
    """A response to a prompt. `unsafe` says whether the task itself is; `language_condition` is that of its writer."""

    task_id: str
    prompt: str
    response: str
    model: str | None = None  # who wrote the response
    culture: str | None = None
    language: str | None = None
    language_condition: Literal["native", "non-native"] | None = None
    scenario: str | None = None
    complexity: Complexity | None = None
    unsafe: bool | None = None

    @property
    def id(self) -> str:
        """Return the name under which it is asked about."""
        return self.task_id


def files(place: Path) -> list[Path]:
    """Return a .jsonl file, or those of a folder. Raise InputInvalid if there is none."""
    paths = sorted(place.glob("*.jsonl")) if place.is_dir() else [place] if place.is_file() else []
    if not paths:
        raise InputInvalid(f"{place}: no .jsonl file; expected a file, or a folder with some")
    return paths


def rows(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the rows of a file, each with its place. Raise InputInvalid for what is no row."""
    for number, row in row_files.rows(path):
        yield f"{path}:{number}", row


def read(paths: Sequence[Path]) -> list[Response]:
    """Return the responses of files, in order. Raise InputInvalid naming the first invalid row."""
    responses = [parse(row, f"{path}:{number}") for path in paths for number, row in row_files.answered_rows(path)]
    values = [value for response in responses for name in SHOWN if (value := getattr(response, name)) is not None]
    if spelling := respelled(values):
        say(f"{paths[0]}: {spelling}")
    if twice := [name for name, count in Counter(response.task_id for response in responses).items() if count > 1]:
        raise InputInvalid(f"{paths[0]}: task {twice[0]} is there twice; expected each `task_id` once")
    if not responses:
        raise InputInvalid(f"{paths[0]}: 0 responses; expected some")
    answers = answers_alone([response.response for response in responses], str(paths[0]))
    return [
        replace(
            response,
            response=answer,
            **{name: plain_name(value) for name in SHOWN if (value := getattr(response, name)) is not None},
        )
        for response, answer in zip(responses, answers, strict=True)
    ]


def parse(row: Mapping[str, Any], where: str) -> Response:
    """Return the response of a row; other keys than those of `Response` are ignored. Raise InputInvalid."""
    for name in (field.name for field in fields(Response)):
        value = row.get(name)
        if name in VALUES:
            valid = any(value is option for option in VALUES[name]) or (
                isinstance(value, str) and value in VALUES[name]
            )
            expected = " or ".join("null" if option is None else str(option).lower() for option in VALUES[name])
        elif name in NEEDED:
            valid, expected = is_text(value) and bool(value.strip()), "text"
        else:
            valid, expected = value is None or is_text(value), "text or null"
        if not valid:
            raise InputInvalid(f"{where}: {name}: found {ascii(value)[:60]}; expected {expected}")
    return Response(**{field.name: cast(Any, row.get(field.name)) for field in fields(Response)})
