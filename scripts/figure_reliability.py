"""Draw the reliability diagram: stated probability of an error against its frequency, from the numbers it writes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from excam.core import tables
from excam.core.provenance import read_json
from excam.error_reports.evaluation.cells import System, rounded_text
from excam.pages import plotting
from scripts import run, step

VERSION = 2
PAGE = {
    "result": "results/paper/reliability",
    "outputs": ["numbers", "pictures"],
    "category": "Results",
    "target": "paper",
    "inputs": {"cells": "certainty_cells_of_excam"},
}
COLUMNS = ("system", "map", "low", "high", "probability", "observed", "n", "unscored", "cell")
MAPS = {"uncalibrated": "as stated", "platt": "Platt", "isotonic": "isotonic"}
FEWEST = 10  # rows of a point that is drawn: shares of fewer jump about
TITLE = "Stated probability of an error, and how often there is one"


@step
def main(
    cells_paths: Annotated[Sequence[Path], "certainty/<system>/<split>.json"],
    numbers_path: Path,
    pictures_paths: Sequence[Path],
) -> None:
    lines = []
    for path in cells_paths:
        errors = read_json(path, "error")["error"]
        for name, reliability in errors.items():
            common = {"system": System.from_path(path).key, "map": name, "unscored": reliability["unscored"]}
            lines += [common | _bin(interval) | {"cell": str(path)} for interval in reliability["bins"]]
    tables.write_lines(numbers_path, COLUMNS, lines)
    draw(tables.read_lines(numbers_path), pictures_paths)


def _bin(interval: dict[str, float]) -> dict[str, float | None]:
    names = ("low", "high", "probability", "observed")
    return {"n": interval["n"], **{name: rounded_text(interval[name]) for name in names}}


def draw(lines: list[dict[str, str]], pictures: Sequence[Path]) -> None:
    """Draw from the rows of reliability.csv alone."""
    curves: dict[str, list[tuple[float, float]]] = {}
    for line in (line for line in lines if int(line["n"]) >= FEWEST):
        point = (float(line["probability"]), float(line["observed"]))
        curves.setdefault(f"{line['system']}, {MAPS[line['map']]}", []).append(point)
    if not curves:
        plotting.save(
            plotting.words(TITLE, f"Fewer than {FEWEST} answers came with a certainty: nothing to show."), pictures
        )
        return
    counts = [int(line["n"]) for line in lines if int(line["n"]) >= FEWEST]
    figure = plotting.curves(
        curves,
        title=TITLE,
        across="stated probability of an error",
        up="share of texts with an error",
        reference=((0, 0), (1, 1)),
        note="A point is about a tenth of the rows with a certainty, more or fewer where many got the same probability "
        f"({min(counts):,} to {max(counts):,} rows; fewer than {FEWEST} are not drawn). On the grey line the stated "
        "probability is right. As stated: (1 ± p(R)) / 2; Platt and isotonic are maps fitted on the dev sets.",
    )
    plotting.save(figure, pictures)


if __name__ == "__main__":
    run(main)
