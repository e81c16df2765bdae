"""Audits as files: the checks as CSV, and a Markdown page that a person can read.

Cells, findings and names are data and stand escaped in a page; titles and notes are Markdown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from excam import markdown
from excam.audits.checks import PARTS, Audit, Check, frame
from excam.provenance import say, write_text
from excam.tables import read_frame, write_csv

CONTENT_NOTICE = (
    "**Content notice.** The wrong rows are wrong on purpose. They hold stereotypes, false claims about cultures, "
    "religions and peoples, and answers that many readers find offensive, written by a program or taken from the wrong "
    "options of a benchmark. They exist to teach and test a judge: do not train a text generator on them, and do not "
    "quote them as facts. Persons are anonymised no further than in the sources (EPIC: posts and annotators' traits)."
)


def read_parts(paths: Iterable[Path]) -> pl.DataFrame:
    """Rows of `<dataset>/<split>.parquet` files, one below the other; `part` is the file's split."""
    return pl.concat([read_frame(path).with_columns(part=pl.lit(path.stem)) for path in paths])


def write(audit: Audit, checks: Path, page: Path) -> None:
    """Write both files; say aloud what failed. A failed check stops nothing: what it found must stay readable."""
    write_csv(checks, frame(audit.checks))
    write_text(page, text_of(audit))
    say(f"{page}: {verdict(audit.checks)}")
    for check in audit.checks:
        if not check.passed:
            say(f"FAILED {audit.name}: {line(check)}")


def text_of(audit: Audit) -> str:
    """The page: the verdict first, then what failed, what was checked, the tables, the notes."""
    failed = [check for check in audit.checks if not check.passed]
    parts = [f"**{verdict(audit.checks)}** – audit of {audit.name}"]
    parts += ["## Failed\n\n" + "\n".join(f"- {_item(check)}" for check in failed)] if failed else []
    parts += list(audit.notes)
    parts += [f"## {title}\n\n{shown(table)}" for title, table in audit.tables.items()]
    parts += [f"## Checks\n\n{shown(brief(audit.checks))}"]
    return "\n\n".join(parts) + "\n"


def summary(audits: Mapping[str, Sequence[Check]]) -> str:
    """One page for all audits: every failed check, then passed of total per audit, then the content notice."""
    failed = [
        f"- **{markdown.escaped(name)}**: {_item(check)}"
        for name, own in audits.items()
        for check in own
        if not check.passed
    ]
    counts = [(f"[{name}]({name}.md)", sum(check.passed for check in own), len(own)) for name, own in audits.items()]
    table = markdown.table(["audit", "passed", "checks"], counts).strip()
    everything = [check for own in audits.values() for check in own]
    parts = [f"**{verdict(everything)}** – all audits", "## Failed\n\n" + ("\n".join(failed) or "Nothing.")]
    return "\n\n".join([*parts, f"## Audits\n\n{table}", CONTENT_NOTICE]) + "\n"


def verdict(checks: Sequence[Check]) -> str:
    """In a few words, e.g. "FAILED: 2 of 30 checks"."""
    failed = sum(not check.passed for check in checks)
    return f"FAILED: {failed} of {len(checks)} checks" if failed else f"Passed: {len(checks)} of {len(checks)} checks"


def line(check: Check) -> str:
    """One check as a line, for a terminal: no Markdown."""
    return f"{check.check}, {check.dataset}: found {check.found}; expected {check.expected}"


def _item(check: Check) -> str:
    return markdown.escaped(line(check))


def brief(checks: Iterable[Check]) -> pl.DataFrame:
    """A table of checks, the datasets of one statement and outcome in one row; findings in full stand in the CSV."""
    each = pl.col("found").unique(maintain_order=True)
    first = each.head(2).str.join("; ") + pl.when(each.len() > 2).then(pl.lit("; …")).otherwise(pl.lit(""))
    grouped = frame(checks).group_by("check", "expected", "passed", maintain_order=True)
    table = grouped.agg(datasets=pl.col("dataset").str.join(", "), found=first)
    said = pl.when("passed").then(pl.lit("yes")).otherwise(pl.lit("NO"))
    return table.select("check", "datasets", "found", "expected", passed=said)


def spread_over_parts(rows: pl.DataFrame, *by: str) -> pl.DataFrame:
    """Rows per split beside each other, and together."""
    counted = rows.filter(pl.col("part").is_in(PARTS)).group_by(*by).agg(
        *(pl.col("part").eq(part).sum().alias(part) for part in PARTS), rows=pl.len()
    )  # fmt: skip
    return counted.sort(*by)


def shown(table: pl.DataFrame) -> str:
    """A frame as a Markdown table; numbers to three decimals, nothing for null."""
    if table.is_empty():
        return "Nothing."
    head, *lines = [[_cell(value) for value in row] for row in (table.columns, *table.iter_rows())]
    return markdown.table(head, lines).strip()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return markdown.escaped(f"{value:.3f}" if isinstance(value, float) else str(value))
