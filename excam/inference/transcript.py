"""Transcripts: every request and answer of every sample, verbatim; written once, judged again without a model."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from excam.exceptions import ArtifactBroken, InputInvalid
from excam.inference import Answer, Ask, Choose, Flow, Generate, Message, Request, answer_from_row
from excam.inference.run import Round, play, run
from excam.provenance import publish
from excam.records import Sample, Verdict


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a transcript: what was asked about one sample and what came back, round by round."""

    sample: str  # id of the sample
    rounds: tuple[Round, ...]


def record(judge: Callable[[Sample], Flow], samples: Sequence[Sample], ask: Ask) -> tuple[list[Verdict], list[Entry]]:
    """Judge `samples` live. Verdicts and transcript entries, both in the order of `samples`."""
    played = play(judge, samples, ask)
    entries = [Entry(sample.id, one.rounds) for sample, one in zip(samples, played, strict=True)]
    return [one.verdict for one in played], entries


def write(path: Path, entries: Iterable[Entry]) -> None:
    """Write one JSON line per entry, atomically: under its name a transcript is whole or absent."""
    with publish(path) as temporary, temporary.open("w", encoding="ascii") as stream:
        for entry in entries:  # ASCII: lone surrogates survive as escapes
            stream.write(json.dumps(asdict(entry), ensure_ascii=True, separators=(",", ":")) + "\n")


def read(path: Path) -> dict[str, Entry]:
    """Entries by sample id, in file order. Raises InputInvalid (no file) or ArtifactBroken (no transcript)."""
    if not path.is_file():
        raise InputInvalid(f"{path}: no such transcript; run the rule that judges first")
    entries: dict[str, Entry] = {}
    with path.open("rb") as stream:
        for number, line in enumerate(stream, 1):
            try:
                row = json.loads(line)
                entry = Entry(row["sample"], tuple(_round(one) for one in row["rounds"]))
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
                raise ArtifactBroken(f"{path}: line {number} is no transcript entry; judge again") from None
            if entry.sample in entries:
                raise ArtifactBroken(f"{path}: line {number}: sample {entry.sample} is there twice; judge again")
            entries[entry.sample] = entry
    return entries


def _round(row: dict[str, Any]) -> Round:
    requests, answers = tuple(map(_request, row["requests"])), tuple(map(answer_from_row, row["answers"]))
    if len(requests) != len(answers):
        raise ValueError("as many answers as requests")
    return Round(requests, answers)


def _request(row: dict[str, Any]) -> Request:
    messages = tuple(Message(**one) for one in row["messages"])
    return Choose(messages, tuple(row["options"])) if "options" in row else Generate(messages)


def replay(judge: Callable[[Sample], Flow], samples: Sequence[Sample], path: Path) -> list[Verdict]:
    """Judge again from a transcript, with no model; it may hold more samples, or in another order.

    Raises ArtifactBroken when a sample is not in it, or when the judge asks anything else than what was asked then.
    """
    entries = read(path)
    if absent := [sample.id for sample in samples if sample.id not in entries]:
        raise ArtifactBroken(
            f"{path}: {len(absent)} of {len(samples)} samples are not in it, the first is {absent[0]}; "
            "it was made from other samples; judge again"
        )
    return [run(judge, [sample], _recorded(path, entries[sample.id]))[0] for sample in samples]


def _recorded(path: Path, entry: Entry) -> Ask:
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
