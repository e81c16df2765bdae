"""Options and output of commands: data as JSON on stdout, one line on stderr for an error."""

from __future__ import annotations

import errno
import json
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Annotated, NoReturn, TextIO, cast

import typer

from excam.core.escapes import visible
from excam.core.exceptions import ExcamError
from excam.core.provenance import say

MAX_CELL = 32  # columns of the widest cell of a table
JSON = Annotated[bool, typer.Option("--json", "--jsonl", help="print JSON Lines instead of tables")]
TO = Annotated[Path, typer.Option(help="the file to write")]
PAGE = Annotated[Path, typer.Option(help="the HTML file to write")]
FOLDER = Annotated[Path, typer.Option(help="folder for tables, figures and pages")]
SEED = Annotated[int, typer.Option(help="seed of intervals and tests")]
DRAW_SEED = Annotated[int, typer.Option(help="seed of what is drawn")]
ID = typer.Option("--id", help="column of the ids; else one whose name says so")
SYSTEM = Annotated[str | None, typer.Option(help="column of the systems; by default system, or scored rows'")]
ITEMS = Annotated[int, typer.Option(min=0, help="number of shown rows with the largest differences")]
HOST = Annotated[str, typer.Option(help="address to listen at")]
PORT = Annotated[int, typer.Option(min=0, max=65535, help="0: any that is free")]
HOST_NAMES = Annotated[list[str] | None, typer.Option(help="another host name of this machine; may be repeated")]


def stop(problem: ExcamError | str) -> NoReturn:
    """Print a problem as one line and exit with code 2. The slash that `Path` takes from an address is put back."""
    say(re.sub(r"\b(https?:/)(?=[^/])", r"\1/", f"excam: {problem}"))
    raise typer.Exit(2)


@contextmanager
def exit_on_error() -> Iterator[None]:
    """Convert ExcamError and OSError to one line on stderr and exit code 2.

    Stdout is flushed at the end, so that a full disk behind stdout is reported here too.
    """
    try:
        yield
        if sys.stdout is not None:  # pyright: ignore[reportUnnecessaryComparison]  # so it is after `>&-`
            sys.stdout.flush()
    except ExcamError as problem:
        stop(problem)
    except OSError as problem:
        if problem.errno == errno.EPIPE:  # the reader of our output closed the pipe: no error message
            raise
        _drop_output()
        reason = str(problem.strerror or problem).lower()
        stop(f"{problem.filename or 'output'}: {reason}; expected a file that can be read or written")


def _drop_output() -> None:
    """Discard unwritten output: Python would try again at exit and print a traceback."""
    try:
        stdout().flush()
    except OSError:
        with suppress(OSError):  # stdout has no file descriptor
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def stdout() -> TextIO:
    """Return stdout; exit with a message if it is closed."""
    if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison]  # so it is after `>&-`
        stop("stdout: is closed; expected a file or a terminal")
    return sys.stdout


def print_json(value: object, indent: int | None = None) -> None:
    """Print a value as JSON, with ASCII escapes if stdout cannot encode a character."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    print(text if stdout_can_encode(text) else json.dumps(value, indent=indent))


def stdout_can_encode(text: str) -> bool:
    """Return whether the encoding of stdout has every character of a text."""
    try:
        text.encode(stdout().encoding)
    except UnicodeEncodeError:
        return False
    return True


def escape_unencodable(text: str) -> str:
    """Return the text with escapes for characters that stdout cannot encode."""
    charset = stdout().encoding
    return text if stdout_can_encode(text) else text.encode(charset, errors="backslashreplace").decode(charset)


def print_text(text: str) -> None:
    """Print a text, with control characters and characters that stdout cannot encode escaped."""
    print(escape_unencodable(visible(text)))


def table_lines(lines: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table with aligned columns, the first to the left; control characters are escaped."""
    from rich.cells import cell_len

    safe = [[_cut(visible(cell)) for cell in line] for line in lines]
    widths = [max(cell_len(line[at]) for line in safe if at < len(line)) for at in range(len(safe[0]))]
    for line in safe:
        spaces = [" " * (width - cell_len(cell)) for cell, width in zip(line, widths, strict=False)]
        cells = [
            space + cell if at else cell + space for at, (cell, space) in enumerate(zip(line, spaces, strict=True))
        ]
        yield "  ".join(cells).rstrip()


def _cut(cell: str) -> str:
    from rich.cells import cell_len, set_cell_size

    return cell if cell_len(cell) <= MAX_CELL else set_cell_size(cell, MAX_CELL - 1) + "…"


class _EscapingStdout:
    """Stdout for a library that writes text itself: characters that stdout cannot encode are escaped."""

    def write(self, text: str) -> int:
        return stdout().write(escape_unencodable(text))

    def __getattr__(self, name: str) -> object:
        return getattr(stdout(), name)


STDOUT = cast(IO[str], _EscapingStdout())
