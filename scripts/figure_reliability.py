"""Draw the reliability diagram: stated probability of an error against its frequency, from the numbers it writes."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from excam.core import tables
from excam.core.provenance import read_json
from excam.error_reports.evaluation.cells import System, rounded_text
from excam.pages import plotting
from scripts import run

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


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=Path, nargs="+", required=True, help="certainty/<system>/<split>.json")
    parser.add_argument("--numbers", type=Path, required=True)
    parser.add_argument("--pictures", type=Path, nargs="+", required=True)
    args = parser.parse_args(argv)

    lines = []
    for path in args.cells:
        errors = read_json(path, "error")["error"]
        for name, given in errors.items():
            common = {"system": System.from_path(path).key, "map": name, "unscored": given["unscored"]}
            lines += [common | _bin(one) | {"cell": str(path)} for one in given["bins"]]
    tables.write_lines(args.numbers, COLUMNS, lines)
    draw(tables.read_lines(args.numbers), args.pictures)


def _bin(one: dict[str, float]) -> dict[str, float | None]:
    names = ("low", "high", "probability", "observed")
    return {"n": one["n"], **{name: rounded_text(one[name]) for name in names}}


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
