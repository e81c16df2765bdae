"""The command that shows the rows behind a number: of ExCAM's cells themselves, of other artifacts where they are."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from excam.core.provenance import say
from excam.core.terminal import JSON, exit_on_error, print_json, print_text
from excam.lineage.commands import ROOT


def rows(
    figure: Annotated[Path, typer.Argument(help="a figure or table of the results, or a cell's JSON file")],
    cell: Annotated[str | None, typer.Argument(help="model/trained_on/judge/dataset, or the path of its cell")] = None,
    wrong: Annotated[bool, typer.Option("--wrong", help="only rows judged wrongly")] = False,
    right: Annotated[bool, typer.Option("--right", help="only rows judged rightly")] = False,
    unreadable: Annotated[bool, typer.Option("--unreadable", help="only parse failures")] = False,
    directory: ROOT = Path(),
    as_json: JSON = False,
) -> None:
    """Show the rows behind a number: the question, the verbatim answer, the parsed report, and gold.

    Of a file whose numbers are not of ExCAM's cells, as those of the other systems: the tables of rows that it was made
    of, and the pages that show them.

    Example: excam rows results/paper/figure-3.csv smollm2-135m/nothing/prompted-report/blend --wrong
    """
    from excam.error_reports.evaluation import rows as behind
    from excam.lineage import recorded_hashes, row_tables

    chosen = {"wrong": wrong, "right": right, "unreadable": unreadable}
    wanted = {name for name, asked in chosen.items() if asked} or set(chosen)
    with exit_on_error():
        if cell is None and not behind.names_cells(directory, figure):
            run = recorded_hashes.Evidence(directory)
            for table in row_tables.behind(run, recorded_hashes.artifact(run, figure)):
                print_json(asdict(table)) if as_json else print_text(table.line())
            return
        opened = behind.open_cell(directory, behind.find_cell_path(directory, figure, cell))
        for row in opened.rows:
            if row.outcome in wanted:
                print_json(row.to_dict()) if as_json else print_text(row.text())
    say(opened.summary())
