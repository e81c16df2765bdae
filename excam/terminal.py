"""What every command does with a terminal: data as JSON on stdout, one line on stderr when it has to stop."""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, NoReturn, TextIO, cast

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
    """What cannot be done, and what a file system refuses, is said on one line, with exit code 2.

    What is printed is out when this ends, so that a full disk behind stdout is noticed here.
    """
    try:
        yield
        if sys.stdout is not None:  # pyright: ignore[reportUnnecessaryComparison]  # so it is after `>&-`
            sys.stdout.flush()
    except ExcamError as problem:
        stop(problem)
    except OSError as problem:
        if problem.errno == errno.EPIPE:  # who reads our output has had enough: no matter to complain about
            raise
        _drop_output()
        reason = str(problem.strerror or problem).lower()
        stop(f"{problem.filename or 'output'}: {reason}; expected a file that can be read or written")


def _drop_output() -> None:
    """Give up what stdout could not write: Python would try again when it ends, and complain at length."""
    try:
        stdout().flush()
    except OSError:
        with suppress(OSError):  # no file behind it
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def stdout() -> TextIO:
    """Stdout. Stops where it is closed."""
    if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison]  # so it is after `>&-`
        stop("stdout: is closed; expected a file or a terminal")
    return sys.stdout


def print_json(value: object, indent: int | None = None) -> None:
    """JSON on stdout: readable, or in ASCII escapes where stdout cannot hold a character."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    print(text if holds(text) else json.dumps(value, indent=indent))


def holds(text: str) -> bool:
    """Whether stdout can hold every character of a text."""
    try:
        text.encode(stdout().encoding)
    except UnicodeEncodeError:
        return False
    return True


def held(text: str) -> str:
    """The text, with escapes for what stdout cannot hold."""
    charset = stdout().encoding
    return text if holds(text) else text.encode(charset, errors="backslashreplace").decode(charset)


def show(text: str) -> None:
    """Text on stdout, with escapes for control characters and for what stdout cannot hold."""
    print(held(visible(text)))


class _Held:
    """Stdout for a library that writes text itself: what stdout cannot hold becomes escapes."""

    def write(self, text: str) -> int:
        return stdout().write(held(text))

    def __getattr__(self, name: str) -> object:
        return getattr(stdout(), name)


STDOUT = cast(IO[str], _Held())
