"""Results as programs get them: one after the other, and as a table of a notebook and of data libraries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, overload

from excam.core.exceptions import InputInvalid
from excam.scoring import result_files
from excam.scoring.report_numbers import line
from excam.scoring.results import Result

if TYPE_CHECKING:
    import polars as pl


class Results(Sequence[Result]):
    """Results in order. Iterating yields each when it is judged; what needs all of them, such as the mean, waits.

    Results of an iterator of rows are not kept, so that there may be any number of them, unless `collect` is called
    first.
    """

    def __init__(self, results: Iterable[Result], *, keeps: bool = True) -> None:
        self._coming, self._keeps = iter(results), keeps
        self._kept: list[Result] = []
        self._passed = 0  # results that were read and not kept
        self._problem: BaseException | None = None  # that ended them early

    def _next(self) -> Result | None:
        if self._problem:
            raise self._problem
        try:
            return next(self._coming, None)
        except BaseException as problem:
            self._problem = problem
            raise

    def __iter__(self) -> Iterator[Result]:
        at = 0
        while True:
            while at < len(self._kept):
                yield self._kept[at]
                at += 1
            if (result := self._next()) is None:
                return
            if self._keeps:
                self._kept.append(result)
            else:
                self._passed += 1
                yield result

    def collect(self) -> Results:
        """Judge what is not judged yet, and keep it. Raises InputInvalid if results were read and not kept."""
        if self._passed:
            raise InputInvalid(
                f"results: {self._passed} were read and not kept, as their rows come from an iterator; expected rows "
                "in a list, or collect() before they are read"
            )
        self._keeps = True
        while (result := self._next()) is not None:
            self._kept.append(result)
        return self

    @overload
    def __getitem__(self, at: int) -> Result: ...
    @overload
    def __getitem__(self, at: slice) -> Results: ...
    def __getitem__(self, at: int | slice) -> Result | Results:
        results = self.collect()._kept
        return Results(results[at]) if isinstance(at, slice) else results[at]

    def __len__(self) -> int:
        return len(self.collect()._kept)

    def __repr__(self) -> str:
        if not self._keeps:
            return "Results: iterate over them, once, or call collect() first"
        whole, mean = line("all", self), ""
        if whole.score is not None:
            bounds = whole.score_interval
            interval = f" [{bounds[0]:.2f}, {bounds[1]:.2f}]" if bounds else ""
            mean = f", mean {whole.score:.2f}{interval} of {whole.judged}"
        errors = any(row.metric.lists_errors for row in self)
        with_errors = f", {whole.with_errors} with errors" if errors else ""
        unknown = f", {whole.not_known} not known" if whole.not_known else ""
        return f"Results(n = {whole.n}{mean}{with_errors}, {whole.failed} failed{unknown})"

    @property
    def mean(self) -> float | None:
        """Return the mean score of the rows that have one; None if none has."""
        return line("all", self).score

    def to_polars(self) -> pl.DataFrame:
        """Return the results as a table, with the columns of `result_files`."""
        return result_files.frame(self)

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write a scored file, as `excam score --to` does. Raises InputInvalid for one that is there already."""
        path = Path(path)
        if path.exists() and not overwrite:
            raise InputInvalid(f"{path}: is there already; expected none; name another file, or give overwrite=True")
        result_files.write(path, self)
