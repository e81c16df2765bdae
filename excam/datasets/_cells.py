"""From the cells of a source to the fields of a base sample: clean text, stable ids, one name per country.

Whatever a polars expression can say is one; Python functions are called once per distinct value, or for a hash.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable

import polars as pl

from excam.hostile import BIDI, CONTROLS, FLAG, TAGS

# What is changed in a text, and counted: no line of a prompt may end early, and none may be shown in another order.
ESCAPED = {
    "control-characters": rf"{CONTROLS}|\r",  # become a space; tab and newline stay
    "bidi-controls": BIDI,  # removed; marks and joiners that scripts need stay
    "invisible-tags": TAGS,  # removed; those of a flag stay
}
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
    "uk": "United Kingdom",
    "united states of america": "United States",
    "us": "United States",
    "usa": "United States",
    "viet nam": "Vietnam",
}


def mark(reason: str) -> str:
    """The hidden column that says which rows were changed for this reason."""
    return f"_{reason}"


def cleaned(frame: pl.DataFrame, columns: Iterable[str]) -> pl.DataFrame:
    """The frame with clean text in these columns (text or lists of text); rows changed for safety are marked."""
    columns = list(columns)
    marks = (_marked(frame, columns, reason) for reason in ESCAPED)
    return frame.with_columns(*marks, *(_clean_column(frame, name) for name in columns))


def _marked(frame: pl.DataFrame, columns: list[str], reason: str) -> pl.Expr:
    before = [pl.col(mark(reason))] if mark(reason) in frame.columns else []
    found = (_holds(frame, name, ESCAPED[reason]) for name in columns)
    return pl.any_horizontal(*before, *found).alias(mark(reason))


def _holds(frame: pl.DataFrame, name: str, pattern: str) -> pl.Expr:
    column = pl.col(name)
    if frame.schema[name] == pl.List(pl.String):
        column = column.list.join("\n", ignore_nulls=True)
    return _lines(column.fill_null("")).str.replace_all(FLAG, "").str.contains(pattern)


def _clean_column(frame: pl.DataFrame, name: str) -> pl.Expr:
    if frame.schema[name] == pl.List(pl.String):
        return pl.col(name).list.eval(clean(pl.element()))
    return clean(pl.col(name))


def clean(text: pl.Expr) -> pl.Expr:
    """Stripped, line ends as newline, null as empty, nothing of `ESCAPED` left; nothing else is touched."""
    controls, bidi, tags = ESCAPED.values()
    visible = _lines(text.fill_null("")).str.replace_all(controls, " ").str.replace_all(bidi, "")
    return visible.str.replace_all(f"({FLAG})|{tags}", "${1}").str.strip_chars()


def _lines(text: pl.Expr) -> pl.Expr:
    return text.str.replace_all("\r\n", "\n", literal=True)


def digest(*parts: str) -> str:
    """16 hexadecimal characters of a SHA-256: an id where the source has none, and a fixed shuffling key."""
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:16]


def digests(*parts: pl.Expr) -> pl.Expr:
    """`digest` of every row; null where a part is. A list counts as so many parts if joined by \\x1f."""
    return pl.concat_str(parts, separator="\x1f").map_elements(digest, return_dtype=pl.String)


def identifier(dataset: str, *parts: pl.Expr) -> pl.Expr:
    """`<dataset>/<part>:<part>` in [A-Za-z0-9_.:-]; where characters had to go, a digest keeps ids apart.

    Empty when a part is empty: `gather` drops such a row as "no-id".
    """
    raw = pl.concat_str(parts, separator=":")
    safe = raw.str.replace_all(_SAFE, "-")
    odd = pl.when(raw != safe).then(pl.concat_str(parts, separator="\x1f"))
    name = pl.coalesce(safe.str.slice(0, 60) + "." + digests(odd), safe)
    return pl.when(*(part != "" for part in parts)).then(pl.lit(f"{dataset}/") + name).otherwise(pl.lit(""))


def each(text: pl.Expr, function: Callable[[str], str]) -> pl.Expr:
    """`function` of every text, called once per distinct one."""

    def mapped(column: pl.Series) -> pl.Series:
        distinct = column.unique()
        return column.replace_strict(distinct, [function(value) for value in distinct], return_dtype=pl.String)

    return text.map_batches(mapped, return_dtype=pl.String)


def country_name(label: str) -> str:
    """One readable name per country (ExCAM App. E): "hong_kong" -> "Hong Kong", "Britain" -> "United Kingdom"."""
    name = label.replace("_", " ").strip()
    if name.islower():
        name = re.sub(r"\b(And|Of|The)\b", lambda word: word[0].lower(), name.title())
    return _COUNTRIES.get(name.lower(), name)


def countries(label: pl.Expr) -> pl.Expr:
    """`country_name` of every row."""
    return each(label, country_name)


def with_wrong(frame: pl.DataFrame, unusable: str = r"\A\z") -> pl.DataFrame:
    """Add `wrong`: the distinct options that do not say the same as the answer (case, spaces, final full stop aside).

    Options in which the pattern is found are left out, empty ones by default.
    """
    rows = frame.select("options", "answer").with_row_index("row")
    option = pl.col("options")
    found = (
        rows.explode("options")
        .filter(option != "", ~option.str.contains(unusable))
        .with_columns(wording=_wording(option))
        .filter(pl.col("wording") != _wording(pl.col("answer")))
        .unique(["row", "wording"], keep="first", maintain_order=True)
        .group_by("row")
        .agg(wrong=option)
    )
    wrong = rows.select("row").join(found, on="row", how="left", maintain_order="left")["wrong"]
    return frame.with_columns(wrong.fill_null([]))


def _wording(text: pl.Expr) -> pl.Expr:
    return folded(text).str.replace_all(r"\s+", " ").str.strip_chars().str.strip_chars_end(".")


def folded(text: pl.Expr) -> pl.Expr:
    """Text for comparing without case: lower case and the two letters whose lower case is not enough."""
    return text.str.to_lowercase().str.replace_all("ß", "ss", literal=True).str.replace_all("ς", "σ", literal=True)
