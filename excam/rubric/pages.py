"""Tables of a rating study as CSV and Markdown, and one page for people: summary.html."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from importlib import resources
from pathlib import Path
from typing import Any

from excam.core import tables
from excam.core.provenance import write_text
from excam.pages.html import content_security_policy, fill_template
from excam.pages.markdown import escape as in_markdown
from excam.pages.markdown import table
from excam.pages.row_browser import escape
from excam.rubric import quality
from excam.rubric.manual import SCORES, Rubric
from excam.rubric.quality import FEW, Missing, Reliability
from excam.rubric.ratings import Rating, Reading
from excam.rubric.responses import CONDITIONS, Response

RELIABILITY = tuple(one.name for one in fields(Reliability))
DISAGREEMENTS = (
    *("task_id", "phase", "rater_a", "rater_b", "overall_a", "overall_b", "difference", "apart_on", "why_a", "why_b"),
)
FATIGUE = (
    *("rater", "ratings", "longest_stretch", "mean_minutes", "worst_minutes", "worst_sd", "rest_due_after", "why"),
)
CONDITION_LINES = ("condition", "value", "raters", "score", "mean", "low", "high", "items", "ratings")
RULES = ("rater", "role", "ratings", "failures", "corrected", "rule", "changed", "undecidable")


@dataclass(frozen=True)
class Study:
    """All numbers of the ratings of one study."""

    rubrics: Sequence[Rubric]
    missing: Missing
    ratings: Sequence[Rating]
    superseded: int
    known: Sequence[Response]
    reliability: Sequence[Reliability]
    disagreements: Sequence[Mapping[str, Any]]
    fatigue: Sequence[Mapping[str, Any]]
    conditions: Sequence[Mapping[str, Any]]
    rules: Sequence[Mapping[str, Any]]

    @property
    def rubric(self) -> Rubric:
        """Return the rubric whose targets are used."""
        return self.rubrics[0]


def study(reading: Reading, known: Sequence[Response], rubrics: Sequence[Rubric], missing: Missing, seed: int) -> Study:
    """Return the numbers of ratings; raters that read nothing stand beside the others where agreement is shown.

    The targets and limits of quality control are those of the first rubric.
    """
    rubric = rubrics[0]
    ratings = reading.ratings
    people = [one for one in ratings if one.role != "model"]
    compared = [*ratings, *(quality.trivial_raters(known, people) if people else ())]
    return Study(
        rubrics,
        missing,
        ratings,
        len(reading.superseded),
        known,
        quality.reliability(compared, rubric, missing, seed),
        quality.disagreements(ratings, rubric),
        quality.fatigue(ratings, rubric.manual.fatigue),
        quality.conditions(ratings, known, seed),
        quality.rule_counts(ratings, known, rubrics),
    )


def write_all(folder: Path, found: Study) -> list[Path]:
    """Write every table and the page into a folder; return their paths."""
    named = {name: folder / file for name, file in FILES.items()}
    write(found, **named)
    return list(named.values())


FILES = {
    "numbers": "reliability.csv",
    "page": "reliability.md",
    "disagreements": "disagreements.csv",
    "fatigue": "fatigue.csv",
    "conditions": "conditions.csv",
    "rules": "rules.csv",
    "summary": "summary.html",
}


def write(
    found: Study,
    *,
    numbers: Path,
    page: Path,
    disagreements: Path,
    fatigue: Path,
    conditions: Path,
    rules: Path,
    summary: Path,
) -> None:
    """Write each table, and the page."""
    tables.write_lines(numbers, RELIABILITY, [asdict(one) for one in found.reliability])
    tables.write_lines(disagreements, DISAGREEMENTS, found.disagreements)
    tables.write_lines(fatigue, FATIGUE, found.fatigue)
    tables.write_lines(conditions, CONDITION_LINES, found.conditions)
    tables.write_lines(rules, RULES, found.rules)
    write_text(page, reliability_page(found))
    write_text(summary, summary_page(found))


# --- words that tables share


def rounded(value: float | None, digits: int = 2) -> str:
    """Return a number for a table, "n/a" for None; a minus is a minus sign."""
    if value is None:
        return "n/a"
    text = f"{value:.{digits}f}"
    return text.removeprefix("-") if float(text) == 0 else text.replace("-", "−")


def interval(low: float | None, high: float | None) -> str:
    """Return an interval for a table, "n/a" where there is none."""
    return "n/a" if low is None or high is None else f"{rounded(low)} to {rounded(high)}"


def counted(n: int) -> str:
    """Return a number of items, with a mark where they are few."""
    return f"{n}*" if n < FEW else str(n)


def overview(found: Study) -> str:
    """Return who rated how much, in one sentence."""
    people = {one.rater for one in found.ratings if one.role != "model"}
    models = {one.rater for one in found.ratings if one.role == "model"}
    items = len({one.task_id for one in found.ratings})
    failed = sum(one.scores is None for one in found.ratings)
    versions = sorted({one.rubric for one in found.ratings})
    return (
        f"{len(found.ratings)} ratings of {items} responses by {len(people)} people and {len(models)} models, rubric "
        f"{' and '.join(versions)}; {failed} failures of models, {found.superseded} earlier ratings replaced."
    )


def how(found: Study) -> str:
    """Return how agreement was computed, and what its marks mean."""
    cells = "responses that all of the raters rated" if found.missing == "complete" else "all ratings (mixed model)"
    return (
        f"ICC(2,1): two-way random effects, absolute agreement, of a single rater, over {cells}. The interval is 95 %, "
        f"by F; beside it a bootstrap of responses. Alpha is Krippendorff's, ordinal. The manual's target is "
        f"{found.rubric.manual.reliability.icc:g}: met or not met if the whole interval is on one side, else "
        f"undecided. * marks fewer than {FEW} responses: too few for a statement about raters."
    )


def cautions(found: Study) -> list[str]:
    """Return, in words, which numbers say nothing, and whether scores follow the length of responses."""
    main = [one for one in found.reliability if one.score == "overall" and one.phase == "main"]
    trivial = [one for one in main if one.raters.endswith(quality.TRIVIAL)]
    models = tuple({one.rater for one in found.ratings if one.role == "model"})
    lines = []
    if not any(one not in trivial for one in main):
        lines.append("Agreement: n/a with one rater; expected at least two on the same responses.")
    for one in main:
        shown = f"{one.raters}: ICC of Overall {rounded(one.icc)}, {interval(one.low, one.high)}"
        bar = max([0.0, *(other.icc or 0.0 for other in trivial)]) if one.raters.endswith(models) else 0.0
        if one in trivial:
            if one.low is not None and one.low > 0:
                lines.append(f"{shown}: scores follow length here, so agreement up to that may come from length alone.")
        elif one.icc is None:
            lines.append(
                f"{one.raters}: ICC of Overall is undefined: all scores are equal, or fewer than two responses."
            )
        elif one.low is None or one.low <= bar:
            worth = "no better than a rater that reads nothing" if bar else "which may be chance"
            lines.append(f"{shown}: {worth}, so this says nothing.")
    for one in found.rules:
        if one["rule"] == "all" and one["failures"]:
            lines.append(f"{one['rater']}: {one['failures']} of {one['ratings']} answers could not be read.")
    few = len({one.task_id for one in found.ratings})
    if few < FEW:
        lines.append(f"{few} responses: too few to say anything about raters, models or conditions in general.")
    return lines


def reliability_page(found: Study) -> str:
    """Return the table of agreement as Markdown."""
    head = ["phase", "raters", "score", "ICC(2,1)", "95 %", "bootstrap", "n", "partly rated", "alpha", "95 %", "target"]
    body = [
        [
            *(one.phase, in_markdown(one.raters), one.score, rounded(one.icc), interval(one.low, one.high)),
            *(interval(one.boot_low, one.boot_high), counted(one.n), one.partial, rounded(one.alpha)),
            *(interval(one.alpha_low, one.alpha_high), one.target),
        ]
        for one in found.reliability
    ]
    notes = "".join(f"- {in_markdown(line)}\n" for line in cautions(found))
    text = f"# Rubric: agreement of raters\n\n{in_markdown(overview(found))}\n\n{in_markdown(how(found))}\n\n"
    return text + (table(head, body) if body else "") + (f"\n## Cautions\n\n{notes}" if notes else "")


# --- the page


def summary_page(found: Study) -> str:
    """Return one HTML page with every table; it needs nothing else and runs no script."""
    style = resources.files("excam.rubric").joinpath("summary.css").read_text(encoding="utf-8")
    policy = content_security_policy(style, "")
    values = {
        "policy": policy,
        "style": style,
        "overview": escape(overview(found)),
        "how": escape(how(found)),
        "notes": "".join(f"<li>{escape(line)}</li>\n" for line in cautions(found)) or "<li>None found.</li>\n",
        "reliability": _reliability_table(found),
        "disagreements": _disagreements_table(found),
        "fatigue": _fatigue_table(found),
        "rules": _rules_table(found),
        "conditions": _conditions_tables(found),
        "window": str(found.rubric.manual.fatigue.window),
        "fatigue_words": escape(found.rubric.manual.fatigue.text),
        "difference": str(found.rubric.manual.reliability.difference),
        "licence": escape(f"{found.rubric.manual.source}. Licence: {found.rubric.manual.licence}."),
        "hash": found.rubric.hash,
    }
    template = resources.files("excam.rubric").joinpath("summary.html").read_text(encoding="utf-8")
    return fill_template(template, values)


def _html_table(caption: str, heads: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Return a table; the first cell of a line is its head, cells are HTML already."""
    head = "".join(f'<th scope="col">{name}</th>' for name in heads)
    body = "".join(
        f'<tr><th scope="row">{name}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>\n'
        for name, *cells in lines
    )
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{caption}"><table><caption>{caption}</caption>\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody></table></div>\n"
    )


def _bar(one: Reliability, target: float) -> str:
    """Return an interval as a picture on a scale from -.5 to 1, with the target as a line."""
    if one.icc is None or one.low is None or one.high is None:
        return ""

    def at(value: float) -> float:
        return 100 * (min(max(value, -0.5), 1) + 0.5) / 1.5

    return (
        '<svg class="interval" viewBox="0 0 100 12" preserveAspectRatio="none" aria-hidden="true">'
        f'<line class="zero" x1="{at(0):.1f}" x2="{at(0):.1f}" y1="0" y2="12"/>'
        f'<line class="target" x1="{at(target):.1f}" x2="{at(target):.1f}" y1="0" y2="12"/>'
        f'<rect class="range" x="{at(one.low):.1f}" width="{at(one.high) - at(one.low):.1f}" y="4.5" height="3"/>'
        f'<rect class="value" x="{at(one.icc) - 0.8:.1f}" width="1.6" y="1.5" height="9"/></svg>'
    )


def _reliability_table(found: Study) -> str:
    if not found.reliability:
        return "<p>No two raters.</p>\n"
    target = found.rubric.manual.reliability.icc
    parts = []
    for phase in dict.fromkeys(one.phase for one in found.reliability):
        lines = [
            (
                escape(one.raters) if one.score == SCORES[0] else "",
                one.score,
                rounded(one.icc),
                interval(one.low, one.high),
                _bar(one, target),
                interval(one.boot_low, one.boot_high),
                counted(one.n),
                str(one.partial),
                f"{rounded(one.alpha)} <small>{interval(one.alpha_low, one.alpha_high)}</small>",
                f'<span class="{one.target.replace(" ", "-")}">{one.target}</span>',
            )
            for one in found.reliability
            if one.phase == phase
        ]
        heads = ("Raters", "Score", "ICC(2,1)", "95 % by F", f"−.5 to 1; line: {target:g}", "95 % bootstrap", "n",
                 "Partly rated", "Alpha", "Target")  # fmt: skip
        parts.append(_html_table(f"Agreement, {phase} phase", heads, lines))
    return "".join(parts)


def _disagreements_table(found: Study) -> str:
    if not found.disagreements:
        return "<p>None.</p>\n"
    tasks = {one.task_id: one for one in found.known}
    lines = []
    for one in found.disagreements:
        task = tasks.get(one["task_id"])
        shown = f"{escape(task.prompt)}<br><small>{escape(task.response)}</small>" if task else ""
        a, b = (f"{escape(one[f'rater_{k}'])}: {one[f'overall_{k}']}<br>{escape(one[f'why_{k}'])}" for k in "ab")
        lines.append(
            (escape(one["task_id"]), shown, a, b, str(one["difference"]), escape(one["apart_on"] or "none alone"))
        )
    heads = ("Response", "Text", "One rater", "The other", "Apart", "Apart also on")
    return _html_table("Pairs of people whose Overall is far apart", heads, lines)


def _fatigue_table(found: Study) -> str:
    if not found.fatigue:
        return "<p>No ratings of people.</p>\n"
    lines = [
        (
            escape(one["rater"]),
            str(one["ratings"]),
            str(one["longest_stretch"]),
            rounded(one["mean_minutes"], 1),
            rounded(one["worst_minutes"], 1),
            rounded(one["worst_sd"]),
            escape(f"after {one['rest_due_after']}: {one['why']}") if one["why"] else "not due",
        )
        for one in found.fatigue
    ]
    heads = ("Rater", "Ratings", "Longest stretch", "Mean minutes", "Worst mean minutes", "Worst SD", "Rest")
    return _html_table("Work and rest of people", heads, lines)


def _rules_table(found: Study) -> str:
    lines = [
        (
            escape(one["rater"]),
            one["role"],
            "all rules" if one["rule"] == "all" else one["rule"],
            f"{one['changed']} of {one['ratings']}",
            "" if one["undecidable"] is None else str(one["undecidable"]),
            f"{one['corrected']} of {one['ratings']}" if one["corrected"] is not None and one["rule"] == "all" else "",
            str(one["failures"]) if one["rule"] == "all" else "",
        )
        for one in found.rules
    ]
    heads = ("Rater", "Role", "Rule", "Ratings changed", "Not decidable", "Model's draft corrected", "Failures")
    return _html_table("What the rules changed", heads, lines)


def _conditions_tables(found: Study) -> str:
    parts = []
    for name in ("all", *CONDITIONS):
        chosen = [one for one in found.conditions if one["condition"] == name]
        if not chosen or (name != "all" and {one["value"] for one in chosen} == {"unknown"}):
            continue
        keys = list(dict.fromkeys((one["value"], one["raters"]) for one in chosen))
        by_key = {(one["value"], one["raters"], one["score"]): one for one in chosen}
        lines = []
        for value, who in keys:
            cells = [by_key[value, who, score] for score in SCORES]
            shown = [f"{rounded(one['mean'], 1)} <small>{interval(one['low'], one['high'])}</small>" for one in cells]
            lines.append((escape(value), escape(who), *shown, counted(cells[0]["items"]), str(cells[0]["ratings"])))
        title = {
            "all": "All responses",
            "language_condition": "By language condition",
            "model": "By who wrote the response",
        }
        heads = (name.replace("_", " ").capitalize(), "Raters", *map(str.capitalize, SCORES), "n", "Ratings")
        parts.append(_html_table(title.get(name, f"By {name}"), heads, lines))
    return "".join(parts)
