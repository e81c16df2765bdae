"""Audits as files: the checks as CSV, and a Markdown page for a reader.

Cells, findings and names are data and are escaped on a page; titles and notes are Markdown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from excam.core.provenance import say, write_text
from excam.core.splits import SPLITS
from excam.core.tables import read_frame, write_csv
from excam.excam40k.audits.checks import OUTCOMES, Audit, Check, Outcome, frame, in_splits
from excam.pages import markdown

CONTENT_NOTICE = (
    "**Content notice.** The wrong rows are wrong on purpose. They hold stereotypes, false claims about cultures, "
    "religions and peoples, and answers that many readers find offensive, written by a program or taken from the wrong "
    "options of a benchmark. They exist to teach and test a judge: do not train a text generator on them, and do not "
    "quote them as facts. Persons are anonymised no further than in the sources (EPIC: posts and annotators' traits)."
)


def read_parts(paths: Iterable[Path]) -> pl.DataFrame:
    """Return rows of `<dataset>/<split>.parquet` files, one below the other; `part` is the file's split."""
    return pl.concat([read_frame(path).with_columns(part=pl.lit(path.stem)) for path in paths])


def write(audit: Audit, checks: Path, page: Path) -> None:
    """Write both files and print what failed. A failed check does not stop an audit: its findings must stay readable;
    `verdict` stops what would be made of the rows."""
    write_csv(checks, frame(audit.checks))
    write_text(page, text_of(audit))
    say(f"{page}: {verdict(audit.checks)}")
    for check in audit.checks:
        if check.failed:
            say(f"FAILED {audit.name}: {check_line(check)}")


def text_of(audit: Audit) -> str:
    """Return the page: the verdict first, then what failed, what was checked, the tables, the notes."""
    parts = [f"**{verdict(audit.checks)}** – audit of {audit.name}"]
    parts += [f"## Failed\n\n{_items({'': audit.checks}, 'failed')}"] if any(c.failed for c in audit.checks) else []
    parts += list(audit.notes)
    parts += [f"## {title}\n\n{markdown_table(table)}" for title, table in audit.tables.items()]
    parts += [f"## Checks\n\n{markdown_table(brief(audit.checks))}"]
    return "\n\n".join(parts) + "\n"


def summary(audits: Mapping[str, Sequence[Check]]) -> str:
    """Return one page for all audits: every check that failed, that is only reported, or that too few rows leave
    undecided; then the outcomes per audit, and the content notice.
    """
    counts = [(f"[{name}]({name}.md)", *_outcomes(checks).values(), len(checks)) for name, checks in audits.items()]
    parts = [
        f"**{verdict([check for checks in audits.values() for check in checks])}** – all audits",
        f"## Failed\n\n{_items(audits, 'failed')}",
        f"## Reported: stops nothing\n\n{_items(audits, 'reported')}",
        f"## Not decidable: too few rows to tell\n\n{_items(audits, 'not decidable')}",
        f"## Audits\n\n{markdown.table(['audit', *OUTCOMES, 'checks'], counts).strip()}",
        CONTENT_NOTICE,
    ]
    return "\n\n".join(parts) + "\n"


def verdict(checks: Sequence[Check]) -> str:
    """Return the result in a few words, e.g. "FAILED: 2 of 30 checks; 5 not decidable"."""
    counts = _outcomes(checks)
    failed, passed = counts.pop("failed"), counts.pop("passed")
    first = f"FAILED: {failed}" if failed else f"Passed: {passed}"
    return "; ".join([f"{first} of {len(checks)} checks", *(f"{n} {outcome}" for outcome, n in counts.items() if n)])


def _outcomes(checks: Iterable[Check]) -> dict[Outcome, int]:
    counts = Counter(check.outcome for check in checks)
    return {outcome: counts[outcome] for outcome in OUTCOMES}


def check_line(check: Check) -> str:
    """Return one check as a line, for a terminal: no Markdown."""
    return f"{check.check}, {check.dataset}: found {check.found}; expected {check.expected}"


def _items(audits: Mapping[str, Sequence[Check]], outcome: Outcome) -> str:
    """Return the checks with an outcome as a list, each behind the name of its audit."""
    named = [(name, check_line(check)) for name, own in audits.items() for check in own if check.outcome == outcome]
    lines = [f"- {f'**{markdown.escape(name)}**: ' if name else ''}{markdown.escape(line)}" for name, line in named]
    return "\n".join(lines) or "Nothing."


def brief(checks: Iterable[Check]) -> pl.DataFrame:
    """Return a table of checks with the datasets of one statement and outcome in one row; the CSV has all findings."""
    each = pl.col("found").unique(maintain_order=True)
    first = each.head(2).str.join("; ") + pl.when(each.len() > 2).then(pl.lit("; …")).otherwise(pl.lit(""))
    grouped = frame(checks).group_by("check", "expected", "outcome", maintain_order=True)
    table = grouped.agg(datasets=pl.col("dataset").str.join(", "), found=first)
    return table.select("check", "datasets", "found", "expected", pl.col("outcome").replace("failed", "FAILED"))


def spread_over_parts(rows: pl.DataFrame, *by: str) -> pl.DataFrame:
    """Return rows per split beside each other, and together."""
    counted = in_splits(rows).group_by(*by).agg(
        *(pl.col("part").eq(part).sum().alias(part) for part in SPLITS), rows=pl.len()
    )  # fmt: skip
    return counted.sort(*by)


def markdown_table(table: pl.DataFrame) -> str:
    """Return a frame as a Markdown table; numbers to three decimals, nothing for null."""
    if table.is_empty():
        return "Nothing."
    head, *lines = [[_cell(value) for value in row] for row in (table.columns, *table.iter_rows())]
    return markdown.table(head, lines).strip()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return markdown.escape(f"{value:.3f}" if isinstance(value, float) else str(value))
