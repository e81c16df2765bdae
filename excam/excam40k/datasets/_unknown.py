"""Values that are kept but look wrong: a language, a country or an answer of a kind that is not expected.

They are counted and shown, not dropped: a list of names is never complete.
"""

from __future__ import annotations

from collections import Counter
from functools import cache

import polars as pl

from excam.core.package_tables import table_rows
from excam.error_reports.records import Task

NO_TEXT = r"\A(?:-?[0-9]+(?:\.[0-9]+)?|true|false|null|\[.*\]|\{.*\})\z"  # JSON that is not a sentence
LOST_EMOJI = r"(\?{2,}|\?\x{200d})"  # question marks where emoji were

Unknown = dict[str, dict[str, int]]  # "language", "country" or "answer" -> value -> rows


def unknown_values(frame: pl.DataFrame, task: Task) -> Unknown:
    """Return unknown languages and countries, and answers that are numbers or lists where sentences are expected.

    A culture is a country unless it is named by its language, or by its people (the topics of free-text generation).
    """
    unknown = {"language": _unlisted(frame["language"], "language")}
    if task != "generation":
        unknown["country"] = _unlisted(frame.filter(pl.col("culture") != pl.col("language"))["culture"], "country")
    if task in ("freeform", "generation"):
        unknown["answer"] = _counted(frame.filter(pl.col("answer").str.contains(NO_TEXT))["answer"].str.slice(0, 40))
    if task == "impersonation":
        unknown["context"] = _counted(frame["context"].str.extract(LOST_EMOJI).drop_nulls())
    return {kind: values for kind, values in unknown.items() if values}


def _unlisted(column: pl.Series, kind: str) -> dict[str, int]:
    return _counted(column.filter(~column.is_in(sorted(_known()[kind]))))


def _counted(column: pl.Series) -> dict[str, int]:
    return dict(Counter(column.to_list()).most_common())


@cache
def _known() -> dict[str, frozenset[str]]:
    """Return the known names of languages and of countries, and of regions that a benchmark treats as countries."""
    lines = table_rows("excam.excam40k.datasets", "known_names.tsv")[1:]
    return {kind: frozenset(names.split(";")) for kind, names in lines}
