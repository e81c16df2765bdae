"""`excam read`: a raw answer of a model to its report."""

from __future__ import annotations

from dataclasses import asdict

import typer

from excam.core.command_input import standard_input
from excam.core.provenance import say
from excam.core.terminal import exit_on_error, print_json
from excam.error_reports.records import Unreadable


def read() -> None:
    """Turn a raw model answer on stdin into a report on stdout; exit with code 1 and the reason on a parse failure.

    Deviations that the lenient parser accepted (a code fence, prose around the report) are listed on stderr.
    """
    from excam.error_reports.judges import report

    with exit_on_error():
        text = standard_input().read().decode("utf-8", errors="replace")
        reading = report.read(text)
        if isinstance(reading, Unreadable):
            say(f"excam: unreadable: {reading.reason}")
            raise typer.Exit(1)
        if overlooked := report.recovered(text):
            say(f"excam: overlooked: {', '.join(overlooked)}")
        print_json(asdict(reading), indent=2)
