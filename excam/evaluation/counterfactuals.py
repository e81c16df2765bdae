"""Rows in which the words that a judge flagged are put right: does its verdict turn? (spec 63)

Of every wrong row in which an error was reported, the gold errors that a reported error overlaps are undone
(`construction.alignment`), and nothing else. Where that leaves gold errors there is a second row, the *sham*: the same
row with those other errors undone and the flagged ones left, the same kind of edit on words the judge did not flag.
Where every gold error was flagged no words are left for a sham: there the text is the right twin's, and the right twins
of other rows are what the verdict on it is held against.

Pure: frames in, rows out. Every judged row has one outcome.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, get_args

import polars as pl

from excam.construction import alignment, spans
from excam.construction.alignment import Edit, Unaligned
from excam.evaluation import report_quality
from excam.metaeval import reports
from excam.metaeval.reports import Row
from excam.records import CulturalError, Report, Sample, sample_from_row, to_row
from excam.tables import SAMPLE_SCHEMA

Outcome = Literal[
    "not-erroneous",
    "unreadable",
    "no-error-reported",
    "flagged-elsewhere",  # no reported error overlaps a gold one
    "not-aligned",
    "all-undone",  # checked: every gold error was flagged
    "some-undone",  # checked: there are gold errors that were not flagged
]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
Arm = Literal["restored", "sham"]
Said = Literal["no error", "error", "unreadable"]

ROW_SCHEMA: dict[str, Any] = {
    **dict.fromkeys(("id", "pair", "group", "dataset", "origin", "outcome", "reason"), pl.String),
    "score": pl.Float64,  # of the verdict, without p(R); null where it was unreadable
    "elsewhere": pl.Int64,  # reported errors that overlap no gold one, those not found in the text among them
    "said_of_twin": pl.String,  # the verdict on the right twin; null where there is none
    "to_the_letter": pl.Boolean,  # with every gold error undone it is the right twin; null where nothing was undone
}
COUNTERFACTUAL_SCHEMA: dict[str, Any] = {**SAMPLE_SCHEMA, "arm": pl.String, "made_from": pl.String, "undone": pl.String}


@dataclass(frozen=True, slots=True)
class JudgedRow:
    """What became of one judged row; see ROW_SCHEMA."""

    id: str
    pair: str
    group: str
    dataset: str
    origin: str
    outcome: Outcome
    reason: alignment.Reason | None
    score: float | None
    elsewhere: int
    said_of_twin: Said | None
    to_the_letter: bool | None


@dataclass(frozen=True, slots=True)
class Counterfactual:
    """A row to be judged, its gold report the errors that are left in it."""

    sample: Sample
    arm: Arm
    made_from: str  # id of the wrong row
    undone: tuple[CulturalError, ...]  # with the right words and where they stand now


def make(
    judgements: pl.DataFrame, samples: pl.DataFrame, mode: spans.Mode
) -> tuple[list[JudgedRow], list[Counterfactual]]:
    """Every judged row with its outcome, and the rows to judge, both in the order of the judgements.

    `judgements` has the columns of `tables.JUDGEMENT_SCHEMA`, `samples` those of SAMPLE_SCHEMA; `mode` is the one the
    gold spans were made with. Raises InputInvalid where they are not the same rows, or the judge writes no reports.
    """
    joined = dict(zip(judgements["id"].to_list(), report_quality.join(judgements, samples), strict=True))
    gold = {row["id"]: sample_from_row(row) for row in samples.iter_rows(named=True)}
    right = {row.pair: id for id, row in joined.items() if not row.gold}
    rows: list[JudgedRow] = []
    made: list[Counterfactual] = []
    for id, row in joined.items():
        twin = right.get(row.pair) if row.gold else None
        flagged = _flagged(row)
        found = _edits(gold[twin] if twin else None, gold[id], mode) if flagged else ()
        judged = JudgedRow(
            **{"id": id, "pair": row.pair, "group": row.group, "dataset": row.dataset, "origin": row.origin},
            outcome=_outcome(row, flagged, found),
            reason=found.reason if isinstance(found, Unaligned) else None,
            score=row.score,
            elsewhere=sum(not any(overlap(error, one) for error in row.gold) for one in row.predicted),
            said_of_twin=said(joined[twin].report) if twin else None,
            to_the_letter=_to_the_letter(gold[twin], gold[id], found) if twin and found else None,
        )
        rows.append(judged)
        if twin and not isinstance(found, Unaligned):
            chosen: dict[Arm, set[int]] = {"restored": flagged, "sham": {*range(len(found))} - flagged}
            made += [_counterfactual(gold[twin], gold[id], arm, found, which) for arm, which in chosen.items() if which]
    return rows, made


def said(report: Report | None) -> Said:
    """A verdict in a word."""
    return "unreadable" if report is None else "error" if report.errors else "no error"


def overlap(gold: CulturalError, predicted: CulturalError) -> bool:
    """Whether they share a character: what makes a match in `reports.matches`, but not one to one."""
    return reports.overlap(gold, predicted)[0] > 0


def _flagged(row: Row) -> set[int]:
    """Positions of the gold errors that a reported error overlaps; one may overlap several."""
    return {index for index, error in enumerate(row.gold) if any(overlap(error, one) for one in row.predicted)}


def _edits(right: Sample | None, wrong: Sample, mode: spans.Mode) -> tuple[Edit, ...] | Unaligned:
    return alignment.edits(right, wrong, mode) if right else Unaligned("no-right-twin")


def _outcome(row: Row, flagged: set[int], found: tuple[Edit, ...] | Unaligned) -> Outcome:
    if not row.gold:
        return "not-erroneous"
    if row.report is None:
        return "unreadable"
    if not row.predicted:
        return "no-error-reported"
    if not flagged:
        return "flagged-elsewhere"
    if isinstance(found, Unaligned):
        return "not-aligned"
    return "all-undone" if len(flagged) == len(row.gold) else "some-undone"


def _to_the_letter(right: Sample, wrong: Sample, found: tuple[Edit, ...] | Unaligned) -> bool | None:
    """Whether undoing every error gives the right twin; else it still has other spaces, punctuation, quotes."""
    if isinstance(found, Unaligned):
        return None
    texts = alignment.undo(right, wrong, found, range(len(found))).texts
    return all(texts[where] == getattr(right, where) for where in alignment.WHERE)


def _counterfactual(right: Sample, wrong: Sample, arm: Arm, found: Sequence[Edit], chosen: set[int]) -> Counterfactual:
    undone = alignment.undo(right, wrong, found, chosen)
    sample = replace(
        wrong,
        id=f"{wrong.pair}/{arm}",
        instruction=undone.texts["instruction"],
        output=undone.texts["output"],
        report=Report(undone.left, wrong.report.explanation) if undone.left else right.report,
    )
    return Counterfactual(sample, arm, wrong.id, undone.restored)


def rows_frame(rows: Sequence[JudgedRow]) -> pl.DataFrame:
    """With the columns of ROW_SCHEMA."""
    return pl.DataFrame([asdict(row) for row in rows], schema=ROW_SCHEMA, orient="row")


def counterfactuals_frame(made: Sequence[Counterfactual]) -> pl.DataFrame:
    """Samples as `tables.read_samples` reads them, and where they are from: COUNTERFACTUAL_SCHEMA."""
    listed = [
        to_row(one.sample)
        | {"arm": one.arm, "made_from": one.made_from}
        | {"undone": json.dumps([asdict(error) for error in one.undone], ensure_ascii=False)}
        for one in made
    ]
    return pl.DataFrame(listed, schema=COUNTERFACTUAL_SCHEMA, orient="row")


def counts(rows: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Judged rows (ROW_SCHEMA), and how many of each outcome, together and by dataset; of rows not aligned, why."""
    listed = list(rows)
    names = sorted({row["dataset"] for row in listed})
    return counted(listed) | {
        "by_dataset": {name: counted([row for row in listed if row["dataset"] == name]) for name in names}
    }


def counted(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """As `counts`, together only."""
    found, reasons = Counter(row["outcome"] for row in rows), Counter(row["reason"] for row in rows)
    counts = {name: found[name] for name in OUTCOMES}
    not_aligned = {reason: reasons[reason] for reason in alignment.REASONS}
    assert sum(counts.values()) == len(rows)
    assert sum(not_aligned.values()) == counts["not-aligned"]
    not_to_the_letter = sum(row["to_the_letter"] is False for row in rows)
    return {"rows": len(rows), "outcomes": counts, "not_aligned": not_aligned, "not_to_the_letter": not_to_the_letter}
