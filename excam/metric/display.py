"""Results for a terminal: erroneous words in colour and in brackets, so that they show without colour too."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from rich.console import Console
from rich.text import Text

from excam.escapes import visible, visible_line
from excam.metric.scored import Scored, Seen, sureness
from excam.records import SEVERITIES, WEIGHTS, WHERE, Report
from excam.terminal import STDOUT

COLOURS = {"minor": "black on yellow", "major": "bold white on red"}
WIDEST = 110  # columns; longer lines are hard to read
MARGIN = "   "
ONLY: Mapping[str, Callable[[Scored], bool]] = {
    "all": lambda _: True,
    "errors": lambda one: bool(one.report and one.report.errors),
    "failures": lambda one: one.failure is not None,
}


def console() -> Console:
    """Stdout, as wide as it is but not wider than one reads."""
    made = Console(file=STDOUT, highlight=False)
    made.width = min(made.width, WIDEST)
    return made


@dataclass
class Shown:
    """What passed by on its way to the terminal."""

    seen: Seen = field(default_factory=Seen)
    shown: int = 0

    @property
    def summary(self) -> str:
        """How many rows were looked at, how many of them shown, and the line that says how they were judged."""
        rows, *rest = self.seen.summary
        return "\n".join(map(visible_line, [f"{rows}; {self.shown} shown", *rest])).rstrip()


def show(results: Iterable[Scored], only: str = "all", limit: int | None = None) -> Shown:
    """Print results on stdout, one after another; a legend before, a summary behind. No control character is obeyed.

    `only`: a key of ONLY. `limit`: after so many shown, no further row is looked at.
    """
    out, told = console(), Shown()
    out.print(legend())
    chosen = filter(ONLY[only], told.seen.each(results))
    for result in islice(chosen, limit):
        told.shown += 1
        block(out, result)
    out.print(Text(f"── {told.summary}", style="bold"), soft_wrap=True)  # a signature is to be copied
    if limit is not None and told.shown == limit:
        out.print("   stopped at the limit: rows behind were not looked at")
    return told


def legend() -> Text:
    """What the marks mean."""
    parts = [(f"[{kind}: {WEIGHTS[kind]}]", COLOURS[kind]) for kind in SEVERITIES]
    return Text.assemble("   marked: ", parts[0], " ", parts[1], "; without errors the score is p(R), 0 to 1")


def block(out: Console, result: Scored, name: str = "", texts: Sequence[str] = WHERE) -> None:
    """Print one result under its id, with `name` before it, and those of its texts that are named."""
    head = f"failure: {result.failure}" if result.score is None else f"score {result.score:.3f}"
    out.print(Text(visible(f"── {name}{result.id} · {head}"), style="bold"))
    for where in texts:
        for line in (_marked(where, getattr(result, where), result.report), *_errors(where, result.report)):
            _indented(out, line)
    if result.report and result.report.explanation:
        _indented(out, Text(visible(f"why: {result.report.explanation}")))
    warned = [f"warnings: {', '.join(result.warnings)}"] if result.warnings else []
    for line in (*sureness(result), *warned):
        _indented(out, Text(visible(line)))


def _indented(out: Console, text: Text) -> None:
    """Wrapped, each of its lines behind a margin."""
    for line in text.wrap(out, max(20, out.width - len(MARGIN))):
        out.print(Text(MARGIN).append_text(line), soft_wrap=True)


def _marked(where: str, text: str, report: Report | None) -> Text:
    """The text with its erroneous words in colour, between brackets so that it also shows without colour."""
    line, at = Text(f"{where}: "), 0
    errors = [error for error in (report.errors if report else ()) if error.where == where]
    for error in sorted(errors, key=lambda error: error.start):
        if error.start < at:
            continue  # not found in the text, or inside a span already marked: listed below
        line.append(visible(text[at : error.start]))
        line.append(visible(f"[{text[error.start : error.end]}]"), style=COLOURS[error.severity])
        at = error.end
    line.append(visible(text[at:]))
    return line


def _errors(where: str, report: Report | None) -> list[Text]:
    """A line for each error of a text."""
    lines = []
    for error in report.errors if report else ():
        if error.where == where:
            place = "" if error.start >= 0 else ", not found in the text"
            kind = f"{error.severity} ({WEIGHTS[error.severity]})"
            text = Text.assemble((kind, COLOURS[error.severity]), visible(f": {error.type}: {error.span!r}{place}"))
            lines.append(text)
    return lines
