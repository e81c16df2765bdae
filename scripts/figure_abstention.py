"""Draw the error rate if only the most confident verdicts are kept, from the numbers it writes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from excam.core import tables
from excam.core.provenance import read_json
from excam.error_reports.evaluation.cells import System, rounded_text
from excam.pages import plotting
from scripts import run, step

VERSION = 3
PAGE = {
    "result": "results/paper/abstention",
    "outputs": ["numbers", "pictures"],
    "category": "Results",
    "target": "paper",
    "inputs": {"cells": "certainty_cells_of_excam"},
}
COLUMNS = ("system", "certain_by", "coverage", "risk", "rows", "unscored", "cell")
NAMES = {"certainty": "p(R)", "platt": "Platt", "isotonic": "isotonic"}
FEWEST = 10  # texts of a point that is drawn: shares of fewer jump about
TITLE = "Wrong verdicts when only the surest texts are answered"


@step
def main(
    cells_paths: Annotated[Sequence[Path], "certainty/<system>/<split>.json"],
    numbers_path: Path,
    pictures_paths: Sequence[Path],
) -> None:
    lines = []
    for path in cells_paths:
        for name, abstention in read_json(path, "abstention")["abstention"].items():
            common = {"system": System.from_path(path).key, "certain_by": name, "cell": str(path)}
            common |= {"rows": abstention["n"], "unscored": abstention["unscored"]}
            lines += [common | {"coverage": rounded_text(x), "risk": rounded_text(y)} for x, y in abstention["curve"]]
    tables.write_lines(numbers_path, COLUMNS, lines)
    draw(tables.read_lines(numbers_path), pictures_paths)


def draw(lines: list[dict[str, str]], pictures: Sequence[Path]) -> None:
    """Draw from the rows of abstention.csv alone."""
    curves: dict[str, list[tuple[float, float]]] = {}
    for line in (line for line in lines if float(line["coverage"]) * int(line["rows"]) >= FEWEST):
        point = (float(line["coverage"]), float(line["risk"]))
        curves.setdefault(f"{line['system']}, {NAMES[line['certain_by']]}", []).append(point)
    if not curves:
        text = f"Fewer than {FEWEST} answers came with a certainty: nothing to show."
        plotting.save(plotting.words(TITLE, text), pictures)
        return
    figure = plotting.curves(
        curves,
        title=TITLE,
        across="share of texts that are answered, surest first",
        up="share of wrong verdicts",
        note=f"Test rows: {int(lines[0]['rows']):,}. p(R): the report's verdict. Platt and isotonic: an error where "
        "its probability, by a map fitted on the dev sets, is .5 or more. An unreadable answer is wrong, and last; "
        f"texts with the same certainty are answered together; fewer than {FEWEST} are not drawn.",
    )
    plotting.save(figure, pictures)


if __name__ == "__main__":
    run(main)
