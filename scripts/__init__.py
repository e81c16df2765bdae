"""One module per rule of the workflow, run as `python -m scripts.<rule>`: the thin seam between files and `excam`."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from excam import gpus
from excam.config import Model
from excam.escapes import visible_line
from excam.exceptions import AnswersMissing, ExcamError
from excam.inference import opening
from excam.provenance import NO_LOCKS, quiet_libraries, refuse_changed, refuse_damaged, say

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


def settle(model: Model, job: str, weights: Path | None = None, adapter: Path | None = None) -> None:
    """Find a job its place: an environment with vLLM, where the model needs it, and GPUs that no other job has.

    Where vLLM is not installed and `./setup.sh vllm` made its environment, go on as the same program in there. Before
    GPUs are taken, the files of these manifests are compared with them: that takes minutes, and no card. An engine that
    jobs share takes its GPUs itself. Raises ModelInvalid where torch can use fewer GPUs than the model wants.
    """
    program = getattr(sys.modules["__main__"].__spec__, "name", "")
    if not program.startswith("scripts."):
        return
    python = Path(__file__).parents[1] / ".venv-vllm/bin/python"
    if model.backend == "vllm" and not find_spec("vllm") and python.exists():
        say(f"vLLM is not installed here; going on in {python.parents[1].name}")
        os.execv(python, [str(python), "-m", program, *sys.argv[1:]])
    if model.is_local:
        gpus.refuse_unusable(model.gpus)
    for manifest, files in ((weights, "files"), (adapter, "")):
        if manifest:
            refuse_changed(manifest, manifest.parent / files)
    if not opening.shares(model):
        gpus.take(model.gpus, job)
