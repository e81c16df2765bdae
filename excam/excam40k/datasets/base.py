"""The contract of a benchmark module, in this folder or outside.

Of Hugging Face `datasets` it needs one thing: the names of a ClassLabel.

A module provides:

    SOURCE: Source                      where the official files are, under which licence
    TASK: Task                          how its rows are wrapped
    ERRORS: "hard" | "soft"             how its rows are made wrong
    MISTAKE: Mistake                    what explanations of hard errors call a wrong answer; "fact" if not given
    def read(folder: Path) -> Reading   snapshot -> base samples as a frame, dropped rows counted by reason;
                                        keyword arguments with defaults are settings: `datasets.<name>.reading`

For those modules: `find`, `find_one` and `shards` (files by pattern), `table` (a file to a frame), `fields` (columns
to fields), `change` (a text by a rule, counted), `first_reason` and `wrong_cell` (why a row is dropped), `gather` (a
frame of fields to a Reading); cells become fields in `_cells.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

import polars as pl

from excam.core.exceptions import SourceInvalid
from excam.core.licences import Term
from excam.core.sanitize import CHAT_CONTROL, FLAG, INVISIBLE, LONGEST_ROW
from excam.core.source_tables import HALF, Patterns, read_table
from excam.core.source_tables import find as find
from excam.core.source_tables import find_one as find_one
from excam.core.source_tables import shards as shards
from excam.error_reports.records import BaseSample
from excam.error_reports.records import Errors as Errors
from excam.error_reports.records import Task as Task
from excam.excam40k.datasets._cells import clean_columns
from excam.excam40k.datasets._changes import CHANGES, KIND, by_rule
from excam.excam40k.datasets._changes import change as change
from excam.excam40k.datasets._unknown import Unknown, unknown_values

# The fields of a base sample that a frame holds; `dataset` and `task` are the same for all rows.
TEXTS = ("id", "question", "answer", "language", "culture", "stratum", "role", "context", "group", "label")
LISTS = ("options", "wrong", "minor")
NUMBERS: Mapping[str, Any] = {"agreement": pl.Float64, "asked": pl.Int64}
FIELDS = (*TEXTS, *LISTS, *NUMBERS)
_FILE = "_file"  # hidden column of a frame of fields: where a row comes from
_SOURCE = "_source"  # the same in a frame with the columns of a source
_ROW = "_row"  # hidden column: the number of a row in its file, from 1, the header not counted
_FOUND = "\x1f"  # separates a reason from what is wrong with the cell; no cell holds it


@dataclass(frozen=True, slots=True)
class Source:
    """The official release: a hub id or a URL, its licence (SPDX), and glob patterns of the files that are used.

    All patterns of `files` count. A tuple among them is one file that is called differently in different releases: of
    its patterns the first with a match counts. `terms` are what a licence asks that is only known by name
    (`excam.core.licences`), `title` is the printed name (the module's name where it is empty), `citation` the work to
    cite.
    """

    licence: str
    files: Patterns
    terms: tuple[Term, ...] = ()
    hub: str = ""
    url: str = ""
    homepage: str = ""
    title: str = ""
    citation: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """The usable rows of one snapshot with their changes, what was dropped and why, and what the snapshot lacks."""

    dataset: str
    task: Task
    frame: pl.DataFrame  # columns FIELDS and `changes`, in the order of the source
    rows: int
    dropped: Counter[str] = field(default_factory=Counter)
    lacks: tuple[str, ...] = ()  # e.g. ("Background", "Explanation"): official columns a documented variant is without
    examples: Mapping[str, str] = field(default_factory=dict)  # reason -> a row dropped for it, and what is wrong there
    unknown: Unknown = field(default_factory=dict)  # kept values that look wrong, with their rows

    @property
    def changed(self) -> dict[str, tuple[int, Mapping[str, str]]]:
        """Return rule -> base samples that it changed, and an example."""
        return by_rule(self.frame["changes"].to_list())

    def samples(self, frame: pl.DataFrame | None = None) -> list[BaseSample]:
        """Return base samples of every row of the frame, or of rows drawn from it."""
        rows = (self.frame if frame is None else frame).iter_rows(named=True)
        return [BaseSample(**row | _lists(row), dataset=self.dataset, task=self.task) for row in rows]


def _lists(row: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(row[name]) for name in (*LISTS, "changes")}


Mistake = Literal["fact", "opinion", "irony"]  # opinion: of most people in a role; irony: a label by somebody in a role


class Benchmark(Protocol):
    """The interface of a module of `excam.excam40k.datasets`."""

    SOURCE: Source
    TASK: Task
    ERRORS: Errors
    MISTAKE: Mistake

    def read(self, folder: Path, **settings: float) -> Reading: ...


def table(
    path: Path, dataset: str, required: Iterable[str], optional: Iterable[str] = (), lists: Iterable[str] = ()
) -> pl.DataFrame:
    """Return what `read_table` returns as clean text: a null is empty, a list stays null if the cell is not a list."""
    frame = read_table(path, dataset, required, optional, lists)
    numbered = pl.int_range(1, pl.len() + 1).alias(_ROW)
    return clean_columns(frame, frame.columns).with_columns(pl.lit(path.name).alias(_SOURCE), numbered)


def fields(rows: pl.DataFrame, **expressions: pl.Expr) -> pl.DataFrame:
    """Return a frame of the given fields of base samples, and of `reason` where it is given.

    No column of the source comes along: one that is called `label` or `group` need not mean what the field means.
    Raises TypeError for a name that is no field: it would be ignored, and a forgotten `group` lets questions leak.
    """
    if unknown := [name for name in expressions if name not in (*FIELDS, "reason")]:
        raise TypeError(f"base.fields: no field {', '.join(unknown)}; expected some of {', '.join(FIELDS)}, reason")
    hidden = (name for name in rows.columns if name.startswith("_"))
    return rows.select(*hidden, **expressions).rename({_SOURCE: _FILE}, strict=False)


def wrong_cell(condition: pl.Expr, column: str, expected: str) -> tuple[pl.Expr, pl.Expr]:
    """Return a condition for `first_reason`, with what a message says of the first row for which it holds."""
    cell = pl.coalesce(pl.col(column).str.slice(0, 60), pl.lit("nothing")).str.replace_all(r"\s+", " ")
    return condition, pl.format(f"{column}: found '{{}}'; expected {expected}", cell)


def first_reason(**reasons: pl.Expr | tuple[pl.Expr, pl.Expr]) -> pl.Expr:
    """Return the name of the first condition that holds, with "-" for "_"; null if none does."""

    def named(name: str, reason: pl.Expr | tuple[pl.Expr, pl.Expr]) -> pl.Expr:
        written = pl.lit(name.replace("_", "-"))
        if isinstance(reason, pl.Expr):
            return pl.when(reason).then(written)
        condition, message = reason
        return pl.when(condition).then(pl.concat_str(written, message, separator=_FOUND))

    return pl.coalesce(*(named(*pair) for pair in reasons.items()), pl.lit(None, pl.String))


def gather(
    dataset: str,
    task: Task,
    frame: pl.DataFrame,
    repeated: Literal["refuse", "drop"] = "refuse",
    lacks: tuple[str, ...] = (),
) -> Reading:
    """Return a Reading of a frame whose columns are fields of base samples; `reason` says why a row is dropped, null if
    kept.

    A row that repeats another in all fields is dropped ("duplicate"). A different row with an existing id is refused if
    ids are the source's own, and dropped if they are made of the content: which row stays depends on its texts, not on
    its place. Raises SourceInvalid for a refused id and if no row is left.
    """
    if _SOURCE in frame.columns:
        raise TypeError(
            f"{dataset}: columns of the source ({', '.join(frame.columns)}); expected a frame of base.fields"
        )
    frame = _with_defaults(frame)
    # whatever the module says of such a row follows from the options that it has not
    message = pl.lit("options: found no list; expected a list of texts, or of labels and texts")
    no_list = first_reason(options_not_a_list=(pl.col("_no_list"), message))
    parts = pl.coalesce(no_list, "reason", _flaw_reason()).str.splitn(_FOUND, 2).struct
    frame = frame.with_columns(reason=parts.field("field_0"), _found=parts.field("field_1"))
    examples = _examples(frame)
    usable_rows = frame.filter(pl.col("reason").is_null())
    again = usable_rows.filter(~pl.col("id").is_first_distinct())
    if repeated == "refuse" and len(again):
        _refuse_conflict(dataset, usable_rows.filter(pl.col("id").is_in(again["id"].implode())))
    if len(again):
        usable_rows = usable_rows.with_row_index().sort("id", *TEXTS[1:]).unique("id", keep="first").sort("index")
    why = frame.filter(pl.col("reason").is_not_null()).group_by("reason", maintain_order=True).len()
    dropped = Counter(dict(why.iter_rows())) + Counter(duplicate=len(again))
    if usable_rows.is_empty():
        counts = ", ".join(f"{reason} {count}" for reason, count in dropped.items())
        example = examples.get(max(dropped, key=lambda reason: dropped[reason]), "")
        hint = f"e.g. {example}" if example else f"check datasets.{dataset} of the configuration"
        raise SourceInvalid(f"{dataset}: none of {len(frame)} rows is usable ({counts}); {hint}")
    unknown = unknown_values(usable_rows, task)
    usable_rows = usable_rows.select(*FIELDS, changes=CHANGES)
    return Reading(dataset, task, usable_rows, len(frame), dropped, lacks, examples, unknown)


def _examples(frame: pl.DataFrame) -> dict[str, str]:
    """Return reason -> file, row, column, found and expected of the first row that is dropped for it."""
    first = frame.filter(pl.col("_found").is_not_null()).unique("reason", keep="first", maintain_order=True)
    return {row["reason"]: f"{row[_FILE]}, row {row[_ROW]}: {row['_found']}" for row in first.iter_rows(named=True)}


def _refuse_conflict(dataset: str, rows: pl.DataFrame) -> None:
    different = rows.unique(FIELDS, keep="first", maintain_order=True)
    conflict = different.filter(~pl.col("id").is_first_distinct())
    for row in conflict.head(1).iter_rows(named=True):
        raise SourceInvalid(
            f"{dataset}: {row[_FILE]}: id {row['id']} occurs twice, with different rows; fetch the file again"
        )


def _with_defaults(frame: pl.DataFrame) -> pl.DataFrame:
    defaults = {
        **dict.fromkeys(TEXTS, pl.lit("")),
        **dict.fromkeys(LISTS, pl.lit([], pl.List(pl.String))),
        **{name: pl.lit(None, kind) for name, kind in NUMBERS.items()},
        **{_FILE: pl.lit(""), _ROW: pl.lit(0), CHANGES: pl.lit([], KIND)},
        "reason": pl.lit(None, pl.String),
    }
    absent = (default.alias(name) for name, default in defaults.items() if name not in frame.columns)
    frame = frame.with_columns(absent).with_columns(pl.col(TEXTS).fill_null(""))
    return frame.with_columns(pl.col("wrong", "minor", CHANGES).fill_null([]), _no_list=pl.col("options").is_null())


def _flaw_reason() -> pl.Expr:
    joined = pl.concat_str(*TEXTS, *(pl.col(name).list.join("\n").fill_null("") for name in LISTS), separator="\n")
    return first_reason(
        no_id=pl.col("id") == "",
        empty=(pl.col("question") == "") | (pl.col("answer") == ""),
        no_stratum=pl.col("stratum") == "",
        no_culture=(pl.col("culture") == "") | (pl.col("language") == ""),
        too_long=joined.str.len_chars() > LONGEST_ROW,
        not_unicode=joined.str.contains(HALF, literal=True),
        hidden_characters=joined.str.replace_all(FLAG, "").str.contains(INVISIBLE),  # of rows as published
        chat_control_token=joined.str.contains(CHAT_CONTROL),
    )
