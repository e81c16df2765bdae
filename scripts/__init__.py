"""The steps of the workflow, run as `python -m scripts STEP`: typed functions that call `excam` and write files.

A step has the name of its rule; its options follow from its parameters (`StepProgram`). Most steps declare their rule
(`rules/steps.smk`); `rules/<module>.smk` has those of `scripts/<module>.py` that want of a machine what no field says.
Pages of a system that has a report are in its `excam/<system>/report.py`, since commands make them too.
"""

from __future__ import annotations

import errno
import sys
from collections.abc import Callable
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path

from excam.core.escapes import visible_line
from excam.core.exceptions import AnswersMissing, ExcamError, InputInvalid
from excam.core.provenance import NO_LOCKS, quiet_libraries, refuse_damaged, say
from excam.core.step_programs import StepProgram, step
from excam.core.steps import read_steps

__all__ = ["ROOT", "StepProgram", "load", "run", "step"]

ROOT = Path(__file__).parents[1]
# what a full, read-only or broken disk says; any other OSError is a bug and shows its traceback
DISK = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO}
UNLOCKED = "expected a file system with locks: work on another, or have this one (Lustre) mounted with -o flock,"


def load(name: str) -> StepProgram:
    """Return a step by its name. Raises InputInvalid if no module here declares it."""
    steps = read_steps(ROOT)
    if name not in steps:
        close = " or ".join(get_close_matches(name, steps)) or "a name that `python -m scripts --help` lists"
        raise InputInvalid(f"found {name}, which is no step; expected {close}")
    module = steps[name].module.relative_to(ROOT).with_suffix("")
    return getattr(import_module(".".join(module.parts)), name)


def run(main: Callable[[], None], program: str = "") -> None:
    """Run a program. What the user can act on is one line on stderr and exit code 1, never a traceback.

    Before, every artifact that the command line names is compared with its recorded hash.

    Only rows that a model left unanswered get a line each before it.
    """
    quiet_libraries()
    program = program or Path(sys.argv[0]).stem
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
