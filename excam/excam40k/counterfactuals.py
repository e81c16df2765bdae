"""Rows in which the words that a judge flagged are corrected: does its verdict change?

In every corrupted row with a reported error, the gold errors that a reported error overlaps are undone
(`construction.alignment`), and nothing else. If gold errors remain there is a second row, the *sham*: the same row with
those other errors undone and the flagged ones left, the same kind of edit on words that the judge did not flag. If
every gold error was flagged, no words are left for a sham: the text is then the original's, and the verdict is compared
with those on the originals of other rows.

Pure: frames in, rows out. Every judged row has one outcome.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, get_args

import polars as pl

from excam.error_reports import report_agreement
from excam.error_reports.evaluation import report_quality
from excam.error_reports.record_files import SAMPLE_SCHEMA
from excam.error_reports.records import CulturalError, Report, Sample, sample_from_row, to_row
from excam.error_reports.report_agreement import Row
from excam.excam40k.construction import alignment, spans
from excam.excam40k.construction.alignment import Edit, Unaligned

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
    "said_of_twin": pl.String,  # the verdict on the original; null if there is none
    "to_the_letter": pl.Boolean,  # with every gold error undone it is the original; null if nothing was undone
}
COUNTERFACTUAL_SCHEMA: dict[str, Any] = {**SAMPLE_SCHEMA, "arm": pl.String, "made_from": pl.String, "undone": pl.String}


@dataclass(frozen=True, slots=True)
class JudgedRow:
    """The outcome of one judged row; see ROW_SCHEMA."""

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
    """A row to be judged; its gold report holds the remaining errors."""

    sample: Sample
    arm: Arm
    made_from: str  # id of the wrong row
    undone: tuple[CulturalError, ...]  # with the right words and their places in the new text


def make_counterfactuals(
    judgements: pl.DataFrame, samples: pl.DataFrame, mode: spans.Mode
) -> tuple[list[JudgedRow], list[Counterfactual]]:
    """Return every judged row with its outcome, and the rows to judge, both in the order of the judgements.

    `judgements` has the columns of `JUDGEMENT_SCHEMA`, `samples` those of SAMPLE_SCHEMA; `mode` is the one the
    gold spans were made with. Raises InputInvalid if they are not the same rows, or the judge writes no reports.
    """
    joined = dict(zip(judgements["id"].to_list(), report_quality.join(judgements, samples), strict=True))
    gold = {row["id"]: sample_from_row(row) for row in samples.iter_rows(named=True)}
    right = {row.pair: id for id, row in joined.items() if not row.gold}
    rows: list[JudgedRow] = []
    made: list[Counterfactual] = []
    for id, row in joined.items():
        right_id = right.get(row.pair) if row.gold else None
        flagged = _flagged_errors(row)
        aligned = _edits(gold[right_id] if right_id else None, gold[id], mode) if flagged else ()
        judged = JudgedRow(
            **{"id": id, "pair": row.pair, "group": row.group, "dataset": row.dataset, "origin": row.origin},
            outcome=_outcome(row, flagged, aligned),
            reason=aligned.reason if isinstance(aligned, Unaligned) else None,
            score=row.score,
            elsewhere=sum(not any(overlap(error, reported) for error in row.gold) for reported in row.predicted),
            said_of_twin=verdict_word(joined[right_id].report) if right_id else None,
            to_the_letter=_to_the_letter(gold[right_id], gold[id], aligned) if right_id and aligned else None,
        )
        rows.append(judged)
        if right_id and not isinstance(aligned, Unaligned):
            chosen: dict[Arm, set[int]] = {"restored": flagged, "sham": {*range(len(aligned))} - flagged}
            made += [
                _counterfactual(gold[right_id], gold[id], arm, aligned, which) for arm, which in chosen.items() if which
            ]
    return rows, made


def verdict_word(report: Report | None) -> Said:
    """Return a verdict as one word."""
    return "unreadable" if report is None else "error" if report.errors else "no error"


def overlap(gold: CulturalError, predicted: CulturalError) -> bool:
    """Return whether both share a character: a match as in `report_agreement.matches`, but not one to one."""
    return report_agreement.overlap(gold, predicted)[0] > 0


def _flagged_errors(row: Row) -> set[int]:
    """Return positions of the gold errors that a reported error overlaps; one may overlap several."""
    return {
        index for index, error in enumerate(row.gold) if any(overlap(error, reported) for reported in row.predicted)
    }


def _edits(right: Sample | None, wrong: Sample, mode: spans.Mode) -> tuple[Edit, ...] | Unaligned:
    return alignment.edits(right, wrong, mode) if right else Unaligned("no-right-twin")


def _outcome(row: Row, flagged: set[int], aligned: tuple[Edit, ...] | Unaligned) -> Outcome:
    if not row.gold:
        return "not-erroneous"
    if row.report is None:
        return "unreadable"
    if not row.predicted:
        return "no-error-reported"
    if not flagged:
        return "flagged-elsewhere"
    if isinstance(aligned, Unaligned):
        return "not-aligned"
    return "all-undone" if len(flagged) == len(row.gold) else "some-undone"


def _to_the_letter(right: Sample, wrong: Sample, aligned: tuple[Edit, ...] | Unaligned) -> bool | None:
    """Return whether undoing every error gives the original exactly, not with other spaces, punctuation or quotes."""
    if isinstance(aligned, Unaligned):
        return None
    texts = alignment.undo(right, wrong, aligned, range(len(aligned))).texts
    return all(texts[where] == getattr(right, where) for where in alignment.WHERE)


def _counterfactual(right: Sample, wrong: Sample, arm: Arm, edits: Sequence[Edit], chosen: set[int]) -> Counterfactual:
    undone = alignment.undo(right, wrong, edits, chosen)
    sample = replace(
        wrong,
        id=f"{wrong.pair}/{arm}",
        instruction=undone.texts["instruction"],
        output=undone.texts["output"],
        report=Report(undone.left, wrong.report.explanation) if undone.left else right.report,
    )
    return Counterfactual(sample, arm, wrong.id, undone.restored)


def rows_frame(rows: Sequence[JudgedRow]) -> pl.DataFrame:
    """Return the rows as a frame with the columns of ROW_SCHEMA."""
    return pl.DataFrame([asdict(row) for row in rows], schema=ROW_SCHEMA, orient="row")


def counterfactuals_frame(made: Sequence[Counterfactual]) -> pl.DataFrame:
    """Return the samples as `read_samples` does, with their origin: COUNTERFACTUAL_SCHEMA."""
    listed = [
        to_row(counterfactual.sample)
        | {"arm": counterfactual.arm, "made_from": counterfactual.made_from}
        | {"undone": json.dumps([asdict(error) for error in counterfactual.undone], ensure_ascii=False)}
        for counterfactual in made
    ]
    return pl.DataFrame(listed, schema=COUNTERFACTUAL_SCHEMA, orient="row")


def counts(rows: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Count judged rows (ROW_SCHEMA) by outcome, in total and by dataset; rows that are not aligned also by reason."""
    listed = list(rows)
    names = sorted({row["dataset"] for row in listed})
    return total_counts(listed) | {
        "by_dataset": {name: total_counts([row for row in listed if row["dataset"] == name]) for name in names}
    }


def total_counts(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Count judged rows as `counts` does, in total only."""
    outcomes, reasons = Counter(row["outcome"] for row in rows), Counter(row["reason"] for row in rows)
    counts = {name: outcomes[name] for name in OUTCOMES}
    not_aligned = {reason: reasons[reason] for reason in alignment.REASONS}
    assert sum(counts.values()) == len(rows)
    assert sum(not_aligned.values()) == counts["not-aligned"]
    not_to_the_letter = sum(row["to_the_letter"] is False for row in rows)
    return {"rows": len(rows), "outcomes": counts, "not_aligned": not_aligned, "not_to_the_letter": not_to_the_letter}
