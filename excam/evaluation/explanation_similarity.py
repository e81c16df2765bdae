"""Judgements with their gold rows -> how alike each explanation is to the gold one (ExCAM §5; spec 61, 62).

For every erroneous row whose error was found: BERTScore-like precision, recall and F1 of the report's explanation
against the gold one, and the cosine of the two sentence embeddings. Beside them

- a floor: the same explanation against the gold one of another row of the dataset, of another group, drawn by seed and
  the same for every judge. An explanation that fits any row fits its own no better;
- a ceiling, for hard errors of rows that come with and without options: the gold explanation against the gold one of
  the other row, which tells the same mistake in another template's words. Soft errors have one wording, and no ceiling.

Rows whose error was missed or whose answer could not be read are kept, without numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import polars as pl

from excam.construction.chance import digest
from excam.evaluation import report_quality
from excam.inference.embeddings import Embedded
from excam.metaeval.reports import Row
from excam.metaeval.similarity import similarity, strangers

Embed = Callable[[Sequence[str]], Sequence[Embedded]]

SIMILARITIES = ("precision", "recall", "f1", "cosine")
SCHEMA: dict[str, Any] = {
    **dict.fromkeys(("id", "dataset", "origin", "group", "outcome"), pl.String),  # detected, missed, unreadable
    **dict.fromkeys(SIMILARITIES, pl.Float64),
    "floor_row": pl.String,  # whose gold explanation; null where there is none of another group
    **dict.fromkeys([f"floor_{name}" for name in SIMILARITIES], pl.Float64),
    "ceiling_row": pl.String,
    **dict.fromkeys([f"ceiling_{name}" for name in SIMILARITIES], pl.Float64),
    **{f"{of}{what}": pl.Int64 for of in ("", "gold_") for what in ("tokens", "cut", "unknown")},
}
DIGITS = 6  # what batches and threads leave the same


@dataclass(frozen=True, slots=True)
class _Erroneous:
    """An erroneous row with its id."""

    id: str
    row: Row

    @property
    def outcome(self) -> str:
        """What the judge made of it."""
        return "unreadable" if self.row.report is None else "detected" if self.row.predicted else "missed"


def compare(judgements: pl.DataFrame, samples: pl.DataFrame, embed: Embed, seed: int) -> pl.DataFrame:
    """One line per erroneous row, by dataset and id, with the columns of SCHEMA; datasets do not touch each other.

    `judgements` and `samples` as in `report_quality.evaluate`, which says what is refused; `embed` gives the embeddings
    of texts in their order.
    """
    rows = report_quality.join(judgements, samples)
    wrong = [_Erroneous(key, row) for key, row in zip(judgements["id"], rows, strict=True) if row.gold]
    lines: list[dict[str, Any]] = []
    for dataset in sorted({one.row.dataset for one in wrong}):
        own = [one for one in wrong if one.row.dataset == dataset]
        lines += _lines(sorted(own, key=lambda one: one.id), embed, seed)
    return pl.DataFrame(lines, schema=SCHEMA, orient="row")


def _lines(rows: Sequence[_Erroneous], embed: Embed, seed: int) -> list[dict[str, Any]]:
    floors, ceilings = _floors(rows, seed), _ceilings(rows)
    pairs: dict[str, dict[str, tuple[str, str]]] = {}
    for one in rows:
        if one.outcome == "detected":
            assert one.row.report is not None
            said, gold = one.row.report.explanation, one.row.gold_explanation
            pairs[one.id] = {"": (said, gold)}
            if other := floors[one.id]:
                pairs[one.id]["floor_"] = (said, other.row.gold_explanation)
            if other := ceilings[one.id]:
                pairs[one.id]["ceiling_"] = (gold, other.row.gold_explanation)
    texts = sorted({text for own in pairs.values() for pair in own.values() for text in pair})
    embedded = dict(zip(texts, embed(texts), strict=True))
    return [_line(one, pairs.get(one.id, {}), embedded, floors[one.id], ceilings[one.id]) for one in rows]


def _line(
    one: _Erroneous,
    pairs: dict[str, tuple[str, str]],
    embedded: dict[str, Embedded],
    floor: _Erroneous | None,
    ceiling: _Erroneous | None,
) -> dict[str, Any]:
    line: dict[str, Any] = {name: getattr(one.row, name) for name in ("dataset", "origin", "group")}
    line |= {"id": one.id, "outcome": one.outcome}
    for prefix, (text, reference) in pairs.items():
        left, right = embedded[text], embedded[reference]
        found = similarity((left.pieces, left.sentence), (right.pieces, right.sentence))
        line |= {prefix + name: round(value, DIGITS) for name, value in asdict(found).items()}
    if "" in pairs:
        for prefix, text in zip(("", "gold_"), pairs[""], strict=True):
            own = embedded[text]
            line |= {f"{prefix}tokens": len(own.pieces), f"{prefix}cut": own.cut, f"{prefix}unknown": own.unknown}
        line |= {"floor_row": floor.id if floor else None, "ceiling_row": ceiling.id if ceiling else None}
    return line


def _floors(rows: Sequence[_Erroneous], seed: int) -> dict[str, _Erroneous | None]:
    """For each row another one of another group, whatever the judge found in either."""
    order = sorted(rows, key=lambda one: (digest(seed, "floor", one.row.group), digest(seed, "floor", one.id)))
    found = strangers([one.row.group for one in order])
    return {one.id: None if at is None else order[at] for one, at in zip(order, found, strict=True)}


def _ceilings(rows: Sequence[_Erroneous]) -> dict[str, _Erroneous | None]:
    """For each hard row another one of its base sample, which has the same wrong answer, where it is worded anew."""
    by_base: dict[str, list[_Erroneous]] = {}
    for one in rows:
        if one.row.origin == "hard":
            by_base.setdefault(one.row.base, []).append(one)
    return {
        one.id: next(
            (o for o in by_base.get(one.row.base, []) if o.row.gold_explanation != one.row.gold_explanation), None
        )
        for one in rows
    }
