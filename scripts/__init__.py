"""One module per rule of the workflow, run as `python -m scripts.<rule>`: the thin seam between files and `excam`."""

from __future__ import annotations

import sys
from collections.abc import Callable

from excam.exceptions import ExcamError
from excam.provenance import quiet_libraries


def run(main: Callable[[], None]) -> None:
    """Run a script's main. What the user can act on is one line on stderr and exit code 1, never a traceback."""
    quiet_libraries()
    try:
        main()
    except ExcamError as problem:
        sys.exit(f"{main.__module__ if main.__module__ != '__main__' else sys.argv[0]}: {problem}")
