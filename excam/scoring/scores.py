"""Results as people get them: one after the other, or kept as a table of a notebook and of data libraries."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, overload

from excam.core.escapes import visible
from excam.core.extras import NotInstalled
from excam.scoring.excerpts import excerpts
from excam.scoring.results import NOT_KNOWN, Result, frame

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

ROWS = 20  # of a table in a notebook


class Scores(Sequence[Result]):
    """Results of some rows, in order. In a terminal they show their mean, in a notebook a table of their first rows."""

    def __init__(self, results: Iterable[Result]) -> None:
        self._results = tuple(results)

    @overload
    def __getitem__(self, at: int) -> Result: ...
    @overload
    def __getitem__(self, at: slice) -> Scores: ...
    def __getitem__(self, at: int | slice) -> Result | Scores:
        return Scores(self._results[at]) if isinstance(at, slice) else self._results[at]

    def __len__(self) -> int:
        return len(self._results)

    def __repr__(self) -> str:
        from excam.scoring.report_numbers import line

        whole = line("all", self)
        mean = ""
        if whole.score is not None:
            bounds = whole.score_interval
            interval = f" [{bounds[0]:.2f}, {bounds[1]:.2f}]" if bounds else ""
            mean = f", mean {whole.score:.2f}{interval} of {whole.judged}"
        errors = any(row.metric.lists_errors for row in self)
        with_errors = f", {whole.with_errors} with errors" if errors else ""
        unknown = f", {whole.not_known} not known" if whole.not_known else ""
        return f"Scores(n = {whole.n}{mean}{with_errors}, {whole.failed} failed{unknown})"

    def _repr_html_(self) -> str:
        columns = list(dict.fromkeys(name for row in self[:ROWS] for name in row.texts))
        head = "".join(f"<th>{_text(name)}</th>" for name in ("id", "score", *columns, "report"))
        body = "".join(f"<tr>{_cells(row, columns)}</tr>" for row in self[:ROWS])
        more = f", the first {ROWS} shown" if len(self) > ROWS else ""
        return f"<p>{_text(repr(self) + more)}</p><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def to_polars(self) -> pl.DataFrame:
        """Return the results as a table, see `results.frame`."""
        return frame(self)

    def to_pandas(self) -> pd.DataFrame:
        """Return the table of `to_polars` for pandas. Raises NotInstalled without pandas."""
        try:
            import pandas as pd
        except ModuleNotFoundError:
            raise NotInstalled("pandas: not installed; expected it for to_pandas: pip install pandas") from None
        return pd.DataFrame(self.to_polars().to_dict(as_series=False))


class Results(Iterator[Result]):
    """An iterator over results, in order, as they are judged."""

    def __init__(self, results: Iterator[Result]) -> None:
        self._results = results

    def __next__(self) -> Result:
        return next(self._results)

    def __repr__(self) -> str:
        return "Results: iterate over it, once, or call collect() for a table"

    def collect(self) -> Scores:
        """Return the remaining results, kept: `Scores` prints as a table, and is one of polars or pandas."""
        return Scores(self)

    def to_polars(self) -> pl.DataFrame:
        """Return the remaining results as a table, see `results.frame`."""
        return frame(self)


def _cells(row: Result, columns: Iterable[str]) -> str:
    failure = "not known" if row.failure == NOT_KNOWN else row.failure or ""
    score = failure if row.score is None else f"{row.score:.3f}"
    texts = "".join(f"<td>{_marked(row, name)}</td>" for name in columns)
    said = [f"{error.severity}, {error.type}: {error.span}" for error in row.errors]
    report = "; ".join([*said, *([row.report.explanation] if row.report and row.report.explanation else [])])
    return f"<td>{_text(row.id)}</td><td>{_text(score)}</td>{texts}<td>{_text(report)}</td>"


def _marked(row: Result, name: str) -> str:
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
