"""The files of a rating study: tables as CSV and Markdown, and the page."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from pathlib import Path

from excam.core import tables
from excam.core.provenance import write_text
from excam.pages import markdown
from excam.pages.markdown import escape, rounded, table
from excam.rubric import summary as summary_page
from excam.rubric.quality import Reliability
from excam.rubric.study import Study, cautions, counted, how, interval, overview

RELIABILITY = tuple(field.name for field in fields(Reliability))
DISAGREEMENTS = (
    *("task_id", "phase", "rater_a", "rater_b", "overall_a", "overall_b", "difference", "apart_on", "why_a", "why_b"),
)
FATIGUE = (
    *("rater", "ratings", "longest_stretch", "mean_minutes", "worst_minutes", "worst_sd", "rest_due_after", "why"),
)
CONDITION_LINES = ("condition", "value", "raters", "score", "mean", "low", "high", "items", "ratings")
RULES = ("rater", "role", "ratings", "failures", "corrected", "unworded", "rule", "changed", "undecidable")


@dataclass(frozen=True, kw_only=True)
class QualityFiles:
    """The files of quality control: its tables, the page about agreement, and the page of all ratings."""

    numbers: Path
    page: Path
    disagreements: Path
    fatigue: Path
    conditions: Path
    rules: Path
    summary: Path


def write(study: Study, files: QualityFiles) -> None:
    """Write each table, and the page."""
    tables.write_lines(files.numbers, RELIABILITY, [asdict(reliability) for reliability in study.reliability])
    tables.write_lines(files.disagreements, DISAGREEMENTS, study.disagreements)
    tables.write_lines(files.fatigue, FATIGUE, study.fatigue)
    tables.write_lines(files.conditions, CONDITION_LINES, study.conditions)
    tables.write_lines(files.rules, RULES, study.rules)
    write_text(files.page, reliability_page(study))
    write_text(files.summary, summary_page.page(study))


def reliability_page(study: Study) -> str:
    """Return the table of agreement as Markdown."""
    head = ["phase", "raters", "score", "ICC(2,1)", "95 %", "over responses", "ICC(2,k)", "95 %", "k", "n"]
    head += ["partly rated", "alpha", "95 %", "target"]
    body = [
        [
            *(line.phase, escape(line.raters), line.score, rounded(line.icc), interval(line.low, line.high)),
            *(interval(line.boot_low, line.boot_high), rounded(line.mean_icc)),
            *(interval(line.mean_low, line.mean_high), line.k, counted(line.n), line.partial),
            *(rounded(line.alpha), interval(line.alpha_low, line.alpha_high), line.target),
        ]
        for line in study.reliability
    ]
    text = f"# Rubric: agreement of raters\n\n{escape(overview(study))}\n\n{escape(how(study))}\n\n"
    return text + (table(head, body) if body else "") + markdown.cautions(map(escape, cautions(study)))
