"""Figure 1: two wrong rows, the report that the data set gives of each, and the reports that ExCAM writes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from excam.error_reports.judges import report as reports
from excam.error_reports.record_files import report_from_json
from excam.error_reports.records import Report, Sample
from excam.excam40k.publishing.about import title
from excam.excam40k.publishing.examples import RULE, mark_errors, shortest
from excam.pages.markdown import escape, table

Judgement = Mapping[str, Any]  # a row of `record_files.JUDGEMENT_SCHEMA`

NOTE = (
    "Two wrong rows of the test sets: a free text, and an answer in the role of a member of a culture (of "
    f"GlobalOpinionQA, if there is one). {RULE} English rows come first. What a model answered decides nothing. Each "
    "column marks the erroneous words that its report names; p(R) is the certainty of the report."
)
FREE_TEXT = ("generation", "freeform")  # tasks


def examples(samples: Iterable[Sample]) -> dict[str, Sample]:
    """Return the rows that are shown, by what they are; one that the test sets do not have is missing."""
    wrong = [sample for sample in samples if sample.report.errors]
    roles = [sample for sample in wrong if sample.task == "impersonation"]
    opinions = [sample for sample in roles if sample.dataset == "globalopinionqa"]
    chosen = {
        "A free text": shortest((sample for sample in wrong if sample.task in FREE_TEXT), first_in="English"),
        "An impersonation": shortest(opinions or roles, first_in="English"),
    }
    return {name: sample for name, sample in chosen.items() if sample}


def page(samples: Sequence[Sample], judgements: Mapping[str, Mapping[str, Judgement]]) -> str:
    """Return the figure as a page. `judgements` are those of each system, by the id of the row."""
    shown_samples = examples(samples)
    parts = [
        _part(name, sample, {s: own[sample.id] for s, own in judgements.items()})
        for name, sample in shown_samples.items()
    ]
    return "\n".join(["# Figure 1: what ExCAM writes about a text\n", f"{NOTE}\n", *parts])


def _part(name: str, sample: Sample, judged: Mapping[str, Judgement]) -> str:
    columns = [_column(sample, sample.report, str(sample.score), "–")]
    columns += [_judged_column(sample, judgement) for judgement in judged.values()]
    body = [[row, *(column[row] for column in columns)] for row in columns[0]]
    about = f"{title(sample.dataset)} ({escape(sample.licence)}), `{sample.id}`"
    return "\n".join(
        [
            f"## {name}\n",
            f"{about}\n",
            table(["", "gold", *map(escape, judged)], body),
            f"The gold report as models learn to write it: {escape(reports.write(sample.report))}\n",
        ]
    )


def _judged_column(sample: Sample, judgement: Judgement) -> dict[str, str]:
    if judgement["report"] is None:
        return _column(sample, Report(), f"none: {judgement['failure']}", "–")
    certainty = "–" if judgement["certainty"] is None else f"{judgement['certainty']:.3f}"
    return _column(sample, report_from_json(judgement["report"]), f"{judgement['score']:g}", certainty)


def _column(sample: Sample, report: Report, score: str, certainty: str) -> dict[str, str]:
    errors = [f"{error.where}: {error.span} ({error.severity}, {error.type})" for error in report.errors]
    return {
        "instruction": mark_errors(sample.instruction, "instruction", report.errors),
        "output": mark_errors(sample.output, "output", report.errors),
        "errors": "<br>".join(map(escape, errors)) or "none",
        "explanation": escape(report.explanation) or "–",
        "score": score,
        "p(R)": certainty,
    }
