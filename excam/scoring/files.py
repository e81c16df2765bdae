"""Scoring of files, which grow while rows are scored; a run that was stopped goes on where it was."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Protocol

from excam.core.provenance import Progress, say
from excam.inference.journal import Journal, Passing
from excam.scoring import result_files
from excam.scoring.defaults import BATCH
from excam.scoring.metric import Metric, Row
from excam.scoring.result_files import Growing
from excam.scoring.results import Result

EVERY = 1.0  # seconds after which results are written


class Judge(Protocol):
    """Scores rows in order: a metric with a model, several of them, or a client of a server."""

    @property
    def metric(self) -> Metric: ...

    @property
    def signature(self) -> str: ...

    @property
    def identity(self) -> str: ...

    def for_rows(self, rows: Iterable[Row], /) -> Judge: ...

    def score(
        self, rows: Iterable[Row], /, journal: Path | Journal | None = None, progress: Progress | None = None
    ) -> Iterator[Result]: ...


def journal_of(path: Path) -> Path:
    """Return the journal of a file that is being scored."""
    return path.with_name(f".{path.name}.journal")


def results(
    judge: Judge, rows: Iterable[Row], total: int, to: Path | None = None, *, overwrite: bool = False
) -> Iterator[Result]:
    """Yield the results of rows in order, and write them to the file `to`, which appears when complete.

    `rows` can be iterated several times; `total` is their number. A killed run with `to` continues, and a finished file
    of fewer rows grows. Raises InputInvalid, before any request, if another file is there (unless `overwrite`).
    """
    judge = judge.for_rows(rows)
    score_file = getattr(judge, "score_file", None)  # of several judges, each of which has all rows first
    if to is None:
        yield from judge.score(iter(rows), progress=Progress("scoring, rows", total))
        return
    done = None if overwrite else result_files.complete(to, rows, judge.signature)
    if done == total:
        say(f"{to}: has all {total} rows already; nothing is asked")
        yield from result_files.read(to)
        return
    if score_file:
        if done:
            say(
                f"{to}: has {done} of {total} rows; several judgements are kept combined only: all rows are asked again"
            )
        yield from score_file(rows, to)
        return
    with Growing(to, judge) as growing:
        kept = islice(result_files.read(to), growing.done(iter(rows)), None) if done else iter(())
        while part := list(islice(kept, BATCH)):  # a finished file of fewer rows goes on
            growing.add(part)
        yield from grown(judge, rows, growing, Progress("scoring, rows", total))
        growing.finish()


def grown(judge: Judge, rows: Iterable[Row], growing: Growing, progress: Progress) -> Iterator[Result]:
    """Yield results once they are in the growing file, at most a second after they came; none is asked for again.

    Answers of rows that are not in the file yet are kept in a journal beside it.
    """
    journal = Passing(journal_of(growing.path))
    done = growing.done(iter(rows))
    progress.skip(done)
    yield from result_files.read_part(growing.part) if done else ()
    came: list[Result] = []
    since = 0.0
    try:
        for result in judge.score(islice(iter(rows), done, None), journal=journal, progress=progress):
            since = since if came else time.monotonic()
            came.append(result)
            if len(came) >= BATCH or time.monotonic() - since > EVERY:
                growing.add(came)
                kept, came = came, []
                journal.tidy(BATCH)
                yield from kept
    finally:
        growing.add(came)
        journal.tidy(0)
    journal.path.unlink(missing_ok=True)
    yield from came
