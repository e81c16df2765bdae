"""`excam list`: what can be asked for by name; `excam lock`: the code as it is."""

from __future__ import annotations

import difflib
import json
from typing import Annotated

import typer

from excam.cli.score_commands import list_metrics
from excam.core.paths import RESULTS
from excam.core.terminal import JSON, exit_on_error, print_json, print_text, stdout, stdout_can_encode, stop


def list_(
    what: Annotated[str, typer.Argument(help="metrics, datasets or judges")] = "datasets", as_json: JSON = False
) -> None:
    """List the metrics (what each reads, returns and needs), the benchmarks (task, licence, source, rows), the judges.

    Example: excam list metrics
    """
    from excam.config import modules_in

    if what not in ("metrics", "datasets", "judges"):
        close = difflib.get_close_matches(what, ("metrics", "datasets", "judges"), n=1)
        stop(
            f"{what}: nothing to list; {f'did you mean {close[0]}? ' if close else ''}known: metrics, datasets, judges"
        )
    from excam.excam40k.publishing import listing

    with exit_on_error():
        if what == "metrics":
            lines = list_metrics()
            if as_json:
                for line in lines:
                    print_json(line)
                return
            for line in lines:
                name, *facts = [f"{key} {value}" for key, value in line.items() if value]
                print_text(f"{name.removeprefix('metric ')}\n" + "".join(f"    {fact}\n" for fact in facts))
            return
        if what == "judges":
            names = modules_in("error_reports/judges")
            print("\n".join(json.dumps({"judge": name}) for name in names) if as_json else "\n".join(names))
            return
        table = listing.lines(RESULTS)
        if as_json:
            for line in table[1:]:
                print_json(dict(zip(table[0], line, strict=True)))
            return
        text = "\n".join(listing.align_columns(table) if stdout().isatty() else ["\t".join(line) for line in table])
        print(text if stdout_can_encode(text) else text.replace(listing.ABSENT, "-"))


def lock() -> None:
    """Record the code as it is in versions.lock (for developers); a dry run names the files that differ from it."""
    from excam.core import versions

    with exit_on_error():
        changed = versions.lock()
        print("\n".join(changed) or "nothing changed")
