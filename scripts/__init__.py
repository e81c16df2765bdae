"""One module per rule of the workflow, run as `python -m scripts.<rule>`: the thin seam between files and `excam`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from excam.exceptions import ExcamError


def run(main: Callable[[], None]) -> None:
    """Run a script's main. What the user can act on is one line on stderr and exit code 1, never a traceback."""
    os.environ.setdefault("TQDM_DISABLE", "1")  # our own progress lines are enough
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    os.environ.setdefault("DS_LOG_LEVEL", "error")
    try:
        main()
    except ExcamError as problem:
        sys.exit(f"{main.__module__ if main.__module__ != '__main__' else sys.argv[0]}: {problem}")
