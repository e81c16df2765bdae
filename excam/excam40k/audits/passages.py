"""Check that passages before rows give away what they are said to give away, and nothing else.

A row's own source is in no passage unless its kind says so: a measurement "the fact is nowhere" is worth nothing if the
fact is there after all. A source is a base sample; those of one culture and one group (near-duplicate questions) count
as one. The same question about another culture is a near miss, and wanted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from excam.error_reports.records import BaseSample
from excam.excam40k.audits.checks import Audit, Check, absence_check
from excam.excam40k.shown_evidence import Shown

STATED = {
    "fact": ["fact"],
    "planted": ["fact"],
    "contradicting": ["fact", "false"],
}  # what the passages of a kind state; of others nothing


def audit(shown: Mapping[str, Sequence[Shown]], bases: Mapping[str, BaseSample]) -> Audit:
    """Return the audit of rows with passages by set ("<dataset>/<split>")."""
    checks = [check for name, rows in shown.items() for check in _checks(name, rows, bases)]
    counts = [(name, row.kind, row.wording, len(row.passages)) for name, rows in shown.items() for row in rows]
    frame = pl.DataFrame(counts, schema=["set", "kind", "wording", "passages"], orient="row")
    table = frame.group_by("set", "kind", "wording").agg(rows=pl.len(), passages=pl.mean("passages").round(2))
    return Audit("passages", tuple(checks), {"Rows": table.sort("set", "kind", "wording")})


def _checks(name: str, rows: Sequence[Shown], bases: Mapping[str, BaseSample]) -> Iterator[Check]:
    dataset = name.split("/")[0]
    where = f"of {len(rows)} rows of {name}"
    own = [row.id for row in rows if row.kind not in STATED and _own_sources(row, bases)]
    yield absence_check("rows whose fact is nowhere, with a passage of their own source", dataset, len(own), where)
    other = [
        row.id
        for row in rows
        if sorted(passage.states for passage in row.passages if passage.states) != STATED.get(row.kind, [])
    ]
    yield absence_check("rows whose passages do not state what their kind says", dataset, len(other), where)
    held = [row.id for row in rows if row.kind == "fact" and _own_sources(row, bases) > 1]
    yield absence_check("rows with their fact in more than one passage", dataset, len(held), where)
    pairs = {(row.pair, tuple(passage.shown for passage in row.passages)) for row in rows}
    yield absence_check(
        "pairs whose texts have different passages", dataset, len(pairs) - len({row.pair for row in rows}), where
    )


def _own_sources(row: Shown, bases: Mapping[str, BaseSample]) -> int:
    """Return how many passages are made of the row's base sample, or of one of its culture and group."""
    own = _fact(bases[row.base])
    return sum(any(_fact(bases[source]) == own for source in passage.sources) for passage in row.passages)


def _fact(base: BaseSample) -> tuple[str, str]:
    """Return what makes base samples one fact: the same question about the same culture, however it is worded."""
    return base.culture, base.group or base.id
