"""`excam compare`: two systems on the same instructions, from two files of scored pairs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from excam.terminal import print_json, stopping

SCORED = Annotated[Path, typer.Argument(help="what `excam score --to` wrote")]


def compare(
    a: SCORED,
    b: SCORED,
    rows: Annotated[int, typer.Option(min=0, help="show so many of the rows that differ most")] = 5,
    jsonl: Annotated[bool, typer.Option("--jsonl", help="JSON Lines instead of tables, for machines")] = False,
) -> None:
    """Compare two systems on the same instructions, judged by the same metric: which has fewer errors, how surely?

    Rows are joined by id; what one file lacks or could not be judged is left out and counted. Exit codes: 0 compared,
    2 not: other instructions, unlike signatures, no rows in common.

    Example: excam compare ours.jsonl theirs.jsonl; excam compare ours.jsonl theirs.jsonl --jsonl > comparison.jsonl
    """
    from excam.metric import compare as comparing
    from excam.metric import compare_display, scored_file

    with stopping():
        found = comparing.compare(scored_file.read(a), scored_file.read(b), rows)
        if jsonl:
            for line in found.lines():
                print_json(line)
        else:
            compare_display.show(found, str(a), str(b))
