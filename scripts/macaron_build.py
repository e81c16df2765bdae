"""Read a Macaron benchmark, authors' exports or the official tables, and write its scenarios."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from excam.core import tables
from excam.core.exceptions import InputInvalid
from excam.core.provenance import say
from excam.macaron import scenarios, source
from scripts import run

VERSION = 2


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=Path, nargs="+", required=True, help="of one folder")
    parser.add_argument("--columns", required=True, help="names of official columns, ours to theirs, as JSON")
    parser.add_argument("--scenarios", type=Path, required=True)
    parser.add_argument("--dropped", type=Path, required=True, help="what is left out, and why")
    args = parser.parse_args(argv)

    built = source.read(args.files, json.loads(args.columns))
    tables.write_lines(args.dropped, scenarios.DROPPED, built.dropped_lines)
    if not built.scenarios:
        raise InputInvalid(f"{args.files[0].parent}: 0 scenarios; left out: {built.reasons}; see {args.dropped}")
    tables.write_frame(args.scenarios, scenarios.to_frame(built.scenarios))
    reasons = ", ".join(f"{reason} {count}" for reason, count in built.reasons.items()) or "none"
    say(f"macaron: {len(built.scenarios)} scenarios; left out: {reasons}")


if __name__ == "__main__":
    run(main)
