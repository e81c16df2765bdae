"""The licence of each row, and which rows may be combined.

The ledger has a line per row: licence, revision of the source, and one digest over the digests of the source's files.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import polars as pl

from excam.core.licences import Term, expected_instead, licence_kind, may_be_adapted
from excam.excam40k.audits.checks import Audit, Check, absence_check, by_dataset, in_splits, pass_or_fail
from excam.excam40k.audits.page import CONTENT_NOTICE, spread_over_parts

COMBINING = (
    "What may be combined: permissive rows may go into any collection, with attribution and licence texts. Rows under "
    "CC BY-SA and rows under CC BY-NC-SA **cannot be merged into one adapted work**: each demands its own licence for "
    "the whole. Side by side in one collection, each file under its own licence, they may stand. Non-commercial rows, "
    "and by caution what was trained on them, are not for commercial use. Rows under a licence "
    "without derivatives are in no published build. Hence the data are published per source, the merged "
    "set never under a licence of its own. This is a reading of the licences, not legal advice."
)


class Licensed(NamedTuple):
    """What a benchmark's module says of its licence, and what that asks; `terms` is null if it is not known."""

    licence: str
    terms: list[Term] | None
    module: str


def ledger(rows: pl.DataFrame, manifests: Mapping[str, Mapping[str, Any]]) -> pl.DataFrame:
    """Return one line per row of the data set; `manifests` of the sources by dataset."""
    revisions = {name: str(manifest["revision"]) for name, manifest in manifests.items()}
    digests = {name: source_digest(manifest) for name, manifest in manifests.items()}
    return in_splits(rows).select(
        "id",
        "dataset",
        pl.col("part").alias("split"),
        "licence",
        revision=pl.col("dataset").replace_strict(revisions, default=None, return_dtype=pl.String),
        source=pl.col("dataset").replace_strict(digests, default=None, return_dtype=pl.String),
    )


def source_digest(manifest: Mapping[str, Any]) -> str:
    """Return sha256 over the names and sha256 digests of a source's files."""
    return hashlib.sha256(json.dumps(manifest["outputs"], sort_keys=True).encode()).hexdigest()


def audit(lines: pl.DataFrame, expected: Mapping[str, Licensed], manifests: Mapping[str, Mapping[str, Any]]) -> Audit:
    """`lines`: the ledger; `expected`: the loaders' licences by dataset."""
    kinds = [
        licence_kind(licence or "", licensed.terms or () if (licensed := expected.get(dataset)) else ())
        for licence, dataset in lines.select("licence", "dataset").iter_rows()
    ]
    named = lines.with_columns(kind=pl.Series(kinds, dtype=pl.String))
    tables = {
        "Rows per licence and dataset": spread_over_parts(
            named.rename({"split": "part"}), "kind", "licence", "dataset"
        ),
        "Sources": pl.DataFrame(
            [(name, m["origin"], m["revision"], len(m["outputs"]), source_digest(m)) for name, m in manifests.items()],
            schema=["dataset", "origin", "revision", "files", "digest of the files' digests"],
            orient="row",
        ),
    }
    return Audit("licences", tuple(_checks(lines, expected, manifests)), tables, (COMBINING, CONTENT_NOTICE))


def _checks(
    lines: pl.DataFrame, expected: Mapping[str, Licensed], manifests: Mapping[str, Mapping[str, Any]]
) -> Iterator[Check]:
    for dataset, group in by_dataset(lines):
        licence, terms, module = expected.get(dataset, Licensed("", None, "its module"))
        other = group.filter(pl.col("licence").ne_missing(licence))["id"].to_list()
        yield absence_check(f"rows that are not under the loader's licence ({licence or 'none'})", dataset, other)
        observed = f"{licence or 'none'}: {licence_kind(licence, terms or ())}"
        wanted = "a known kind" if terms is not None else f"{expected_instead(licence)}, in SOURCE of {module}"
        yield pass_or_fail("licence of a known kind", dataset, observed, wanted, terms is not None)
        if not may_be_adapted(licence, terms or ()):
            yield Check(
                "rows that may be published", dataset, "none: no derivatives", "no row in any build", "reported"
            )
        fetched = str(manifests.get(dataset, {}).get("licence", "none"))
        yield pass_or_fail("licence in the source's manifest", dataset, fetched, licence, fetched == licence)
        unknown = group.filter(pl.col("revision").is_null() | pl.col("source").is_null())["id"].to_list()
        yield absence_check("rows without a source", dataset, unknown)
