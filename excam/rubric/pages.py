"""The files of a rating study: its tables as CSV, and the page that has all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from excam.core import tables
from excam.core.provenance import write_text
from excam.pages import markdown
from excam.pages.markdown import escape, rounded, table
from excam.rubric.manual import SCORES
from excam.rubric.quality import Reliability
from excam.rubric.study import RubricStudy, cautions, counted, how, interval, overview

RELIABILITY = tuple(field.name for field in fields(Reliability))
DISAGREEMENTS = (
    *("task_id", "phase", "rater_a", "rater_b", "overall_a", "overall_b", "difference", "apart_on", "why_a", "why_b"),
)
FATIGUE = (
    *("rater", "ratings", "longest_stretch", "mean_minutes", "worst_minutes", "worst_sd", "rest_due_after", "why"),
)
CONDITION_LINES = ("condition", "value", "raters", "score", "mean", "low", "high", "items", "ratings")
MEANS = ("condition", "value", "raters", *SCORES, "items", "ratings")
RULES_NOTE = (
    "Counts of ratings. Corrected: drafts of a model that the rules changed; unworded: its wording is not as asked."
)
RULES = ("rater", "role", "ratings", "failures", "corrected", "unworded", "rule", "changed", "undecidable")


@dataclass(frozen=True, kw_only=True)
class QualityFiles:
    """The files of quality control: its tables, and the page."""

    numbers: Path
    page: Path
    disagreements: Path
    fatigue: Path
    conditions: Path
    rules: Path


def write(study: RubricStudy, files: QualityFiles) -> None:
    """Write each table, and the page."""
    tables.write_lines(files.numbers, RELIABILITY, [asdict(reliability) for reliability in study.reliability])
    tables.write_lines(files.disagreements, DISAGREEMENTS, study.disagreements)
    tables.write_lines(files.fatigue, FATIGUE, study.fatigue)
    tables.write_lines(files.conditions, CONDITION_LINES, study.conditions)
    tables.write_lines(files.rules, RULES, study.rules)
    write_text(files.page, page(study))


def page(study: RubricStudy) -> str:
    """Return every table as Markdown, that of agreement first, and what the numbers cannot show."""
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
    limits = study.rubric.manual.fatigue
    text = f"# Rubric: agreement of raters\n\n{escape(overview(study))}\n\n{escape(how(study))}\n\n"
    text += (table(head, body) if body else "") + markdown.cautions(map(escape, cautions(study)))
    apart = f"Overall {study.rubric.manual.reliability.difference} or more apart: review these, says the manual."
    text += _section("Disagreements", apart, DISAGREEMENTS, study.disagreements)
    window = f"{escape(limits.text)} Worst means are of {limits.window} ratings."
    text += _section("Work and rest", window, FATIGUE, study.fatigue)
    text += _section("What the rules changed", RULES_NOTE, RULES, study.rules)
    text += _section("Means by condition", "Intervals are 95 %, over responses.", MEANS, _means(study.conditions))
    manual = study.rubric.manual
    return text + f"\nManual: {escape(manual.source)}. Licence: {escape(manual.licence)}. Hash {study.rubric.hash}.\n"


def _section(title: str, note: str, columns: Sequence[str], lines: Sequence[Mapping[str, Any]]) -> str:
    """Return a table under its title, with the columns of its file; "" without lines."""
    body = [[_cell(line[name]) for name in columns] for line in lines]
    head = [name.replace("_", " ") for name in columns]
    return f"\n## {title}\n\n{note}\n\n{table(head, body)}" if body else ""


def _cell(value: object) -> str:
    return rounded(value) if isinstance(value, float) else "" if value is None else escape(str(value))


def _means(conditions: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return a line for each value of a condition and its raters, with the mean of each score."""
    scores: dict[tuple[str, str, str], dict[str, Any]] = {}
    for line in conditions:
        condition = scores.setdefault(
            (line["condition"], line["value"], line["raters"]), {**line, "items": counted(line["items"])}
        )
        condition[line["score"]] = markdown.with_interval(line["mean"], line["low"], line["high"], digits=1)
    return list(scores.values())
