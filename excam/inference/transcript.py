"""Transcripts: all requests and answers of every item, verbatim, so that items can be judged again without a model."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from excam.core.exceptions import ArtifactBroken, InputInvalid
from excam.core.provenance import publish
from excam.inference import (
    Answer,
    Ask,
    Flow,
    R,
    Request,
    answer_from_row,
    answer_to_row,
    request_from_row,
    request_to_row,
)
from excam.inference.run import ItemT, Round, run, run_with_rounds


@dataclass(frozen=True, slots=True)
class TranscriptLine:
    """One line of a transcript: the rounds of requests and answers of one item."""

    sample: str  # id of the item
    rounds: tuple[Round, ...]


def record(judge: Callable[[ItemT], Flow[R]], items: Sequence[ItemT], ask: Ask) -> tuple[list[R], list[TranscriptLine]]:
    """Judge `items` with a model. Return results and transcript entries, both in the order of `items`."""
    results, rounds = run_with_rounds(judge, items, ask)
    return results, [TranscriptLine(item.id, tuple(of_item)) for item, of_item in zip(items, rounds, strict=True)]


def answers(entries: Iterable[TranscriptLine]) -> Iterator[Answer]:
    """Yield every answer of the entries, in their order."""
    return (answer for entry in entries for exchange in entry.rounds for answer in exchange.answers)


def write(path: Path, entries: Iterable[TranscriptLine]) -> None:
    """Write one JSON line per entry, atomically."""
    with publish(path) as temporary, temporary.open("w", encoding="ascii") as stream:
        for entry in entries:  # ASCII: lone surrogates are kept as escapes
            stream.write(json.dumps(_row(entry), ensure_ascii=True, separators=(",", ":")) + "\n")


def _row(entry: TranscriptLine) -> dict[str, Any]:
    rounds = [
        {
            "requests": [request_to_row(request) for request in exchange.requests],
            "answers": list(map(answer_to_row, exchange.answers)),
        }
        for exchange in entry.rounds
    ]
    return {"sample": entry.sample, "rounds": rounds}


def read(path: Path) -> dict[str, TranscriptLine]:
    """Return entries by item id, in file order. Raise InputInvalid if there is no file, ArtifactBroken if invalid."""
    if not path.is_file():
        raise InputInvalid(f"{path}: no such transcript; run the rule that judges first")
    entries: dict[str, TranscriptLine] = {}
    with path.open("rb") as stream:
        for number, line in enumerate(stream, 1):
            try:
                row = json.loads(line)
                entry = TranscriptLine(row["sample"], tuple(_round(round_row) for round_row in row["rounds"]))
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
                raise ArtifactBroken(f"{path}: line {number} is not a transcript entry; judge again") from None
            if entry.sample in entries:
                raise ArtifactBroken(f"{path}: line {number}: sample {entry.sample} is there twice; judge again")
            entries[entry.sample] = entry
    return entries


def _round(row: dict[str, Any]) -> Round:
    """Parse one round of a transcript line. Raises ValueError unless every request has an answer."""
    requests, answers = tuple(map(request_from_row, row["requests"])), tuple(map(answer_from_row, row["answers"]))
    if len(requests) != len(answers):
        raise ValueError("as many answers as requests")
    return Round(requests, answers)


def replay(judge: Callable[[ItemT], Flow[R]], items: Sequence[ItemT], path: Path) -> list[R]:
    """Judge `items` again from a transcript, without a model. It may have more items, or another order.

    Raise ArtifactBroken if an item is missing, or if the judge's requests differ from the recorded ones.
    """
    entries = read(path)
    if absent := [item.id for item in items if item.id not in entries]:
        raise ArtifactBroken(
            f"{path}: {len(absent)} of {len(items)} samples are not in it, the first is {absent[0]}; "
            "it was made from other samples; judge again"
        )
    return [run(judge, [item], _replaying_ask(path, entries[item.id]))[0] for item in items]


def _replaying_ask(path: Path, entry: TranscriptLine) -> Ask:
    """Return an `ask` that answers from an entry and raises ArtifactBroken for other requests."""
    rounds = iter(enumerate(entry.rounds, 1))

    def ask(requests: Sequence[Request]) -> tuple[Answer, ...]:
        number, recorded = next(rounds, (len(entry.rounds) + 1, Round((), ())))
        if tuple(requests) != recorded.requests:
            raise ArtifactBroken(
                f"{path}: {entry.sample}: round {number}: the judge now asks {len(requests)} other requests than the "
                f"{len(recorded.requests)} recorded; judge again"
            )
        return recorded.answers

    return ask
