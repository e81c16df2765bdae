"""Every answer with its parts of S, its claims and their verdicts -> one HTML page to search and filter."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from excam.calmqa.claims import Claim
from excam.calmqa.source import Question, Reply
from excam.core.language_identity import code_name
from excam.pages import row_browser
from excam.pages.row_browser import Browser, BrowserRow, Filter, ReportCell

OUTCOMES = ("scored", "zero", "no score")
FILTERS = (
    Filter("subject", "Subject"),
    Filter("language", "Language"),
    Filter("type", "Question"),
    Filter("surface", "Surface"),
    Filter("outcome", "S", OUTCOMES),
)
HEAD = """<h1>CaLMQA</h1>
<p>All {n} answers with the parts of their score. Texts are the subjects' and the documents'.</p>
"""


def page(
    questions: Mapping[str, Question],
    answers: Sequence[Reply],
    surfaces: Iterable[Mapping[str, Any]],
    claims: Iterable[Claim],
    verdicts: Iterable[Mapping[str, Any]],
    scores: Iterable[Mapping[str, Any]],
) -> str:
    """Return the page; the tables are those of the stages."""
    surface_of, score_of = ({row["answer"]: row for row in rows} for rows in (surfaces, scores))
    verdict_of = {row["claim"]: row for row in verdicts}
    claims_of: dict[str, list[Claim]] = defaultdict(list)
    for claim in claims:
        claims_of[claim.answer].append(claim)
    rows = [
        _row(
            questions[answer.question],
            answer,
            surface_of[answer.id],
            claims_of[answer.id],
            verdict_of,
            score_of[answer.id],
        )
        for answer in answers
    ]
    browser = Browser(
        title="CaLMQA: answers",
        head=HEAD.format(n=len(rows)),
        columns=["Score", "Claims"],
        filters=FILTERS,
        orders={"s": "S, lowest first"},
    )
    return row_browser.write(browser, rows)


def _row(
    question: Question,
    answer: Reply,
    surface: Mapping[str, Any],
    claims: Sequence[Claim],
    verdict_of: Mapping[str, Mapping[str, Any]],
    score: Mapping[str, Any],
) -> BrowserRow:
    outcome = "no score" if score["s"] is None else "scored" if score["s"] else "zero"
    looks = surface_words(surface)
    return BrowserRow(
        id=answer.id,
        outcome=outcome,
        tone={"no score": "unreadable", "zero": "wrong", "scored": "right"}[outcome],
        facts={"Subject": answer.subject, "Language": code_name(question.language), "Question": question.type},
        texts={"question": question.question, "answer": answer.text},
        reports=[ReportCell(notes=_score_notes(score, looks)), ReportCell(notes=_claim_notes(claims, verdict_of))],
        values={
            "subject": (answer.subject,),
            "language": (code_name(question.language),),
            "type": (question.type,),
            "surface": looks,
            "outcome": (outcome,),
        },
        keys={"s": score["s"]},
    )


def surface_words(surface: Mapping[str, Any]) -> list[str]:
    """Return what is wrong on the surface of an answer, in words."""
    faults = []
    if surface["empty"]:
        faults.append("empty")
    elif not surface["decidable"]:
        faults.append("language not decidable")
    elif surface["found"] != surface["expected"]:
        faults.append(f"in {code_name(surface['found'])}")
    if surface["repeated"]:
        faults.append(f"repeats itself, {surface['most_repeats']} times")
    return faults or ["right"]


def _score_notes(score: Mapping[str, Any], looks: Sequence[str]) -> list[str]:
    parts = {"S": "s", "factuality": "factuality", "precision": "precision", "relevance": "relevance"}
    line = ", ".join(f"{name} {'–' if score[key] is None else f'{score[key]:.2f}'}" for name, key in parts.items())
    notes = [
        f"Surface: {', '.join(looks)}.",
        f"{line}.",
        f"{score['supported']} of {score['claims']} claims, K {score['k']}.",
    ]
    return [*notes, f"Failed: {score['failure']}."] if score["failure"] else notes


def _claim_notes(claims: Sequence[Claim], verdict_of: Mapping[str, Mapping[str, Any]]) -> list[str]:
    notes = []
    for claim in claims:
        if claim.text is None:
            notes.append(f"Failed: {claim.failure}.")
            continue
        verdict = verdict_of[claim.id]
        by = f" by {verdict['passage']}" if verdict["passage"] else ""
        notes.append(f"{verdict['verdict']}{by}: {claim.text}")
    return notes or ["No claim."]
