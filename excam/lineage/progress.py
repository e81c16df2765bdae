"""What a run shows on a terminal: one line for each finished job. Snakemake's own lines stay in its log."""

from __future__ import annotations

import csv
import logging
from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import inf
from pathlib import Path
from time import monotonic

from excam.core.provenance import say

INSTEAD_OF = {"JOB_INFO", "JOB_STARTED", "JOB_FINISHED", "PROGRESS"}  # events of Snakemake


def job_seconds(folder: Path) -> dict[str, list[tuple[float, float]]]:
    """Return wall and processor seconds of each job, by rule: the first part of a benchmark file's path."""
    seconds: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
    for path in sorted(folder.rglob("*.tsv")):  # all that Snakemake writes there
        rule = path.relative_to(folder).parts[0].removesuffix(".tsv")
        with path.open(encoding="utf-8") as lines:
            for line in csv.DictReader(lines, delimiter="\t"):
                seconds[rule].append((float(line["s"]), 0.0 if line["cpu_time"] == "NA" else float(line["cpu_time"])))
    return dict(seconds)


class FinishedJobs(logging.Handler):
    """Write a line for each finished job: the time, how many of all are done, what it made, and what is left.

    `waiting`: jobs of each rule. `earlier`: seconds of jobs that ran before, by rule (`job_seconds`). What is left is
    estimated from them, by the share of them that this run needed so far; not where a rule never ran here.
    """

    def __init__(self, waiting: Mapping[str, int], earlier: Mapping[str, Sequence[tuple[float, float]]]) -> None:
        super().__init__()
        self.done, self.total, self.started = 0, sum(waiting.values()), monotonic()
        self.seconds = {rule: sum(wall for wall, _ in jobs) / len(jobs) for rule, jobs in earlier.items()}
        self.whole = sum(count * self.seconds.get(rule, inf) for rule, count in waiting.items())
        self.passed = 0.0
        self.running: dict[int, tuple[str, Sequence[str]]] = {}

    def emit(self, record: logging.LogRecord) -> None:
        """Remember a job that begins; write the line of one that ended."""
        event, values = getattr(getattr(record, "event", None), "name", ""), vars(record)
        if event == "JOB_INFO":
            self.running[values["jobid"]] = values["rule_name"], list(values["output"])
        elif event == "JOB_FINISHED" and values["job_id"] in self.running:
            rule, made = self.running.pop(values["job_id"])
            self.done += 1
            self.passed += self.seconds.get(rule, 0.0)
            say(self.line(rule, made, monotonic() - self.started))

    def line(self, rule: str, made: Sequence[str], elapsed: float) -> str:
        """Return the line of a job that made these files, `elapsed` seconds after the run began."""
        more = f" and {len(made) - 1} more" if len(made) > 1 else ""
        left = ""
        if self.passed > self.whole / 20:  # before, a few short jobs say nothing
            minutes = elapsed * (self.whole / self.passed - 1) / 60
            left = f"; about {minutes:.0f} min left" if minutes >= 1 else "; less than a minute left"
        clock = f"{int(elapsed) // 60}:{int(elapsed) % 60:02}"
        return f"{clock:>6} {self.done} of {self.total}: {rule}: {', '.join(made[:1])}{more}{left}"


def show(logger: logging.Logger, waiting: Mapping[str, int], benchmarks: Path) -> None:
    """Write these lines where the logger writes to a terminal, and what it says of jobs to its other handlers alone."""
    handlers = [handler for handler in logger.handlers if getattr(handler, "is_tty", False)]
    for handler in handlers:
        handler.addFilter(lambda record: not _is_replaced(record))
    if handlers:
        logger.addHandler(FinishedJobs(waiting, job_seconds(benchmarks)))


def _is_replaced(record: logging.LogRecord) -> bool:
    event = getattr(getattr(record, "event", None), "name", "")
    return event in INSTEAD_OF or record.getMessage() == "Select jobs to execute..."
