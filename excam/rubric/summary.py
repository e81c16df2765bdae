"""The page of a rating study: every table, and what to distrust, as one HTML file without a script."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import resources

from excam.pages.html import content_security_policy, fill_template
from excam.pages.row_browser import escape
from excam.rubric.manual import SCORES
from excam.rubric.quality import Reliability
from excam.rubric.responses import CONDITIONS
from excam.rubric.study import Study, cautions, counted, how, interval, overview, rounded


def page(found: Study) -> str:
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
