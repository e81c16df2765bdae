"""Every instance with what one model answered in each mode -> one HTML page to search and filter."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from excam.macaron.answers import WRITTEN, System
from excam.pages import row_browser
from excam.pages.row_browser import Browser, BrowserRow, Filter, ReportCell

HEAD = """<h1>Macaron <span class="system">{model}</span></h1>
<p>All {n} instances, each with the answers of the model. Authors of templates and scenarios wrote the texts.</p>
"""
NOTE = "Right and wrong by the first mode; unanswered: no answer could be read, which counts as wrong."
OUTCOMES = ("right", "wrong", "unanswered")
FILTERS = (
    Filter("country", "Country"),
    Filter("format", "Format"),
    Filter("reasoning", "Reasoning"),
    Filter("aspect", "Aspect"),
    Filter("outcome", "Answer", OUTCOMES),
)
FORMATS = {"MC": "multiple choice", "T": "true statement", "F": "false statement"}
WRITTEN_NOTE = "<p>These answers are <b>made up</b>: people wrote them for a demonstration, no model gave them.</p>\n"
LANGS = {"EN": "English", "L": "local"}


def page(systems: Sequence[System]) -> str:
    """Return the page of one model: `systems` are its modes, with the same instances in the same order."""
    rows = [_row(both) for both in zip(*(system.rows for system in systems), strict=True)]
    counts = Counter(row.values["format"][0] + "/" + row.outcome for row in rows)
    kinds = [f"{name}, {lang}" for name in FORMATS.values() for lang in LANGS.values()]
    lines = [[kind, *(counts[f"{kind}/{outcome}"] for outcome in OUTCOMES)] for kind in kinds]
    table = row_browser.folded_table("Answers by format", NOTE, ("Format", *map(str.capitalize, OUTCOMES)), lines)
    written = WRITTEN_NOTE if any(system.mode == WRITTEN for system in systems) else ""
    browser = Browser(
        title=f"Macaron: {systems[0].model}",
        head=HEAD.format(model=html.escape(systems[0].model), n=len(rows)) + written + table,
        columns=[system.mode for system in systems],
        filters=FILTERS,
    )
    return row_browser.write(browser, rows)


def outcome(row: Mapping[str, Any]) -> str:
    """Return one of `OUTCOMES`."""
    if row["pred"] is None:
        return "unanswered"
    return "right" if row["pred"] == row["gold"] else "wrong"


def _row(both: Sequence[Mapping[str, Any]]) -> BrowserRow:
    first = both[0]
    first_outcome = outcome(first)
    choices = [f"{letter}) {option}" for letter, option in zip("ABCD", first["options"], strict=False)]
    return BrowserRow(
        id=first["id"],
        outcome=first_outcome,
        tone="unreadable" if first_outcome == "unanswered" else first_outcome,
        facts={"Template": str(first["template"]), "Language": first["language"], "Right answer": first["gold"]},
        texts={"text": "\n".join([first["text"], *choices])},
        reports=[ReportCell(notes=_notes(row)) for row in both],
        values={
            "country": (first["country"],),
            "format": (f"{FORMATS[first['format']]}, {LANGS[first['lang']]}",),
            "reasoning": first["reasoning"],
            "aspect": first["aspects"],
            "outcome": (first_outcome,),
        },
    )


def _notes(row: Mapping[str, Any]) -> list[str]:
    """Return what a model answered, how it was read, and how far each answer is below the likeliest one."""
    answer = row["said"]
    if row["pred"] is None:
        return [f"Unanswered: {answer['failure']}."]
    notes = [f"{row['pred']}: {outcome(row)}."]
    if answer["recovered"]:
        notes.append(f"Read despite: {', '.join(answer['recovered'])}.")
    if logprobs := answer["logprobs"] or answer["letter_logprobs"]:
        likeliest = max(logprobs)
        valid = "ABCD" if row["format"] == "MC" else "TF"
        notes.append("Log-likelihood below the best: " + ", ".join(
            f"{name} {logprob - likeliest:.2f}".replace("-", "−") for name, logprob in zip(valid, logprobs, strict=True)
        ))  # fmt: skip
    return notes
