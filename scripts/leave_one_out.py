"""What one dataset less in training changes, as numbers and as a sentence per base model (spec 65)."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import polars as pl

from excam import tables
from excam.evaluation import cells, leave_one_out
from excam.evaluation.cells import System
from excam.markdown import escaped
from excam.provenance import write_text
from scripts import run

COLUMNS = (
    *("model", "judge", "left_out", "on", "complete", "without", "difference", "low", "high", "p_value", "p_holm"),
    *("n", "groups"),
)
NONE = "No adapter of this experiment was trained without a dataset beside one that was trained on all.\n"


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judgements", type=Path, nargs="*", required=True, help="of every adapter and dataset")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--numbers", type=Path, required=True)
    parser.add_argument("--statement", type=Path, required=True)
    args = parser.parse_args(argv)

    judged: dict[tuple[str, str], dict[str, dict[str, pl.DataFrame]]] = {}
    for path in args.judgements:
        system, dataset = System(*path.parts[-5:-2]), path.parts[-2]
        by_mixture = judged.setdefault((system.model, system.judge), {})
        by_mixture.setdefault(system.trained_on, {})[dataset] = tables.read_frame(path)
    lines: list[dict[str, Any]] = []
    said: list[str] = []
    for (model, judge), frames in judged.items():
        without = {name.removeprefix("without-"): own for name, own in frames.items() if name.startswith("without-")}
        found = leave_one_out.changes(frames["all"], without, args.seed) if "all" in frames else []
        lines += [{"model": model, "judge": judge, **_line(change)} for change in found]
        said += [leave_one_out.statement(System(model, "all", judge).name, found)] if found else []
    tables.write_lines(args.numbers, COLUMNS, lines)
    write_text(args.statement, "# One dataset less in training\n\n" + _text(said))


def _line(change: leave_one_out.Change) -> dict[str, Any]:
    line = asdict(change)
    keep = {"p_value": cells.digits(change.p_value), "p_holm": cells.digits(change.p_holm)}
    return {name: cells.rounded(value) if isinstance(value, float) else value for name, value in line.items()} | keep


def _text(said: list[str]) -> str:
    printed = 'The paper: "in-domain performance is only weakly influenced" (Appendix J), without a number.\n'
    return ("\n\n".join(map(escaped, said)) + "\n\n" if said else NONE + "\n") + printed


if __name__ == "__main__":
    run(main)
