"""Figure 10: scaled accuracy by language, and how far languages lie apart, drawn from the numbers it writes."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from excam import plotting, tables
from excam.evaluation import cells
from excam.evaluation.cells import Cell
from scripts import run

COLUMNS = ("row", "tuned", "language", "shown", "scaled_accuracy", "low", "high", "n", "failures", "spread", "cell")
TITLE = "Scaled accuracy by language"


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--more-than", type=int, required=True, help="rows of a language that is shown")
    parser.add_argument("--cells", type=Path, nargs="+", required=True, help="of `all` test sets together")
    parser.add_argument("--numbers", type=Path, required=True)
    parser.add_argument("--pictures", type=Path, nargs="+", required=True)
    args = parser.parse_args(argv)

    lines = [line for path in args.cells for line in _lines(cells.read(path), args.more_than)]
    tables.write_lines(args.numbers, COLUMNS, lines)
    draw(tables.read_lines(args.numbers), args.more_than, args.pictures)


def _lines(cell: Cell, more_than: int) -> Iterator[dict[str, Any]]:
    """One line per language of a system, most rows first, and one for the rows whose language has no section."""
    common = {"row": cell.system.name, "tuned": cell.system.tuned, "cell": cell.path}
    sections = sorted(cell.numbers["by_language"].items(), key=lambda item: (-item[1]["n"], item[0]))
    shown = [section["scaled"] for _, section in sections if section["n"] > more_than]
    spread = cells.rounded(max(shown) - min(shown)) if len(shown) > 1 else None
    for language, section in sections:
        yield {
            **common,
            "language": language,
            "shown": section["n"] > more_than,
            **{"scaled_accuracy": cells.rounded(section["scaled"]), "low": cells.rounded(section["low"])},
            **{"high": cells.rounded(section["high"]), "n": section["n"], "failures": section["failures"]},
            "spread": spread if section["n"] > more_than else None,
        }
    rest = cell.numbers["n"] - sum(section["n"] for _, section in sections)
    yield {**common, "language": "", "shown": False, "n": rest}


def draw(lines: list[dict[str, str]], more_than: int, pictures: Sequence[Path]) -> None:
    """Draw from the rows of figure-10.csv alone; say so where no language has enough of them."""
    names = dict.fromkeys(line["row"] for line in lines)
    tuned = {line["row"] for line in lines if line["tuned"] == "True"}
    rows = sorted(names, key=lambda row: row in tuned)
    shown = [line for line in lines if line["shown"] == "True"]
    first = [line for line in lines if line["row"] == rows[0] and line["shown"] != "True"]
    hidden = sum(int(line["n"]) for line in first)
    if not shown:
        text = f"No language has more than {more_than} rows in the test sets: nothing to show. Rows: {hidden:,}."
        plotting.save(plotting.words(TITLE, text), pictures)
        return
    counts = {line["language"]: int(line["n"]) for line in shown}
    at = {(line["language"], line["row"]): line for line in shown}
    panels = {
        f"{name}\nn = {count:,}": [_point(at.get((name, row))) for row in rows]
        for name, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    }
    spreads = {line["row"]: line["spread"] for line in shown}
    spread = "Spread: the best language minus the worst. " if len(counts) > 1 else ""
    figure = plotting.forest(
        panels,
        rows,
        tuned=[row in tuned for row in rows],
        beside=("spread", [f"{float(spreads[row]):.2f}" for row in rows]) if len(counts) > 1 else None,
        title=TITLE,
        note=f"Languages with more than {more_than} rows in the test sets ({hidden:,} rows are of others). Blue dots: "
        "ExCAM, trained on all datasets; orange squares: models as they come. Lines: 95 % intervals, a bootstrap over "
        f"groups. {spread}0 is chance; an unreadable answer counts as wrong.",
    )
    plotting.save(figure, pictures)


def _point(line: dict[str, str] | None) -> plotting.Point | None:
    return (float(line["scaled_accuracy"]), float(line["low"]), float(line["high"])) if line else None


if __name__ == "__main__":
    run(main)
