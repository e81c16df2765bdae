"""One module per rule of the workflow, run as `python -m scripts.<rule>`. It parses arguments, calls `excam`, writes
files.
"""

from __future__ import annotations

import errno
import sys
from collections.abc import Callable
from pathlib import Path

from excam.core.escapes import visible_line
from excam.core.exceptions import AnswersMissing, ExcamError
from excam.core.provenance import NO_LOCKS, quiet_libraries, refuse_damaged, say

# what a full, read-only or broken disk says; any other OSError is a bug and shows its traceback
DISK = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO}
UNLOCKED = "expected a file system with locks: work on another, or have this one (Lustre) mounted with -o flock,"


def run(main: Callable[[], None]) -> None:
    """Run a script's main. What the user can act on is one line on stderr and exit code 1, never a traceback.

    Before, every artifact that the command line names is compared with its recorded hash.

    Only rows that a model left unanswered get a line each before it.
    """
    quiet_libraries()
    program = main.__module__ if main.__module__ != "__main__" else Path(sys.argv[0]).stem
    try:
        for word in sys.argv[1:]:
            refuse_damaged(Path(word))
        main()
    except OSError as problem:
        if problem.errno not in DISK | NO_LOCKS:
            raise
        place = f"{problem.filename}: " if problem.filename else ""
        remedy = "make room to write" if problem.errno in DISK else UNLOCKED
        why = f"{place}{problem.strerror}; what was done is kept; {remedy} and run again"
        sys.exit(visible_line(f"{program}: {why}"))
    except ExcamError as problem:
        for row, reason in problem.reasons.items() if isinstance(problem, AnswersMissing) else ():
            say(f"unanswered: {row}: {reason}")
        sys.exit(visible_line(f"{program}: {problem}"))
