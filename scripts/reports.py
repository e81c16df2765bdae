"""Measure error reports: what is marked, of which type and severity, and where."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import product
from pathlib import Path
from typing import Annotated, Any

import polars as pl

from excam.core import paths, provenance, tables
from excam.core.provenance import read_json, write_text
from excam.core.steps import read_steps
from excam.error_reports import record_files
from excam.error_reports.evaluation import cells, report_quality, verdicts
from excam.error_reports.evaluation import judged_rows as rows_of_judgements
from excam.error_reports.evaluation.cells import UNDEFINED, System
from excam.excam40k.publishing import result_words
from excam.pages import markdown
from excam.pages import results_index as results_index_page
from excam.pages.markdown import escape, table
from excam.pages.row_browser import FITS
from excam.stats.bootstrap import share_interval
from scripts import ROOT, step


@step(
    version=11,
    inputs={"judgements": "judgements_of_test", "samples": "test_sets"},
    settings={"system": "system"},
    outputs={"page": "results/paper/judged-rows/{model}/{trained_on}/{judge}.html"},
    category="Judged rows",
)
def judged_rows(
    system: Annotated[str, "<model>/<trained_on>/<judge>"],
    judgements_paths: Sequence[Path],
    samples_paths: Annotated[Sequence[Path], "the rows that were judged"],
    page_path: Path,
) -> None:
    """Write every judged test row of one system on one page, with search, filters and marked errors.

    All test rows of a system: both texts with gold errors and found errors marked, both reports, the verdict. Search
    looks through all texts; filters by dataset, language and verdict; the address holds what is chosen.
    """
    judgements = pl.concat([tables.read_frame(path) for path in judgements_paths])
    samples = pl.concat([tables.read_frame(path).select(rows_of_judgements.GOLD) for path in samples_paths])
    inputs = {str(path): provenance.sha256(path) for path in (*judgements_paths, *samples_paths)}
    text = rows_of_judgements.page(system, rows_of_judgements.join(judgements, samples), inputs)
    provenance.write_text(page_path, text)
    if (size := page_path.stat().st_size) > FITS:
        provenance.say(
            f"{page_path}: {size} bytes; in a report of one file Chromium shows nothing above {FITS}; "
            "open it by itself, or make `snakemake --report report.zip`"
        )


@step(
    version=4,
    inputs={"judgements": "judgements_pooled", "samples": "samples_pooled"},
    settings={"seed": "seed"},
    outputs={"numbers": "results/reports/{model}/{trained_on}/{judge}/{dataset}/{split}.json"},
    wildcards={"judge": ["report"]},
)
def evaluate_reports(
    judgements_paths: Sequence[Path],
    samples_paths: Annotated[Sequence[Path], "the rows that were judged"],
    seed: int,
    numbers_path: Path,
) -> None:
    """Measure the quality of reports, from judgements and gold rows of one dataset or of all together."""
    judgements = pl.concat([tables.read_frame(path) for path in judgements_paths])
    samples = pl.concat([tables.read_frame(path).select(report_quality.NEEDED) for path in samples_paths])
    numbers = report_quality.evaluate(judgements, samples, seed)
    numbers["inputs"] = {str(path): provenance.sha256(path) for path in (*judgements_paths, *samples_paths)}
    provenance.write_json(numbers_path, numbers)


RATE_COLUMNS = (
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
    "Rates with 95 % intervals over groups. A parse failure reports nothing and is not a hit; it is "
    "counted. The paper gives its rates of found errors where it speaks of hard errors, and does not say whether soft "
    "ones count: they are shown beside those of all errors."
)


@step(
    version=7,
    result="results/paper/error-rates",
    outputs=["numbers", "page"],
    category="Results",
    inputs={"judgements": "judgements_in_domain", "printed": "paper/error-rates.csv"},
    settings={"seed": "seed"},
)
def error_rates(
    judgements_paths: Annotated[Sequence[Path], "of each system and dataset"],
    printed_path: Annotated[Path, "paper/error-rates.csv"],
    seed: int,
    numbers_path: Path,
    page_path: Path,
) -> None:
    """Compute how often no error is reported in rows without errors, and an error in rows with errors (ExCAM §5).

    How often no error is reported where there is none, and an error where there is one, with 95 % intervals, and the
    paper's rates beside those of its own systems. A parse failure is not a hit.
    """
    paper = {(line["system"], line["rows"]): line for line in tables.read_lines(printed_path)}
    judged = cells.judgements(judgements_paths).items()
    frames = [(system, pl.concat(by_dataset.values())) for system, by_dataset in judged]
    lines = [line for system, frame in frames for line in _rate_lines(system, frame, paper, seed)]
    tables.write_lines(numbers_path, RATE_COLUMNS, lines)
    write_text(page_path, _rates_page(lines, list(paper.values())))


def _rate_lines(
    system: System, frame: pl.DataFrame, paper: dict[tuple[str, str], dict[str, str]], seed: int
) -> Iterator[dict[str, Any]]:
    cell = paths.Cell(system.model, system.trained_on, system.judge, paths.ALL, "test").path("evaluation")
    for rows, condition in PARTS.items():
        part = frame.filter(condition)
        if not part.height:
            continue
        guesses, wanted = verdicts.predicted_errors(part), rows != "without error"
        hits = [guess is wanted for guess in guesses]
        printed = paper.get((system.key, rows), {})
        yield {
            **{"system": system.key, "rows": rows, "reported": "an error" if wanted else "none"},
            **_share(hits, part, seed),
            "unreadable": guesses.count(None),
            **{"printed": printed.get("rate"), "printed_source": printed.get("source")},
            "difference": cells.rounded_text(sum(hits) / len(hits) - float(printed["rate"])) if printed else None,
            "cell": cell.as_posix(),
        }


def _share(hits: Sequence[bool], rows: pl.DataFrame, seed: int) -> dict[str, Any]:
    """Return the share of hits with its interval over the groups of the rows, as columns of a table."""
    low, high = share_interval(hits, None, rows["group"].to_list(), seed=seed) or (None, None)
    rates = {"rate": sum(hits) / len(hits), "low": low, "high": high}
    return {name: cells.rounded_text(value) for name, value in rates.items()} | {"hits": sum(hits), "n": len(hits)}


def _rates_page(lines: Sequence[dict[str, Any]], paper: Sequence[dict[str, str]]) -> str:
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


REPORT_COLUMNS = (
    *("model", "trained_on", "judge", "dataset", "measure", "over", "value", "low", "high", "n", "of"),
    *("floor", "rows", "failures", "cell"),
)


FLOORS = ("one_severity", "one_type")  # what takes no skill


# Where a number stands in a cell, over which rows it is, what its n counts; its name is the place with underscores.
SPANS = [
    (f"spans.{over}.{kind}.{number}", over, of)
    for over, kind in product(("strict", "readable", "erroneous_strict", "erroneous_readable"), ("exact", "partial"))
    for number, of in (
        ("precision", "predicted errors"),
        ("recall", "gold errors"),
        ("f1", "errors of both"),
    )
]


AGREEMENT = [
    ("agreement.place", "erroneous_readable", "rows with found errors"),
    *((f"agreement.{name}", "readable", "matched errors") for name in ("severity", "type")),
]


DIFFERENCES = [
    (f"{name}.{part}.{number}", over, "rows")
    for name, (part, prefix) in product(("error_count", "score"), (("all", ""), ("erroneous", "erroneous_")))
    for number, over in (
        *((number, f"{prefix}readable") for number in ("signed", "absolute", "exact")),
        ("exact_strict", f"{prefix}strict"),
    )
]


EXPLANATIONS = [
    *(("explanations." + name, "detected hard errors", "rows") for name in ("held", "outside")),
    ("explanations.answer_shown", "detected hard errors with the answer in the instruction", "rows"),
    ("explanations.answer_not_shown", "detected hard errors without the answer in the instruction", "rows"),
    ("explanations.strict", "hard errors", "rows"),
    ("explanations.gold_held", "hard errors, their gold explanations", "rows"),
]


@step(
    version=4,
    result="results/paper/reports",
    outputs=["numbers", "page"],
    category="Results",
    target="paper",
    inputs={"cells": "report_cells", "printed_claims": "paper/claims.csv"},
)
def table_reports(
    cells_paths: Annotated[Sequence[Path], "reports/<system>/<dataset>/<split>.json"],
    printed_claims_path: Annotated[Path, "paper/claims.csv"],
    numbers_path: Path,
    page_path: Path,
) -> None:
    """Write the report quality of every system: spans, severity and type, scores, explanations.

    What the metric writes beside its verdict, against the gold reports: F1 of error spans (exact, and with credit for
    the characters two spans share), agreement of severity and type, error counts and scores, and whether explanations
    of hard errors hold the right answer (the paper prints 48 % and 42 % of the detected errors). Every number has its
    denominator and a 95 % interval over groups.
    """
    made = {path: read_json(path) for path in cells_paths}
    tables.write_lines(
        numbers_path, REPORT_COLUMNS, (line for path, cell in made.items() for line in _report_lines(path, cell))
    )
    printed = [line for line in tables.read_lines(printed_claims_path) if line["id"].startswith("explanation-match")]
    write_text(page_path, _reports_page(made, printed))


def _parts(path: Path, cell: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return the cell, then each of its datasets."""
    return [(paths.Cell.from_path(path).dataset, cell), *cell.get("by_dataset", {}).items()]


def _report_lines(path: Path, cell: dict[str, Any]) -> Iterator[dict[str, Any]]:
    system = asdict(cells.System.from_path(path))
    for dataset, part in _parts(path, cell):
        common = {**system, "dataset": dataset, "cell": str(path)}
        common |= {"rows": part["n"], "failures": part["n"] - part["readable"]}
        for place, over, of in (*SPANS, *AGREEMENT, *DIFFERENCES, *EXPLANATIONS):
            measure = cells.value_at(part, place)
            numbers = {key: cells.rounded_text(measure[key]) for key in ("value", "low", "high")}
            floor = next((cells.rounded_text(measure[name]) for name in FLOORS if name in measure), None)
            named = {"measure": place.replace(".", "_"), "over": over, "n": measure["n"], "of": of, "floor": floor}
            yield {**common, **numbers, **named}


def _shown(cell: dict[str, Any], place: str) -> str:
    """Return a number with its interval and its denominator, or a count as it is."""
    value = cells.value_at(cell, place)
    if isinstance(value, dict):
        return cells.with_interval_text(value)
    return UNDEFINED if value is None else f"{value:.3f}" if isinstance(value, float) else str(value)


def _section(
    title: str, text: str, named: Sequence[tuple[str, dict[str, Any]]], columns: Sequence[tuple[str, str]]
) -> str:
    rows = [[name, *(_shown(cell, place) for _, place in columns)] for name, cell in named]
    return f"\n## {title}\n\n{text}\n\n" + markdown.table(["system", *(head for head, _ in columns)], rows)


def _reports_page(made: dict[Path, dict[str, Any]], printed: Sequence[dict[str, str]]) -> str:
    named = [(markdown.escape(cells.System.from_path(path).key), cell) for path, cell in made.items()]
    parts = [
        (f"{name}, {dataset}", part)
        for (name, _), path in zip(named, made, strict=True)
        for dataset, part in _parts(path, made[path])
    ]
    numbers = "; ".join(f"{line['printed']} {line['unit']} for {line['id'].split('-')[-1]}" for line in printed)
    return "".join(
        [
            "# How good the reports are\n\n",
            "Each number is followed by its 95 % interval (over groups: rows that share content are drawn "
            "together) and its denominator; there is no interval where every group gave the same. *Strict*: over every "
            "row, where an unreadable answer found nothing and is right in nothing. "
            f"{UNDEFINED}: nothing to divide by.\n",
            *(_section(title, text, named, columns) for title, text, columns in SECTIONS),
            _section("Explanations", EXPLAINED.format(said=numbers or UNDEFINED), parts, EXPLANATION_COLUMNS),
        ]
    )


SECTIONS = (
    (
        "Rows and errors",
        "*Not found*: predicted errors whose words are not in the text they name. *In the instruction*: errors there, "
        "gold and predicted. Gold errors of hard and soft rows together.",
        [
            *(("rows", "n"), ("readable", "readable"), ("base samples", "base_samples"), ("groups", "groups")),
            *(("gold errors", "gold.n"), ("in rows", "gold.rows"), ("in the instruction", "gold.in_instruction")),
            *(("predicted", "predicted.n"), ("in rows", "predicted.rows"), ("not found", "predicted.not_found")),
            ("in the instruction", "predicted.in_instruction"),
        ],
    ),
    *(
        (
            f"Spans, {title}",
            "Micro precision, recall and F1 of predicted against gold spans. *Exact*: same text, start and end. "
            "*Partial*: spans are matched one to one so that the sum of their character F1 is greatest; a match gives "
            "precision the share of the predicted span's characters that are the gold one's, and recall the share of "
            "the gold span's. Spans in instruction and output never match, nor do spans that were not found; they "
            "count. The n of F1 is errors of both sides.",
            [(" ".join(place.split(".")[2:]).replace("f1", "F1"), place) for place, rows, _ in SPANS if rows == over],
        )
        for title, over in (("all rows (strict)", "strict"), ("erroneous rows (strict)", "erroneous_strict"))
    ),
    (
        "Place, severity and type",
        "*Place*: of erroneous rows in which an error was found, how many have one that shares a character with a "
        "gold one; the others are right for another reason. Of matched errors (any shared character, one to one) in "
        "readable rows: how often severity and type are the gold ones; a type is compared after NFKC, case folding and "
        "white space. *One*: what naming the most frequent gold value throughout would give. Confusions are "
        "gold > predicted.",
        [
            ("place", "agreement.place"),
            *(("severity", "agreement.severity"), ("one severity", "agreement.severity.one_severity")),
            *(
                (f"{gold} > {predicted}", f"agreement.severity.confusion.{gold}.{predicted}")
                for gold, predicted in product(("minor", "major"), repeat=2)
            ),
            *(("type", "agreement.type"), ("one type", "agreement.type.one_type")),
        ],
    ),
    *(
        (
            title,
            f"Predicted minus gold {what}, over readable rows: the mean, the mean of its size, the share of rows "
            "without any difference (*strict*: of every row).",
            [
                (f"{part} rows: {number.replace('_', ', ')}", place)
                for place, *_ in DIFFERENCES
                for measure, part, number in [place.split(".")]
                if measure == name
            ],
        )
        for title, name, what in (
            ("Error count", "error_count", "number of errors"),
            ("Score", "score", "score, without p(R) where it would be 0"),
        )
    ),
)


EXPLAINED = (
    "Rows with a hard error; soft ones have no short right answer. *Held*: of the detected errors, how many "
    "explanations hold the right answer word for word (the paper prints {said}), after straight quotes, NFKC, case "
    "folding, white space, without punctuation around it, at word boundaries where the script sets spaces. *Outside*: "
    "at a place that is not part of the wrong answer. *Strict*: of all hard errors. *Gold*: the gold explanations, so "
    "what can be reached."
)


EXPLANATION_COLUMNS = [
    *(("hard errors", "explanations.n"), ("detected", "explanations.detected"), ("missed", "explanations.missed")),
    *(("unreadable", "explanations.unreadable"), ("held", "explanations.held"), ("outside", "explanations.outside")),
    *(("strict", "explanations.strict"), ("answer in the instruction", "explanations.answer_shown")),
    *(("answer not there", "explanations.answer_not_shown"), ("gold", "explanations.gold_held")),
    *(("right answer only", "explanations.right_only"), ("right and wrong", "explanations.right_and_wrong")),
    *(("wrong answer only", "explanations.wrong_only"), ("neither", "explanations.neither")),
    ("soft errors, left out", "explanations.soft"),
]


@step(
    version=8,
    outputs={"html": "results/index.html"},
    category="Results",
    inputs={
        "files": "everything",
        "samples": "test_sets",
        "judgements": "judgements_by_documents",
        "elsewhere": "docs/results/reading.csv",
    },
    optional=["judgements"],
    settings={"about": "about_the_run"},
)
def results_index(
    about: Annotated[str, "benchmarks, models, adapters and judges of the run, as JSON"],
    files_paths: Annotated[Sequence[Path], "all that the run made"],
    samples_paths: Annotated[Sequence[Path], "<dataset>/test.parquet"],
    elsewhere_path: Annotated[Path, "what the judge with documents is worth on real rows"],
    html_path: Path,
    judgements_paths: Annotated[Sequence[Path], "by documents, without a model"] = (),
) -> None:
    """Write the first page of the results: what was run, what came out, and links to every table, figure and page.

    What was run, an error report, which systems are above their floors, every picture, links to all tables and pages,
    the audits' verdict, and how long each part took.
    """
    samples = [sample for path in samples_paths for sample in record_files.read_samples(path)]
    audits = next((path for path in files_paths if path.name == "summary.md"), None)
    judged = [row for path in judgements_paths for row in tables.read_frame(path).iter_rows(named=True)]
    floors = next((path for path in files_paths if path.name == "floors.csv"), None)
    facts = results_index_page.Told(
        run=result_words.run(json.loads(about), len(samples), audits.read_text("utf-8") if audits else ""),
        report=result_words.report(samples, judged),
        documents=result_words.by_documents(
            judged, json.loads(about), tables.read_lines(floors) if floors else (), tables.read_lines(elsewhere_path)
        ),
    )
    pages = [step.rule for step in read_steps(ROOT).values() if step.rule and step.rule.category]
    write_text(html_path, results_index_page.page(html_path.parent, files_paths, pages, Path("benchmarks"), facts))
