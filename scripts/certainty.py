"""Measure how sure judges are and how often they are right: calibration and abstention."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import polars as pl

from excam.core import provenance, tables
from excam.core.provenance import read_json
from excam.error_reports.evaluation import certainty
from excam.error_reports.evaluation.cells import System, rounded_text
from excam.pages import markdown, plotting
from scripts import step


@step(
    version=4,
    inputs={"test": "judgements_of_test", "dev": "judgements_of_dev"},
    settings={"seed": "seed"},
    outputs={"numbers": "results/certainty/{model}/{trained_on}/{judge}/test.json"},
)
def evaluate_certainty(
    test_paths: Annotated[Sequence[Path], "judgements of the test sets"],
    seed: int,
    numbers_path: Path,
    dev_paths: Annotated[Sequence[Path], "of the dev sets; none: nothing is fitted"] = (),
) -> None:
    """Measure how reliable a judge's confidence is, from judgements of test sets, and of dev sets for fitting."""
    test, dev = (
        pl.concat([tables.read_frame(path) for path in paths]) if paths else None for paths in (test_paths, dev_paths)
    )
    assert test is not None
    numbers = certainty.evaluate(test, dev, seed)
    numbers["inputs"] = {str(path): provenance.sha256(path) for path in (*test_paths, *dev_paths)}
    provenance.write_json(numbers_path, numbers)


CERTAINTY_COLUMNS = (
    "system",
    "dataset",
    "measure",
    "of",
    "value",
    "low",
    "high",
    "floor",
    "n",
    "unscored",
    "failures",
    "cell",
)


RANKED = {"score": "score", "score_p": "score, p(R) for 0", "certainty": "signed certainty"}


CERTAINTY_MAPS = {
    "uncalibrated": "(1 + signed certainty) / 2",
    "platt": "Platt, on dev",
    "isotonic": "isotonic, on dev",
}


CERTAIN = {"certainty": "p(R)", **{name: label for name, label in CERTAINTY_MAPS.items() if name != "uncalibrated"}}


HEAD = """# How far certainty can be trusted

Beyond the paper, which takes p(R) as a score (Eq. 1) and does not test how reliable it is. In brackets: 95 % intervals
over groups. `n`: answers with a number; the others could not be read, or their backend gave no
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


@step(
    version=4,
    result="results/paper/certainty",
    outputs=["numbers", "page"],
    category="Results",
    target="paper",
    inputs={"cells": "certainty_cells"},
)
def table_certainty(
    cells_paths: Annotated[Sequence[Path], "certainty/<system>/<split>.json"], numbers_path: Path, page_path: Path
) -> None:
    """Write how reliable the confidence of every system is: ranking, calibration, abstention.

    How far certainty can be trusted: AUROC of scores and certainties, calibration of p(R) and of the probability of an
    error (maps fitted on the dev sets), and the share of wrong verdicts when the least certain texts are left to a
    person.
    """
    lines = [line for path in cells_paths for line in _lines(path)]
    tables.write_lines(numbers_path, CERTAINTY_COLUMNS, lines)
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
        for of, label in CERTAINTY_MAPS.items()
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


def _section(title: str, about: str, head: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    return f"\n## {title}\n\n{TOLD[about]}\n\n" + markdown.table(head, body)


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


RELIABILITY_COLUMNS = ("system", "map", "low", "high", "probability", "observed", "n", "unscored", "cell")


LABELS = {"certainty": "p(R)", "uncalibrated": "as stated", "platt": "Platt", "isotonic": "isotonic"}  # of curves


FEWEST = 10  # rows of a point that is drawn: shares of fewer jump about


RELIABILITY_TITLE = "Stated probability of an error, and how often there is one"


@step(
    version=3,
    result="results/paper/reliability",
    outputs=["numbers", "pictures"],
    category="Results",
    target="paper",
    inputs={"cells": "certainty_cells_of_excam"},
)
def figure_reliability(
    cells_paths: Annotated[Sequence[Path], "certainty/<system>/<split>.json"],
    numbers_path: Path,
    pictures_paths: Sequence[Path],
) -> None:
    """Draw the reliability diagram: stated probability of an error against its frequency, from its own numbers.

    The probability of an error as the judge's certainty states it, and after maps fitted on the dev sets, beside how
    often there is one. On the grey line the stated probability is right.
    """
    lines = []
    for path in cells_paths:
        errors = read_json(path, "error")["error"]
        for name, reliability in errors.items():
            common = {"system": System.from_path(path).key, "map": name, "unscored": reliability["unscored"]}
            lines += [common | _bin(interval) | {"cell": str(path)} for interval in reliability["bins"]]
    tables.write_lines(numbers_path, RELIABILITY_COLUMNS, lines)
    draw_reliability(tables.read_lines(numbers_path), pictures_paths)


def _bin(interval: dict[str, float]) -> dict[str, float | None]:
    names = ("low", "high", "probability", "observed")
    return {"n": interval["n"], **{name: rounded_text(interval[name]) for name in names}}


def _curves(lines: Sequence[dict[str, str]], label: str, across: str, up: str) -> dict[str, list[tuple[float, float]]]:
    """Return the points of each system and label, from these columns."""
    curves: dict[str, list[tuple[float, float]]] = {}
    for line in lines:
        name = f"{System.from_key(line['system']).title}: {LABELS[line[label]]}"
        curves.setdefault(name, []).append((float(line[across]), float(line[up])))
    return curves


def _save_nothing(title: str, pictures: Sequence[Path]) -> None:
    text = f"Fewer than {FEWEST} answers came with a certainty: nothing to show."
    plotting.save(plotting.words(title, text), pictures)


def draw_reliability(lines: list[dict[str, str]], pictures: Sequence[Path]) -> None:
    """Draw from the rows of reliability.csv alone."""
    large = [line for line in lines if int(line["n"]) >= FEWEST]
    if not large:
        _save_nothing(RELIABILITY_TITLE, pictures)
        return
    counts = [int(line["n"]) for line in large]
    figure = plotting.curves(
        _curves(large, "map", "probability", "observed"),
        title=RELIABILITY_TITLE,
        across="stated probability of an error",
        up="share of texts with an error",
        reference=((0, 0), (1, 1)),
        note="A point is about a tenth of the rows with a certainty, more or fewer where many got the same probability "
        f"({min(counts):,} to {max(counts):,} rows; fewer than {FEWEST} are not drawn). On the grey line the stated "
        "probability is right. As stated: (1 ± p(R)) / 2; Platt and isotonic are maps fitted on the dev sets.",
    )
    plotting.save(figure, pictures)


ABSTENTION_COLUMNS = ("system", "certain_by", "coverage", "risk", "rows", "unscored", "cell")


ABSTENTION_TITLE = "Wrong verdicts when only the surest texts are answered"


@step(
    version=4,
    result="results/paper/abstention",
    outputs=["numbers", "pictures"],
    category="Results",
    target="paper",
    inputs={"cells": "certainty_cells_of_excam"},
)
def figure_abstention(
    cells_paths: Annotated[Sequence[Path], "certainty/<system>/<split>.json"],
    numbers_path: Path,
    pictures_paths: Sequence[Path],
) -> None:
    """Draw the error rate if only the most confident verdicts are kept, from the numbers it writes.

    The share of wrong verdicts when only the surest texts are answered, by p(R) and by fitted probabilities. An
    unreadable answer is wrong and comes last.
    """
    lines = []
    for path in cells_paths:
        for name, abstention in read_json(path, "abstention")["abstention"].items():
            common = {"system": System.from_path(path).key, "certain_by": name, "cell": str(path)}
            common |= {"rows": abstention["n"], "unscored": abstention["unscored"]}
            lines += [common | {"coverage": rounded_text(x), "risk": rounded_text(y)} for x, y in abstention["curve"]]
    tables.write_lines(numbers_path, ABSTENTION_COLUMNS, lines)
    draw_abstention(tables.read_lines(numbers_path), pictures_paths)


def draw_abstention(lines: list[dict[str, str]], pictures: Sequence[Path]) -> None:
    """Draw from the rows of abstention.csv alone."""
    large = [line for line in lines if float(line["coverage"]) * int(line["rows"]) >= FEWEST]
    if not large:
        _save_nothing(ABSTENTION_TITLE, pictures)
        return
    figure = plotting.curves(
        _curves(large, "certain_by", "coverage", "risk"),
        title=ABSTENTION_TITLE,
        across="share of texts that are answered, surest first",
        up="share of wrong verdicts",
        note=f"Test rows: {int(lines[0]['rows']):,}. p(R): the report's verdict. Platt and isotonic: an error where "
        "its probability, by a map fitted on the dev sets, is .5 or more. An unreadable answer is wrong, and last; "
        f"texts with the same certainty are answered together; fewer than {FEWEST} are not drawn.",
    )
    plotting.save(figure, pictures)
