"""Read a Macaron benchmark, authors' exports or the official tables, and write its scenarios."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from excam.core import tables
from excam.core.exceptions import InputInvalid
from excam.core.provenance import say
from excam.macaron import scenarios, source
from scripts import run, step

VERSION = 2


@step
def main(
    files_paths: Annotated[Sequence[Path], "of one folder"],
    columns: Annotated[str, "names of official columns, ours to theirs, as JSON"],
    scenarios_path: Path,
    dropped_path: Annotated[Path, "what is left out, and why"],
) -> None:
    built = source.read(files_paths, json.loads(columns))
    tables.write_lines(dropped_path, scenarios.DROPPED, built.dropped_lines)
    if not built.scenarios:
        raise InputInvalid(f"{files_paths[0].parent}: 0 scenarios; left out: {built.reasons}; see {dropped_path}")
    tables.write_frame(scenarios_path, scenarios.to_frame(built.scenarios))
    reasons = ", ".join(f"{reason} {count}" for reason, count in built.reasons.items()) or "none"
    say(f"macaron: {len(built.scenarios)} scenarios; left out: {reasons}")


if __name__ == "__main__":
    run(main)
