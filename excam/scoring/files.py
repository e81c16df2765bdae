"""Scoring of files: a run that was stopped goes on with the answers in its journal, a finished file with its rows."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, repeat, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from excam.core.provenance import Progress, say
from excam.inference.journal import Journal
from excam.scoring import result_files
from excam.scoring.metric import Row
from excam.scoring.results import Result

if TYPE_CHECKING:
    from excam.scoring.ensemble import Ensemble
    from excam.scoring.scorer import Scorer

Judge: TypeAlias = "Scorer | Ensemble"  # scores rows in order


def journal_of(path: Path) -> Path:
    """Return the journal of a file that is being scored."""
    return path.with_name(f".{path.name}.journal")


def results(
    judge: Judge, rows: Iterable[Row], total: int, to: Path | None = None, *, overwrite: bool = False
) -> Iterator[Result]:
    """Yield the results of rows in order; with `to` once they are in that file, which appears when it is complete.

    Answers are in a journal beside `to` until then, so that a run that was stopped asks for the others only. A finished
    file of fewer rows grows; a row is known by its texts and labels, so that another column of ids asks for nothing.
    Raises InputInvalid, before any request, if another file is there (unless `overwrite`).

    Args:
        judge: that scores what is not there yet
        rows: of the file; they can be iterated several times
        total: their number
        to: the file to write; None: nothing is kept
        overwrite: write over results of another judge or of other rows
    """
    judge, progress = judge.for_rows(rows), Progress("scoring, rows", total)
    if to is None:
        yield from judge.score(iter(rows), progress=progress)
        return

    def earlier() -> Iterator[tuple[Result | None, Row]]:
        kept = result_files.earlier(to, rows, judge, overwrite=overwrite)
        return zip(chain(kept, repeat(None)), rows, strict=False)  # in this order, results without a row are refused

    done = sum(result is not None for result, _ in earlier())
    if done < total:
        progress.skip(done)
        _write(to, judge, earlier, progress)
    else:
        failed = sum(result is None for result in result_files.earlier(to, rows, judge, overwrite=True))
        again = f"{failed} failed rows are not asked again, but with --overwrite; " * bool(failed)
        say(f"{to}: has all {total} rows already; nothing is asked; {again}delete it to ask again")
        if any(old != new for old, (new, _) in zip_longest(result_files.read(to), earlier(), fillvalue=(None, None))):
            result_files.write(to, (result for result, _ in earlier() if result))
    yield from result_files.read(to)


def _write(
    to: Path, judge: Judge, earlier: Callable[[], Iterator[tuple[Result | None, Row]]], progress: Progress
) -> None:
    """Write the results of rows, each the earlier one or that which the judge gives, and remove the journal.

    They are written as lines elsewhere first, so that a run that stops leaves nothing half beside `to`.
    """
    journal = Journal(journal_of(to), forgets=True)
    new = iter(judge.score((row for result, row in earlier() if result is None), journal=journal, progress=progress))
    with tempfile.TemporaryDirectory() as scratch:
        lines = Path(scratch, "scored.jsonl")
        result_files.write(lines, (result or next(new) for result, _ in earlier()))
        result_files.write(to, result_files.read(lines))
    journal_of(to).unlink(missing_ok=True)
