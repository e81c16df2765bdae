"""`excam report`: a page about a file of scored pairs, to be read and handed on."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from excam.exceptions import ExcamError
from excam.terminal import stop


def report(
    file: Annotated[Path, typer.Argument(help="what `excam score --to` wrote")],
    to: Annotated[Path, typer.Option(help="the page to be written")],
) -> None:
    """Write a page about a scored file: marked texts, filters, distributions, tables by language, culture and system.

    One HTML file that loads nothing; open it in a browser, hand it on. Exit codes: 0 written, 2 not.

    Example: excam score texts.jsonl --to scored.jsonl; excam report scored.jsonl --to report.html
    """
    from excam.metric import report_page, scored_file
    from excam.provenance import sha256

    try:
        if to.is_dir() or to.resolve() == file.resolve():
            stop(f"{to}: is {'a folder' if to.is_dir() else 'the input'}; expected another file to write to")
        rows = list(scored_file.read(file))
        if not rows:
            stop(f"{file}: 0 rows; expected what `excam score --to` wrote")
        page = report_page.write(file.name, sha256(file), rows)
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(page, encoding="utf-8")
    except ExcamError as problem:
        stop(problem)
    except OSError as problem:
        stop(f"{to}: {str(problem.strerror).lower()}; expected a place to write a page to")
    print(f"{to}: {len(rows)} rows, {to.stat().st_size / 1e6:.1f} MB", file=sys.stderr)
