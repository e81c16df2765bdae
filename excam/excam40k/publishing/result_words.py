"""What the first page of the results says in words: HTML, made of the run's settings and numbers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from excam.error_reports.floors import FLOORS
from excam.error_reports.record_files import report_from_json
from excam.error_reports.records import Sample
from excam.excam40k.publishing.about import title
from excam.excam40k.publishing.examples import mark_errors, shortest
from excam.pages.markdown import rounded, with_interval

Line = Mapping[str, str]


def run(about: Mapping[str, Any], rows: int, audits: str) -> str:
    """Return what was run, in plain words; `audits` is the page of the audits, whose first line is their verdict."""
    names = ", ".join(title(name) for name in about["datasets"])
    adapters = "; ".join(escape(name) for name in about["adapters"]) or "none"
    models = f"Models asked as they are: {escape(', '.join(about['models']))}. " if about["models"] else ""
    text = (
        f"<p>Questions of {len(about['datasets'])} benchmarks ({names}) became instructions with right and wrong "
        f"answers. Judges said of {rows:,} test answers whether they have a cultural error, and where. Adapters "
        f"trained on the other rows (model, rows): {adapters}. {models}"
        f"Errors in long texts were written by the generator <code>{escape(about['generator'])}</code>.</p>"
    )
    if about["small"]:
        text += (
            "<p><b>The rows are few and were written for this repository.</b> Their numbers say that everything works, "
            "and nothing about a method; what was measured on real rows is in "
            '<a href="../docs/results.md">docs/results.md</a>, what the paper\'s size costs in '
            '<a href="../docs/workflow.md">docs/workflow.md</a>.</p>'
        )
    verdict = audits.partition("\n")[0].replace("*", "")
    if verdict:
        text += (
            "<p>Is it right? <code>excam audit</code> compares every file with what its job wrote "
            '(<a href="../docs/auditing.md">how</a>). The checks of the data set: '
            f'<a href="audits/summary.md">{escape(verdict)}</a> (not decidable: too few rows).</p>'
        )
    data = "published/all"
    return text + f'<p>The data set: <a href="{data}">{data}</a>, <a href="{data}/README.md">its card</a>.</p>'


def report(samples: Iterable[Sample], judged: Iterable[Mapping[str, Any]]) -> str:
    """Return an error report on a test row, its erroneous words marked: one that documents led to, else a gold one.

    `judged` are the judgements by documents.
    """
    free = [sample for sample in samples if sample.task in ("generation", "freeform") and sample.report.errors]
    marking = {row["id"]: row for row in judged if row["errors_found"]}
    sample = shortest([sample for sample in free if sample.id in marking] or free, first_in="English")
    if not sample:
        return "<p>No test row is a free text with an error.</p>"
    example, score, by, read = sample.report, sample.score, "The right report: what a judge is to write", ""
    if row := marking.get(sample.id):
        example, score = report_from_json(row["report"]), row["score"]
        by = "What <i>documents (words)</i> wrote, without a model"
        right = ", ".join(error.span for error in sample.report.errors)
        passages = " ".join(json.loads(row["parts"])["passages"])
        read = f"It read: {escape(passages)} The gold report marks: {escape(right)}. "
    marked = mark_errors(sample.output, "output", example.errors, "<mark>{}</mark>", escape)
    errors = "; ".join(f"{escape(error.span)}: {error.severity}, {escape(error.type)}" for error in example.errors)
    return (
        f"<p>{by}, about a test row ({title(sample.dataset)}). Score {rounded(score)}; 0 is no error.</p><blockquote>"
        f"<p>{escape(sample.instruction)}</p><p>{marked}</p><p><small>{errors}. "
        f"{escape(example.explanation)}</small></p></blockquote><p>{read}What the judges of this run wrote about every "
        "row: the pages to browse below, <i>judged-rows</i>.</p>"
    )


def by_documents(
    judged: Sequence[Mapping[str, Any]], about: Mapping[str, Any], floors: Iterable[Line], elsewhere: Iterable[Line]
) -> str:
    """Return how many rows the documents decide, and what floors get that read the same; "" if no judge read any.

    `elsewhere` are the rows of docs/results/reading.csv: what the same judge is worth on real rows.
    """
    if not judged:
        return ""
    decided = [row for row in judged if "because" not in json.loads(row["parts"])]
    right = sum(bool(row["errors_found"]) == row["gold_error"] for row in decided)
    here = {line["floor"]: line for line in floors if (line["dataset"], line["split"]) == ("all", "test")}
    reached = "; ".join(f"{name} {_interval(here[name], 'scaled_accuracy')}" for name in FLOORS if name in here)
    page = "paper/judged-rows/documents/nothing/words.html"
    return (
        f"<p><b>documents (words)</b> asks no model. It reads <code>{escape(about['documents'])}</code>, which decides "
        f"{len(decided)} of {len(judged)} rows, {right} rightly; of the others it reports no error "
        f'(<a href="{page}">every row</a>). Floors that read the same passages: {escape(reached)}. '
        f"{_elsewhere(elsewhere)}</p>"
    )


def _elsewhere(measured: Iterable[Line]) -> str:
    """Return what the judge `words` is worth where a passage gives the wrong answer, too, and where none does."""
    _, overlap = FLOORS
    lines = {(line["topic"], line["what"]): line for line in measured}
    names = {"hard": "where a passage gives the wrong answer for another country", "easy": "where none gives it"}
    values = "; ".join(
        f"{words} {_interval(lines[topic, 'all | words | scaled accuracy'], 'value')}, minus such a floor "
        f"{_interval(lines[topic, f'all | words | scaled accuracy, minus {overlap}'], 'value')}"
        for topic, words in names.items()
    )
    return (
        f'With facts of three benchmarks in written passages it has {values} (<a href="../docs/results.md">more</a>).'
    )


def _interval(line: Line, column: str) -> str:
    return with_interval(float(line[column]), float(line["low"]), float(line["high"]))
