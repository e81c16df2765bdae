"""Files of pairs to results: every row looked at first, then judged batch by batch in the memory of one."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from excam.metric import scored_file
from excam.metric.judging import Scorer
from excam.metric.metric import BATCH
from excam.metric.pairs import PairFile
from excam.metric.scored import Scored
from excam.provenance import Progress


def scored(metric: Scorer, rows: PairFile) -> Iterator[Scored]:
    """Results of a file, in order. Raises InputInvalid, before anything is asked, where a row is no pair."""
    progress = Progress("scoring, rows", rows.count())
    return iter(metric.score(iter(rows), progress=progress))


def kept(metric: Scorer, rows: PairFile, to: Path) -> Iterator[Scored]:
    """The same, in a file that has its name when it is whole; a run that was killed goes on where it stood."""
    with scored_file.Growing(to, metric.signature) as growing:
        yield from grown(metric, rows, growing, Progress("scoring, rows", rows.count()))
        growing.finish()


def grown(metric: Scorer, rows: PairFile, growing: scored_file.Growing, progress: Progress) -> Iterator[Scored]:
    """Results, each batch in a growing file before the next is begun; what is there already is not asked again.

    Within a batch every answer is in a journal as soon as it is there, beside the file.
    """
    journal = growing.path.with_name(f".{growing.path.name}.journal")
    done = growing.done(iter(rows))
    progress.skip(done)
    yield from scored_file.read(growing.part) if done else ()
    coming = islice(iter(rows), done, None)
    while part := list(islice(coming, BATCH)):
        found = list(metric.score(part, journal=journal, progress=progress))
        growing.add(found)
        journal.unlink(missing_ok=True)
        yield from found
