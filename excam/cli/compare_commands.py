"""`excam compare`: systems on the same rows, from scored files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from excam.core.terminal import ITEMS, JSON, SYSTEM, exit_on_error, print_json, stop


def compare(
    files: Annotated[list[Path], typer.Argument(help="scored files, one a system, or one with a column of systems")],
    rows: ITEMS = 5,
    system: SYSTEM = None,
    as_json: JSON = False,
) -> None:
    """Compare systems on the same rows, scored by the same metric: which is better, and how certain is that?

    Rows are joined by id; of one file by the id that its systems share, else by instruction. Rows of one system only
    and rows that failed are left out and counted. Errors decide, by presence and severity, and never p(R). Of several
    systems, every two are compared, with p-values adjusted after Holm. Whether people prefer the same, `excam meta
    --item` says. Exit codes: 0 compared, 2 not: other instructions, different signatures, no rows in common.

    Example: excam compare ours.jsonl theirs.jsonl; excam compare scored.csv --system model
    """
    from excam.core.provenance import say
    from excam.scoring import compare as comparing
    from excam.scoring import compare_display, display, meta_rows, result_files
    from excam.scoring.warnings import OTHER_MODEL, UNQUALIFIED, warning_lines

    if twice := meta_rows.given_twice(files):
        stop(f"{twice}: given twice; expected one file for each system")
    if system and len(files) > 1:
        stop(f"--system: found {len(files)} files, each a system; expected one file; leave it out")
    with exit_on_error():
        names = meta_rows.names_of(files)
        systems = [(name, list(result_files.read(path))) for name, path in zip(names, files, strict=True)]
        if system:
            systems = [(name, comparing.with_system(name, results, system)) for name, results in systems]
        warned = [code for _, results in systems for row in results for code in row.warnings]
        for line in warning_lines({code: warned.count(code) for code in (UNQUALIFIED, OTHER_MODEL)}):
            say(line)
        compared = comparing.compare_all(systems, rows)
        if as_json:
            for line in compared.lines():
                print_json(line)
        else:
            compare_display.show(display.console(), compared)
