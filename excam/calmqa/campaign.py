"""People rate three answers of a question side by side (form `long_form`); back to the authors' columns."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from excam.annotation import exchange, form
from excam.annotation.campaign import Campaign, Task, campaign, require_form
from excam.annotation.form import SUBMITTED
from excam.calmqa.source import Question, Reply
from excam.core.exceptions import InputInvalid
from excam.core.hash_order import digest
from excam.core.language_identity import code_name

FORM = "long_form"
PLACES = (1, 2, 3)
KINDS = {"specific": "cult", "agnostic": "non-cult"}  # as the authors' file has them
COLUMNS = (  # of the authors' all_ratings.csv, then ours
    *("annotation_id", "annotator", "answer", "model", "factuality", "language_correct", "omissions"),
    *("overall-rating", "rating", "type", "question", "language", "rank", "errors", "seconds"),
)


def drawing(
    questions: Mapping[str, Question],
    answers: Sequence[Reply],
    subjects: Sequence[str],
    people: int,
    each: int,
    seed: int,
) -> tuple[Campaign, dict[str, str]]:
    """Return a campaign with one task per drawn question, for `people` annotators, and why the others are left out.

    Of each language, at most `each` questions that all three subjects answered are drawn by a hash: as many of each
    type, if there are. The order of the subjects changes from question to question. Raises InputInvalid for other than
    three subjects, or no such question.
    """
    if len(set(subjects)) != len(PLACES):
        raise InputInvalid(f"subjects: found {', '.join(subjects) or 'none'}; expected three different ones")
    by_question: dict[str, dict[str, Reply]] = defaultdict(dict)
    for answer in answers:
        if answer.text.strip():
            by_question[answer.question][answer.subject] = answer
    shared = [name for name in questions if by_question[name].keys() >= {*subjects}]
    if not shared:
        raise InputInvalid(f"subjects: no question that {', '.join(subjects)} all answered; expected some")
    ranks: dict[str, int] = {}
    sizes, taken = Counter[tuple[str, str]](), Counter[str]()
    for name in sorted(shared, key=lambda name: digest(seed, "calmqa/draw", name)):
        stratum = questions[name].language, questions[name].type
        ranks[name] = sizes[stratum]
        sizes[stratum] += 1
    left_out = {name: "not answered by all three" for name in questions if name not in ranks}
    for name in sorted(ranks, key=ranks.__getitem__):
        taken[questions[name].language] += 1
        if taken[questions[name].language] > each:
            left_out[name] = "not drawn"
    tasks = [
        _task(questions[name], by_question[name], subjects, people, seed) for name in shared if name not in left_out
    ]
    return campaign("Long answers, three to a question", form.load(FORM), tasks), left_out


def _task(question: Question, answers: Mapping[str, Reply], subjects: Sequence[str], people: int, seed: int) -> Task:
    order = sorted(subjects, key=lambda subject: digest(seed, "calmqa/order", f"{question.id}/{subject}"))
    texts = {f"answer_{place}": _one_line_end(answers[name].text) for place, name in zip(PLACES, order, strict=True)}
    english = {"question_en": question.question_en} if question.question_en and question.language != "en" else {}
    return Task(
        id=digest(seed, "calmqa/rating", question.id)[:16],
        row=question.id,
        language=code_name(question.language),
        culture="",
        annotators=people,
        shown={"question": question.question, "kind": question.type, **english, **texts},
        hidden={f"model_{place}": name for place, name in zip(PLACES, order, strict=True)},
    )


def _one_line_end(text: str) -> str:
    """Return a text in which words can be marked, and which a file can hold."""
    return text.replace("\r\n", "\n").replace("\r", "\n").encode("utf-8", "replace").decode()


def ratings(files: Sequence[Path], drawn: Campaign, questions: Mapping[str, Question]) -> Iterator[dict[str, Any]]:
    """Yield one row for each rated answer (`COLUMNS`), in the order of the campaign; unsubmitted ones are left out.

    Raises InputInvalid for a file that holds no answers to the campaign, and a campaign about other questions.
    """
    require_form(drawn, FORM)
    tasks = {task.id: (number, task) for number, task in enumerate(drawn.tasks, 1)}
    if absent := [task.row for task in drawn.tasks if task.row not in questions]:
        raise InputInvalid(
            f"campaign {drawn.id}: {absent[0]}: not among the questions; expected those it was drawn from"
        )
    for export in exchange.read_all(files, drawn).answers:
        if not export[SUBMITTED]:
            continue
        number, task = tasks[export.task]
        question, ranking = questions[task.row], list(export["ranking"])
        for place in PLACES:
            yield {
                "annotation_id": number,
                "annotator": export.annotator,
                "answer": task.shown[f"answer_{place}"],
                "model": task.hidden[f"model_{place}"],
                "factuality": export[f"factuality_{place}"],
                "language_correct": export[f"language_{place}"],
                "omissions": export[f"omissions_{place}"],
                "overall-rating": json.dumps([{"rating": export[f"rating_{place}"]}], separators=(",", ":")),
                "rating": export[f"rating_{place}"],
                "type": KINDS[question.type],
                "question": question.question,
                "language": question.language,
                "rank": ranking.index(str(place)) + 1 if str(place) in ranking else "",
                "errors": json.dumps(export[f"errors_{place}"], ensure_ascii=False),
                "seconds": export.seconds,
            }
