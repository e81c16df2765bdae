"""Put flagged words right, judge the rows again, and show what changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import polars as pl

from excam.core import provenance, tables
from excam.core.provenance import write_text
from excam.error_reports import judges, record_files
from excam.error_reports.evaluation.cells import UNDEFINED, System, rounded_text, value_at, with_interval_text
from excam.excam40k import counterfactual_check, counterfactuals
from excam.excam40k.construction.spans import Mode
from excam.inference import transcript
from excam.pages import markdown
from scripts import step


@step(version=1)
def make_counterfactuals(
    judgements_paths: Sequence[Path],
    samples_paths: Annotated[Sequence[Path], "the rows that were judged"],
    spans: Annotated[Mode, "how differences became gold spans"],
    counterfactuals_path: Path,
    rows_path: Annotated[Path, "what became of every judged row"],
    counts_path: Path,
) -> None:
    """Make rows in which the words that a judge flagged are corrected, from its judgements and the gold rows."""
    judgements = pl.concat([tables.read_frame(path) for path in judgements_paths])
    samples = pl.concat([tables.read_frame(path) for path in samples_paths])
    rows, made = counterfactuals.make_counterfactuals(judgements, samples, spans)
    judged = counterfactuals.rows_frame(rows)
    tables.write_frame(rows_path, judged)
    tables.write_frame(counterfactuals_path, counterfactuals.counterfactuals_frame(made))
    inputs = {str(path): provenance.sha256(path) for path in (*judgements_paths, *samples_paths)}
    provenance.write_json(counts_path, counterfactuals.counts(judged.iter_rows(named=True)) | {"inputs": inputs})


COLUMNS = ("model", "trained_on", "judge", "dataset", "measure", "over", "value", "low", "high", "n", "cell")


OVER = {
    "all_undone": "checked rows, every gold error undone",
    "turned_more": "these, and rows flagged elsewhere",
    "twins": "right twins of erroneous rows",
    "some_undone": "checked rows, some gold errors undone",
}


OUTCOMES = {
    "not-erroneous": "not erroneous",
    "unreadable": "unreadable",
    "no-error-reported": "no error reported",
    "flagged-elsewhere": "flagged elsewhere",
    "not-aligned": "not aligned",
    "all-undone": "checked, all undone",
    "some-undone": "checked, some undone",
}


@step(
    version=3,
    result="results/paper/counterfactuals",
    outputs=["numbers", "page"],
    category="Results",
    target="all",
    inputs={
        "counterfactuals": "counterfactual_samples",
        "rows": "counterfactual_rows",
        "transcripts": "counterfactual_transcripts",
    },
    stages=["judges.report"],
    settings={"seed": "seed"},
)
def table_counterfactuals(
    counterfactuals_paths: Annotated[Sequence[Path], "<system>/all/test.parquet"],
    rows_paths: Annotated[Sequence[Path], "of the same systems"],
    transcripts_paths: Annotated[Sequence[Path], "of the same systems"],
    seed: int,
    numbers_path: Path,
    page_path: Path,
) -> None:
    """Write whether verdicts change when the flagged words are corrected, for every system that writes reports.

    Whether a verdict depends on the words that are flagged: where a judge reports an error at a gold error, the
    original words are put back there, nothing else is changed, and it is asked again. Beside it the rate at which
    originals of other rows are judged right, and where some gold errors were not flagged a sham that undoes those.
    Every judged row is accounted for; every number has its denominator and a 95 % interval from a bootstrap over
    groups.
    """
    evaluations: dict[Path, dict[str, Any]] = {}
    for made, rows, answers in zip(counterfactuals_paths, rows_paths, transcripts_paths, strict=True):
        verdicts = transcript.replay(judges.load(_system(made).judge).judge, record_files.read_samples(made), answers)
        judged = counterfactual_check.rows(tables.read_frame(rows), tables.read_frame(made), verdicts)
        evaluations[made] = counterfactual_check.evaluate(judged, seed)
    lines = (line for made, part in evaluations.items() for line in _lines(made, part))
    tables.write_lines(numbers_path, COLUMNS, lines)
    write_text(page_path, _page(evaluations))


def _system(made: Path) -> System:
    return System.from_path(made)


def _parts(numbers: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    return [("all", numbers), *numbers["by_dataset"].items()]


def _lines(made: Path, numbers: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for dataset, part in _parts(numbers):
        common = asdict(_system(made)) | {"dataset": dataset, "cell": str(made)}
        for name, count in {**part["outcomes"], **part["not_aligned"]}.items():
            yield common | {"measure": name, "over": "judged rows", "value": count, "n": part["rows"]}
        for name, measure in _measures({section: part[section] for section in OVER}):
            value = {key: rounded_text(measure[key]) for key in ("value", "low", "high")}
            yield common | {"measure": name, "over": OVER[name.split(".")[0]], "n": measure["n"]} | value


def _measures(part: dict[str, Any], place: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every measure below a part, by its place in it."""
    for name, nested in part.items():
        if "value" in nested:
            yield f"{place}{name}", nested
        else:
            yield from _measures(nested, f"{place}{name}.")


def _page(evaluations: dict[Path, dict[str, Any]]) -> str:
    parts = [
        (markdown.escape(f"{_system(made).key}, {dataset}"), part)
        for made, numbers in evaluations.items()
        for dataset, part in _parts(numbers)
    ]
    text = "# Do verdicts depend on the words that are flagged?\n\n" + ASKED
    text += "\n## Every judged row\n\n" + ROWS + "\n\n"
    rows = [[name, part["rows"], *part["outcomes"].values(), part["not_to_the_letter"]] for name, part in parts]
    text += markdown.table(["system", "rows", *OUTCOMES.values(), "not to the letter"], rows)
    reasons = [[name, *part["not_aligned"].values()] for name, part in parts if part["outcomes"]["not-aligned"]]
    if reasons:
        text += "\n" + markdown.table(["system, rows not aligned", *parts[0][1]["not_aligned"]], reasons)
    for title, outcome, about, columns in SECTIONS:
        there = [(name, part) for name, part in parts if part["outcomes"][outcome] or "by_dataset" in part]
        rows = [[name, *(with_interval_text(value_at(part, place)) for _, place in columns)] for name, part in there]
        text += f"\n## {title}\n\n{about}\n\n" + markdown.table(["system", *(head for head, _ in columns)], rows)
    return text


ASKED = (
    "Of every wrong row in which an error was reported, the gold errors that a reported error overlaps (any shared "
    "character) are undone: their words become those of the original text, with the spaces and commas that go with "
    "them. Nothing else is changed, and the judge is asked again. Each number is followed by its 95 % interval (a "
    "bootstrap over groups) and its denominator; there is no interval where every group gave the same. An "
    "unreadable answer is a third outcome and stays in the denominator. "
    f"{UNDEFINED}: nothing to divide by.\n"
)


ROWS = (
    "The outcomes add up to the rows. *Flagged elsewhere*: no reported error overlaps a gold one; the verdict is right "
    "and depends on other words. *Not aligned*: the original words of its errors cannot be found. *Not to the letter*: "
    "with every error undone the text still has other spaces, punctuation or quotes than the original: no errors."
)


SECTIONS = (
    (
        "All gold errors flagged and undone",
        "all-undone",
        "Datasets without such a row are left out. *Turned*: now no error is reported. On the wrong rows that share "
        "is 0, as only detected rows are here, so the number is the whole change. *Still there*: an error is "
        "reported where the original words now stand. *Nothing else flagged*: turned, of the rows in which every "
        "reported error overlapped a gold one; the others had another reason to stay.\n\n"
        "What it means. With every gold error undone the text is the original one, so *turned* is how often the "
        "originals **of these rows** are judged right (an identical text is not asked about again: *as the original* "
        "is 1 wherever the journal still held the answer). A judge whose detections do not depend on the text "
        "reaches the rate of any originals. The originals of the other rows are therefore shown too: *flagged "
        "elsewhere*, where it was right for another reason; *missed*, where it reported nothing; *all*, of every "
        "erroneous row. *More* is turned less flagged elsewhere: above 0, verdicts in the right place follow the "
        "words.\n\n"
        "What it does not mean. Rows in which the judge finds the place may be rows it knows more about, so *more* "
        "is no proof that the words alone decided; a low number with *still there* near 1 says that it marks that "
        "place whatever stands in it. Rows that are missed, or flagged elsewhere, are not in the number at all.",
        [
            *(("turned", "all_undone.turned"), ("error", "all_undone.error"), ("unreadable", "all_undone.unreadable")),
            ("originals, flagged elsewhere", "twins.flagged_elsewhere"),
            *(("missed", "twins.missed"), ("all", "twins.all"), ("more", "turned_more")),
            ("still there", "all_undone.at_place"),
            ("turned, nothing else flagged", "all_undone.turned_nothing_elsewhere"),
            ("as the original", "all_undone.as_the_twin"),
        ],
    ),
    (
        "Some gold errors flagged",
        "some-undone",
        "Rows with gold errors that were not flagged as well, asked twice: with the flagged ones undone, and as a "
        "*sham*, with the others undone and the flagged ones left. The sham is the same kind of edit of the same row; "
        "it should leave the verdict as it is. *Gone*: no error is reported any more where the flagged words were (in "
        "the sham: are). *Rises*: the score is higher than before; without p(R), so where one error of several is "
        "gone it rises by that error's weight. *More*: undone less sham, row by row; 0 for a judge whose reports do "
        "not follow the words.",
        [
            *(("gone", "some_undone.restored.gone"), ("sham", "some_undone.sham.gone")),
            ("more gone", "some_undone.more_gone"),
            *(("rises", "some_undone.restored.rises"), ("sham", "some_undone.sham.rises")),
            *(("more rise", "some_undone.more_rise"), ("still there", "some_undone.restored.at_place")),
            *(("unreadable", "some_undone.restored.unreadable"), ("sham", "some_undone.sham.unreadable")),
        ],
    ),
)
