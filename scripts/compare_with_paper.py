"""The printed numbers beside ours: value, difference, and the file ours came from."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from excam import tables
from excam.provenance import publish
from scripts import run


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table-2", type=Path, required=True)
    parser.add_argument("--table-4", type=Path, required=True)
    parser.add_argument("--printed", type=Path, nargs=2, required=True, help="paper/table-2.csv paper/table-4.csv")
    parser.add_argument("--comparison", type=Path, required=True)
    args = parser.parse_args(argv)

    text = "# Ours beside the paper's\n\n"
    text += "Numbers compare only where model, data and generator are the paper's; where both are there, the "
    text += "difference stands in brackets.\n"
    text += _rows(tables.read_lines(args.table_2), tables.read_lines(args.printed[0]))
    text += _systems(tables.read_lines(args.table_4), tables.read_lines(args.printed[1]))
    with publish(args.comparison) as temporary:
        temporary.write_text(text, encoding="utf-8")


def _rows(ours: list[dict[str, str]], printed: list[dict[str, str]]) -> str:
    paper = {line["dataset"]: line for line in printed}
    text = "\n## Table 2: rows\n\n| dataset | train | paper | dev | paper | test | paper |\n" + "|---" * 7 + "|\n"
    for line in ours:
        beside = paper.get(line["dataset"], {})
        cells = [f"{line[split]} | {beside.get(split, '–')}" for split in ("train", "dev", "test")]
        text += f"| {line['dataset']} | {' | '.join(cells)} |\n"
    return text


def _systems(ours: list[dict[str, str]], printed: list[dict[str, str]]) -> str:
    text = "\n## Table 4: systems\n\n"
    text += "| system | scaled accuracy [95 %] | paper | Kendall b | paper | tie-calibrated | paper "
    text += "| n | failures | from |\n" + "|---" * 10 + "|\n"
    paper = {line["system"]: line for line in printed}
    matched: set[str] = set()
    for line in ours:
        name = _system(line)
        beside = paper.get(name, {})
        matched |= {name} & paper.keys()
        interval = f" [{line['low']}, {line['high']}]" if line["low"] else ""
        columns = ("scaled_accuracy", "kendall", "tie_calibrated_accuracy")
        own = (f"{line['scaled_accuracy']}{interval}", line["kendall_b"] or "n/a", line["tie_calibrated_accuracy"])
        values = (line["scaled_accuracy"], line["kendall_b"], line["tie_calibrated_accuracy"])
        numbers = [f"{o} | {_beside(v, beside, c)}" for o, v, c in zip(own, values, columns, strict=True)]
        text += f"| {name} | {' | '.join(numbers)} | {line['n']} | {line['failures']} | `{line['cell']}` |\n"
    missing = [name for name in paper if name not in matched]
    return text + (f"\nPrinted, not in this experiment: {', '.join(missing)}.\n" if missing else "")


def _beside(ours: str, printed: dict[str, str], column: str) -> str:
    """The printed value and how far ours is from it."""
    value = printed.get(column)
    if not value:
        return "–"
    return f"{value} ({float(ours) - float(value):+.3f})" if ours else value


def _system(line: dict[str, str]) -> str:
    """One name per system, as in the column `system` of paper/table-4.csv."""
    return "/".join([line["model"], line["trained_on"], line["judge"]]) + (
        f"+{line['fallback']}" if line["fallback"] else ""
    )


if __name__ == "__main__":
    run(main)
