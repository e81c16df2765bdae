"""`excam journal`: what the caches of model answers hold, and repairs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from excam.core.folders import files_below
from excam.core.paths import JOURNALS
from excam.core.provenance import say
from excam.core.terminal import exit_on_error, print_json, stop

app = typer.Typer(no_args_is_help=True, help="Inspect and repair journals, the caches of model answers.")
_JOURNALS = Annotated[list[Path] | None, typer.Argument(help="journals, or folders of them")]


def _journal_files(files: list[Path] | None) -> list[Path]:
    paths = files or [JOURNALS]
    journals = [file for path in paths for file in (files_below(path) if path.is_dir() else [path])]
    journals = [file for file in journals if file in paths or file.suffix == ".jsonl"]
    if not journals:
        stop(f"{paths[0]}: no journals; expected .jsonl files below {JOURNALS}")
    return journals


@app.command()
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


@app.command()
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


@app.command()
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
