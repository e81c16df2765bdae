"""Translations on which a metric and the label disagree most -> one HTML page to search and filter (Table 4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from excam.acre.errors import ERRORS, primary
from excam.acre.study import AcreStudy
from excam.acre.translations import Translated, name
from excam.core.exceptions import InputInvalid
from excam.pages import row_browser
from excam.pages.markdown import rounded
from excam.pages.row_browser import Browser, BrowserRow, Filter, ReportCell

HIGH, LOW = "high score, wrong", "low score, right"
HEAD = """<h1>CulT-Eval: misaligned</h1>
<p>{n} of {all} labelled translations: a metric has them in its upper third although the expression is wrong, or in its
lower third although it is right. Thirds are of all labelled translations.</p>
"""
FILTERS = (
    Filter("outcome", "Kind", (HIGH, LOW)),
    Filter("metric", "Metric"),
    Filter("error", "Primary error", tuple(ERRORS)),
    Filter("category", "Category"),
    Filter("system", "System"),
)


def page(study: AcreStudy) -> str:
    """Return the page. Raise InputInvalid where nothing is labelled."""
    rows = [translated for translated in study.rows if translated.label is not None]
    if not rows:
        raise InputInvalid("labels: none of the translations has one; expected labels; see docs/cult-eval.md")
    places = {metric: _places(rows, scores) for metric, scores in study.metrics.items()}
    page_rows = [row for translated in rows if (row := _row(translated, study, places)) is not None]
    page_rows.sort(key=lambda row: (-(row.keys["gap"] or 0.0), row.id))
    kinds = Counter((metric, row.outcome) for row in page_rows for metric in row.values["metric"])
    lines = [[row_browser.escape(metric), *(kinds[metric, kind] for kind in (HIGH, LOW))] for metric in places]
    note = "How many translations each metric puts wrongly into its upper or lower third."
    table = row_browser.folded_table("By metric", note, ("Metric", HIGH.capitalize(), LOW.capitalize()), lines)
    browser = Browser(
        title="CulT-Eval: misaligned",
        head=HEAD.format(n=len(page_rows), all=len(rows)) + table,
        columns=["Scores"],
        filters=FILTERS,
    )
    return row_browser.write(browser, page_rows)


def _places(rows: Sequence[Translated], scores: Mapping[str, float | None]) -> dict[str, float]:
    """Return the share of scored rows below each row, ties counted half, by row."""
    score_of = {row.id: score for row in rows if (score := scores.get(row.id)) is not None}
    values = np.sort(np.array(list(score_of.values())))
    left, right = (np.searchsorted(values, list(score_of.values()), side) for side in ("left", "right"))
    return dict(zip(score_of, ((left + right) / 2 / max(len(values), 1)).tolist(), strict=True))


def _row(translated: Translated, study: AcreStudy, places: Mapping[str, Mapping[str, float]]) -> BrowserRow | None:
    """Return the row of a translation; None where no metric is in the wrong third."""
    assert translated.label is not None, "rows are labelled"
    right = translated.label.correct
    row_places = {
        metric: place for metric, by_row in places.items() if (place := by_row.get(translated.id)) is not None
    }
    wrong = [metric for metric, place in row_places.items() if (place < 1 / 3 if right else place > 2 / 3)]
    if not wrong:
        return None
    scores = [
        f"{metric}: {rounded(study.metrics[metric][translated.id])}, above {100 * place:.0f} %"
        for metric, place in row_places.items()
    ]
    error = primary(translated.label.errors)
    label = "Label: right." if right else f"Label: {', '.join(translated.label.errors)}."
    return BrowserRow(
        id=translated.id,
        outcome=LOW if right else HIGH,
        tone="wrong",
        facts={"Expression": translated.item.term, "System": name(translated), "Category": translated.item.category},
        texts={
            "source": translated.item.source,
            "translation": translated.translation,
            "reference": translated.item.reference,
            "explication": translated.item.explication,
        },
        reports=[ReportCell(notes=[label, *scores])],
        values={
            "outcome": (LOW if right else HIGH,),
            "metric": wrong,
            "error": (error,) if error else (),
            "category": (translated.item.category,),
            "system": (name(translated),),
        },
        keys={"gap": max(1 - row_places[metric] if right else row_places[metric] for metric in wrong)},
    )
