"""Do two runs judge alike? Compares their judgements row by row, system by system: the share of verdicts that flip.

    python -m bench.flips results ../other/results

Two runs that differ in the backend alone should agree where decoding is greedy; rounding makes some answers part ways.
A verdict is whether an error was found, or that the answer could not be read.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from excam import provenance, tables
from excam.exceptions import InputInvalid
from scripts import run


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, nargs=2, help="folders of results")
    parser.add_argument("--numbers", type=Path, help="write them here, as JSON")
    args = parser.parse_args(argv)

    first, second = (_judgements(folder) for folder in args.runs)
    both = sorted(first.keys() & second.keys())
    if not both:
        raise InputInvalid(f"{args.runs[1]}: no judgements that {args.runs[0]} has too; judge in both first")
    systems = sorted({system for system, _ in both})
    table = {}
    for system in systems:
        cells = [cell for cell in both if cell[0] == system]
        table[system] = _compared(
            pl.concat([tables.read_frame(first[cell]) for cell in cells]),
            pl.concat([tables.read_frame(second[cell]) for cell in cells]),
        )
        print(system, json.dumps(table[system]))
    if args.numbers:
        provenance.write_json(args.numbers, {"command": sys.argv, "systems": table})


def _judgements(results: Path) -> dict[tuple[str, str], Path]:
    """Files by (model/trained_on/judge, dataset/split)."""
    found = sorted((results / "judgements").glob("*/*/*/*/*.parquet"))
    return {("/".join(path.parts[-5:-2]), "/".join(path.parts[-2:])): path for path in found}


def _compared(first: pl.DataFrame, second: pl.DataFrame) -> dict[str, float | int | None]:
    """Rows in both, verdicts that differ, and how far p(R) is apart where they agree."""
    columns = ["id", "errors_found", "score", "certainty", "failure"]
    joined = first.select(columns).join(second.select(columns), on="id", suffix="_2")
    verdict = [(pl.col(f"errors_found{at}") > 0).cast(pl.String).fill_null("unreadable") for at in ("", "_2")]
    flips = joined.filter(verdict[0] != verdict[1]).height
    same = joined.filter((verdict[0] == verdict[1]) & pl.col("score").eq_missing(pl.col("score_2")))
    apart = (same["certainty"] - same["certainty_2"]).abs()
    return {
        "rows": joined.height,
        "flips": flips,
        "flip_rate": round(flips / joined.height, 4) if joined.height else None,
        "other_score": joined.height - flips - same.height,
        "certainty_apart_median": apart.median(),  # pyright: ignore[reportReturnType]
        "certainty_apart_max": apart.max(),  # pyright: ignore[reportReturnType]
    }


if __name__ == "__main__":
    run(main)
