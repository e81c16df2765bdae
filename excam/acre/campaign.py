"""People as judges: they mark expressions (form `culture_spans`) and judge translations (`translation_errors`).

What annotators export becomes items, candidates left out with their reason, and labels. Where annotators of one
sentence or translation disagree, there is neither item nor label: they settle it first.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from excam.acre import items
from excam.acre.errors import ERRORS, primary
from excam.acre.items import DOMAINS, KEPT, REASONS
from excam.acre.translations import Translated
from excam.annotation import exchange, form
from excam.annotation.answers import Answer
from excam.annotation.campaign import Campaign, Task, campaign, require_form
from excam.annotation.form import SUBMITTED
from excam.core import row_files
from excam.core.exceptions import InputInvalid
from excam.core.hash_order import digest
from excam.core.text import is_text

FIELDS = {error: error.replace("-", "_") for error in ERRORS}  # of the form


def marking(path: Path, each: int, seed: int) -> tuple[Campaign, int]:
    """Return a campaign in which people mark expressions in sentences with their translations, one task a sentence.

    Return also how many rows repeat the sentence of an earlier one, as rows of several expressions do. Raise
    InputInvalid for a row without `id`, `source`, `reference`, `domain` and `licence`, for an id that occurs twice, and
    for a sentence with two references.
    """
    wanted = ("id", "source", "reference", "domain", "licence")
    tasks: dict[str, Task] = {}
    seen: set[str] = set()
    for number, row in row_files.rows(path):
        where = f"{path}:{number}"
        if not all(is_text(row.get(column)) and row[column].strip() for column in wanted):
            raise InputInvalid(f"{where}: expected texts under {', '.join(wanted)}; add what is missing")
        if row["domain"] not in DOMAINS:
            raise InputInvalid(f"{where}: domain: found {row['domain'][:60]}; expected {' or '.join(DOMAINS)}")
        if row["id"] in seen:
            raise InputInvalid(f"{where}: id {row['id'][:60]} occurs twice; expected unique ids")
        seen.add(row["id"])
        fields = {column: row[column] for column in ("source", "reference", "domain")}
        if row["source"] in tasks and tasks[row["source"]].shown != fields:
            raise InputInvalid(
                f"{where}: the sentence of {tasks[row['source']].row[:60]} with another reference or domain; expected "
                "one of each"
            )
        tasks[row["source"]] = _task(row["id"], each, seed, "spans", fields, {"licence": row["licence"]})
    if not tasks:
        raise InputInvalid(f"{path}: 0 sentences; expected one JSON object a line, or a table")
    ordered = sorted(tasks.values(), key=lambda task: task.id)
    return campaign("CulT-Eval: culture-loaded expressions", form.load("culture_spans"), ordered), len(seen) - len(
        tasks
    )


def labelling(rows: Sequence[Translated], each: int, seed: int) -> Campaign:
    """Return a campaign in which people judge translations; the systems behind them are hidden, the order is mixed."""
    tasks = [
        _task(
            row.id,
            each,
            seed,
            "labels",
            {
                **{field: getattr(row.item, field) for field in ("source", "term", "category", "reference")},
                **({"explication": row.item.explication} if row.item.explication else {}),
                "translation": row.translation,
            },
            {"item": row.item.id, "system": row.system, "shots": str(row.shots)},
        )
        for row in rows
    ]
    ordered = sorted(tasks, key=lambda task: task.id)
    return campaign("CulT-Eval: errors in translations", form.load("translation_errors"), ordered)


def _task(row: str, each: int, seed: int, kind: str, fields: Mapping[str, str], hidden: Mapping[str, str]) -> Task:
    id_ = digest(seed, f"acre/{kind}", row)[:16]
    return Task(id_, row, "English", "China", each, dict(fields), dict(hidden))


Rows = list[dict[str, Any]]


def collect(files: Sequence[Path], campaign_: Campaign) -> tuple[Rows, Rows, Counter[str]]:
    """Return what annotators submitted: items of a campaign of `marking`, labels of one of `labelling`.

    Then the candidates that became no item, each with its reason, and how many answers were left out for each. Raise
    InputInvalid for a file that holds no answers to the campaign, and a campaign of another form or of an earlier
    version of it.
    """
    readers = {"culture_spans": _items, "translation_errors": _labels}
    if campaign_.form.name == "culture_spans" and "verdict" not in campaign_.form.columns:
        raise InputInvalid(
            f"campaign {campaign_.id}: version {campaign_.form.version} of culture_spans, without reasons; expected "
            f"version {form.load('culture_spans').version}; collect it with the release that drew it"
        )
    require_form(campaign_, *readers)
    answers: dict[str, list[Answer]] = defaultdict(list)
    unsubmitted = 0
    for answer in exchange.read_all(files, campaign_).answers:
        unsubmitted += not answer[SUBMITTED]
        if answer[SUBMITTED]:
            answers[answer.task].append(answer)
    left_out = Counter({"not submitted": unsubmitted})
    rows = list(readers[campaign_.form.name](((task, answers[task.id]) for task in campaign_.tasks), left_out))
    removed = [row for row in rows if "reason" in row]
    left_out.update(REASONS[row["reason"]] for row in removed)
    return [row for row in rows if "reason" not in row], removed, +left_out


def _items(
    answers_by_task: Iterable[tuple[Task, Sequence[Answer]]], left_out: Counter[str]
) -> Iterator[dict[str, Any]]:
    """Yield an item, or a candidate that is left out, for each task whose annotators agree on what they marked."""
    for task, answers in answers_by_task:
        if any(_marked(answer) != _marked(answers[0]) for answer in answers):
            left_out["annotators disagree"] += 1
        elif answers and answers[0]["verdict"] == KEPT:
            yield _item(task, answers)
        elif answers:
            texts = {field: task.shown[field] for field in ("source", "reference", "domain")}
            reason = answers[0]["verdict"].replace("_", "-")
            yield {
                "id": task.row,
                **texts,
                "reason": reason,
                "annotator": _names(answers),
                "licence": task.hidden["licence"],
            }


def uneven(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the expressions that items have under several categories, or with different accepted translations."""
    readings: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    for row in rows:
        if "term" in row:
            readings[row["term"]].add((row["category"], *sorted(row["accepted"])))
    return [term for term, different in readings.items() if len(different) > 1]


def _marked(answer: Answer) -> tuple[Any, ...]:
    """Return what annotators of a sentence must agree on: verdict, expression with category, what stands for it."""
    return (answer["verdict"], *((answer["source_span"], answer["target_span"]) if answer["verdict"] == KEPT else ()))


def _names(answers: Sequence[Answer]) -> str:
    return ", ".join(answer.annotator for answer in answers)


def _item(task: Task, answers: Sequence[Answer]) -> dict[str, Any]:
    """Return an item with the equivalents of all annotators, and the explication of the first."""
    texts, answer = {field: task.shown[field] for field in ("source", "reference", "domain")}, answers[0]
    (start, end, category), (target_start, target_end, _) = answer["source_span"][0], answer["target_span"][0]
    lines = (line.strip() for answer in answers for line in answer["equivalents"].splitlines())
    equivalents = list(dict.fromkeys(line for line in lines if line))
    row = {
        "id": task.row,
        **texts,
        "category": category,
        "term": texts["source"][start:end],
        "source_start": start,
        "source_end": end,
        "target": texts["reference"][target_start:target_end],
        "target_start": target_start,
        "target_end": target_end,
        "explication": answer["explication"].strip(),
        "equivalent": None,
        "accepted": equivalents,
        "literal": [],
        "licence": task.hidden["licence"],
    }
    items.item(row, f"task {task.id}")  # what is written can be read
    return row


def _labels(
    answers_by_task: Iterable[tuple[Task, Sequence[Answer]]], left_out: Counter[str]
) -> Iterator[dict[str, Any]]:
    """Yield one label for each translation whose annotators agree on `correct` and the primary error."""
    for task, answers in answers_by_task:
        error_sets = [{error for error, field in FIELDS.items() if answer[field]} for answer in answers]
        if len({primary(errors) for errors in error_sets}) > 1:
            left_out["annotators disagree"] += 1
        elif error_sets:
            yield {
                "id": task.hidden["item"],
                "system": task.hidden["system"],
                "shots": int(task.hidden["shots"]),
                "correct": not error_sets[0],
                "errors": [error for error in ERRORS if any(error in errors for errors in error_sets)],
                "annotator": _names(answers),
            }
