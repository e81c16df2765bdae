"""The work of raters as a campaign: who rates which response in which phase, and what their answers say as ratings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil
from pathlib import Path
from typing import Any

from excam.annotation import exchange
from excam.annotation.answers import PATTERNS, Answer
from excam.annotation.campaign import Campaign, Task, campaign, require_form
from excam.annotation.form import SUBMITTED
from excam.core.exceptions import InputInvalid
from excam.core.hash_order import digest
from excam.rubric import form
from excam.rubric.checks import WITNESSES
from excam.rubric.manual import FINDINGS, SCORES, ScoringRubric
from excam.rubric.ratings import RATIONALES
from excam.rubric.responses import Response


def drawn(
    items: Sequence[Response], raters: Sequence[str], overlap: float, calibration: int, rubric: ScoringRubric, seed: int
) -> Campaign:
    """Return a campaign whose responses are drawn by a hash of the seed and their id.

    `calibration` responses are for all raters first, then the others for the evaluator, who is the first of `raters`.
    The validators, all others, also get a share of these, `overlap`, the same ones, rounded up. Raise InputInvalid for
    raters that are there twice, or numbers that leave nothing to rate.
    """
    if len(set(raters)) < len(raters) or not all(map(PATTERNS["annotator"].fullmatch, raters)):
        raise InputInvalid(
            f"raters: found {', '.join(raters)}; expected each name once, of letters, digits, dots, - and _, at most 40"
        )
    if not 0 <= overlap <= 1 or not 0 <= calibration < len(items):
        raise InputInvalid(
            f"found overlap {overlap:g} and calibration {calibration} of {len(items)} responses; expected a share from "
            "0 to 1, and fewer to calibrate than there are"
        )
    order = sorted(items, key=lambda response: digest(seed, "rubric", response.task_id))
    first, rest = order[:calibration], order[calibration:]
    shared = ceil(overlap * len(rest) - 1e-9)
    tasks = [_task(response, "calibration", raters, rubric) for response in first]
    tasks += [
        _task(response, "main", raters[: None if place < shared else 1], rubric) for place, response in enumerate(rest)
    ]
    return campaign(f"Rubric {rubric.signature}", form.made_of(rubric), tasks)


def _task(response: Response, phase: str, raters: Sequence[str], rubric: ScoringRubric) -> Task:
    facts = {name: getattr(response, name) for name in form.FACTS}
    facts = {name: form.BOOLEAN.get(value, value) for name, value in facts.items() if value is not None}
    return Task(
        id=digest(0, "rubric", phase, response.task_id)[:16],
        row=response.task_id,
        language=response.language or "unknown",
        culture=response.culture or "unknown",
        annotators=len(raters),
        shown={"prompt": response.prompt, "response": response.response, "phase": phase, **facts},
        hidden={"model": response.model or "", "role_of_evaluator": raters[0], "rubric": rubric.signature},
        assigned=tuple(raters),
    )


def ratings(files: Sequence[Path], rating_campaign: Campaign) -> Iterator[dict[str, Any]]:
    """Yield what raters submitted, as rows that `checks.parse` reads, by rater in the order of saving.

    Raise InputInvalid for a campaign of another form, and a file that holds no answers to it.
    """
    require_form(rating_campaign, form.NAME)
    submitted = [answer for answer in exchange.read_all(files, rating_campaign).answers if answer[SUBMITTED]]
    for answer in sorted(submitted, key=lambda submission: (submission.annotator, submission.saved, submission.task)):
        yield _row(rating_campaign.by_id[answer.task], answer)


def _row(task: Task, answer: Answer) -> dict[str, Any]:
    texts = {name: answer[name].strip() for name in FINDINGS}
    findings = {name: texts[name] == "yes" if FINDINGS[name][0] is False else texts[name] for name in FINDINGS}
    flags = [flag for flag, name in WITNESSES.items() if findings[name] != FINDINGS[name][0]]
    flags += [name.removeprefix(form.FLAG).replace("_", "-") for name, value in answer.values.items() if value is True
              and name.startswith(form.FLAG)]  # fmt: skip
    low = answer["appropriateness"]
    deducted = findings["grammar"] == "impedes" and low < 5  # made by the rater, whom the form told to
    return {
        **{"task_id": task.row, "rater": answer.annotator, "rubric": task.hidden["rubric"]},
        "role": "evaluator" if answer.annotator == task.hidden["role_of_evaluator"] else "validator",
        "phase": task.shown["phase"],
        **{name: answer[name] for name in (*SCORES, *RATIONALES, "confidence", "edge_case", "notes")},
        **{"findings": findings, "flags": flags},
        "caps": [{"rule": "grammar", "dimension": "appropriateness", "from": low + 1, "to": low}] if deducted else [],
        **{"seconds": answer.seconds, "saved": answer.saved},
    }
