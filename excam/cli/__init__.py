"""Explainable cultural awareness metrics. Data goes to stdout, everything else to stderr."""

from __future__ import annotations

import difflib
import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from excam.acre.commands import app as acre_app
from excam.annotation.commands import app as annotate_app
from excam.calmqa.commands import app as calmqa_app
from excam.cli import (
    calibrate_commands,
    compare_commands,
    meta_commands,
    qualify_commands,
    score_commands,
    serve_commands,
)
from excam.core.command_input import standard_input
from excam.core.folders import files_below
from excam.core.paths import JOURNALS, RESULTS
from excam.core.provenance import say
from excam.core.release import VERSION
from excam.core.terminal import JSON, exit_on_error, print_json, print_text, stdout, stdout_can_encode, stop
from excam.error_reports.evaluation.rows_command import rows
from excam.error_reports.records import Unreadable
from excam.knowledge.commands import app as knowledge_app
from excam.lineage import commands
from excam.macaron.commands import app as macaron_app
from excam.rubric.commands import app as rubric_app
from excam.scoring import report_commands
from excam.scoring.sharing import commands as sharing_commands

app = typer.Typer(no_args_is_help=True, add_completion=True, pretty_exceptions_enable=False, help=__doc__)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(VERSION)
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[  # typer calls the function
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="print the version and exit")
    ] = False,
) -> None: ...


@app.command()
def read() -> None:
    """Turn a raw model answer on stdin into a report on stdout; exit with code 1 and the reason on a parse failure.

    Deviations that the lenient parser accepted (a code fence, prose around the report) are listed on stderr.
    """
    from excam.error_reports.judges import report

    with exit_on_error():
        text = standard_input().read().decode("utf-8", errors="replace")
        reading = report.read(text)
        if isinstance(reading, Unreadable):
            say(f"excam: unreadable: {reading.reason}")
            raise typer.Exit(1)
        if overlooked := report.recovered(text):
            say(f"excam: overlooked: {', '.join(overlooked)}")
        print_json(asdict(reading), indent=2)


journal_app = typer.Typer(no_args_is_help=True, help="Inspect and repair journals, the caches of model answers.")
app.add_typer(journal_app, name="journal")
app.add_typer(annotate_app, name="annotate")
app.add_typer(knowledge_app, name="knowledge")
app.add_typer(macaron_app, name="macaron")
app.add_typer(rubric_app, name="rubric")
app.add_typer(acre_app, name="acre")
app.add_typer(calmqa_app, name="calmqa")
_JOURNALS = Annotated[list[Path] | None, typer.Argument(help="journals, or folders of them")]


def _journal_files(files: list[Path] | None) -> list[Path]:
    paths = files or [JOURNALS]
    journals = [file for path in paths for file in (files_below(path) if path.is_dir() else [path])]
    journals = [file for file in journals if file in paths or file.suffix == ".jsonl"]
    if not journals:
        stop(f"{paths[0]}: no journals; expected .jsonl files below {JOURNALS}")
    return journals


@journal_app.command()
def show(paths: _JOURNALS = None) -> None:
    """Show answers and tokens by model, and how answers ended, as JSON Lines on stdout.

    Example: excam journal show results/journal
    """
    from excam.inference.journal import totals
    from excam.inference.journal_contents import contents

    with exit_on_error():
        for path in _journal_files(paths):
            for identity, answers in contents(path).answers.items():
                print_json({"journal": str(path), "identity": identity, **totals(answers)})


@journal_app.command()
def verify(paths: _JOURNALS = None) -> None:
    """Check every line against its checksum; exit with code 1 if one is damaged. Change nothing."""
    from excam.inference.journal_contents import contents

    damaged = 0
    with exit_on_error():
        for path in _journal_files(paths):
            journal = contents(path)
            damaged += len(journal.damaged)
            total = sum(map(len, journal.answers.values()))
            notes = [f"{total} answers"]
            notes += [f"{journal.duplicates} duplicates"] * bool(journal.duplicates)
            notes += ["an incomplete last line"] * journal.partial
            notes += [f"damaged lines: {', '.join(map(str, journal.damaged[:20]))}"] * bool(journal.damaged)
            print(f"{path}: {'; '.join(notes)}")
    raise typer.Exit(1 if damaged else 0)


@journal_app.command()
def compact(paths: _JOURNALS = None) -> None:
    """Drop lines that are damaged or duplicated. Safe while jobs write.

    Damaged lines are saved next to the journal, in NAME.jsonl.damaged. A file that is not a journal is left unchanged:
    it is skipped in a folder and refused if it was named.
    """
    from excam.inference.journal import is_not_a_journal
    from excam.inference.journal_contents import compact as compact_journal

    with exit_on_error():
        journals = _journal_files(paths)
        others = [path for path in journals if path not in (paths or ()) and is_not_a_journal(path)]
        if others:
            say(f"excam: {others[0]}: one of {len(others)} files that hold no complete journal entry; left as they are")
        for path in sorted(set(journals) - set(others)):
            outcome = compact_journal(path)
            kept = f"; damaged, kept in {outcome.aside}: {outcome.damaged}" if outcome.damaged else ""
            print(f"{path}: {outcome.dropped} lines dropped{kept}")


app.command()(score_commands.score)
app.command()(score_commands.explain)
app.command()(calibrate_commands.calibrate)
app.command()(qualify_commands.qualify)
app.command()(compare_commands.compare)
app.command()(meta_commands.meta)
app.command()(report_commands.report)
app.command()(serve_commands.serve)
app.command()(sharing_commands.push)
app.command()(sharing_commands.pull)
app.command()(commands.audit)
app.command()(commands.why)
app.command()(rows)


@app.command("list")
def list_(
    what: Annotated[str, typer.Argument(help="metrics, datasets or judges")] = "datasets", as_json: JSON = False
) -> None:
    """List the metrics (what each reads, returns and needs), the benchmarks (task, licence, source, rows), the judges.

    Example: excam list metrics
    """
    from excam.config import modules_in

    if what not in ("metrics", "datasets", "judges"):
        close = difflib.get_close_matches(what, ("metrics", "datasets", "judges"), n=1)
        stop(
            f"{what}: nothing to list; {f'did you mean {close[0]}? ' if close else ''}known: metrics, datasets, judges"
        )
    from excam.excam40k.publishing import listing

    with exit_on_error():
        if what == "metrics":
            lines = score_commands.list_metrics()
            if as_json:
                for line in lines:
                    print_json(line)
                return
            for line in lines:
                name, *facts = [f"{key} {value}" for key, value in line.items() if value]
                print_text(f"{name.removeprefix('metric ')}\n" + "".join(f"    {fact}\n" for fact in facts))
            return
        if what == "judges":
            names = modules_in("error_reports/judges")
            print("\n".join(json.dumps({"judge": name}) for name in names) if as_json else "\n".join(names))
            return
        table = listing.lines(RESULTS)
        if as_json:
            for line in table[1:]:
                print_json(dict(zip(table[0], line, strict=True)))
            return
        text = "\n".join(listing.align_columns(table) if stdout().isatty() else ["\t".join(line) for line in table])
        print(text if stdout_can_encode(text) else text.replace(listing.ABSENT, "-"))


@app.command()
def lock() -> None:
    """Record the code as it is in versions.lock (for developers); a dry run names the files that differ from it."""
    from excam.core import versions

    with exit_on_error():
        changed = versions.lock()
        print("\n".join(changed) or "nothing changed")
