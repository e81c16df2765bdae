"""Table 2: rows per dataset, split and label, the printed numbers beside them (spec 11, 12)."""

from __future__ import annotations

import argparse
import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from excam.provenance import publish
from excam.publishing import counts
from scripts import run


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--counts", type=Path, nargs="+", required=True, help="<dataset>/counts.json")
    parser.add_argument("--printed", type=Path, required=True, help="paper/table-2.csv")
    parser.add_argument("--printed-claims", type=Path, required=True, help="paper/claims.csv")
    parser.add_argument("--numbers", type=Path, required=True)
    parser.add_argument("--claims", type=Path, required=True)
    parser.add_argument("--page", type=Path, required=True)
    args = parser.parse_args(argv)

    own = [counts.line(path.parent.name, json.loads(path.read_text(encoding="utf-8"))) for path in args.counts]
    lines = counts.beside(own, _table(args.printed))
    said = counts.claims(lines[-1], _table(args.printed_claims))
    _write(args.numbers, counts.COLUMNS, lines)
    _write(args.claims, counts.CLAIM_COLUMNS, said)
    with publish(args.page) as temporary:
        temporary.write_text(counts.page(lines, said), encoding="utf-8")


def _table(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def _write(path: Path, columns: Sequence[str], lines: Sequence[Mapping[str, Any]]) -> None:
    with publish(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, columns)
        writer.writeheader()
        writer.writerows(lines)


if __name__ == "__main__":
    run(main)
