"""People write questions of their culture (form `seed_questions`); they become rows in the official columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from excam.annotation import exchange, form
from excam.annotation.answers import Answer
from excam.annotation.campaign import Campaign, Task, campaign, require_form
from excam.annotation.form import SUBMITTED
from excam.core.exceptions import InputInvalid
from excam.core.hash_order import digest
from excam.core.language_identity import code_name, language_code

FORM, REVIEW = "seed_questions", "seed_review"
JUDGED = ("specific", "clear", "translated")  # by the form of a review
TESTED = ("writer", "language", "questions", "judged", "good", "passed")
TYPE = "culturally specific"


def drawing(languages: Sequence[str], people: int, each: int, only: Sequence[str] = ()) -> Campaign:
    """Return a campaign in which `people` writers of each language, named by number, write `each` questions; with
    `only` those of them who are in it.

    Raises InputInvalid for no language, an unknown one, or one that is there twice, and for a writer who is not drawn.
    """
    codes = [language_code(name) for name in languages]
    if not codes or len(set(codes)) < len(codes):
        raise InputInvalid(f"languages: found {', '.join(languages) or 'none'}; expected some, each once")
    writers = {f"{code}-{person}": code for code in codes for person in range(1, people + 1)}
    if unknown := [name for name in only if name not in writers]:
        raise InputInvalid(f"writers: found {unknown[0]}; expected some of {', '.join(writers)}")
    tasks = [
        _task(code, writer, number, each)
        for writer, code in writers.items()
        if not only or writer in only
        for number in range(1, each + 1)
    ]
    return campaign("Questions of your culture", form.load(FORM), tasks)


def _task(code: str, writer: str, number: int, each: int) -> Task:
    row = f"{writer}/{number:0{len(str(each))}d}"
    return Task(
        id=digest(0, "calmqa/seed", row)[:16],
        row=row,
        language=code_name(code),
        culture="",
        annotators=1,
        shown={"place": f"{number} of {each}"},
        hidden={"code": code},
        assigned=(writer,),
    )


def tested(reviewed: Campaign, answers: Iterable[Answer], least: float) -> list[dict[str, Any]]:
    """Return a line for each writer of a test (`TESTED`): how many of their questions are good, and whether enough.

    A question is good if all who judged it say yes three times; unjudged ones are none. Raises InputInvalid for a
    campaign of another form, or questions without a writer.
    """
    require_form(reviewed, REVIEW)
    judgements: dict[str, list[bool]] = {}
    for answer in answers:
        if answer[SUBMITTED]:
            judgements.setdefault(answer.task, []).append(all(answer[name] == "yes" for name in JUDGED))
    lines: dict[str, dict[str, Any]] = {}
    for task in reviewed.tasks:
        if not (writer := task.hidden.get("writer")):
            raise InputInvalid(f"campaign {reviewed.id}: {task.row}: no writer; expected what `collect-seeds` wrote")
        counts = {"questions": 0, "judged": 0, "good": 0}
        line = lines.setdefault(writer, {"writer": writer, "language": task.language, **counts})
        line["questions"] += 1
        line["judged"] += task.id in judgements
        line["good"] += task.id in judgements and all(judgements[task.id])
    return [line | {"passed": "yes" if line["good"] >= least * line["questions"] else "no"} for line in lines.values()]


def collected(files: Sequence[Path], drawn: Campaign) -> tuple[list[dict[str, Any]], Mapping[str, int]]:
    """Return the written questions in the official columns, in the order of the campaign, and counts.

    Left out and counted are answers that are not submitted, those without a further question (`no_more`), and a
    question that is there before in its language (`repeated`). Raises InputInvalid for a file that holds no answers to
    the campaign.
    """
    require_form(drawn, FORM)
    counts = Counter({"submitted": 0, "not submitted": 0, "no_more": 0, "repeated": 0})
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for export in exchange.read_all(files, drawn).answers:
        task = drawn.by_id[export.task]
        key = (task.language, " ".join(export["question"].casefold().split()))
        if not export[SUBMITTED]:
            counts["not submitted"] += 1
            continue
        counts["submitted"] += 1
        if export["no_more"] or key in rows:
            counts["no_more" if export["no_more"] else "repeated"] += 1
            continue
        rows[key] = {
            **{"language": task.language, "question_type": TYPE, "question": export["question"].strip()},
            **{"question_english": export["question_en"].strip(), "answer": None, "question_id": task.row},
            **{"category": export["category"], "source": "worker", "why": export["why"].strip()},
            **{"link": export["link"].strip(), "writer": export.annotator, "seconds": export.seconds},
        }
    return list(rows.values()), counts
