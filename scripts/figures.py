"""Draw ExCAM's figures of the data set and of systems."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Annotated, Any

import polars as pl

from excam.core import tables
from excam.error_reports.evaluation import cells
from excam.error_reports.evaluation.cells import LEVEL, Cell, Test
from excam.excam40k import trivial_baselines
from excam.excam40k.publishing import about
from excam.pages import plotting
from scripts import step

FIGURE = {"target": "paper", "category": "Results", "outputs": ["numbers", "pictures"]}  # of the steps here

IN_DOMAIN, AVERAGE = "ALL (ID)", "AVG (OOD)"


FIGURE_3_COLUMNS: tuple[str, ...] = (
    *("row", "column", "scaled_accuracy", "low", "high", "n", "failures", "significant"),
    *("trivial_baseline", "p_baselines", "p_baselines_holm", "p_own_base", "p_own_base_holm", "cell"),
)


@step(
    version=9,
    result="results/paper/figure-3",
    inputs={"cells": "cells_of_columns", "tests": "tests_of_columns", "floors": "results/paper/floors.csv"},
    settings={"datasets": "datasets", "soft": "soft"},
    **FIGURE,
)
def figure_3(
    datasets: Sequence[str],
    cells_paths: Sequence[Path],
    tests_paths: Sequence[Path],
    floors_path: Annotated[Path, "floors.csv: the trivial baselines of each test set"],
    numbers_path: Path,
    pictures_paths: Sequence[Path],
    soft: Annotated[Sequence[str], "datasets whose errors are soft; their columns get a †"] = (),
) -> None:
    """Draw Figure 3: out-of-domain scaled accuracy, models by test sets, from the numbers it writes.

    Scaled accuracy per test set. For ExCAM each column shows the adapter that was trained on all datasets but that one;
    ALL (ID) shows the adapter trained on all. ``*``: its interval is above every trivial baseline (``floors.csv``), and
    better than every untuned model in the column, paired permutation test over groups, p ≤ .05 after Holm's correction
    over the figure; ``°``: in the column alone, which is what the paper marks. ``†``: soft errors.
    """
    tests = cells.tests(tests_paths)
    trivial = tables.read_lines(floors_path)
    lines = [
        _figure_3_line(
            cell,
            tests[cell.dataset],
            trivial_baselines.highest(trivial, cell.dataset, "scaled_accuracy", cell.system.model),
        )
        for cell in map(cells.read, cells_paths)
    ]
    for name in ("p_baselines", "p_own_base"):
        corrected = cells.holm_adjusted([line[name] for line in lines])
        for line, p in zip(lines, corrected, strict=True):
            line |= {name: cells.significant_digits(line[name]), f"{name}_holm": cells.significant_digits(p)}
    lines += _means(lines, AVERAGE, _common(lines, datasets))  # so that rows compare
    tables.write_lines(numbers_path, FIGURE_3_COLUMNS, lines)
    draw_figure_3(tables.read_lines(numbers_path), datasets, soft, pictures_paths)


def _figure_3_line(cell: Cell, tests: Sequence[Test], trivial: float) -> dict[str, Any]:
    """Return the numbers of a cell; `trivial` is the highest scaled accuracy of a trivial baseline on its test set."""
    system = cell.system
    above = cell.accuracy["low"] > trivial  # not the value: it is far above models that cannot answer, even at chance
    baselines = cells.p_better(system.key, tests, lambda other: not other.tuned) if system.tuned else None
    p_values = cells.p_better(system.key, tests, lambda other: not other.tuned and other.model == system.model)
    return {
        "row": system.name,
        "column": IN_DOMAIN if cell.dataset == "all" else cell.dataset,
        **cell.accuracy,
        "significant": system.tuned and above and _beats_baselines(system.key, tests),
        "trivial_baseline": trivial,
        "p_baselines": baselines,
        "p_own_base": p_values if system.tuned else None,
    }


def _beats_baselines(system: str, tests: Sequence[Test]) -> bool:
    """Better than every model as it comes, each at `LEVEL`."""
    p_value = cells.p_better(system, tests, lambda other: not other.tuned)
    return p_value is not None and p_value <= LEVEL


def _common(lines: Sequence[Mapping[str, Any]], datasets: Sequence[str]) -> list[str]:
    """Return the columns that every row has."""
    rows, filled = {line["row"] for line in lines}, {(line["row"], line["column"]) for line in lines}
    return [dataset for dataset in datasets if all((row, dataset) in filled for row in rows)]


def draw_figure_3(
    lines: list[dict[str, str]], datasets: Sequence[str], soft: Sequence[str], pictures: Sequence[Path]
) -> None:
    """Draw from the rows of figure-3.csv alone; ExCAM's rows stand below a gap."""
    names = dict.fromkeys(line["row"] for line in lines)
    tuned = {line["row"] for line in lines if line["row"].startswith("ExCAM (")}
    rows = sorted(names, key=lambda row: row in tuned)
    columns = [*datasets, IN_DOMAIN, AVERAGE]
    at = {(line["row"], line["column"]): line for line in lines}
    counts = [next((int(at[row, c]["n"]) for row in rows if (row, c) in at and c != AVERAGE), None) for c in columns]
    averaged = _common(lines, datasets)
    behind = [*counts[:-1], sum(counts[columns.index(column)] or 0 for column in averaged)]
    figure = plotting.heat_map(
        [
            [_cell(line := at.get((row, c), {}), _mark(line), n=n) for c, n in zip(columns, behind, strict=True)]
            for row in rows
        ],
        plotting.Axis(rows, separators=[len(rows) - len(tuned)]),
        plotting.Axis(
            [f"{about.title(c)} †" if c in soft else about.title(c) for c in columns],
            separators=[len(datasets)],
            counts=counts,
        ),
        plotting.Scale("scaled accuracy; 0: chance"),
        title="Out-of-domain scaled accuracy",
        note="* the 95 % interval is above every trivial baseline, and better than every untuned model in the column: "
        "paired permutation tests over groups, two-sided, p ≤ .05 after Holm's correction over the figure; ° p ≤ .05 "
        "in the column alone. † soft errors. 0 is chance; an unreadable answer counts as wrong. AVG (OOD): mean over "
        f"the test sets that every row has ({len(averaged)}). ExCAM: each column judged by an adapter that never saw "
        "its dataset, ALL (ID) by the one that saw all.",
    )
    plotting.save(figure, pictures)


def _cell(line: dict[str, str], mark: str, *, n: int | None = None, framed: bool = False) -> plotting.Tile:
    return plotting.Tile(float(line["scaled_accuracy"]) if line else None, n, mark, framed=framed)


def _mark(line: dict[str, str]) -> str:
    if line.get("significant") != "True":
        return ""
    return "*" if float(line["p_baselines_holm"]) <= LEVEL else "°"


FIGURE_10_COLUMNS = (
    *("row", "tuned", "language", "shown", "in_dataset", "scaled_accuracy", "low", "high", "n", "failures", "spread"),
    "cell",
)


MORE_THAN = 100  # rows in the data set of a language that is shown (Appendix I)


TITLE = "Scaled accuracy by language"


@step(
    version=6,
    result="results/paper/figure-10",
    inputs={"cells": "cells_of_all_in_domain", "samples": "train_dev_test"},
    **FIGURE,
)
def figure_10(
    cells_paths: Annotated[Sequence[Path], "of `all` test sets together"],
    samples_paths: Annotated[Sequence[Path], "<dataset>/<split>.parquet"],
    numbers_path: Path,
    pictures_paths: Sequence[Path],
) -> None:
    """Draw Figure 10: scaled accuracy by language, and the spread over languages, from the numbers it writes.

    Scaled accuracy by language with 95 % intervals, for languages with more than 100 rows in the data set, as in the
    paper; the spread is the best of them minus the worst. Languages below are in ``figure-10.csv``, with ``shown``
    False. ``in_dataset`` counts rows of all splits, ``n`` test rows; those with fewer than 20 test rows are in the last
    line.
    """
    frames = [tables.read_frame(path).select("language") for path in samples_paths]
    in_dataset = dict(pl.concat(frames)["language"].value_counts().iter_rows())
    lines = [line for path in cells_paths for line in _lines(cells.read(path), in_dataset)]
    tables.write_lines(numbers_path, FIGURE_10_COLUMNS, lines)
    draw_figure_10(tables.read_lines(numbers_path), pictures_paths)


def _lines(cell: Cell, in_dataset: Mapping[str, int]) -> Iterator[dict[str, Any]]:
    """One line per language of a system, most test rows first, and one for the rows whose language has no section.

    `in_dataset` counts the rows of each language in the data set, all splits together.
    """
    common = {"row": cell.system.name, "tuned": cell.system.tuned, "cell": cell.path}
    sections = sorted(cell.numbers["by_language"].items(), key=lambda item: (-item[1]["n"], item[0]))
    bars = [section["scaled"] for language, section in sections if in_dataset.get(language, 0) > MORE_THAN]
    spread = cells.rounded_text(max(bars) - min(bars)) if len(bars) > 1 else None
    for language, section in sections:
        rows = in_dataset.get(language, 0)
        yield {
            **common,
            "language": language,
            "shown": rows > MORE_THAN,
            "in_dataset": rows,
            **cells.accuracy_columns(section),
            "n": section["n"],
            "spread": spread if rows > MORE_THAN else None,
        }
    rest = cell.numbers["n"] - sum(section["n"] for _, section in sections)
    others = sum(in_dataset.values()) - sum(in_dataset.get(language, 0) for language, _ in sections)
    yield {**common, "language": "", "shown": False, "in_dataset": others, "n": rest}


def draw_figure_10(lines: list[dict[str, str]], pictures: Sequence[Path]) -> None:
    """Draw from the rows of figure-10.csv alone; say so where no language has enough of them."""
    names = dict.fromkeys(line["row"] for line in lines)
    tuned = {line["row"] for line in lines if line["tuned"] == "True"}
    rows = sorted(names, key=lambda row: row in tuned)
    drawn = [line for line in lines if line["shown"] == "True"]
    first = [line for line in lines if line["row"] == rows[0] and line["shown"] != "True"]
    hidden = sum(int(line["n"]) for line in first)
    if not drawn:
        text = (
            f"No language has more than {MORE_THAN} rows in the data set and enough test rows for an interval: nothing "
            f"to show. Test rows: {hidden:,}."
        )
        plotting.save(plotting.words(TITLE, text), pictures)
        return
    counts = {line["language"]: int(line["n"]) for line in drawn}
    at = {(line["language"], line["row"]): line for line in drawn}
    panels = {
        f"{name}\nn = {count:,}": [_point(at.get((name, row))) for row in rows]
        for name, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    }
    spreads = {line["row"]: f"{float(line['spread']):.2f}" for line in drawn} if len(counts) > 1 else {}
    spread = "Spread: the best language minus the worst. " if len(counts) > 1 else ""
    figure = plotting.forest(
        panels,
        [plotting.ForestRow(row, row in tuned, beside=spreads.get(row, "")) for row in rows],
        "scaled accuracy; 0: chance",
        beside="spread" if spreads else "",
        title=TITLE,
        note=f"Languages with more than {MORE_THAN} rows in the data set; n counts test rows, {hidden:,} are of other "
        "languages. Blue dots: ExCAM, trained on all datasets; orange squares: models as they come. Lines: 95 % "
        f"intervals over groups. {spread}0 is chance; an unreadable answer counts as wrong.",
    )
    plotting.save(figure, pictures)


def _point(line: dict[str, str] | None) -> plotting.Point | None:
    return (float(line["scaled_accuracy"]), float(line["low"]), float(line["high"])) if line else None


ALL, MEAN = "ALL", "MEAN"


FIGURE_11_COLUMNS = (
    *("row", "trained_on", "judge", "column", "scaled_accuracy", "low", "high", "n", "failures", "seen"),
    *("difference", "p_holm", "cell"),
)


@step(
    version=4,
    result="results/paper/figure-11/{model}",
    inputs={"cells": "cells_of_adapters", "changes": "results/paper/leave-one-out.csv"},
    settings={"datasets": "datasets", "unseen": "unseen"},
    **FIGURE,
)
def figure_11(
    model: str,
    datasets: Sequence[str],
    cells_paths: Sequence[Path],
    changes_path: Annotated[Path, "leave-one-out.csv"],
    numbers_path: Path,
    pictures_paths: Sequence[Path],
    unseen: Annotated[Sequence[str], "<trained_on>/<dataset> that it never saw"] = (),
) -> None:
    """Draw Figure 11: every adapter of a base model on every test set, from the numbers it writes.

    Scaled accuracy of every adapter of a base model on every test set. Framed: the adapter never saw the dataset.
    ``*``: a leave-one-out adapter differs from the one trained on all, paired permutation test over groups, p ≤ .05
    after Holm's correction over the figure.
    """
    tests = {
        (f"without-{line['left_out']}", line["judge"], line["on"]): line
        for line in tables.read_lines(changes_path)
        if line["model"] == model
    }
    lines = [_figure_11_line(cell, set(unseen), tests) for cell in map(cells.read, cells_paths)]
    lines += _means(lines, MEAN, {line["column"] for line in lines} - {ALL}, ("row", "trained_on", "judge"))
    tables.write_lines(numbers_path, FIGURE_11_COLUMNS, lines)
    draw_figure_11(tables.read_lines(numbers_path), model, datasets, pictures_paths)


def _figure_11_line(cell: Cell, unseen: set[str], tests: dict[tuple[str, str, str], dict[str, str]]) -> dict[str, Any]:
    system, on_all = cell.system, cell.dataset == "all"
    trained_on, test = system.trained_on, tests.get((system.trained_on, system.judge, cell.dataset), {})
    return {
        "row": trained_on.replace("without-", "without ") + ("" if system.judge == "report" else f", {system.judge}"),
        **{"trained_on": trained_on, "judge": system.judge, "column": ALL if on_all else cell.dataset},
        **cell.accuracy,
        "seen": None if on_all else f"{trained_on}/{cell.dataset}" not in unseen,
        **{name: test.get(name) for name in ("difference", "p_holm")},
    }


def _means(
    lines: Iterable[dict[str, Any]], column: str, over: Collection[str], names: Sequence[str] = ("row",)
) -> list[dict[str, Any]]:
    """Return a line for `column` of each row, with these names: the mean over columns, each with the same weight.

    `n` says over how many.
    """
    of_row: dict[tuple[str, ...], list[float]] = {}
    for line in lines:
        values = of_row.setdefault(tuple(line[name] for name in names), [])
        values += [line["scaled_accuracy"]] if line["column"] in over else []
    return [
        {
            **dict(zip(names, row, strict=True)),
            "column": column,
            "scaled_accuracy": round(mean(values), 4),
            "n": len(values),
        }
        for row, values in of_row.items()
        if values
    ]


def draw_figure_11(lines: list[dict[str, str]], model: str, datasets: Sequence[str], pictures: Sequence[Path]) -> None:
    """Draw from the rows of the CSV alone."""
    rows = list(dict.fromkeys(line["row"] for line in lines))
    columns = [*datasets, ALL, MEAN]
    at = {(line["row"], line["column"]): line for line in lines}
    grid = [[at.get((row, column), {}) for column in columns] for row in rows]
    counts = [next((int(at[row, c]["n"]) for row in rows if (row, c) in at and c != MEAN), None) for c in columns]
    first = next((place for place, row in enumerate(rows) if not row.startswith("all")), len(rows))
    figure = plotting.heat_map(
        [[_cell(line, _star(line), framed=line.get("seen") == "False") for line in row] for row in grid],
        plotting.Axis([_name(row) for row in rows], separators=[first]),
        plotting.Axis([about.title(column) for column in columns], separators=[len(datasets)], counts=counts),
        plotting.Scale("scaled accuracy; 0: chance"),
        title=f"Scaled accuracy of every adapter of {model}",
        note="Framed: the adapter never saw this dataset. * a leave-one-out adapter differs from the one trained on "
        "all: paired permutation tests over groups, two-sided, p ≤ .05 after Holm's correction over this figure. 0 is "
        "chance; an unreadable answer is wrong. ALL: every test set together; MEAN: of the datasets, all alike.",
    )
    plotting.save(figure, pictures)


def _star(line: dict[str, str]) -> str:
    return "*" if line.get("p_holm") and float(line["p_holm"]) <= LEVEL else ""


def _name(row: str) -> str:
    kind, _, rest = row.partition(" ")
    dataset, comma, judge = rest.partition(",")
    return f"without {about.title(dataset)}{comma}{judge}" if kind == "without" else f"trained on {row}"
