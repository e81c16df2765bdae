"""The tables of what annotators answered: for each its columns, its rows and the text of its page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from excam.annotation.campaign import Campaign
from excam.error_reports.evaluation.claims import Claims
from excam.excam40k.validation import human_agreement, human_pages, human_ratings, human_votes
from excam.excam40k.validation.human_answers import AnsweredTask


@dataclass(frozen=True, slots=True)
class Given:
    """What the rows of a table are made of."""

    campaign: Campaign
    items: Sequence[AnsweredTask]
    printed: Sequence[Mapping[str, str]]  # the paper's table; of a table that is not in the paper: none
    claims: Claims
    seed: int


@dataclass(frozen=True, slots=True)
class Table:
    """One table: `results/paper/<name>.csv` and `.md`."""

    columns: Sequence[str]
    lines: Callable[[Given], Iterable[dict[str, Any]]]
    page: Callable[[human_pages.Lines, Mapping[str, Any], Claims], str]  # lines as read again, counts, claims


TABLES: Mapping[str, Table] = {
    "table-3": Table(
        human_votes.COLUMNS_3, lambda inputs: human_votes.table_3(inputs.items, inputs.printed), human_pages.page_3
    ),
    "table-12": Table(
        human_votes.COLUMNS_12, lambda inputs: human_votes.table_12(inputs.items, inputs.printed), human_pages.page_12
    ),
    "table-13": Table(
        human_votes.COLUMNS_13, lambda inputs: human_votes.table_13(inputs.items, inputs.printed), human_pages.page_13
    ),
    "human-ratings": Table(
        human_ratings.COLUMNS,
        lambda inputs: human_ratings.lines(inputs.campaign, inputs.items, inputs.claims, inputs.seed),
        human_pages.page_ratings,
    ),
    "human-agreement": Table(
        human_agreement.COLUMNS,
        lambda inputs: human_agreement.lines(inputs.campaign, inputs.items, inputs.seed),
        lambda lines, counted, _: human_pages.page_agreement(lines, counted),
    ),
}
