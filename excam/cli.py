"""Explainable cultural awareness metrics. Data goes to stdout, everything else to stderr."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from excam.annotation.commands import app as annotate_app
from excam.exceptions import ExcamError
from excam.lineage import commands
from excam.records import WEIGHTS, Report, Unreadable
from excam.terminal import holds, print_json, stop, visible

app = typer.Typer(no_args_is_help=True, add_completion=True, pretty_exceptions_enable=False, help=__doc__)
_COLOURS = {"minor": "black on yellow", "major": "white on red"}


@app.command()
def score(
    file: Annotated[
        Path, typer.Argument(help="JSON Lines; each line has `output`, and `instruction` and `id` if known")
    ],
    adapter: Annotated[Path, typer.Option(help="folder of the adapter")] = Path("results/adapters/smollm2-135m/all"),
    base: Annotated[Path | None, typer.Option(help="folder of the base model, where it is not found by itself")] = None,
    to: Annotated[Path | None, typer.Option(help="write JSON Lines here, and go on from here after a crash")] = None,
    max_tokens: Annotated[int, typer.Option(min=1, help="longest report, in tokens")] = 512,
) -> None:
    """Judge instruction-output pairs: where they get a culture wrong, how badly, and why.

    Example: excam score texts.jsonl --to scored.jsonl
    """
    from excam import metric
    from excam.provenance import publish, quiet_libraries

    quiet_libraries()
    try:
        if to and (to.is_dir() or to.resolve() == file.resolve()):
            stop(f"{to}: is {'a folder' if to.is_dir() else 'the input'}; expected another file to write to")
        pairs = metric.read_pairs(file)
        opened = metric.Metric.open(adapter, base=base, max_tokens=max_tokens)
        journal = to.with_name(f".{to.name}.journal") if to else None
        scored = []
        for result in opened.score(pairs, journal=journal):
            scored.append(result)
            _show(result)
            if not to:
                print_json(result.to_dict())
        if to and journal:
            with publish(to) as temporary, temporary.open("w", encoding="utf-8") as stream:
                stream.writelines(json.dumps(result.to_dict()) + "\n" for result in scored)
            journal.unlink(missing_ok=True)
    except ExcamError as problem:
        stop(problem)
    failed = sum(result.failure is not None for result in scored)
    found = sum(bool(result.report and result.report.errors) for result in scored)
    print(f"{len(scored)} rows: {found} with errors, {failed} not judged\n{opened.signature}", file=sys.stderr)
    raise typer.Exit(1 if failed == len(scored) else 0)


def _show(result: object) -> None:
    from excam.metric import Scored

    assert isinstance(result, Scored)
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    head = f"failure: {result.failure}" if result.score is None else f"score {result.score:.3f}"
    console.print(Text(visible(f"── {result.id} · {head}"), style="bold"))
    for where in ("instruction", "output"):
        console.print(_marked(where, getattr(result, where), result.report))
    if result.report and result.report.explanation:
        console.print(Text(visible(f"   why: {result.report.explanation}")))


def _marked(where: str, text: str, report: Report | None) -> Text:
    """The text with its erroneous words in colour, between brackets so that it also shows without colour."""
    line, at = Text(f"   {where}: "), 0
    errors = [error for error in (report.errors if report else ()) if error.where == where]
    for error in sorted(errors, key=lambda error: error.start):
        if error.start < at:
            continue  # not found in the text, or inside a span already marked: listed below
        line.append(visible(text[at : error.start]))
        line.append(visible(f"[{text[error.start : error.end]}]"), style=_COLOURS[error.severity])
        at = error.end
    line.append(visible(text[at:]))
    for error in errors:
        place = "" if error.start >= 0 else ", not found in the text"
        kind = visible(error.type)
        line.append(f"\n   {error.severity} ({WEIGHTS[error.severity]}): {kind}: {error.span!r}{place}")
    return line


@app.command()
def read() -> None:
    """Turn a raw model answer on stdin into a report on stdout, or state why it is none (exit code 1).

    What the reader overlooked (a fence, prose around the report) is on stderr.
    """
    from excam.judges import report

    text = sys.stdin.buffer.read().decode("utf-8", errors="replace")
    found = report.read(text)
    if isinstance(found, Unreadable):
        print(f"excam: unreadable: {found.reason}", file=sys.stderr)
        raise typer.Exit(1)
    if overlooked := report.recovered(text):
        print(f"excam: overlooked: {', '.join(overlooked)}", file=sys.stderr)
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

    try:
        for path in _journals(paths):
            for identity, answers in contents(path).answers.items():
                print_json({"journal": str(path), "identity": identity, **totals(answers)})
    except ExcamError as problem:
        stop(problem)


@journal_app.command()
def verify(paths: _JOURNALS = None) -> None:
    """Check every line against its checksum; exit code 1 where one is damaged. Changes nothing."""
    from excam.inference.journal import contents

    damaged = 0
    try:
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
    except ExcamError as problem:
        stop(problem)
    raise typer.Exit(1 if damaged else 0)


@journal_app.command()
def compact(paths: _JOURNALS = None) -> None:
    """Drop lines that are damaged, there twice, or of an earlier release. Safe while jobs write."""
    from excam.inference.journal import compact as compact_journal

    try:
        for path in _journals(paths):
            print(f"{path}: {compact_journal(path)} lines dropped")
    except ExcamError as problem:
        stop(problem)


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
    if what == "judges":
        print("\n".join(modules_in("judges")))
        return
    from excam.publishing import listing

    table = listing.lines(Path("results"))
    text = "\n".join(listing.aligned(table) if sys.stdout.isatty() else ["\t".join(line) for line in table])
    print(text if holds(text) else text.replace(listing.ABSENT, "-"))


@app.command()
def lock(
    stages: Annotated[list[str] | None, typer.Argument(help="stages; all by default")] = None,
    same_output: Annotated[bool, typer.Option("--same-output", help="the change was a refactoring")] = False,
) -> None:
    """Record the state of the code in versions.lock (for developers): a changed stage gets the next number."""
    from excam import versions

    try:
        moved = versions.lock(stages or (), same_output)
    except ExcamError as problem:
        stop(problem)
    print("\n".join(moved) or "nothing moved")
