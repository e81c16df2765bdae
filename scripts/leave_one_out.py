"""Compute the effect of removing one dataset from training, as numbers and as a sentence per base model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import polars as pl

from excam.core import paths, tables
from excam.core.provenance import write_text
from excam.error_reports.evaluation import cells, leave_one_out
from excam.error_reports.evaluation.cells import System
from excam.pages.markdown import escape
from scripts import run, step

VERSION = 1
PAGE = {
    "result": "results/paper/leave-one-out",
    "outputs": ["numbers", "page"],
    "category": "Results",
    "inputs": {"judgements": "judgements_of_adapters"},
    "settings": {"seed": "seed"},
}
COLUMNS = (
    *("model", "judge", "left_out", "on", "complete", "without", "difference", "low", "high", "p_value", "p_holm"),
    *("n", "groups"),
)
NONE = "No adapter of this experiment was trained without a dataset beside one that was trained on all.\n"


@step
def main(
    seed: int,
    numbers_path: Path,
    page_path: Path,
    judgements_paths: Annotated[Sequence[Path], "of every adapter and dataset"] = (),
) -> None:
    judged: dict[tuple[str, str], dict[str, dict[str, pl.DataFrame]]] = {}
    for path in judgements_paths:
        cell = paths.Cell.from_path(path)
        by_mixture = judged.setdefault((cell.model, cell.judge), {})
        by_mixture.setdefault(cell.trained_on, {})[cell.dataset] = tables.read_frame(path)
    lines: list[dict[str, Any]] = []
    statements: list[str] = []
    for (model, judge), frames in judged.items():
        without = {name.removeprefix("without-"): own for name, own in frames.items() if name.startswith("without-")}
        changes = leave_one_out.changes(frames["all"], without, seed) if "all" in frames else []
        lines += [{"model": model, "judge": judge, **_line(change)} for change in changes]
        statements += [leave_one_out.statement(System(model, "all", judge).name, changes)] if changes else []
    tables.write_lines(numbers_path, COLUMNS, lines)
    write_text(page_path, "# One dataset less in training\n\n" + _text(statements))


def _line(change: leave_one_out.Change) -> dict[str, Any]:
    line = asdict(change)
    keep = {"p_value": cells.significant_digits(change.p_value), "p_holm": cells.significant_digits(change.p_holm)}
    return {
        name: cells.rounded_text(value) if isinstance(value, float) else value for name, value in line.items()
    } | keep


def _text(statements: list[str]) -> str:
    printed = 'The paper: "in-domain performance is only weakly influenced" (Appendix J), without a number.\n'
    return ("\n\n".join(map(escape, statements)) + "\n\n" if statements else NONE + "\n") + printed


if __name__ == "__main__":
    run(main)
