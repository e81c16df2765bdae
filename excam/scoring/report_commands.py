"""`excam report`: an HTML page about a scored file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from excam.core.provenance import say
from excam.core.terminal import PAGE, exit_on_error, stop
from excam.scoring.target import OVERWRITE, refuse_foreign, target


def report(
    file: Annotated[Path, typer.Argument(help="file written by `excam score --to`, with any metric")],
    to: PAGE,
    overwrite: OVERWRITE = False,
) -> None:
    """Write a page about a scored file: its numbers, charts whose bars filter the rows, and the marked texts.

    The page is one HTML file that loads nothing else. Rows that repeat another under a new id are counted and left out;
    a file of two judges is refused. Exit codes: 0 written, 2 not.

    Example: excam score texts.jsonl --to scored.jsonl; excam report scored.jsonl --to report.html
    """
    from excam.core.command_input import spooled
    from excam.core.provenance import sha256, write_text
    from excam.scoring import report_page, result_files

    with exit_on_error():
        if to.suffix.lower() not in (".html", ".htm"):
            stop(f"--to: found {to}; expected a page, such as {to.with_suffix('.html').name}")
        to = target(to, file)
        refuse_foreign(to, report_page.is_own, overwrite=overwrite)
        with spooled(file) as source:
            rows = list(result_files.read(source))
            if not rows:
                stop(f"{file}: 0 rows; expected what `excam score --to` wrote")
            write_text(to, report_page.write(file.name, sha256(source), rows))
    say(f"{to}: of {len(rows)} rows, {to.stat().st_size / 1000:,.0f} kB")
