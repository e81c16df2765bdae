"""`excam report`: a page about a file of scored pairs, to be read and handed on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from excam.metric.commands import target
from excam.provenance import say
from excam.terminal import stop, stopping


def report(
    file: Annotated[Path, typer.Argument(help="what `excam score --to` wrote")],
    to: Annotated[Path, typer.Option(help="the page to be written")],
) -> None:
    """Write a page about a scored file: marked texts, filters, distributions, tables by language, culture and system.

    One HTML file that loads nothing; open it in a browser, hand it on. Exit codes: 0 written, 2 not.

    Example: excam score texts.jsonl --to scored.jsonl; excam report scored.jsonl --to report.html
    """
    from excam.metric import report_page, scored_file
    from excam.metric.pairs import spooled
    from excam.provenance import sha256, write_text

    with stopping():
        to = target(to, file)
        with spooled(file) as source:
            rows = list(scored_file.read(source))
            if not rows:
                stop(f"{file}: 0 rows; expected what `excam score --to` wrote")
            write_text(to, report_page.write(file.name, sha256(source), rows))
    say(f"{to}: {len(rows)} rows, {to.stat().st_size / 1e6:.1f} MB")
