"""The report of CulT-Eval: its tables and figures, of the workflow and of `excam acre report`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from excam.acre import items, misaligned, pages, printed, study
from excam.acre.study import AcreStudy
from excam.core import tables
from excam.core.provenance import write_text
from excam.core.step_programs import step
from excam.pages import claims, plotting
from excam.pages.table_files import TableFiles

PAGE = {"target": "cult_eval", "category": "CulT-Eval"}  # of the steps here
TABLE = {**PAGE, "outputs": ["numbers", "page"]}

# The inputs of `_AcreFiles`.
STUDY = {
    "rows": "cult_eval_rows",
    "labels": "cult_eval_labels",
    "judged": "cult_eval_judged",
    "measured": "cult_eval_metrics",
    "scores": "cult_eval_scores",
}


@dataclass(frozen=True, kw_only=True)
class _AcreFiles:
    """The files of a study."""

    rows_paths: Annotated[Sequence[Path], "translations"]
    labels_path: Annotated[Path | None, "of people"] = None
    judged_paths: Annotated[Sequence[Path], "verdicts of judges"] = ()
    measured_paths: Annotated[Sequence[Path], "scores of metrics of whole sentences"] = ()
    scores_paths: Annotated[Sequence[Path], "files of `excam score`"] = ()
    scored: Annotated[Sequence[str], "the name of the metric of each of them"] = ()


def read_study(files: _AcreFiles) -> AcreStudy:
    """Return the study."""
    scores = dict(zip(files.scored, files.scores_paths, strict=True))
    return study.read(files.rows_paths, files.labels_path, files.judged_paths, files.measured_paths, scores)


@step(
    version=2,
    result="results/cult_eval/table-1",
    inputs={
        "expressions": "cult_eval_items",
        "removed": "cult_eval_removed",
        "printed": "excam/acre/paper/table-1.csv",
    },
    optional=["removed"],
    more={"removals": "results/cult_eval/removals.csv"},
    **TABLE,
)
def cult_eval_table_1(
    expressions_path: Path,
    files: TableFiles,
    removals_path: Annotated[Path, "candidates by reason"],
    removed_path: Annotated[Path | None, "candidates that became no item"] = None,
) -> None:
    """Write the counts and mean lengths of the items by category (Table 1), and of candidates by reason.

    Items of the benchmark by category (Table 1 of the CulT-Eval paper), with mean lengths in characters; and how many
    candidates became none, by reason (its section 3.4).
    """
    item_of = items.read(expressions_path)
    lines, page = pages.table_1(list(item_of.values()))
    removed, section = pages.removals(len(item_of), items.read_removed(removed_path, item_of) if removed_path else [])
    tables.write_lines(removals_path, pages.REMOVALS, removed)
    note = "Of its own 7,959 items out of about 12,000 candidates, which are not these; it prints no counts of reasons."
    files.write(pages.TABLE_1, lines, page + section, note)


@step(
    version=4,
    result="results/cult_eval/table-2",
    inputs={**STUDY, "printed": "excam/acre/paper/table-2.csv"},
    optional=["scores", "measured"],
    settings={"scored": "cult_eval_scored", "seed": "seed"},
    **TABLE,
)
def cult_eval_table_2(sources: _AcreFiles, files: TableFiles, seed: int) -> None:
    """Write how each metric goes with the labels of people (Table 2), with tests between metrics.

    How each metric goes with people's labels, whether the expression is right in a translation (Table 2 of the
    CulT-Eval paper). Four coefficients with 95 % intervals over items, the number of rows and of failures,
    and permutation tests.
    """
    note = "Of its systems on its own items, times 100: no reference for these rows."
    files.write(pages.TABLE_2, *pages.table_2(read_study(sources), seed), note)


@step(
    version=7,
    result="results/cult_eval/table-3",
    inputs=STUDY,
    optional=["scores", "labels", "judged", "measured"],
    settings={"scored": "cult_eval_scored", "seed": "seed"},
    **TABLE,
)
def cult_eval_table_3(sources: _AcreFiles, files: TableFiles, seed: int) -> None:
    """Write the sentence metrics of each system (Table 3), of all items, by category and by domain.

    Means of sentence metrics for each system, without examples and with one, of all items, by category and by domain,
    with 95 % intervals over items (Table 3 of the CulT-Eval paper, whose cells are blank).
    """
    files.write(pages.TABLE_3, *pages.table_3(read_study(sources), seed))


@step(
    version=7,
    result="results/cult_eval/table-5",
    inputs={**STUDY, "printed": "excam/acre/paper/table-5.csv"},
    optional=["scores", "measured", "judged"],
    settings={"scored": "cult_eval_scored", "seed": "seed"},
    more={
        "pdf": "results/cult_eval/figure-5.pdf",
        "svg": "results/cult_eval/figure-5.svg",
        "png": "results/cult_eval/figure-5.png",
    },
    **TABLE,
)
def cult_eval_table_5(
    sources: _AcreFiles, files: TableFiles, pdf_path: Path, svg_path: Path, png_path: Path, seed: int
) -> None:
    """Write how far each metric drops for each kind of error (Table 5), and draw it (Figure 5).

    How far each metric drops for each kind of error, against the right translations of the same item, in its standard
    deviations (Table 5 and Figure 5 of the CulT-Eval paper).
    """
    table = pages.table_5(read_study(sources), seed)
    note = "✓ penalised, ✗ not; two of its cells are blank, and three of the seven errors are absent."
    files.write(pages.TABLE_5, *table, note)
    plotting.save(pages.figure_5(table[0]), [pdf_path, svg_path, png_path])


@step(
    version=6,
    result="results/cult_eval/table-6",
    inputs=STUDY,
    optional=["scores", "labels", "measured"],
    settings={"scored": "cult_eval_scored", "seed": "seed"},
    **TABLE,
)
def cult_eval_table_6(sources: _AcreFiles, files: TableFiles, seed: int) -> None:
    """Write validity, fidelity, clarity and ACRE of each system by each judge (Table 6).

    Systems under ACRE (Table 6 of the CulT-Eval paper): validity, then fidelity and clarity of valid translations.
    """
    files.write(pages.TABLE_6, *pages.table_6(read_study(sources), seed))


@step(
    version=5,
    result="results/cult_eval/ablations",
    inputs={**STUDY, "printed": "excam/acre/paper/table-7.csv"},
    optional=["scores", "measured"],
    settings={"scored": "cult_eval_scored", "seed": "seed"},
    **TABLE,
)
def cult_eval_ablations(sources: _AcreFiles, files: TableFiles, seed: int) -> None:
    """Write how ACRE goes with the labels without its gate, routing, explication or reference (Table 7).

    ACRE without its parts (Table 7 of the CulT-Eval paper), on the same rows.
    """
    note = "The coefficient has no name there, and .88 is neither of those in its Table 2."
    files.write(pages.ABLATIONS, *pages.ablations(read_study(sources), seed), note)


@step(
    version=10,
    outputs={"html": "results/cult_eval/misaligned.html"},
    inputs=STUDY,
    optional=["scores", "measured", "judged"],
    settings={"scored": "cult_eval_scored"},
    **PAGE,
)
def cult_eval_misaligned(files: _AcreFiles, html_path: Path) -> None:
    """Write the translations on which a metric and the labels disagree, on one page to search (Table 4).

    Translations that a metric scores high although the expression is wrong, or low although it is right.
    """
    write_text(html_path, misaligned.page(read_study(files)))


@step(
    version=3,
    result="results/cult_eval/figure-3",
    outputs=["numbers", "pictures"],
    inputs=STUDY,
    optional=["scores", "measured", "judged"],
    settings={"scored": "cult_eval_scored"},
    **PAGE,
)
def cult_eval_figure_3(files: _AcreFiles, numbers_path: Path, pictures_paths: Sequence[Path]) -> None:
    """Draw the share of right translations and of each primary error, by system (Figure 3).

    Right translations and primary errors of each system, by the labels of people (Figure 3 of the CulT-Eval paper).
    """
    lines = pages.composition(read_study(files))
    tables.write_lines(numbers_path, pages.FIGURE_3, lines)
    plotting.save(pages.figure_3(lines), pictures_paths)


@step(
    version=3,
    result="results/cult_eval/printed",
    inputs={
        "tables": "cult_eval_numbers",
        "printed": [
            "excam/acre/paper/claims.csv",
            "excam/acre/paper/table-1.csv",
            "excam/acre/paper/table-2.csv",
            "excam/acre/paper/table-4.csv",
            "excam/acre/paper/table-5.csv",
            "excam/acre/paper/table-7.csv",
        ],
    },
    settings={"settings": "cult_eval_claimed"},
    **TABLE,
)
def cult_eval_printed(
    tables_paths: Annotated[Sequence[Path], "the CSV files of our tables"],
    printed_paths: Annotated[Sequence[Path], "excam/acre/paper/*.csv"],
    settings: Annotated[dict[str, Any], json.loads, "models and examples, as JSON"],
    numbers_path: Path,
    page_path: Path,
) -> None:
    """Write every number of the CulT-Eval paper beside ours, with the difference, or the reason why there is none.

    Every number that the CulT-Eval paper prints, in its text and its tables, what this experiment gives, and the
    difference, ours minus printed; where there is nothing of ours, the reason. Its Tables 3 and 6 are blank.
    """
    paper, ours = ({path.stem: tables.read_lines(path) for path in paths} for paths in (printed_paths, tables_paths))
    head = "# CulT-Eval: every number of the paper beside ours\n\n"
    claims.write(numbers_path, page_path, head, printed.claims(printed_paths), printed.answers(paper, ours, settings))
