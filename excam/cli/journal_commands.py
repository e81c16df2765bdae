"""`excam journal verify`: whether the caches of model answers are as they were written."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from excam.core.folders import files_below
from excam.core.paths import JOURNALS
from excam.core.terminal import exit_on_error, stop

app = typer.Typer(no_args_is_help=True, help="Check journals, the caches of model answers.")
_JOURNALS = Annotated[list[Path] | None, typer.Argument(help="journals, or folders of them")]


def _journal_files(files: list[Path] | None) -> list[Path]:
    paths = files or [JOURNALS]
    journals = [file for path in paths for file in (files_below(path) if path.is_dir() else [path])]
    journals = [file for file in journals if file in paths or file.suffix == ".jsonl"]
    if not journals:
        stop(f"{paths[0]}: no journals; expected .jsonl files below {JOURNALS}")
    return journals


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
