"""Scoring of files: every row is checked first, then rows are scored batch by batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Protocol, TypeVar

from excam.core.provenance import Progress
from excam.scoring import scored_file
from excam.scoring.defaults import BATCH
from excam.scoring.pairs import distinct
from excam.scoring.scored import Scored

ItemT = TypeVar("ItemT", bound=scored_file.Item)
ItemT_contra = TypeVar("ItemT_contra", contravariant=True)


class Scorer(Protocol[ItemT_contra]):
    """Scores items in order: a local metric or a client of a server."""

    @property
    def signature(self) -> str: ...

    def score(
        self, items: Iterable[ItemT_contra], /, journal: Path | None = None, progress: Progress | None = None
    ) -> Iterator[Scored]: ...


def journal_of(path: Path) -> Path:
    """Return the journal of the batch of a file that is being scored."""
    return path.with_name(f".{path.name}.journal")


def results(metric: Scorer[ItemT], rows: Iterable[ItemT], to: Path | None = None) -> Iterator[Scored]:
    """Yield the results of a file in order, and write them to the file `to`, which appears when complete.

    `rows` can be iterated several times. A killed run with `to` continues. Raises InputInvalid, before any request, if
    a row is invalid or repeats an id.
    """
    progress = Progress("scoring, rows", sum(1 for _ in distinct(rows)))
    if to is None:
        yield from metric.score(iter(rows), progress=progress)
        return
    with scored_file.Growing(to, metric.signature) as growing:
        yield from grown(metric, rows, growing, progress)
        growing.finish()


def grown(
    metric: Scorer[ItemT], rows: Iterable[ItemT], growing: scored_file.Growing, progress: Progress
) -> Iterator[Scored]:
    """Yield results; each batch is in the growing file before the next begins, and its results are not asked for again.

    Within a batch, answers are kept in a journal beside the file.
    """
    journal = journal_of(growing.path)
    done = growing.done(iter(rows))
    progress.skip(done)
    yield from scored_file.read(growing.part) if done else ()
    coming = islice(iter(rows), done, None)
    while part := list(islice(coming, BATCH)):
        found = list(metric.score(part, journal=journal, progress=progress))
        growing.add(found)
        journal.unlink(missing_ok=True)
        yield from found
