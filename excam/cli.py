"""Explainable cultural awareness metrics. Data goes to stdout, everything else to stderr."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from excam.annotation.commands import app as annotate_app
from excam.lineage import commands
from excam.metric import calibrate_commands, compare_commands, report_commands, serve_commands
from excam.metric import commands as metric_commands
from excam.provenance import say
from excam.reading import standard_input
from excam.records import Unreadable
from excam.sharing import commands as sharing_commands
from excam.terminal import holds, print_json, stdout, stop, stopping

app = typer.Typer(no_args_is_help=True, add_completion=True, pretty_exceptions_enable=False, help=__doc__)


@app.command()
def read() -> None:
    """Turn a raw model answer on stdin into a report on stdout, or state why it is none (exit code 1).

    What the reader overlooked (a fence, prose around the report) is on stderr.
    """
    from excam.judges import report

    with stopping():
        text = standard_input().read().decode("utf-8", errors="replace")
        found = report.read(text)
        if isinstance(found, Unreadable):
            say(f"excam: unreadable: {found.reason}")
            raise typer.Exit(1)
        if overlooked := report.recovered(text):
            say(f"excam: overlooked: {', '.join(overlooked)}")
        print_json(asdict(found), indent=2)


journal_app = typer.Typer(
    no_args_is_help=True, help="Look after journals: every answer of a model, kept by what was asked."
)
app.add_typer(journal_app, name="journal")
app.add_typer(annotate_app, name="annotate")
_JOURNALS = Annotated[list[Path] | None, typer.Argument(help="journals, or folders of them")]


def _journals(paths: list[Path] | None) -> list[Path]:
    given = paths or [Path("results/journal")]
    found = [file for path in given for file in (sorted(path.rglob("*.jsonl")) if path.is_dir() else [path])]
    if not found:
        stop(f"{given[0]}: no journals; expected .jsonl files below results/journal")
    return found


@journal_app.command()
def show(paths: _JOURNALS = None) -> None:
    """What is in them: answers and tokens by model, how answers ended. JSON Lines on stdout.

    Example: excam journal show results/journal
    """
    from excam.inference.journal import contents, totals

    with stopping():
        for path in _journals(paths):
            for identity, answers in contents(path).answers.items():
                print_json({"journal": str(path), "identity": identity, **totals(answers)})


@journal_app.command()
def verify(paths: _JOURNALS = None) -> None:
    """Check every line against its checksum; exit code 1 where one is damaged. Changes nothing."""
    from excam.inference.journal import contents

    damaged = 0
    with stopping():
        for path in _journals(paths):
            found = contents(path)
            damaged += len(found.damaged)
            whole = sum(map(len, found.answers.values()))
            notes = [f"{whole} answers"]
            notes += [f"{found.twice} there twice"] * bool(found.twice)
            notes += [f"{found.outdated} of an earlier release"] * bool(found.outdated)
            notes += ["a last line that is not whole"] * found.torn
            notes += [f"damaged lines: {', '.join(map(str, found.damaged[:20]))}"] * bool(found.damaged)
            print(f"{path}: {'; '.join(notes)}")
    raise typer.Exit(1 if damaged else 0)


@journal_app.command()
def compact(paths: _JOURNALS = None) -> None:
    """Drop lines that are damaged, there twice, or of an earlier release. Safe while jobs write.

    Damaged lines are kept beside the journal, in NAME.jsonl.damaged. What is no journal is left as it is: in a folder
    it is passed over, a file that was named is refused.
    """
    from excam.inference.journal import compact as compact_journal
    from excam.inference.journal import is_other

    with stopping():
        given = _journals(paths)
        others = [path for path in given if path not in (paths or ()) and is_other(path)]
        if others:
            say(f"excam: {others[0]}: one of {len(others)} files that hold no whole journal entry; left as they are")
        for path in sorted(set(given) - set(others)):
            found = compact_journal(path)
            kept = f"; damaged, kept in {found.aside}: {found.damaged}" if found.damaged else ""
            print(f"{path}: {found.dropped} lines dropped{kept}")


app.command()(metric_commands.score)
app.command()(metric_commands.explain)
app.command()(calibrate_commands.calibrate)
app.command()(compare_commands.compare)
app.command()(report_commands.report)
app.command()(serve_commands.serve)
app.command()(sharing_commands.push)
app.command()(sharing_commands.pull)
app.command()(commands.audit)
app.command()(commands.why)
app.command()(commands.rows)
app.command()(commands.crate)


@app.command("list")
def list_(what: Annotated[str, typer.Argument(help="datasets or judges")] = "datasets") -> None:
    """List the benchmarks (task, licence, source, rows of the build in ./results) or the judges."""
    from excam.config import modules_in

    if what not in ("datasets", "judges"):
        stop(f"{what}: nothing to list; known: datasets, judges")
    from excam.publishing import listing

    with stopping():
        if what == "judges":
            print("\n".join(modules_in("judges")))
            return
        table = listing.lines(Path("results"))
        text = "\n".join(listing.aligned(table) if stdout().isatty() else ["\t".join(line) for line in table])
        print(text if holds(text) else text.replace(listing.ABSENT, "-"))


@app.command()
def lock(
    stages: Annotated[list[str] | None, typer.Argument(help="stages; all by default")] = None,
    same_output: Annotated[bool, typer.Option("--same-output", help="the change was a refactoring")] = False,
) -> None:
    """Record the state of the code in versions.lock (for developers): a changed stage gets the next number."""
    from excam import versions

    with stopping():
        moved = versions.lock(stages or (), same_output)
        print("\n".join(moved) or "nothing moved")
