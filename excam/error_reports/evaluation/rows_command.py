"""The command that shows the rows behind a number: of ExCAM's cells themselves, of other artifacts where they are."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from excam.core.provenance import say
from excam.core.terminal import JSON, exit_on_error, print_json, print_text, stop
from excam.lineage.commands import ROOT


def rows(
    figure: Annotated[Path, typer.Argument(help="a figure or table of the results, or a cell's JSON file")],
    cell: Annotated[str | None, typer.Argument(help="model/trained_on/judge/dataset, or the path of its cell")] = None,
    wrong: Annotated[bool, typer.Option("--wrong", help="only rows judged wrongly")] = False,
    right: Annotated[bool, typer.Option("--right", help="only rows judged rightly")] = False,
    unreadable: Annotated[bool, typer.Option("--unreadable", help="only parse failures")] = False,
    where: Annotated[
        list[str] | None, typer.Option(help="COLUMN=VALUE of a line of a CSV table, several times: the rows behind it")
    ] = None,
    to: Annotated[Path | None, typer.Option(help="with --where: a new .csv or .jsonl file for these rows")] = None,
    directory: ROOT = Path(),
    as_json: JSON = False,
) -> None:
    """Show the rows behind a number: the question, the verbatim answer, the parsed report, and gold.

    Of a file whose numbers are not of ExCAM's cells, as those of the other systems: the tables of rows that it was made
    of, and the pages that show them; with --where, the rows and ids behind one line of a CSV table of any system.

    Example: excam rows results/paper/figure-3.csv smollm2-135m/nothing/prompted-report/blend --wrong
    Example: excam rows results/macaron/coverage.csv --where country=Greece --to rows.csv
    """
    from excam.error_reports.evaluation import rows as behind
    from excam.lineage import recorded_hashes, row_tables

    chosen = {"wrong": wrong, "right": right, "unreadable": unreadable}
    chosen_outcomes = {name for name, asked in chosen.items() if asked}
    wanted = chosen_outcomes or set(chosen)
    with exit_on_error():
        if where or to:
            if cell or chosen_outcomes or not where:
                stop("--where, --to: expected --where, and no cell or outcome beside it; leave these out")
            _show_line(directory, figure, where, to, as_json=as_json)
            return
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


def _show_line(directory: Path, figure: Path, where: list[str], to: Path | None, *, as_json: bool) -> None:
    """Show the rows behind a line of a table; write them to `to`."""
    from excam.error_reports.evaluation.rows import numbers_of
    from excam.lineage import line_rows, recorded_hashes

    if to and to.suffix not in line_rows.FORMATS:
        stop(f"--to: found {to}; expected a name that ends in {' or '.join(line_rows.FORMATS)}")
    if to and to.exists():
        stop(f"--to: {to} is there; expected a new file; give another name")
    run = recorded_hashes.Evidence(directory)
    numbers = numbers_of(figure)
    line = line_rows.find_line(run, recorded_hashes.artifact(run, numbers), where)
    selected = line_rows.behind(run, line)
    if not as_json:
        print_text(line.text())
    for table in selected:
        if as_json:
            print_json(table.to_dict())
        else:
            print_text("\n".join(table.lines()))
    if cell := line.values.get("cell"):
        say(f"with what the model wrote: excam rows {numbers} {cell}")
    if to:
        line_rows.write(to, selected)
