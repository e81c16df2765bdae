"""`excam compare`: systems on the same rows, from scored files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from excam.core.terminal import JSON, exit_on_error, print_json, stop


def compare(
    files: Annotated[list[Path], typer.Argument(help="two or more files written by `excam score --to`, one a system")],
    rows: Annotated[int, typer.Option(min=0, help="number of shown rows with the largest differences")] = 5,
    as_json: JSON = False,
) -> None:
    """Compare systems on the same rows, scored by the same metric: which is better, and how certain is that?

    Rows are joined by id; rows that are in one file only or that failed are left out and counted. Of several systems,
    every two are compared, with p-values adjusted after Holm. Exit codes: 0 compared, 2 not: other instructions,
    different signatures, no rows in common.

    Example: excam compare ours.jsonl theirs.jsonl; excam compare a.jsonl b.jsonl c.parquet --json > comparison.jsonl
    """
    from excam.scoring import compare as comparing
    from excam.scoring import compare_display, result_files
    from excam.scoring.meta_rows import names_of

    if len(files) < 2:
        stop(f"compare: found {files[0]} alone; expected two or more files, one for each system")
    if twice := next(
        (path for at, path in enumerate(files) if path.resolve() in {p.resolve() for p in files[:at]}), None
    ):
        stop(f"{twice}: given twice; expected one file for each system")
    with exit_on_error():
        systems = [(name, list(result_files.read(path))) for name, path in zip(names_of(files), files, strict=True)]
        found = comparing.compare(systems, rows)
        standings = comparing.standings(systems) if len(systems) > 2 else []
        if as_json:
            for line in [*comparing.standing_lines(standings), *(line for one in found for line in one.lines())]:
                print_json(line)
        else:
            compare_display.show(found, standings)
