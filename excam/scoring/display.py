"""Results in a terminal: erroneous words in colour and in brackets, so that they show without colour too."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from itertools import chain, islice

from rich.console import Console
from rich.text import Text

from excam.core.escapes import visible, visible_line
from excam.core.terminal import STDOUT, table_lines
from excam.scoring.excerpts import excerpts
from excam.scoring.metric import Description
from excam.scoring.results import NOT_KNOWN, Result, confidence_lines, part_lines
from excam.scoring.spans import SEVERITIES, Severity
from excam.scoring.summary import Summary
from excam.scoring.warnings import UNKNOWN_LANGUAGE

COLOURS = {"minor": "black on yellow", "major": "bold white on red"}
MAX_WIDTH = 110  # columns; longer lines are hard to read
MARGIN = "   "
ONLY: Mapping[str, Callable[[Result], bool]] = {
    "all": lambda _: True,
    "errors": lambda result: bool(result.errors),
    "failures": lambda result: result.failure not in (None, NOT_KNOWN),
    "not-known": lambda result: result.failure == NOT_KNOWN,
}


def console() -> Console:
    """Return a console on stdout, as wide as the terminal but at most MAX_WIDTH."""
    made = Console(file=STDOUT, highlight=False)
    made.width = min(made.width, MAX_WIDTH)
    return made


def show(results: Iterable[Result], only: str = "all", limit: int | None = None, *, whole: bool = False) -> None:
    """Print results on stdout one by one, a legend before and a summary after them. Control characters are escaped.

    `only` is a key of ONLY. After `limit` results were shown, no further row is read. Of a long text, the parts around
    marked words are shown, or all of it with `whole`.
    """
    out, summary, count = console(), Summary(), 0
    rows = iter(results)
    first = list(islice(rows, 1))
    for result in first:
        print_legend(out, result)
    chosen = filter(ONLY[only], summary.counting(chain(first, rows)))
    for result in islice(chosen, limit):
        count += 1
        block(out, result, whole=whole)
    counts, *rest = summary.lines
    lines = "\n".join(map(visible_line, [f"{counts}; {count} shown", *rest])).rstrip()
    out.print(Text(f"── {lines}", style="bold"), soft_wrap=True)  # not wrapped, so that a signature can be copied
    if limit is not None and count == limit:
        out.print("   stopped at the limit: rows behind were not looked at")


def heading(text: str) -> None:
    """Print the name of what follows."""
    console().print(Text(f"═══ {visible_line(text)}", style="bold"), soft_wrap=True)


def print_legend(out: Console, result: Result) -> None:
    """Print what the marks and scores of a row's metric mean, if that is known."""
    about = result.metric
    legend = visible(about.legend)
    if not (about.lists_errors or result.errors):
        if legend:
            out.print(Text(f"   score: {legend}"))
        return
    marks = [(f"[{kind}{_weight(about, kind, ': {}')}]", COLOURS[kind]) for kind in SEVERITIES]
    out.print(Text.assemble("   marked: ", marks[0], " ", marks[1], f"; {legend}" if legend else ""))


def _weight(about: Description, severity: Severity, form: str) -> str:
    return form.format(about.weights[severity]) if severity in about.weights else ""


def block(out: Console, result: Result, name: str = "", hidden: Container[str] = (), *, whole: bool = False) -> None:
    """Print one result under its id, with `name` before it; texts of the columns in `hidden` are left out.

    Args:
        out: where it is printed
        result: of one row
        name: what stands before its id
        hidden: columns whose texts are left out
        whole: print long texts whole
    """
    head = f"score {result.score:.3f}" if result.score is not None else f"failure: {result.failure}"
    head = "not known" if result.failure == NOT_KNOWN else head
    out.print(Text(visible(f"── {name}{result.id} · {head}"), style="bold"))
    for where, text in result.texts.items():
        if where not in hidden:
            for line in (_marked(where, text, result, whole=whole), *_errors(where, result)):
                _indented(out, line)
    if result.report and result.report.explanation:
        _indented(out, Text(visible(f"why: {result.report.explanation}")))
    codes = [code for code in result.warnings if code != UNKNOWN_LANGUAGE]  # of a whole file, said in the summary
    warnings = [f"warnings: {', '.join(codes)}"] if codes else []
    for line in (*part_lines(result.parts), *confidence_lines(result), *warnings):
        _indented(out, Text(visible(line)))


def _indented(out: Console, text: Text) -> None:
    """Print wrapped text, each line behind a margin."""
    for line in text.wrap(out, max(20, out.width - len(MARGIN))):
        out.print(Text(MARGIN).append_text(line), soft_wrap=True)


def _marked(where: str, text: str, result: Result, *, whole: bool) -> Text:
    """Return the text with its erroneous words in colour and between brackets; of a long one, the parts around them."""
    line, at = Text(visible(f"{where}: ")), 0
    errors = sorted((error for error in result.errors if error.where == where), key=lambda error: error.start)
    parts = [(0, len(text))] if whole else excerpts(text, ((error.start, error.end) for error in errors))
    for start, end in parts:
        _append_gap(line, at, start)
        at = max(at, start)
        for error in errors:
            if not at <= error.start < end:
                continue  # not found in the text, elsewhere, or inside a span already marked: listed below
            line.append(visible(text[at : error.start]))
            line.append(visible(f"[{text[error.start : error.end]}]"), style=COLOURS[error.severity])
            at = error.end
        line.append(visible(text[at:end]))
        at = max(at, end)
    _append_gap(line, at, len(text))
    return line


def _append_gap(line: Text, start: int, end: int) -> None:
    if start < end:
        line.append(f" […{end - start:,} characters…] ", style="dim")


def _errors(where: str, result: Result) -> list[Text]:
    """Return a line for each error of a text."""
    lines = []
    for error in result.errors:
        if error.where == where:
            place = "" if error.start >= 0 else ", not found in the text"
            kind = f"{error.severity}{_weight(result.metric, error.severity, ' ({})')}"
            text = Text.assemble((kind, COLOURS[error.severity]), visible(f": {error.type}: {error.span!r}{place}"))
            lines.append(text)
    return lines


def interval(low: float | None, high: float | None, form: str = ".2f") -> str:
    """Return an interval as it stands behind its number, "" for none."""
    return "" if low is None or high is None else f" [{low:{form}}, {high:{form}}]"


def table(out: Console, lines: Sequence[Sequence[str]]) -> None:
    """Print aligned columns, the first to the left; control characters are escaped.

    Lines are not wrapped, which would break numbers.
    """
    for number, line in enumerate(table_lines(lines)):
        out.print(Text(line, style="" if number else "bold"), soft_wrap=True)
