"""The languages, regions and cultures in ExCAM40k, beside the lists of the paper's Appendix E.

Mango names cultures, CaLMQA only languages, every other benchmark a country or region. Names are compared without case
and accents.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

import polars as pl

from excam.excam40k.audits.checks import Audit, Check, absence_check, by_dataset, in_splits
from excam.excam40k.audits.page import spread_over_parts

KINDS = ("region", "culture", "language named instead")  # what the column `culture` holds
COLUMNS = ("list", "printed", "ours", "in both", "only printed", "only ours")
SHOWN = 40  # lines of a long table on the page; the CSV has all


def audit(rows: pl.DataFrame, regions: pl.DataFrame, languages: pl.DataFrame) -> Audit:
    """`regions`, `languages`: the paper's lists, with the column `name`, as we spell them."""
    split = in_splits(rows)
    own_regions, own_languages = cultures(split), spread_over_parts(split, "language")
    regions_named, of_mango = (own_regions.filter(pl.col("kind") == kind)["culture"] for kind in KINDS[:2])
    lines = [
        _beside_paper("regions", regions_named, regions),
        _beside_paper("languages", own_languages["language"], languages),
        ("cultures of Mango", 4470, of_mango.n_unique(), *[None] * 3),
    ]  # Appendix E prints only the number of these cultures
    tables = {
        "Beside Appendix E": pl.DataFrame(lines, schema=COLUMNS, orient="row"),
        "Rows per language": own_languages,
        f"Rows per region, the first {SHOWN}": per_region(split).head(SHOWN),
    }
    return Audit("inventory", tuple(_named(split)), tables)


def _named(split: pl.DataFrame) -> Iterator[Check]:
    for dataset, group in by_dataset(split):
        for column in ("language", "culture"):
            empty = group.filter(pl.col(column).str.strip_chars() == "")["id"].to_list()
            yield absence_check(f"rows without a {column}", dataset, empty)


def cultures(split: pl.DataFrame) -> pl.DataFrame:
    """Return rows per dataset and culture, with what kind of name it is."""
    return spread_over_parts(split.with_columns(kind=_kind()), "dataset", "kind", "culture")


def per_region(split: pl.DataFrame) -> pl.DataFrame:
    """Return rows per region over all datasets, most first."""
    regions = split.with_columns(kind=_kind()).filter(pl.col("kind") == "region")
    return spread_over_parts(regions.rename({"culture": "region"}), "region").sort(
        "rows", "region", descending=[True, False]
    )


def _kind() -> pl.Expr:
    region, culture, language = (pl.lit(kind) for kind in KINDS)
    unplaced = pl.when(pl.col("culture") == pl.col("language")).then(language).otherwise(region)
    return pl.when(pl.col("dataset") == "mango").then(culture).otherwise(unplaced)


def _beside_paper(what: str, ours: pl.Series, paper: pl.DataFrame) -> tuple[object, ...]:
    """Return how many names a list of the paper has and we have, and those of one side alone.

    If several of our spellings have the same plain form, the last one in the order of code points represents them.
    """
    theirs, our_names = ({plain(name): name for name in sorted(names)} for names in (paper["name"], ours))
    both = theirs.keys() & our_names.keys()
    alone = [", ".join(names[name] for name in sorted(names.keys() - both)) for names in (theirs, our_names)]
    return what, len(theirs), len(our_names), len(both), *alone


def plain(name: str) -> str:
    """Return a name without accents, in lower case."""
    spread = unicodedata.normalize("NFKD", name.replace("’", "'"))
    return " ".join("".join(letter for letter in spread if not unicodedata.combining(letter)).casefold().split())
