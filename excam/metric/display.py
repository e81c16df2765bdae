"""Results for a terminal: erroneous words in colour and in brackets, so that they show without colour too."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console
from rich.text import Text

from excam.metric.scored import Scored
from excam.records import WEIGHTS, Report
from excam.terminal import visible

COLOURS = {"minor": "black on yellow", "major": "white on red"}


def show(results: Iterable[Scored]) -> None:
    """Print results on stdout, one after another. Control characters in texts are shown, never obeyed."""
    console = Console(highlight=False, soft_wrap=True)
    for result in results:
        head = f"failure: {result.failure}" if result.score is None else f"score {result.score:.3f}"
        console.print(Text(visible(f"── {result.id} · {head}"), style="bold"))
        for where in ("instruction", "output"):
            console.print(_marked(where, getattr(result, where), result.report))
        if result.report and result.report.explanation:
            console.print(Text(visible(f"   why: {result.report.explanation}")))


def _marked(where: str, text: str, report: Report | None) -> Text:
    """The text with its erroneous words in colour, between brackets so that it also shows without colour."""
    line, at = Text(f"   {where}: "), 0
    errors = [error for error in (report.errors if report else ()) if error.where == where]
    for error in sorted(errors, key=lambda error: error.start):
        if error.start < at:
            continue  # not found in the text, or inside a span already marked: listed below
        line.append(visible(text[at : error.start]))
        line.append(visible(f"[{text[error.start : error.end]}]"), style=COLOURS[error.severity])
        at = error.end
    line.append(visible(text[at:]))
    for error in errors:
        place = "" if error.start >= 0 else ", not found in the text"
        kind = visible(error.type)
        line.append(f"\n   {error.severity} ({WEIGHTS[error.severity]}): {kind}: {error.span!r}{place}")
    return line
