"""Scoring of files, which grow while rows are scored; a run that was stopped goes on where it was."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from itertools import islice, zip_longest
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
    of fewer rows grows; a row is known by its texts and labels, so that another column of ids asks for nothing. Raises
    InputInvalid, before any request, if another file is there (unless `overwrite`).

    Args:
        judge: that scores what is not there yet
        rows: of the file; they can be iterated several times
        total: their number
        to: the file to write; None: nothing is kept
        overwrite: write over results of another judge or of other rows
    """
    judge = judge.for_rows(rows)
    score_file = getattr(judge, "score_file", None)  # of several judges, each of which has all rows first
    if to is None:
        yield from judge.score(iter(rows), progress=Progress("scoring, rows", total))
        return

    def earlier() -> Iterator[Result | None]:
        return result_files.earlier(to, rows, judge, overwrite=overwrite)

    done = sum(result is not None for result in earlier())
    if done == total:
        failed = sum(result is None for result in result_files.earlier(to, rows, judge, overwrite=True))
        again = f"{failed} failed rows are not asked again, but with --overwrite; " * bool(failed)
        say(f"{to}: has all {total} rows already; nothing is asked; {again}delete it to ask again")
        if any(old != new for old, new in zip_longest(result_files.read(to), earlier())):
            result_files.write(to, (result for result in earlier() if result))
        yield from result_files.read(to)
    elif score_file:
        if done:
            say(
                f"{to}: has {done} of {total} rows; several judgements are kept combined only: all rows are asked again"
            )
        yield from score_file(rows, to)
    else:
        with Growing(to, judge) as growing:
            yield from grown(judge, rows, growing, Progress("scoring, rows", total), earlier() if done else iter(()))
            growing.finish(rows)


def grown(
    judge: Judge,
    rows: Iterable[Row],
    growing: Growing,
    progress: Progress,
    earlier: Iterable[Result | None] = (),
) -> Iterator[Result]:
    """Yield results once they are in the growing file, at most a second after they came; none is asked for again.

    `earlier` has those of the first rows, see `result_files.earlier`.
    Answers of rows that are not in the file yet are kept in a journal beside it.

    Args:
        judge: that scores what is not there yet
        rows: of the file; they can be iterated several times
        growing: the open file of results
        progress: that is told of each row
        earlier: results of the first rows, None for one to ask about
    """
    journal = Passing(journal_of(growing.path))
    done = growing.done(iter(rows))
    progress.skip(done)
    yield from map(Result.of_row, result_files.read_part(growing.part), rows) if done else ()
    came: list[Result] = []
    since = 0.0
    try:
        for result in _scored(judge, islice(iter(rows), done, None), islice(earlier, done, None), journal, progress):
            since = since if came else time.monotonic()
            came.append(result)
            if len(came) >= BATCH or time.monotonic() - since > EVERY:
                growing.add(came)
                batch, came = came, []
                journal.tidy(BATCH)
                yield from batch
    finally:
        growing.add(came)
        journal.tidy(0)
    journal.path.unlink(missing_ok=True)
    yield from came


def _scored(
    judge: Judge, rows: Iterator[Row], earlier: Iterator[Result | None], journal: Journal, progress: Progress
) -> Iterator[Result]:
    """Yield the results of rows in order: the earlier ones, and those that are asked for."""
    pairs = zip(earlier, rows, strict=False)  # in this order, no row is lost at the end of the earlier results
    while part := list(islice(pairs, BATCH)):
        open_rows = [row for result, row in part if result is None]
        progress.skip(len(part) - len(open_rows))
        new = iter(judge.score(open_rows, journal=journal, progress=progress) if open_rows else ())
        yield from (result or next(new) for result, _ in part)
    yield from judge.score(rows, journal=journal, progress=progress)
