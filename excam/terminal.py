"""What every command does with a terminal: data as JSON on stdout, one line on stderr when it has to stop."""

from __future__ import annotations

import errno
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import typer

from excam.escapes import visible
from excam.exceptions import ExcamError
from excam.provenance import say


def stop(problem: ExcamError | str) -> NoReturn:
    """Say on one line what cannot be done, and end with exit code 2."""
    say(f"excam: {problem}")
    raise typer.Exit(2)


@contextmanager
def stopping() -> Iterator[None]:
    """What cannot be done, and what a file system refuses, is said on one line, with exit code 2."""
    try:
        yield
    except ExcamError as problem:
        stop(problem)
    except OSError as problem:
        if problem.errno == errno.EPIPE:  # who reads our output has had enough: no matter to complain about
            raise
        reason = str(problem.strerror or problem).lower()
        stop(f"{problem.filename or 'output'}: {reason}; expected a file that can be read or written")


def print_json(value: object, indent: int | None = None) -> None:
    """JSON on stdout: readable, or in ASCII escapes where stdout cannot hold a character."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    print(text if holds(text) else json.dumps(value, indent=indent))


def holds(text: str) -> bool:
    """Whether stdout can hold every character of a text."""
    try:
        text.encode(sys.stdout.encoding)
    except UnicodeEncodeError:
        return False
    return True


def show(text: str) -> None:
    """Text on stdout, with escapes for control characters and for what stdout cannot hold."""
    safe, charset = visible(text), sys.stdout.encoding
    print(safe if holds(safe) else safe.encode(charset, errors="backslashreplace").decode(charset))
