"""Compute how often no error is reported in rows without errors, and an error in rows with errors (ExCAM §5)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import polars as pl

from excam.core import paths, tables
from excam.core.provenance import write_text
from excam.error_reports.evaluation import cells, verdicts
from excam.error_reports.evaluation.cells import System
from excam.pages.markdown import escape, table
from excam.stats.bootstrap import ratio_interval
from scripts import run, step

VERSION = 3
PAGE = {
    "result": "results/paper/error-rates",
    "outputs": ["numbers", "page"],
    "category": "Results",
    "inputs": {"judgements": "judgements_in_domain", "printed": "paper/error-rates.csv"},
    "settings": {"seed": "seed"},
}
COLUMNS = (
    *("system", "rows", "reported", "rate", "low", "high", "hits", "n", "unreadable", "printed", "difference"),
    *("printed_source", "cell"),
)
PARTS = {
    "without error": pl.col("origin") == "source",
    "with an error": pl.col("origin") != "source",
    "with a hard error": pl.col("origin") == "hard",
    "with a soft error": pl.col("origin").str.starts_with("soft"),
}
NOTE = (
    "Rates with 95 % intervals, a bootstrap over groups. A parse failure reports nothing and is not a hit; it is "
    "counted. The paper gives its rates of found errors where it speaks of hard errors, and does not say whether soft "
    "ones count: they are shown beside those of all errors."
)


@step
def main(
    judgements_paths: Annotated[Sequence[Path], "of each system and dataset"],
    printed_path: Annotated[Path, "paper/error-rates.csv"],
    seed: int,
    numbers_path: Path,
    page_path: Path,
) -> None:
    paper = {(line["system"], line["rows"]): line for line in tables.read_lines(printed_path)}
    frames: dict[System, list[pl.DataFrame]] = {}
    for path in judgements_paths:
        frames.setdefault(System.from_path(path), []).append(tables.read_frame(path))
    lines = [line for system, own in frames.items() for line in _lines(system, pl.concat(own), paper, seed)]
    tables.write_lines(numbers_path, COLUMNS, lines)
    write_text(page_path, _page(lines, list(paper.values())))


def _lines(
    system: System, frame: pl.DataFrame, paper: dict[tuple[str, str], dict[str, str]], seed: int
) -> Iterator[dict[str, Any]]:
    cell = paths.Cell(system.model, system.trained_on, system.judge, paths.ALL, "test").path("evaluation")
    for rows, condition in PARTS.items():
        part = frame.filter(condition)
        if not part.height:
            continue
        guesses, wanted = verdicts.predicted_errors(part), rows != "without error"
        hits = [guess is wanted for guess in guesses]
        rate = sum(hits) / len(hits)
        low, high = ratio_interval(hits, [1] * len(hits), part["group"].to_list(), seed=seed) or (None, None)
        printed = paper.get((system.key, rows), {})
        yield {
            **{"system": system.key, "rows": rows, "reported": "an error" if wanted else "none"},
            **{"rate": cells.rounded_text(rate), "low": cells.rounded_text(low), "high": cells.rounded_text(high)},
            **{"hits": sum(hits), "n": len(hits), "unreadable": guesses.count(None)},
            **{"printed": printed.get("rate"), "printed_source": printed.get("source")},
            "difference": cells.rounded_text(rate - float(printed["rate"])) if printed else None,
            "cell": cell.as_posix(),
        }


def _page(lines: Sequence[dict[str, Any]], paper: Sequence[dict[str, str]]) -> str:
    head = ["system", "rows", "reported", "rate [95 %]", "hits of n", "unreadable", "paper", "difference"]
    body = [
        [
            *(
                escape(line["system"]),
                line["rows"],
                line["reported"],
                _interval(line),
                f"{line['hits']} of {line['n']}",
            ),
            *(line["unreadable"], line["printed"] or "–", _signed(line["difference"])),
        ]
        for line in lines
    ]
    ours = {line["system"] for line in lines}
    missing = [line for line in paper if line["system"] not in ours]
    text = f"# Errors reported, by what the row holds\n\n{NOTE}\n\n{table(head, body)}"
    if missing:
        text += "\nPrinted for base models that this experiment does not tune:\n\n"
        columns = ("printed_name", "rows", "rate", "source")
        text += table(columns, [[escape(line[column]) for column in columns] for line in missing])
    return text


def _interval(line: dict[str, Any]) -> str:
    return f"{line['rate']}" + ("" if line["low"] is None else f" [{line['low']}, {line['high']}]")


def _signed(value: float | None) -> str:
    return "–" if value is None else f"{value:+.3f}"


if __name__ == "__main__":
    run(main)
