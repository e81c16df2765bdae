"""The scores of all metrics on the rows, as columns by row id: of each metric its score and the parts asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from excam.core.exceptions import InputInvalid
from excam.crossing.rows import Row
from excam.scoring.results import Result

Column = Mapping[str, float | None]  # by row id, more is better; None for a failure
LENGTH = "(length)"


def of_scores(
    scores: Mapping[str, Sequence[Result]], parts: Mapping[str, Sequence[str]], rows: Sequence[Row]
) -> dict[str, Column]:
    """Return the columns of metrics by name, and as a baseline that judges nothing the length of the output.

    A part is called "<metric>: <part>". Raise InputInvalid for scores of other rows or texts, a row twice, a row with
    the texts of all scored ones that has no score, and a part that no row has.
    """
    row_of = {row.id: row for row in rows}
    columns: dict[str, Column] = {}
    for name, scored in scores.items():
        columns |= _of_metric(name, scored, parts.get(name, ()), row_of)
    columns[LENGTH] = {row.id: length_of(row) for row in rows}
    return columns


def spoken(name: str) -> str:
    """Return the name of a column or part as words."""
    return name.replace("_", " ")


def length_of(row: Row) -> float:
    """Return the number of characters of a text."""
    return float(len(row.columns["output"]))


def _of_metric(
    name: str, scored: Sequence[Result], parts: Iterable[str], row_of: Mapping[str, Row]
) -> dict[str, Column]:
    scores: dict[str, float | None] = {}
    for result in scored:
        row = row_of.get(result.id)
        texts = {column: text for column, text in result.texts.items() if row and column in row.columns}
        if not row or result.id in scores or any(str(row.columns[column]) != text for column, text in texts.items()):
            problem = "has other texts or is there twice" if row else f"is not among the {len(row_of)} rows"
            raise InputInvalid(f"scores of {name}: row {result.id} {problem}; score them again")
        scores[result.id] = result.preference
    wanted = set[str].intersection(*(set(result.texts) for result in scored)) if scored else set[str]()
    if absent := [row.id for row in row_of.values() if wanted and row.has(wanted) and row.id not in scores]:
        raise InputInvalid(f"scores of {name}: none of row {absent[0]} ({len(absent)} rows); score them again")
    return {name: scores, **_of_parts(name, scored, parts)}


def _of_parts(name: str, scored: Sequence[Result], parts: Iterable[str]) -> dict[str, Column]:
    columns: dict[str, Column] = {}
    for part in parts:
        columns[f"{name}: {part}"] = column = {result.id: result.part(part) for result in scored}
        if set(column.values()) == {None} and any(result.preference is not None for result in scored):
            raise InputInvalid(f"crossing.metrics.{name}.parts: {part}: a number in no scored row")
    return columns
