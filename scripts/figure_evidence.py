"""Draw how systems judge rows with passages: one panel for each benchmark, from the numbers of the table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from excam.core import tables
from excam.core.paths import ALL
from excam.pages import plotting
from scripts import run, step

VERSION = 1
PAGE = {
    "result": "results/paper/figure-evidence",
    "outputs": ["pictures"],
    "category": "Results",
    "target": "paper",
    "inputs": {"numbers": "evidence_numbers"},
}
TITLE = "Verdicts on texts, with the fact in one of several passages"
NOTE = (
    "Scaled accuracy with its 95 % interval; 0 is chance, and a row without a verdict counts as half right. Filled: "
    "adapters, without-X on X alone. Open: models without an adapter, and the share of words in the best passage."
)


@step
def main(numbers_path: Annotated[Path, "evidence.csv"], pictures_paths: Sequence[Path]) -> None:
    draw(tables.read_lines(numbers_path), pictures_paths)


def draw(lines: Sequence[dict[str, str]], pictures: Sequence[Path]) -> None:
    """Draw from the rows of evidence.csv alone."""
    own = [line for line in lines if line["kind"] == "fact" and line["wording"] == ALL and line["low"]]
    if not own:
        plotting.save(plotting.words(TITLE, "No row with the fact in a passage: nothing to show."), pictures)
        return
    points = {
        (line["dataset"], line["system"]): (float(line["scaled"]), float(line["low"]), float(line["high"]))
        for line in own
    }
    systems = list(dict.fromkeys(line["system"] for line in own))
    panels = {
        dataset: [points.get((dataset, system)) for system in systems]
        for dataset in dict.fromkeys(line["dataset"] for line in own)
    }
    tuned = ["/" in system and "/nothing/" not in system for system in systems]
    plotting.save(plotting.forest(panels, systems, tuned=tuned, title=TITLE, note=NOTE), pictures)


if __name__ == "__main__":
    run(main)
