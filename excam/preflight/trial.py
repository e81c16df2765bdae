"""One trial in a process of its own: any failure becomes one line in its record, and other trials continue."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from excam.core.provenance import read_json, say, write_json
from excam.preflight import node
from excam.training import devices

INSIDE = "EXCAM_TRIAL"  # set in the process that tries: the file that it writes what it found to
RAISED = re.compile(r"[\w.]+(Error|Exception|Interrupt|Exit)\b")  # the first line of a traceback's last words
NEARLY_FULL = 10**9  # bytes
MINUTES = 50.0  # a trial that takes longer hangs; below the `runtime` of the rules


@dataclass(frozen=True, slots=True)
class Trial:
    """The result of a trial: its findings, or one line that says why there are none."""

    name: str
    problem: str | None
    found: Mapping[str, Any]
    node: Mapping[str, Any]
    seconds: float


def apart(record: Path, name: str, argv: Sequence[str], scratch: Path | None = None, minutes: float = MINUTES) -> None:
    """Run this program once more, write down in `record` how that ended, remove `scratch`, and exit.

    In the process that was started so, return at once: it goes on to `report_result`, or ends as any program does.
    """
    if INSIDE in os.environ:
        devices.end_with_parent()
        return
    here, started = node.facts(), time.monotonic()
    program = getattr(sys.modules["__main__"].__spec__, "name", "")
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder, "found.json")
        try:
            problem = _run([sys.executable, "-m", program, *argv], argv[0], {INSIDE: str(answer)}, minutes)
            problem = problem and problem + _full(scratch or record.parent)
        finally:
            if scratch:
                shutil.rmtree(scratch, ignore_errors=True)
        result = read_json(answer) if answer.exists() and not problem else {}
    if not problem and not result:
        problem = "it ended without a word; run its command again by hand"
    seconds = round(time.monotonic() - started, 1)
    write_json(record, {"name": name, "problem": problem, "found": result, "node": here, "seconds": seconds})
    say(f"{name}: {problem or f'fine, {seconds:.0f} s'}")
    sys.exit()


def report_result(result: Mapping[str, Any]) -> None:
    """Hand what a trial found to the process that records it."""
    write_json(Path(os.environ[INSIDE]), result)


def read(record: Path) -> Trial:
    """Read what `apart` wrote. Raises ArtifactBroken."""
    fields = ("name", "problem", "found", "node", "seconds")
    row = read_json(record, *fields)
    return Trial(**{field: row[field] for field in fields})


def _full(folder: Path) -> str:
    """Return a note to add to a problem that may be a full disk: libraries do not always say so."""
    there = next(place for place in (folder, *folder.parents, Path("/")) if place.is_dir())
    free = shutil.disk_usage(there).free
    return f"; the disk of {there} has {free / 1e6:.0f} MB left" if free < NEARLY_FULL else ""


def _run(command: list[str], step: str, more: Mapping[str, str], minutes: float) -> str | None:
    """Run a step's command and forward its output; return why it failed, None if it did not."""
    process = subprocess.Popen(
        command, env={**os.environ, **more}, stderr=subprocess.PIPE, text=True, encoding="utf-8", errors="replace"
    )
    limit = threading.Timer(minutes * 60, process.kill)
    limit.start()
    own = f"{step}: "  # how its last line begins
    last = raised = ""
    try:
        for line in process.stderr or ():
            say(line.rstrip())
            last = line.strip() or last
            raised = last if RAISED.match(line) else raised
        code = process.wait()
    finally:
        late = not limit.is_alive()
        limit.cancel()
        process.kill()
    if not code:
        return None
    if code > 0:
        last = last if last.startswith(own) else raised or last
        return last.removeprefix(own) or f"it ended with exit code {code} and no word"
    how = f"no end after {minutes:g} minutes" if late else f"ended by {signal.Signals(-code).name}"
    return f"{how}; the last it said: {last.removeprefix(own) or 'nothing'}"
