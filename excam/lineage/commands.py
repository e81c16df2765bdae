"""The commands for provenance: audit, and the rows behind a number."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from excam.core.provenance import say
from excam.core.terminal import JSON, exit_on_error, print_json, print_text, stop
from excam.lineage import copies

ROOT = Annotated[Path, typer.Option("--directory", "-d", help="folder of the workflow, which contains results/")]


def audit(
    artifacts: Annotated[
        list[Path] | None, typer.Argument(help="files below results/: a figure, a cell ...; else everything there")
    ] = None,
    directory: ROOT = Path(),
    results: Annotated[
        Path | None, typer.Option(help="a copy of results/ without a workflow, any name; instead of --directory")
    ] = None,
    as_json: JSON = False,
) -> None:
    """Show the chain from artifacts back to the raw shards and verify every recorded hash.

    Without artifacts: the chain of results/paper, then every other file below results/ that is recorded; stderr says
    how much that was, and what has no record.

    Exit code 1 where a file is not what was recorded, each named on stderr with expected and found sha256; 3 where none
    differs but some file has no recorded hash; 4 where all is proven that a copy has, but it does not have all.

    Example: excam audit; excam audit results/paper/figure-3.pdf; excam audit --results their-copy
    """
    from excam.lineage import chain, page, recorded_hashes

    with exit_on_error():
        if results and not results.is_dir():
            stop(f"{results}: no such folder; expected a copy of results/")
        run = recorded_hashes.Evidence(None, results) if results else recorded_hashes.Evidence(directory)
        if results and not run.records:
            say(f"{results}: Snakemake's job records are missing ({copies.KEPT.name}): each file is checked on its own")
        names = [recorded_hashes.artifact(run, path) for path in artifacts or ()]
        beside = [] if names else run.everything()
        if not (names or beside):
            stop(f"{run.results}: no artifact; expected a run's; name the folder of the workflow with --directory")
        links = chain.walk(run, names or run.published("paper"), beside)
        if as_json:
            for row in page.rows(links):
                print_json(row)
        else:
            for line in page.lines(links):
                print_text(line)
    for problem in filter(None, (page.left_out(links), *(link.problem for link in links))):
        say(problem)
    if not names:
        say(page.coverage(links, run.without_record()))
    say(page.summary(links))
    raise typer.Exit(page.exit_code(links))


def rows(
    cell: Annotated[str, typer.Argument(help="model/trained_on/judge/dataset, or what a figure's CSV calls its cell")],
    wrong: Annotated[bool, typer.Option("--wrong", help="only rows judged wrongly")] = False,
    right: Annotated[bool, typer.Option("--right", help="only rows judged rightly")] = False,
    unreadable: Annotated[bool, typer.Option("--unreadable", help="only parse failures")] = False,
    directory: ROOT = Path(),
    as_json: JSON = False,
) -> None:
    """Show the rows behind a number: the question, the verbatim answer, the parsed report, gold, and what a reader
    changed in the published row.

    Example: excam rows smollm2-135m/nothing/prompted-report/blend --wrong
    """
    from excam.lineage import cell_rows

    chosen = {"wrong": wrong, "right": right, "unreadable": unreadable}
    wanted = {name for name, is_wanted in chosen.items() if is_wanted} or set(chosen)
    with exit_on_error():
        opened = cell_rows.open_cell(directory, cell_rows.cell_path(cell))
        for row in opened.rows:
            if row.outcome in wanted:
                print_json(row.to_dict()) if as_json else print_text(row.text())
    say(opened.summary())
