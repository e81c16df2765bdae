"""Write how reliable the confidence of every system is: ranking, calibration, abstention."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

from excam.core import provenance, tables
from excam.error_reports.evaluation.cells import System, rounded_text
from excam.pages import markdown
from scripts import run, step

VERSION = 3
PAGE = {
    "result": "results/paper/certainty",
    "outputs": ["numbers", "page"],
    "category": "Results",
    "target": "paper",
    "inputs": {"cells": "certainty_cells"},
}
COLUMNS = ("system", "dataset", "measure", "of", "value", "low", "high", "floor", "n", "unscored", "failures", "cell")
RANKED = {"score": "score", "score_p": "score, p(R) for 0", "certainty": "signed certainty"}
MAPS = {"uncalibrated": "(1 + signed certainty) / 2", "platt": "Platt, on dev", "isotonic": "isotonic, on dev"}
CERTAIN = {"certainty": "p(R)", **{name: label for name, label in MAPS.items() if name != "uncalibrated"}}
HEAD = """# How far certainty can be trusted

Beyond the paper, which takes p(R) as a score (Eq. 1) and does not test how reliable it is. In brackets: 95 % intervals
from a bootstrap over groups. `n`: answers with a number; the others could not be read, or their backend gave no
probabilities.
"""
TOLD = {
    "ranking": "AUROC: the chance that a text with an error gets the lower score; .5 is guessing, a tie counts half.",
    "verdict": "p(R) as the chance that the verdict is right. ECE: its distance from the share of right verdicts over "
    "ten bins of equally many texts. Brier: the mean squared difference; beside it that of always naming the share.",
    "error": "The probability that a text has an error. Signed certainty: +p(R) for an error, −p(R) for none; maps are "
    "fitted on the dev sets. A Brier score above *Brier of the share* is worse than always naming the share of errors.",
    "abstention": "The judge leaves its least certain answers to a person. Area: the mean share of wrong verdicts over "
    "every coverage. Any order: when certainty is not looked at. What has no certainty comes last, and is wrong where "
    "it could not be read.",
}


@step
def main(
    cells_paths: Annotated[Sequence[Path], "certainty/<system>/<split>.json"], numbers_path: Path, page_path: Path
) -> None:
    lines = [line for path in cells_paths for line in _lines(path)]
    tables.write_lines(numbers_path, COLUMNS, lines)
    provenance.write_text(page_path, _page(tables.read_lines(numbers_path)))


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """Every number of one system, with what it is measured against."""
    numbers = provenance.read_json(path, "ranking", "error", "abstention")
    common = {"system": System.from_path(path).key, "dataset": "all", "cell": str(path)}
    common["failures"] = numbers["failures"]
    for name, ranked in numbers["ranking"].items():
        yield common | _auroc(ranked) | {"of": name}
    for dataset, ranked in numbers["by_dataset"].items():
        yield common | _auroc(ranked) | {"of": "certainty", "dataset": dataset, "failures": ""}
    for measure, of, reliability in (
        ("verdict", "p(R)", numbers["verdict"]),
        *(("error", name, mapped) for name, mapped in numbers["error"].items()),
    ):
        counts = {"of": of, "n": reliability["n"], "unscored": reliability["unscored"]}
        yield common | counts | {"measure": f"{measure} ECE", "value": rounded_text(reliability["expected_error"])}
        brier = {name: rounded_text(reliability[f"brier_{name}"]) for name in ("low", "high", "floor")}
        yield common | counts | brier | {"measure": f"{measure} Brier", "value": rounded_text(reliability["brier"])}
    for name in (name for name in CERTAIN if name in numbers["abstention"]):
        abstention = numbers["abstention"][name]
        counts = {"of": name, "n": abstention["n"] - abstention["unscored"], "unscored": abstention["unscored"]}
        area = {"value": rounded_text(abstention["area"]), "floor": rounded_text(abstention["any_order"])}
        yield common | counts | area | {"measure": "area of risk"}


def _auroc(ranked: dict[str, Any]) -> dict[str, Any]:
    values = {
        "value": rounded_text(ranked["auroc"]),
        "low": rounded_text(ranked["low"]),
        "high": rounded_text(ranked["high"]),
    }
    return {"measure": "AUROC", **values, "floor": 0.5, "n": ranked["n"], "unscored": ranked["unscored"]}


def _page(lines: list[dict[str, str]]) -> str:
    at = {(line["system"], line["dataset"], line["measure"], line["of"]): line for line in lines}
    systems = list(dict.fromkeys(line["system"] for line in lines))
    datasets = sorted({line["dataset"] for line in lines} - {"all"})
    body = [
        [markdown.escape(system), *(_ranked(at[system, "all", "AUROC", of]) for of in RANKED), *_rows(at, system)]
        for system in systems
    ]
    page = _section("Ranking", "ranking", ["system", *RANKED.values(), "rows", "unreadable"], body)
    body = [[markdown.escape(s), *(_shown(at.get((s, d, "AUROC", "certainty"))) for d in datasets)] for s in systems]
    page += "\nBy dataset, by signed certainty:\n\n" + markdown.table(["system", *datasets], body)
    head = ["ECE", "Brier [95 %]", "Brier of the share", "n"]
    body = [[markdown.escape(system), *_calibrated(at, system, "verdict", "p(R)")] for system in systems]
    page += _section("Is p(R) the chance of a right verdict?", "verdict", ["system", *head], body)
    body = [
        [markdown.escape(system), label, *_calibrated(at, system, "error", of)]
        for system in systems
        for of, label in MAPS.items()
        if (system, "all", "error ECE", of) in at
    ]
    page += _section("The probability of an error", "error", ["system", "map", *head], body)
    body = [
        [
            markdown.escape(system),
            CERTAIN[of],
            *map(_number, (line["value"], line["floor"])),
            line["n"],
            line["unscored"],
        ]
        for (system, _, measure, of), line in at.items()
        if measure == "area of risk"
    ]
    return (
        HEAD
        + page
        + _section(
            "Abstention", "abstention", ["system", "certain by", "area", "any order", "n", "without certainty"], body
        )
    )


def _section(title: str, told: str, head: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    return f"\n## {title}\n\n{TOLD[told]}\n\n" + markdown.table(head, body)


def _rows(at: dict[tuple[str, str, str, str], dict[str, str]], system: str) -> list[str]:
    line = at[system, "all", "AUROC", "certainty"]
    return [str(int(line["n"]) + int(line["unscored"])), line["failures"]]


def _ranked(line: dict[str, str]) -> str:
    return f"{_shown(line)} (n = {line['n']})"


def _calibrated(at: dict[tuple[str, str, str, str], dict[str, str]], system: str, what: str, of: str) -> list[str]:
    error, brier = at[system, "all", f"{what} ECE", of], at[system, "all", f"{what} Brier", of]
    return [_number(error["value"]), _shown(brier), _number(brier["floor"]), brier["n"]]


def _shown(line: dict[str, str] | None) -> str:
    if line is None or not line["value"]:
        return "–"
    return line["value"] + (f" [{line['low']}, {line['high']}]" if line["low"] else "")


def _number(value: str) -> str:
    return value or "–"


if __name__ == "__main__":
    run(main)
