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


def page(study: Study) -> str:
    """Return one HTML page with every table; it needs nothing else and runs no script."""
    style = resources.files("excam.rubric").joinpath("summary.css").read_text(encoding="utf-8")
    policy = content_security_policy(style, "")
    values = {
        "policy": policy,
        "style": style,
        "overview": escape(overview(study)),
        "how": escape(how(study)),
        "notes": "".join(f"<li>{escape(line)}</li>\n" for line in cautions(study)) or "<li>None found.</li>\n",
        "reliability": _reliability_table(study),
        "disagreements": _disagreements_table(study),
        "fatigue": _fatigue_table(study),
        "rules": _rules_table(study),
        "conditions": _conditions_tables(study),
        "window": str(study.rubric.manual.fatigue.window),
        "fatigue_words": escape(study.rubric.manual.fatigue.text),
        "difference": str(study.rubric.manual.reliability.difference),
        "licence": escape(f"{study.rubric.manual.source}. Licence: {study.rubric.manual.licence}."),
        "hash": study.rubric.hash,
    }
    template = resources.files("excam.rubric").joinpath("summary.html").read_text(encoding="utf-8")
    return fill_template(template, values)


def _html_table(caption: str, heads: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Return a table; the first cell of a line is its head, cells are HTML already."""
    head = "".join(f'<th scope="col">{name}</th>' for name in heads)
    body = "".join(
        "<tr>" + (f'<th scope="row">{name}</th>' if name else "<td></td>") + "".join(map(_cell, cells)) + "</tr>\n"
        for name, *cells in lines
    )
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{caption}"><table><caption>{caption}</caption>\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody></table></div>\n"
    )


def _cell(cell: str) -> str:
    """Return a cell; what is short, such as an interval, stays on one line."""
    return f'<td class="short">{cell}</td>' if len(cell) <= len("−0.28 to −0.12") else f"<td>{cell}</td>"


def _bar(reliability: Reliability, target: float) -> str:
    """Return an interval as a picture on a scale from -.5 to 1, with the target as a line."""
    if reliability.icc is None or reliability.low is None or reliability.high is None:
        return ""

    def at(value: float) -> float:
        return 100 * (min(max(value, -0.5), 1) + 0.5) / 1.5

    return (
        '<svg class="interval" viewBox="0 0 100 12" preserveAspectRatio="none" aria-hidden="true">'
        f'<line class="zero" x1="{at(0):.1f}" x2="{at(0):.1f}" y1="0" y2="12"/>'
        f'<line class="target" x1="{at(target):.1f}" x2="{at(target):.1f}" y1="0" y2="12"/>'
        f'<rect class="range" x="{at(reliability.low):.1f}" '
        f'width="{at(reliability.high) - at(reliability.low):.1f}" y="4.5" height="3"/>'
        f'<rect class="value" x="{at(reliability.icc) - 0.8:.1f}" width="1.6" y="1.5" height="9"/></svg>'
    )


def _reliability_table(study: Study) -> str:
    if not study.reliability:
        return "<p>No two raters.</p>\n"
    target = study.rubric.manual.reliability.icc
    parts = []
    for phase in dict.fromkeys(reliability.phase for reliability in study.reliability):
        lines = [
            (
                escape(reliability.raters) if reliability.score == SCORES[0] else "",
                reliability.score,
                rounded(reliability.icc),
                interval(reliability.low, reliability.high),
                _bar(reliability, target),
                interval(reliability.boot_low, reliability.boot_high),
                f"{rounded(reliability.mean_icc)} "
                f'<small class="short">{interval(reliability.mean_low, reliability.mean_high)}, '
                f"k = {reliability.k}</small>",
                counted(reliability.n),
                str(reliability.partial),
                f"{rounded(reliability.alpha)} "
                f'<small class="short">{interval(reliability.alpha_low, reliability.alpha_high)}</small>',
                f'<span class="{reliability.target.replace(" ", "-")}">{reliability.target}</span>',
            )
            for reliability in study.reliability
            if reliability.phase == phase
        ]
        heads = ("Raters", "Score", "ICC(2,1)", "95 % by F", f"−.5 to 1; line: {target:g}", "95 % over responses",
                 "ICC(2,k)", "n", "Partly rated", "Alpha", "Target")  # fmt: skip
        parts.append(_html_table(f"Agreement, {phase} phase", heads, lines))
    return "".join(parts)


def _disagreements_table(study: Study) -> str:
    if not study.disagreements:
        return "<p>None.</p>\n"
    tasks = {response.task_id: response for response in study.responses}
    lines = []
    for pair in study.disagreements:
        task = tasks.get(pair["task_id"])
        text = f"{escape(task.prompt)}<br><small>{escape(task.response)}</small>" if task else ""
        a, b = (f"{escape(pair[f'rater_{k}'])}: {pair[f'overall_{k}']}<br>{escape(pair[f'why_{k}'])}" for k in "ab")
        lines.append(
            (escape(pair["task_id"]), text, a, b, str(pair["difference"]), escape(pair["apart_on"] or "none alone"))
        )
    heads = ("Response", "Text", "One rater", "The other", "Apart", "Apart also on")
    return _html_table("Pairs of people whose Overall is far apart", heads, lines)


def _fatigue_table(study: Study) -> str:
    if not study.fatigue:
        return "<p>No ratings of people.</p>\n"
    lines = [
        (
            escape(person["rater"]),
            str(person["ratings"]),
            str(person["longest_stretch"]),
            rounded(person["mean_minutes"], 1),
            rounded(person["worst_minutes"], 1),
            rounded(person["worst_sd"]),
            escape(f"after {person['rest_due_after']}: {person['why']}") if person["why"] else "not due",
        )
        for person in study.fatigue
    ]
    heads = ("Rater", "Ratings", "Longest stretch", "Mean minutes", "Worst mean minutes", "Worst SD", "Rest")
    return _html_table("Work and rest of people", heads, lines)


def _rules_table(study: Study) -> str:
    lines = [
        (
            escape(counts["rater"]),
            counts["role"],
            "all rules" if counts["rule"] == "all" else counts["rule"],
            f"{counts['changed']} of {counts['ratings']}",
            "" if counts["undecidable"] is None else str(counts["undecidable"]),
            f"{counts['corrected']} of {counts['ratings']}"
            if counts["corrected"] is not None and counts["rule"] == "all"
            else "",
            str(counts["failures"]) if counts["rule"] == "all" else "",
        )
        for counts in study.rules
    ]
    heads = ("Rater", "Role", "Rule", "Ratings changed", "Not decidable", "Model's draft corrected", "Failures")
    return _html_table("What the rules changed", heads, lines)


def _conditions_tables(study: Study) -> str:
    parts = []
    for name in ("all", *CONDITIONS):
        chosen = [estimate for estimate in study.conditions if estimate["condition"] == name]
        if not chosen or (name != "all" and {estimate["value"] for estimate in chosen} == {"unknown"}):
            continue
        keys = list(dict.fromkeys((estimate["value"], estimate["raters"]) for estimate in chosen))
        by_key = {(estimate["value"], estimate["raters"], estimate["score"]): estimate for estimate in chosen}
        lines = []
        for value, who in keys:
            cells = [by_key[value, who, score] for score in SCORES]
            texts = [
                f"{rounded(cell['mean'], 1)} <small>{interval(cell['low'], cell['high'])}</small>" for cell in cells
            ]
            lines.append((escape(value), escape(who), *texts, counted(cells[0]["items"]), str(cells[0]["ratings"])))
        title = {
            "all": "All responses",
            "language_condition": "By language condition",
            "model": "By who wrote the response",
        }
        heads = (name.replace("_", " ").capitalize(), "Raters", *map(str.capitalize, SCORES), "n", "Ratings")
        parts.append(_html_table(title.get(name, f"By {name}"), heads, lines))
    return "".join(parts)
