"""Draw Figure 4: in-domain ExCAM beside the external judges on the balanced subsets, from the numbers it writes.

ExCAM has judged whole test sets; its judgements of the rows of the subsets are taken from there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import polars as pl

from excam.core import paths, tables
from excam.core.exceptions import ArtifactBroken
from excam.core.provenance import write_text
from excam.error_reports.evaluation import cells, claims, verdicts
from excam.error_reports.evaluation.cells import System
from excam.error_reports.evaluation.claims import Claims
from excam.excam40k.publishing import about
from excam.pages import plotting
from excam.pages.markdown import escape, table
from excam.stats import accuracy, permutation
from scripts import run, step

VERSION = 1
PAGE = {
    "result": "results/paper/figure-4",
    "outputs": ["numbers", "page", "pictures"],
    "target": "external",
    "category": "Results",
    "inputs": {
        "tuned": "judgements_of_excam",
        "external": "judgements_of_external",
        "printed_claims": "paper/claims.csv",
    },
    "settings": {"datasets": "datasets", "seed": "seed"},
}
ALL = "ALL"
LEVEL = 0.1  # of the tests: 100 rows are few (Figure 4)
COLUMNS = (
    *("row", "tuned", "column", "scaled_accuracy", "low", "high", "n", "failures", "p_value", "p_holm", "judgements"),
)

Frames = Mapping[System, pl.DataFrame]  # judgements of the same rows, by system


@step
def main(
    datasets: Sequence[str],
    tuned_paths: Annotated[Sequence[Path], "<model>/all/<judge>/<dataset>/test.parquet"],
    external_paths: Annotated[Sequence[Path], "the same of the subset test-100"],
    seed: int,
    printed_claims_path: Annotated[Path, "paper/claims.csv"],
    page_path: Path,
    numbers_path: Path,
    pictures_paths: Sequence[Path],
) -> None:
    external, tuned = _read(external_paths), _read(tuned_paths)
    lines = []
    for column in [*datasets, ALL]:
        names = datasets if column == ALL else [column]
        ids = pl.concat([next(iter(external.values()))[name] for name in names])["id"].to_list()
        frames = {system: _rows(system, own, names, ids) for system, own in [*external.items(), *tuned.items()]}
        lines += _column(column, frames, seed)
    for line, p in zip(lines, cells.holm_adjusted([line["p_value"] for line in lines]), strict=True):
        line |= {"p_value": cells.significant_digits(line["p_value"]), "p_holm": cells.significant_digits(p)}
    tables.write_lines(numbers_path, COLUMNS, lines)
    drawn = tables.read_lines(numbers_path)
    write_text(page_path, _page(drawn, LEVEL, claims.read(printed_claims_path)))
    draw(drawn, datasets, LEVEL, pictures_paths)


def _read(judgements: Sequence[Path]) -> dict[System, dict[str, pl.DataFrame]]:
    judged: dict[System, dict[str, pl.DataFrame]] = {}
    for path in judgements:
        cell = paths.Cell.from_path(path)
        judged.setdefault(System(*cell.system), {})[cell.dataset] = tables.read_frame(path)
    return judged


def _rows(system: System, own: Mapping[str, pl.DataFrame], names: Sequence[str], ids: list[str]) -> pl.DataFrame:
    """Return a system's judgements of these rows, in this order.

    Raises ArtifactBroken if it has not judged them all.
    """
    judged = pl.concat([own[name] for name in names])
    rows = pl.DataFrame({"id": ids}).join(judged, on="id", how="inner", maintain_order="left")
    if rows["id"].to_list() != ids:
        missing = next((row_id for row_id in ids if row_id not in set(judged["id"])), "each row once")
        raise ArtifactBroken(f"{system.key}: its judgements lack {missing} of test-100; run `score` again")
    return rows


def _column(column: str, frames: Frames, seed: int) -> list[dict[str, Any]]:
    """Return one line per system; its p-value is that of "better than every system of the other kind"."""
    guesses = {system: verdicts.predicted_errors(frame) for system, frame in frames.items()}
    first = next(iter(frames.values()))
    gold, groups = first["gold_error"].to_list(), first["group"].to_list()
    tests = []
    for a in frames:
        for b in (b for b in frames if a.tuned and not b.tuned):
            result = permutation.paired_permutation(gold, guesses[a], guesses[b], clusters=groups, seed=seed)
            tests.append({"a": a.key, "b": b.key, "p_value": result.p_value, "difference": result.difference})
    lines = []
    for system, guess in guesses.items():
        summary = accuracy.summarise_accuracy(gold, guess, clusters=groups, seed=seed)
        lines.append(
            {
                **{"row": system.name, "tuned": system.tuned, "column": column, "n": summary.n},
                **{"scaled_accuracy": cells.rounded_text(summary.scaled), "low": cells.rounded_text(summary.low)},
                **{"high": cells.rounded_text(summary.high), "failures": summary.failures},
                "p_value": cells.p_better(system.key, tests, lambda _: True),
                "judgements": f"{paths.RESULTS}/judgements/{system.key}",
            }
        )
    return lines


def _page(lines: list[dict[str, str]], level: float, paper: Claims) -> str:
    head = ["row", "scaled accuracy on all", "above every row of the other kind"]
    head += [f"significantly, p ≤ {level}", "after Holm", "n each"]
    body = [_against(row, lines, level) for row in dict.fromkeys(line["row"] for line in lines)]
    text = (
        "# Figure 4: in-domain ExCAM and external judges\n\nThe cells of the paper's figure are printed in a picture "
    )
    text += "only, and its judge is GPT-5 of August 2025: no differences are taken.\n\n"
    return (
        text
        + table(head, body)
        + claims.claims_list(paper, ("gpt5-wins", "gpt5-loses", "gpt5-margin", "epic-in-domain"))
    )


def _against(row: str, lines: list[dict[str, str]], level: float) -> list[str]:
    """On which test sets one row of Figure 4 is above all rows of the other kind."""
    own = {line["column"]: line for line in lines if line["row"] == row}
    tuned = next(iter(own.values()))["tuned"]
    others = [line for line in lines if line["tuned"] != tuned]
    datasets = [column for column in own if column != "ALL"]
    best = {name: max(float(line["scaled_accuracy"]) for line in others if line["column"] == name) for name in datasets}
    above = [name for name in datasets if float(own[name]["scaled_accuracy"]) > best[name]]
    won = [[name for name in datasets if float(own[name][p]) <= level] for p in ("p_value", "p_holm")]
    listed = [f"{len(names)} of {len(datasets)}: {', '.join(names)}" if names else "0" for names in (above, *won)]
    sizes = sorted({int(own[name]["n"]) for name in datasets})
    return [escape(row), own["ALL"]["scaled_accuracy"], *map(escape, listed), ", ".join(map(str, sizes))]


def draw(lines: list[dict[str, str]], datasets: Sequence[str], level: float, pictures: Sequence[Path]) -> None:
    """Draw from the rows of figure-4.csv alone."""
    names = dict.fromkeys(line["row"] for line in lines)
    tuned = {line["row"] for line in lines if line["tuned"] == "True"}
    rows, columns = sorted(names, key=lambda row: row in tuned), [*datasets, ALL]
    at = {(line["row"], line["column"]): line for line in lines}
    grid = [[at[row, column] for column in columns] for row in rows]
    shown = f"{level:.2f}".rstrip("0").removeprefix("0")
    figure = plotting.heat_map(
        [[float(line["scaled_accuracy"]) for line in row] for row in grid],
        rows=rows,
        columns=[about.title(column) for column in columns],
        counts=[int(line["n"]) for line in grid[0]],
        marks=[[_mark(line, level) for line in row] for row in grid],
        title="In-domain ExCAM and external judges on the balanced subsets",
        note=f"* better than every row of the other kind: paired permutation tests over groups, two-sided, p ≤ {shown} "
        f"after Holm's correction over the figure; ° p ≤ {shown} in the column alone. 0 is chance; an unreadable "
        "answer counts as wrong. ExCAM was trained on the train splits of all datasets.",
        separators=[len(datasets)],
        row_separators=[len(rows) - len(tuned)],
    )
    plotting.save(figure, pictures)


def _mark(line: dict[str, str], level: float) -> str:
    if not line["p_value"] or float(line["p_value"]) > level:
        return ""
    return "*" if float(line["p_holm"]) <= level else "°"


if __name__ == "__main__":
    run(main)
