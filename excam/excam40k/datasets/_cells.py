"""From the cells of a source to the fields of a base sample: clean text, stable ids, one name per country.

Polars expressions are used wherever possible; Python functions are called once per distinct value, or for a hash.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import polars as pl

from excam.core.sanitize import BIDI, CONTROLS, FLAG, TAGS
from excam.excam40k.datasets._changes import change

# What is changed in any text: no line of a prompt may end early, and none may be shown in another order.
HIDDEN = {
    "control-characters": (rf"{CONTROLS}|\r", " "),  # tab and newline stay
    "bidi-controls": (BIDI, ""),  # marks and joiners that scripts need stay
    "invisible-tags": (f"({FLAG})|{TAGS}", "${1}"),  # those of a flag stay
}
_LETTER = r"^\(?[\p{L}\p{N}]\)\s*"  # "A) Paris", "(b) Rome", "1) Bonn"; "B. Spinoza" may be an initial
_SEPARATOR = r"([^;,.\s])\s*[;,.]*[;,]$"  # an exam lists its options as "ambassador; consul; nuncio."
_SAFE = r"[^A-Za-z0-9_.:-]"
_COUNTRIES = {
    "bosnia herzegovina": "Bosnia and Herzegovina",
    "britain": "United Kingdom",
    "czech rep.": "Czechia",
    "czech republic": "Czechia",
    "great britain": "United Kingdom",
    "hong kong sar": "Hong Kong",
    "ivory coast": "Côte d’Ivoire",
    "macau sar": "Macau",
    "palest. ter.": "Palestinian Territories",
    "russian federation": "Russia",
    "s. africa": "South Africa",
    "s. korea": "South Korea",
    "taiwan roc": "Taiwan",
    "turkiye": "Turkey",
    "türkiye": "Turkey",
    "uae": "United Arab Emirates",
    "uk": "United Kingdom",
    "united states of america": "United States",
    "us": "United States",
    "usa": "United States",
    "viet nam": "Vietnam",
}


def clean_columns(frame: pl.DataFrame, columns: Iterable[str]) -> pl.DataFrame:
    """Return the frame with these columns (text or lists of text) without white space around, null as empty, newline as
    line end, and by rule without `HIDDEN`.
    """
    columns = list(columns)
    frame = frame.with_columns(_in_cells(frame, name, _trimmed) for name in columns)
    for rule, hidden in HIDDEN.items():
        frame = change(frame, rule, **{name: _in_cells(frame, name, partial(_without, *hidden)) for name in columns})
    return frame.with_columns(_in_cells(frame, name, _trimmed) for name in columns)


def _in_cells(frame: pl.DataFrame, name: str, made: Callable[[pl.Expr], pl.Expr]) -> pl.Expr:
    if frame.schema[name] == pl.List(pl.String):
        return pl.col(name).list.eval(made(pl.element()))
    return made(pl.col(name))


def _without(pattern: str, instead: str, text: pl.Expr) -> pl.Expr:
    return text.str.replace_all(pattern, instead)


def _trimmed(text: pl.Expr) -> pl.Expr:
    return text.fill_null("").str.replace_all("\r\n", "\n", literal=True).str.strip_chars()


def digest(*parts: str) -> str:
    """Return 16 hexadecimal characters of a SHA-256: an id if the source has none, and a fixed shuffling key."""
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:16]


def digests(*parts: pl.Expr) -> pl.Expr:
    """Return the `digest` of every row; null if a part is. A list counts as its parts joined by \\x1f."""
    return pl.concat_str(parts, separator="\x1f").map_elements(digest, return_dtype=pl.String)


def identifier(dataset: str, *parts: pl.Expr) -> pl.Expr:
    """Return `<dataset>/<part>:<part>` in [A-Za-z0-9_.:-]; if characters were removed, a digest keeps ids distinct.

    Empty if a part is empty: `gather` drops such a row as "no-id".
    """
    raw = pl.concat_str(parts, separator=":")
    safe = raw.str.replace_all(_SAFE, "-")
    odd = pl.when(raw != safe).then(pl.concat_str(parts, separator="\x1f"))
    name = pl.coalesce(safe.str.slice(0, 60) + "." + digests(odd), safe)
    return pl.when(*(part != "" for part in parts)).then(pl.lit(f"{dataset}/") + name).otherwise(pl.lit(""))


def map_distinct(text: pl.Expr, function: Callable[[str], str]) -> pl.Expr:
    """Return `function` of every text, called once per distinct one."""

    def mapped(column: pl.Series) -> pl.Series:
        distinct = column.unique()
        return column.replace_strict(distinct, [function(value) for value in distinct], return_dtype=pl.String)

    return text.map_batches(mapped, return_dtype=pl.String)


def country_name(label: str) -> str:
    """Return one readable name per country (ExCAM App. E): "Britain" -> "United Kingdom"."""
    name = label.replace("_", " ").strip()
    if name.islower():
        name = re.sub(r"\b(And|Of|The)\b", lambda word: word[0].lower(), name.title())
    return _COUNTRIES.get(name.lower(), name)


def countries(label: pl.Expr) -> pl.Expr:
    """Return the `country_name` of every row."""
    return map_distinct(label, country_name)


def option_labelled(options: str, labels: str, key: str) -> pl.Expr:
    """Return the option of every row whose label is the key, "" if none or several have it; by names of columns."""

    def found(row: dict[str, Any]) -> str:
        named = zip(row[labels] or (), row[options] or (), strict=False)
        texts = [text for label, text in named if label == row[key]]
        return texts[0] if len(texts) == 1 else ""

    return pl.struct(options, labels, key).map_elements(found, return_dtype=pl.String)


def with_wrong(frame: pl.DataFrame, unusable: str = r"\A\z") -> pl.DataFrame:
    """Add `wrong`: the distinct options that do not say the same as the answer (case, spaces, final full stop aside).

    Options in which the pattern is found are left out, empty ones by default. List marks of the options ("A) ...;")
    are removed first, from the answer too.
    """
    frame = _without_option_marks(frame)
    rows = frame.select("options", "answer").with_row_index("row")
    option = pl.col("options")
    wrong_options = (
        rows.explode("options")
        .filter(option != "", ~option.str.contains(unusable))
        .with_columns(wording=_wording(option))
        .filter(pl.col("wording") != _wording(pl.col("answer")))
        .unique(["row", "wording"], keep="first", maintain_order=True)
        .group_by("row")
        .agg(wrong=option)
    )
    wrong = rows.select("row").join(wrong_options, on="row", how="left", maintain_order="left")["wrong"]
    return frame.with_columns(wrong.fill_null([]))


def _without_option_marks(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the frame without the letter in front of options and answer and without list separators behind.

    Options are shuffled and get letters of their own. A letter goes only if every option of the row has one; the full
    stop of the last option goes where another option ends with a separator.
    """
    several = pl.col("options").list.len() > 1
    removals = (
        (several & _of_options(pl.element().str.contains(_LETTER)).list.all(), _LETTER),
        (several & _of_options(pl.element().str.contains(_SEPARATOR)).list.any(), rf"{_SEPARATOR}|[.]+$"),
    )
    for condition, pattern in removals:
        options = _of_options(pl.element().str.replace(pattern, "${1}"))
        frame = change(
            frame,
            "option-marks",
            options=pl.when(condition).then(options).otherwise("options"),
            answer=pl.when(condition).then(pl.col("answer").str.replace(pattern, "${1}")).otherwise("answer"),
        )
    return frame


def _of_options(expression: pl.Expr) -> pl.Expr:
    return pl.col("options").list.eval(expression)


def _wording(text: pl.Expr) -> pl.Expr:
    return fold_case(text).str.replace_all(r"\s+", " ").str.strip_chars().str.strip_chars_end(".")


def fold_case(text: pl.Expr) -> pl.Expr:
    """Return text for comparison without case: lower case, and the two letters for which lower case is not enough."""
    return text.str.to_lowercase().str.replace_all("ß", "ss", literal=True).str.replace_all("ς", "σ", literal=True)
