"""The languages, regions and cultures in ExCAM40k, beside the lists of the paper's Appendix E.

Mango names cultures, CaLMQA only languages, every other benchmark a country or region. Names are compared without case
and accents; the column `printed` of a list has the paper's spelling if it differs.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

import polars as pl

from excam.excam40k.audits.checks import Audit, Check, absence_check, by_dataset, in_splits
from excam.excam40k.audits.page import spread_over_parts
from excam.pages.markdown import escape

KINDS = ("region", "culture", "language named instead")  # what the column `culture` holds
SHOWN = 40  # lines of a long table on the page; the CSV has all


def audit(rows: pl.DataFrame, regions: pl.DataFrame, languages: pl.DataFrame) -> Audit:
    """`regions`, `languages`: the paper's lists, with the columns `name` (ours) and `printed`."""
    split = in_splits(rows)
    own_regions, own_languages = cultures(split), spread_over_parts(split, "language")
    region_names = own_regions.filter(pl.col("kind") == "region")["culture"].unique().to_list()
    both = {
        "regions": compare_names(region_names, regions),
        "languages": compare_names(own_languages["language"].to_list(), languages),
    }
    mango = own_regions.filter(pl.col("kind") == "culture")["culture"].n_unique()
    tables = {
        "Beside Appendix E": _summary(both, mango),
        "Regions that are not in both": _one_sided(both["regions"]),
        "Languages that are not in both": _one_sided(both["languages"]),
        "Rows per language": own_languages,
        f"Rows per region, the first {SHOWN}": per_region(split).head(SHOWN),
    }
    notes = tuple(_spelled(name, printed) for name, printed in (("regions", regions), ("languages", languages)))
    return Audit("inventory", tuple(_named(split)), tables, notes)


def _named(split: pl.DataFrame) -> Iterator[Check]:
    for dataset, own in by_dataset(split):
        for column in ("language", "culture"):
            empty = own.filter(pl.col(column).str.strip_chars() == "")["id"].to_list()
            yield absence_check(f"rows without a {column}", dataset, empty)


def cultures(split: pl.DataFrame) -> pl.DataFrame:
    """Return rows per dataset and culture, with what kind of name it is."""
    return spread_over_parts(split.with_columns(kind=_kind()), "dataset", "kind", "culture")


def per_region(split: pl.DataFrame) -> pl.DataFrame:
    """Return rows per region over all datasets, most first."""
    own = split.with_columns(kind=_kind()).filter(pl.col("kind") == "region")
    return spread_over_parts(own.rename({"culture": "region"}), "region").sort(
        "rows", "region", descending=[True, False]
    )


def _kind() -> pl.Expr:
    region, culture, language = (pl.lit(kind) for kind in KINDS)
    unplaced = pl.when(pl.col("culture") == pl.col("language")).then(language).otherwise(region)
    return pl.when(pl.col("dataset") == "mango").then(culture).otherwise(unplaced)


def compare_names(ours: list[str], paper: pl.DataFrame) -> pl.DataFrame:
    """Return every name of either list with its presence.

    If several of our spellings have the same plain form, the last one in the order of code points represents them.
    """
    theirs = {plain(name): name for name in paper["name"]}
    own = {plain(name): name for name in sorted(ours)}
    lines = []
    for name in sorted(theirs.keys() | own.keys()):
        where = "both" if name in theirs and name in own else "ours" if name in own else "paper"
        lines.append((own.get(name) or theirs[name], where))
    return pl.DataFrame(lines, schema=dict.fromkeys(("name", "in"), pl.String), orient="row")


def plain(name: str) -> str:
    """Return a name without accents, in lower case."""
    spread = unicodedata.normalize("NFKD", name.replace("’", "'"))
    return " ".join("".join(letter for letter in spread if not unicodedata.combining(letter)).casefold().split())


def _summary(both: dict[str, pl.DataFrame], mango: int) -> pl.DataFrame:
    lines = []
    for name, table in both.items():
        counts = [table.filter(pl.col("in") == where).height for where in ("both", "paper", "ours")]
        lines.append((name, counts[0] + counts[1], counts[0] + counts[2], *counts))
    lines.append(("cultures of Mango", 4470, mango, None, None, None))  # Appendix E prints only their number
    columns = ("list", "printed", "ours", "in both", "only printed", "only ours")
    return pl.DataFrame(lines, schema=columns, orient="row")


def _one_sided(table: pl.DataFrame) -> pl.DataFrame:
    """Return the names of one list alone, in a line each side."""
    sides = {"only printed": table.filter(pl.col("in") == "paper"), "only ours": table.filter(pl.col("in") == "ours")}
    lines = [(title, own.height, ", ".join(own["name"])) for title, own in sides.items()]
    return pl.DataFrame(lines, schema={"side": pl.String, "n": pl.Int64, "names": pl.String}, orient="row")


def _spelled(what: str, paper: pl.DataFrame) -> str:
    other = paper.filter(pl.col("name") != pl.col("printed"))
    pairs = [f"{printed} = {name}" for name, printed in other.select("name", "printed").iter_rows()]
    listed = escape(", ".join(pairs)) or "none"
    return f"Of the {paper.height} printed {what}, {len(pairs)} are spelled otherwise: {listed}."
