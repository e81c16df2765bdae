"""Passages that a judge is shown before rows of the data set: the file of them, and the judge that reads it.

They are drawn as those of training are (`excam.excam40k.grounded`), from facts of the same file of rows alone: with the
fact among near misses, near misses alone, a right and a false passage, nothing of use. Both texts of a pair have the
same passages, so that nothing but the texts tells them apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from excam.config import Evidence, Judging
from excam.core.exceptions import ArtifactBroken, InputInvalid
from excam.core.tables import read_frame, write_frame
from excam.error_reports.judges import grounded as judge_with_evidence
from excam.error_reports.records import BaseSample, Sample, Verdict
from excam.excam40k import grounded
from excam.excam40k.evidence import EvidencePassage
from excam.inference import Flow
from excam.knowledge.passages import Passage

_PASSAGE = pl.Struct({"title": pl.String, "text": pl.String, "sources": pl.List(pl.String), "states": pl.String})
SCHEMA: dict[str, Any] = {
    **dict.fromkeys(("id", "pair", "base", "kind", "wording", "question", "expected"), pl.String),
    "cites": pl.List(pl.Int64),
    "passages": pl.List(_PASSAGE),
}


@dataclass(frozen=True, slots=True)
class Shown:
    """What is shown before one row: see `SCHEMA`."""

    id: str
    pair: str
    base: str
    kind: grounded.Kind
    wording: str
    question: str
    expected: str
    cites: tuple[int, ...]
    passages: tuple[EvidencePassage, ...]


def drawn(samples: Sequence[Sample], bases: Mapping[str, BaseSample], shares: Evidence, seed: int) -> list[Shown]:
    """Return the passages of each sample, in order. Raise InputInvalid if a sample's base is not among `bases`."""
    by_pair = shares.model_copy(update={"stated": 0.0})  # rows that are asked whether a text is right: by pair
    return [
        Shown(**{name: getattr(row, name) for name in SCHEMA}) for row in grounded.rows(samples, bases, by_pair, seed)
    ]


def write(path: Path, rows: Iterable[Shown]) -> None:
    """Write a line for each row as Parquet."""
    write_frame(path, pl.DataFrame([asdict(row) for row in rows], schema=SCHEMA, orient="row"))


def read(path: Path) -> dict[str, Shown]:
    """Return what `write` wrote, by id. Raise ArtifactBroken for any other file."""
    frame = read_frame(path)
    if missing := SCHEMA.keys() - set(frame.columns):
        raise ArtifactBroken(f"{path}: no passages of rows: lacks the column {min(missing)}; delete it and run again")
    return {row["id"]: _shown(row) for row in frame.iter_rows(named=True)}


def _shown(row: Mapping[str, Any]) -> Shown:
    passages = tuple(
        EvidencePassage(**{**passage, "sources": tuple(passage["sources"])}) for passage in row["passages"]
    )
    return Shown(**{**row, "cites": tuple(row["cites"]), "passages": passages})


def judging(shown: Mapping[str, Shown], settings: Judging) -> Callable[[Sample], Flow[Verdict]]:
    """Return the judge `grounded` with these passages. It raises InputInvalid for a sample without passages."""
    way = judge_with_evidence.Way(least=settings.least)

    def judge(sample: Sample) -> Flow[Verdict]:
        if sample.id not in shown:
            raise InputInvalid(f"{sample.id}: no passages; found those of {len(shown)} rows; draw the evidence again")
        row = shown[sample.id]
        asked = replace(sample, instruction=row.question)
        passages = [
            Passage(id=f"passage {number}", title=passage.title, text=passage.text)
            for number, passage in enumerate(row.passages, 1)
        ]
        return judge_with_evidence.judge(asked, lambda question, text: passages, way)

    return judge
