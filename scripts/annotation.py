"""Give rows to people, collect what they answer, and show how far they agree."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal

import polars as pl

from excam.annotation import campaign, exchange, page, team
from excam.core import paths, provenance, tables
from excam.core.exceptions import ArtifactBroken, InputInvalid
from excam.core.provenance import read_json, say, write_json, write_text
from excam.error_reports import record_files
from excam.error_reports.evaluation import cells, verdicts
from excam.error_reports.evaluation.cells import System
from excam.excam40k.publishing import about
from excam.excam40k.validation import human_answers, human_tables, sampling
from excam.excam40k.validation.human_tables import TABLES, TableInputs
from excam.pages import claims, plotting
from excam.pages.markdown import escape, table
from scripts import step


@step(
    version=3,
    inputs={"samples": "soft_test_sets", "judgements": "judgements_of_explainers", "team": "annotation_team"},
    settings={"systems": "explainers", "wanted": "wanted_tasks", "spans": "construction.spans", "seed": "seed"},
    outputs={"campaign": "results/annotation/campaign.json", "counts": "results/annotation/campaign.counts.json"},
)
def draw_campaign(
    samples_paths: Annotated[Sequence[Path], "test rows of the datasets"],
    wanted_json: Annotated[str, "[dataset, language, rows, annotators] of each cell, as JSON"],
    spans: Literal["paper", "strict"],
    seed: int,
    campaign_path: Path,
    counts_path: Path,
    systems: Annotated[Sequence[str], "<model>/<trained_on>/<judge>"] = (),
    judgements_paths: Annotated[Sequence[Path], "of the first system, then the others"] = (),
    team_paths: Annotated[Sequence[Path], "a table of the people who answer, if tasks are shared out"] = (),
) -> None:
    """Draw the tasks for annotators: soft errors of the test sets, with the explanations of two systems."""
    samples = [sample for path in samples_paths for sample in record_files.read_samples(path)]
    judged = tables.judgements_by_system(systems, judgements_paths) if systems else {}
    explained = {name: sampling.explanations(frame.iter_rows(named=True)) for name, frame in judged.items()}
    wanted = [sampling.Wanted(*cell) for cell in json.loads(wanted_json)]
    drawn, counts = sampling.draw("ExCAM: human validation", samples, explained, wanted, spans, seed)
    for path in team_paths:
        drawn, load = team.assign(drawn, team.read(path), seed)
        provenance.say(f"{path}: {', '.join(f'{name} {count}' for name, count in load.items())}")
    campaign.write(campaign_path, drawn)
    provenance.write_json(counts_path, {"campaign": drawn.id, "tasks": len(drawn.tasks), "cells": counts})
    for cell in counts:
        if cell["drawn"] != cell["wanted"]:
            short = {name: cell[name] for name in ("rows", *sampling.REASONS) if cell[name]}
            listed = ", ".join(f"{name} {number}" for name, number in short.items())
            what = f"{cell['dataset']}, {cell['language']}"
            provenance.say(f"{what}: {cell['drawn']} rows; {cell['wanted']} wanted; found {listed or 'none'}")
    provenance.say(f"campaign {drawn.id}: {len(drawn.tasks)} tasks")


@step(
    version=21,
    inputs={"campaign": "results/annotation/campaign.json"},
    outputs={"page": "results/annotation/campaign.html"},
)
def annotation_page(campaign_path: Path, page_path: Path) -> None:
    """Write a campaign as one HTML file that annotators open with a double click."""
    write_text(page_path, page.write(campaign.read(campaign_path)))


@step(
    version=2,
    inputs={"campaign": "results/annotation/campaign.json", "exports": "annotation_exports"},
    outputs={"answers": "results/annotation/answers.parquet", "counts": "results/annotation/answers.counts.json"},
)
def collect_answers(
    campaign_path: Path,
    answers_path: Path,
    counts_path: Path,
    exports_paths: Annotated[Sequence[Path], "CSV or JSON files of the page or store"] = (),
) -> None:
    """Collect annotators' exported files into one table: each task once per annotator, with pseudonyms."""
    validation_campaign = campaign.read(campaign_path)
    merged = exchange.read_all(exports_paths, validation_campaign)
    if not merged.answers:
        raise InputInvalid(
            f"{len(exports_paths)} exported files hold 0 answers; expected some; export them from the page"
        )
    answers = human_answers.with_pseudonyms(
        merged.answers, human_answers.pseudonyms(validation_campaign, merged.answers)
    )
    tables.write_frame(answers_path, human_answers.to_frame(validation_campaign.form, answers))
    counts = {"files": len(exports_paths), "repeated": merged.repeated, "superseded": merged.superseded}
    write_json(counts_path, {**counts, **human_answers.counts(validation_campaign, answers)})
    people = len({answer.annotator for answer in answers})
    say(
        f"{len(exports_paths)} files of {people} annotators: {len(answers)} answers; "
        f"{merged.repeated} given again, {merged.superseded} replaced by later ones"
    )


@step(
    version=5,
    result="results/paper/{table}",
    outputs=["numbers", "page"],
    target="annotation",
    category="Human validation",
    optional=["printed"],
    inputs={
        "campaign": "results/annotation/campaign.json",
        "answers": "results/annotation/answers.parquet",
        "counts": "results/annotation/answers.counts.json",
        "printed": "printed_votes",
        "printed_claims": "paper/claims.csv",
    },
    settings={"seed": "seed"},
    wildcards={"table": ["table-3", "table-12", "table-13", "human-ratings", "human-agreement"]},
)
def table_votes(
    table: Annotated[str, TABLES],
    campaign_path: Path,
    answers_path: Annotated[Path, "answers.parquet"],
    counts_path: Annotated[Path, "answers.counts.json"],
    printed_claims_path: Annotated[Path, "paper/claims.csv"],
    seed: int,
    numbers_path: Path,
    page_path: Path,
    printed_paths: Annotated[Sequence[Path], "paper/<table>.csv, if the paper has this table"] = (),
) -> None:
    """One table of what annotators answered, beside the paper's.

    What annotators answered, with 95 % intervals, beside the paper's numbers (``printed_``). Table 3: of items with
    three votes, how many say that the row is about a culture, its error is one and its explanation valid; "don't know"
    is no yes, ``few``: fewer than 30 items. Table 12: items to which both annotators of a language say yes; partly
    valid counts as valid. Table 13: by majority, whether severity and type are reasonable and whether the explanation
    changed a mind; the paper's text and table differ. Ratings: of items whose explanation the majority finds valid, in
    how many a system predicted an error, and how alike its explanation is, 1 to 5. Agreement: Krippendorff's alpha and
    Fleiss' kappa; the paper prints shares of votes alone.
    """
    layout, answered, paper = TABLES[table], campaign.read(campaign_path), claims.read(printed_claims_path)
    items = human_answers.items(answered, tables.read_frame(answers_path))
    printed = [line for path in printed_paths for line in tables.read_lines(path)]
    tables.write_lines(numbers_path, layout.columns, layout.lines(TableInputs(answered, items, printed, paper, seed)))
    counted = read_json(counts_path, "annotators")
    write_text(page_path, human_tables.page(layout, tables.read_lines(numbers_path), counted, paper))


ALL = "ALL"


LEVEL = 0.1  # of the tests: 100 rows are few (Figure 4)


RATING_COLUMNS = (
    *("row", "tuned", "column", "scaled_accuracy", "low", "high", "n", "failures", "p_value", "p_holm", "judgements"),
)


Frames = Mapping[System, pl.DataFrame]  # judgements of the same rows, by system


@step(
    version=4,
    result="results/paper/figure-4",
    outputs=["numbers", "page", "pictures"],
    target="external",
    category="Results",
    inputs={
        "tuned": "judgements_of_excam",
        "external": "judgements_of_external",
        "printed_claims": "paper/claims.csv",
    },
    settings={"datasets": "datasets", "seed": "seed"},
)
def figure_4(
    datasets: Sequence[str],
    tuned_paths: Annotated[Sequence[Path], "<model>/all/<judge>/<dataset>/test.parquet"],
    external_paths: Annotated[Sequence[Path], "the same of the subset test-100"],
    seed: int,
    printed_claims_path: Annotated[Path, "paper/claims.csv"],
    page_path: Path,
    numbers_path: Path,
    pictures_paths: Sequence[Path],
) -> None:
    """Draw Figure 4: in-domain ExCAM beside the external judges on the balanced subsets, from the numbers it writes.

    Scaled accuracy of ExCAM, trained on all datasets, and of the external judges on the balanced subsets. ``*``: better
    than every row of the other kind, paired permutation test over groups, p ≤ .1 after Holm's correction over the
    figure; ``°``: in the column alone. ExCAM has judged whole test sets; its judgements of the rows of the subsets are
    taken from there.
    """
    external, tuned = cells.judgements(external_paths), cells.judgements(tuned_paths)
    lines = []
    for column in [*datasets, ALL]:
        names = datasets if column == ALL else [column]
        ids = pl.concat([next(iter(external.values()))[name] for name in names])["id"].to_list()
        frames = {system: _rows(system, parts, names, ids) for system, parts in [*external.items(), *tuned.items()]}
        lines += _column(column, frames, seed)
    for line, p in zip(lines, cells.holm_adjusted([line["p_value"] for line in lines]), strict=True):
        line |= {"p_value": cells.significant_digits(line["p_value"]), "p_holm": cells.significant_digits(p)}
    tables.write_lines(numbers_path, RATING_COLUMNS, lines)
    drawn = tables.read_lines(numbers_path)
    write_text(page_path, _page(drawn, claims.read(printed_claims_path)))
    draw_ratings(drawn, datasets, pictures_paths)


def _rows(system: System, frames: Mapping[str, pl.DataFrame], names: Sequence[str], ids: list[str]) -> pl.DataFrame:
    """Return a system's judgements of these rows, in this order.

    Raises ArtifactBroken if it has not judged them all.
    """
    judged = pl.concat([frames[name] for name in names])
    rows = pl.DataFrame({"id": ids}).join(judged, on="id", how="inner", maintain_order="left")
    if rows["id"].to_list() != ids:
        missing = next((row_id for row_id in ids if row_id not in set(judged["id"])), "each row once")
        raise ArtifactBroken(f"{system.key}: its judgements lack {missing} of test-100; run `score` again")
    return rows


def _column(column: str, frames: Frames, seed: int) -> list[dict[str, Any]]:
    """Return one line per system; its p-value is that of "better than every system of the other kind"."""
    pairs = [(a, b) for a in frames if a.tuned for b in frames if not b.tuned]
    tests = [{"a": a.key, "b": b.key, **asdict(verdicts.paired_permutation(frames[a], frames[b]))} for a, b in pairs]
    return [
        {
            **{"row": system.name, "tuned": system.tuned, "column": column, "n": frame.height},
            **cells.accuracy_columns(verdicts.accuracy_numbers(frame, seed)),
            "p_value": cells.p_better(system.key, tests, lambda _: True),
            "judgements": f"{paths.RESULTS}/judgements/{system.key}",
        }
        for system, frame in frames.items()
    ]


def _page(lines: list[dict[str, str]], paper: claims.Printed) -> str:
    head = ["row", "scaled accuracy on all", "above every row of the other kind"]
    head += [f"significantly, p ≤ {LEVEL}", "after Holm", "n each"]
    body = [_against(row, lines) for row in dict.fromkeys(line["row"] for line in lines)]
    text = (
        "# Figure 4: in-domain ExCAM and external judges\n\nThe cells of the paper's figure are printed in a picture "
    )
    text += "only, and its judge is GPT-5 of August 2025: no differences are taken.\n\n"
    return (
        text
        + table(head, body)
        + claims.printed_list(paper, ("gpt5-wins", "gpt5-loses", "gpt5-margin", "epic-in-domain"))
    )


def _against(row: str, lines: list[dict[str, str]]) -> list[str]:
    """On which test sets one row of Figure 4 is above all rows of the other kind."""
    cell_of = {line["column"]: line for line in lines if line["row"] == row}
    tuned = next(iter(cell_of.values()))["tuned"]
    others = [line for line in lines if line["tuned"] != tuned]
    datasets = [column for column in cell_of if column != "ALL"]
    best = {name: max(float(line["scaled_accuracy"]) for line in others if line["column"] == name) for name in datasets}
    above = [name for name in datasets if float(cell_of[name]["scaled_accuracy"]) > best[name]]
    won = [[name for name in datasets if float(cell_of[name][p]) <= LEVEL] for p in ("p_value", "p_holm")]
    listed = [f"{len(names)} of {len(datasets)}: {', '.join(names)}" if names else "0" for names in (above, *won)]
    sizes = sorted({int(cell_of[name]["n"]) for name in datasets})
    return [escape(row), cell_of["ALL"]["scaled_accuracy"], *map(escape, listed), ", ".join(map(str, sizes))]


def draw_ratings(lines: list[dict[str, str]], datasets: Sequence[str], pictures: Sequence[Path]) -> None:
    """Draw from the rows of figure-4.csv alone."""
    names = dict.fromkeys(line["row"] for line in lines)
    tuned = {line["row"] for line in lines if line["tuned"] == "True"}
    rows, columns = sorted(names, key=lambda row: row in tuned), [*datasets, ALL]
    at = {(line["row"], line["column"]): line for line in lines}
    grid = [[at[row, column] for column in columns] for row in rows]
    level = f"{LEVEL}".removeprefix("0")
    figure = plotting.heat_map(
        [[plotting.Tile(float(line["scaled_accuracy"]), mark=_mark(line)) for line in row] for row in grid],
        plotting.Axis(rows, separators=[len(rows) - len(tuned)]),
        plotting.Axis(
            [about.title(column) for column in columns],
            separators=[len(datasets)],
            counts=[int(line["n"]) for line in grid[0]],
        ),
        plotting.Scale("scaled accuracy; 0: chance"),
        title="In-domain ExCAM and external judges on the balanced subsets",
        note=f"* better than every row of the other kind: paired permutation tests over groups, two-sided, p ≤ {level} "
        f"after Holm's correction over the figure; ° p ≤ {level} in the column alone. 0 is chance; an unreadable "
        "answer counts as wrong. ExCAM was trained on the train splits of all datasets.",
    )
    plotting.save(figure, pictures)


def _mark(line: dict[str, str]) -> str:
    if not line["p_value"] or float(line["p_value"]) > LEVEL:
        return ""
    return "*" if float(line["p_holm"]) <= LEVEL else "°"
