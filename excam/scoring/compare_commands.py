"""`excam compare`: two systems on the same rows, from two scored files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from excam.core.terminal import exit_on_error, print_json

SCORED = Annotated[Path, typer.Argument(help="file written by `excam score --to`, with any metric")]


def compare(
    a: SCORED,
    b: SCORED,
    rows: Annotated[int, typer.Option(min=0, help="number of shown rows with the largest differences")] = 5,
    jsonl: Annotated[bool, typer.Option("--jsonl", help="print JSON Lines instead of tables")] = False,
) -> None:
    """Compare two systems on the same rows, scored by the same metric: which is better, and how certain is that?

    Rows are joined by id; rows that are in one file only or that failed are left out and counted. Exit codes: 0
    compared, 2 not: other instructions, different signatures, no rows in common.

    Example: excam compare ours.jsonl theirs.jsonl; excam compare ours.jsonl theirs.jsonl --jsonl > comparison.jsonl
    """
    from excam.scoring import compare as comparing
    from excam.scoring import compare_display, scored_file

    with exit_on_error():
        found = comparing.compare(scored_file.read(a), scored_file.read(b), rows)
        if jsonl:
            for line in found.lines():
                print_json(line)
        else:
            compare_display.show(found, str(a), str(b))
