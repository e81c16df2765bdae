"""Results as programs get them: one after the other, and as a table of a notebook and of data libraries."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from excam.core.escapes import visible
from excam.core.exceptions import InputInvalid
from excam.core.extras import NotInstalled
from excam.core.provenance import write_text
from excam.scoring import result_files, result_tables
from excam.scoring.excerpts import excerpts
from excam.scoring.report_numbers import line
from excam.scoring.results import NOT_KNOWN, Result

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from excam.scoring.compare import Compared

ROWS = 20  # of a table in a notebook


class Results(Sequence[Result]):
    """Results in order. Iterating yields each when it is judged; what needs all of them, such as the mean, waits.

    Results of an iterator of rows are not kept, so that there may be any number of them, unless `collect` is called
    first. In a terminal results show their mean, in a notebook a table of the first ones with marked words.
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

    def _repr_html_(self) -> str:
        rows = self[:ROWS] if self._keeps else ()
        columns = list(dict.fromkeys(name for row in rows for name in row.texts))
        head = "".join(f"<th>{_text(name)}</th>" for name in ("id", "score", *columns, "report"))
        body = "".join(f"<tr>{_cells(row, columns)}</tr>" for row in rows)
        more = f", the first {ROWS} shown" if self._keeps and len(self) > ROWS else ""
        return f"<p>{_text(repr(self) + more)}</p><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    @property
    def mean(self) -> float | None:
        """Return the mean score of the rows that have one; None if none has."""
        return line("all", self).score

    def to_polars(self) -> pl.DataFrame:
        """Return the results as a table, with the columns of `result_tables`."""
        return result_tables.frame(self)

    def to_pandas(self) -> pd.DataFrame:
        """Return the table of `to_polars` for pandas. Raises NotInstalled without pandas."""
        try:
            import pandas as pd
        except ModuleNotFoundError:
            raise NotInstalled("pandas: not installed; expected it for to_pandas: pip install pandas") from None
        return pd.DataFrame(self.to_polars().to_dict(as_series=False))

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write a scored file, as `excam score --to` does. Raises InputInvalid for one that is there already."""
        _refuse_existing(path := Path(path), overwrite=overwrite)
        result_files.write(path, self)

    def report(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the page of `excam report`. Raises InputInvalid for a file that is there and is no such page."""
        from excam.scoring import report_page

        path = Path(path)
        if not (path.exists() and report_page.is_own(path)):
            _refuse_existing(path, overwrite=overwrite)
        if not len(self):
            raise InputInvalid(f"{path}: 0 results; expected one or more; score some rows")
        write_text(path, report_page.write(path.stem, result_files.digest(self), self))

    def compare(self, other: Results | None = None, rows: int = 5) -> Compared:
        """Compare with the results of another system on the same rows, or else the systems of these results.

        What is returned prints as `excam compare` does. Systems are called by their label, or else A and B. Raises
        InputInvalid for what cannot be compared.
        """
        from excam.scoring.compare import compare_all

        if other is None:
            return compare_all([("results", self)], rows)
        names = ["/".join(dict.fromkeys(row.system for row in results)) for results in (self, other)]
        distinct = names if all(names) and len(set(names)) > 1 else ["A", "B"]
        return compare_all(list(zip(distinct, (self, other), strict=True)), rows)


def _refuse_existing(path: Path, *, overwrite: bool) -> None:
    if path.exists() and not overwrite:
        raise InputInvalid(f"{path}: is there already; expected none; name another file, or give overwrite=True")


def _cells(row: Result, columns: Iterable[str]) -> str:
    failure = "not known" if row.failure == NOT_KNOWN else row.failure or ""
    score = failure if row.score is None else f"{row.score:.3f}"
    texts = "".join(f"<td>{marked(row, name)}</td>" for name in columns)
    findings = [f"{error.severity}, {error.type}: {error.span}" for error in row.errors]
    report = "; ".join([*findings, *([row.report.explanation] if row.report and row.report.explanation else [])])
    return f"<td>{_text(row.id)}</td><td>{_text(score)}</td>{texts}<td>{_text(report)}</td>"


def marked(row: Result, name: str) -> str:
    """Return a text as HTML with its wrong words marked; of a long one, the parts around them."""
    text = row.texts.get(name, "")
    spans = [(error.start, error.end) for error in row.errors if error.where == name and error.start >= 0]
    parts: list[Any] = []
    at = 0
    for start, end in excerpts(text, spans):
        parts.append(" … " if start > at else "")
        at = start
        for first, last in sorted(spans):
            if at <= first and last <= end:
                parts += [_text(text[at:first]), f"<mark>{_text(text[first:last])}</mark>"]
                at = last
        parts.append(_text(text[at:end]))
        at = end
    return "".join(parts) + (" … " if at < len(text) else "")


def _text(text: str) -> str:
    return html.escape(visible(text))
