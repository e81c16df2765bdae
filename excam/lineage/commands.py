"""The commands that lead a number back to where it came from: audit, why, rows, and crate, which hands it on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from excam.lineage import copies
from excam.provenance import say
from excam.terminal import print_json, show, stop, stopping

_ROOT = Annotated[Path, typer.Option("--directory", "-d", help="folder of the workflow, where results/ lies")]
_JSONL = Annotated[bool, typer.Option("--jsonl", help="JSON Lines on stdout, for machines")]


def audit(
    artifacts: Annotated[
        list[Path] | None, typer.Argument(help="files below results/: a figure, a cell ...; else everything there")
    ] = None,
    directory: _ROOT = Path(),
    results: Annotated[
        Path | None, typer.Option(help="a copy of results/ that lies alone, under any name; instead of --directory")
    ] = None,
    jsonl: _JSONL = False,
) -> None:
    """Show the chain from artifacts back to the raw shards and verify every hash that is recorded.

    Without artifacts: the chain of results/paper, then every other file below results/ that is recorded; stderr says
    how much that was, and what has no record.

    Exit code 1 where a file is not what was recorded, each named on stderr with expected and found sha256; 3 where none
    differs but some file has no recorded hash; 4 where all is proven that a copy has, but it does not have all.

    Example: excam audit; excam audit results/paper/figure-3.pdf; excam audit --results their-copy
    """
    from excam.lineage import chain, evidence, page

    with stopping():
        if results and not results.is_dir():
            stop(f"{results}: no such folder; expected a copy of results/")
        run = evidence.Evidence(None, results) if results else evidence.Evidence(directory)
        if results and not run.records:
            say(f"{results}: what made what is not kept here ({copies.KEPT.name}): each file alone")
        given = [evidence.artifact(run, path) for path in artifacts or ()]
        beside = [] if given else run.everything()
        if not (given or beside):
            stop(f"{run.results}: no artifact; expected a run's; name the folder of the workflow with --directory")
        links = chain.walk(run, given or run.published("paper"), beside)
        if jsonl:
            for row in page.rows(links):
                print_json(row)
        else:
            for line in page.lines(links):
                show(line)
    for problem in filter(None, (page.left_out(links), *(link.problem for link in links))):
        say(problem)
    if not given:
        say(page.coverage(links, run.without_record()))
    say(page.summary(links))
    raise typer.Exit(page.exit_code(links))


def why(
    target: Annotated[str, typer.Argument(help="model/trained_on/judge/dataset, any file below results/, or a target")],
    options: Annotated[list[str] | None, typer.Argument(help="after --: options of snakemake")] = None,
    directory: _ROOT = Path(),
) -> None:
    """Say what would run for a target, and for which reason. Nothing is run.

    Without options it plans the experiment whose run ended last here; the first line, on stderr, says which.

    Example: excam why smollm2-135m/nothing/count/blend -- --profile local
    """
    from excam.lineage import reasons

    with stopping():
        chosen, said = reasons.experiment(options or (), directory)
        say(f"planned: {said}")
        jobs = reasons.ask(target, chosen, directory)
        for job in jobs or ["nothing to do"]:
            show(str(job))
    if jobs:
        say(f"{len(jobs)} jobs would run")


def rows(
    figure: Annotated[Path, typer.Argument(help="a figure or table below results/paper, or a cell's JSON file")],
    cell: Annotated[str | None, typer.Argument(help="model/trained_on/judge/dataset, or the path of its cell")] = None,
    wrong: Annotated[bool, typer.Option("--wrong", help="only rows judged wrongly")] = False,
    right: Annotated[bool, typer.Option("--right", help="only rows judged rightly")] = False,
    unreadable: Annotated[bool, typer.Option("--unreadable", help="only rows whose answer could not be read")] = False,
    directory: _ROOT = Path(),
    jsonl: _JSONL = False,
) -> None:
    """Show the rows behind a number: what was asked, the verbatim answer, the report read from it, and gold.

    Example: excam rows results/paper/figure-3.csv smollm2-135m/nothing/count/blend --wrong
    """
    from excam.lineage import rows as behind

    chosen = {"wrong": wrong, "right": right, "unreadable": unreadable}
    wanted = {name for name, asked in chosen.items() if asked} or set(chosen)
    with stopping():
        opened = behind.open_cell(directory, behind.find(directory, figure, cell))
        for row in opened.rows:
            if row.outcome in wanted:
                print_json(row.to_dict()) if jsonl else show(row.text())
    say(opened.summary())


def crate(
    to: Annotated[Path, typer.Argument(help="the new folder that becomes the crate")],
    directory: _ROOT = Path(),
    part: Annotated[
        list[str] | None, typer.Option(help="folder of results/ to carry; several times; else paper")
    ] = None,
) -> None:
    """Write the run as an RO-Crate (Provenance Run Crate 0.5): to deposit, or to send to somebody who audits it.

    Example: excam crate my-run; excam audit --results my-run/results
    """
    from excam.lineage import crate as run_crate

    with stopping():
        entities = run_crate.write(directory, to, part or ["paper"])
    say(f"{to}: {entities} entities in ro-crate-metadata.json")
