"""People write questions of their culture (form `seed_questions`); they become rows in the official columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from excam.annotation import exchange, form
from excam.annotation.campaign import Campaign, Task, campaign, require_form
from excam.annotation.form import SUBMITTED
from excam.core.exceptions import InputInvalid
from excam.core.hash_order import digest
from excam.core.language_identity import code_name, language_code

FORM = "seed_questions"
TYPE = "culturally specific"


def drawing(languages: Sequence[str], people: int, each: int) -> Campaign:
    """Return a campaign in which `people` writers of each language, named by number, write `each` questions.

    Raises InputInvalid for no language, an unknown one, or one that is there twice.
    """
    codes = [language_code(name) for name in languages]
    if not codes or len(set(codes)) < len(codes):
        raise InputInvalid(f"languages: found {', '.join(languages) or 'none'}; expected some, each once")
    tasks = [
        _task(code, f"{code}-{person}", number, each)
        for code in codes
        for person in range(1, people + 1)
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


def collected(files: Sequence[Path], drawn: Campaign) -> tuple[list[dict[str, Any]], Mapping[str, int]]:
    """Return the written questions in the official columns, in the order of the campaign, and counts.

    Left out and counted are answers that are not submitted, those without a further question (`no_more`), and a
    question that is there before in its language (`repeated`). Raises InputInvalid for a file that holds no answers to
    the campaign, and for an answer that two files have.
    """
    require_form(drawn, FORM)
    counts = Counter({"submitted": 0, "not submitted": 0, "no_more": 0, "repeated": 0})
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for said in exchange.in_campaign_order(drawn, exchange.read_all(files, drawn)):
        task = drawn.by_id[said.task]
        key = (task.language, " ".join(said["question"].casefold().split()))
        if not said[SUBMITTED]:
            counts["not submitted"] += 1
            continue
        counts["submitted"] += 1
        if said["no_more"] or key in rows:
            counts["no_more" if said["no_more"] else "repeated"] += 1
            continue
        rows[key] = {
            **{"language": task.language, "question_type": TYPE, "question": said["question"].strip()},
            **{"question_english": said["question_en"].strip(), "answer": None, "question_id": task.row},
            **{"category": said["category"], "source": "worker", "why": said["why"].strip()},
            **{"link": said["link"].strip(), "writer": said.annotator, "seconds": said.seconds},
        }
    return list(rows.values()), counts
