"""Campaigns and answers for tests: texts of our own in several scripts; hostile ones on request."""

from dataclasses import fields, replace

from excam.annotation import campaign, exchange, form
from excam.annotation.answers import Answer

SOFT = form.load("soft_errors")
CHOICES = {question.field: question.values for question in SOFT.questions if question.kind == "choice"}
STEPS = [[question.field for question in step.questions if question.required] for step in SOFT.steps]
SOURCES = ("alpha/all/report", "beta/all/report")
FORMULAS = (  # what one spreadsheet or another would run, opened with commas, semicolons or tabs
    *(
        "=cmd|' /C calc'!A0", "\r=1+1", "\n=1+1", "\t=1", "x;=1+1", 'x;"=1+1', "x;''@SUM(1)", "a\r\n=1;b",
        "=;=\t+\r-\n@;",
    ),
    *("\uff1d1+1", "x\t\uff20a", "'=1", "x;'=1", ";;''\"'-1", "- a\n- b"),
)  # fmt: skip
TEXTS = (  # language, culture, instruction, (before, right words, wrong words, behind)
    ("English", "Portugal", "What goes into caldo verde?", ("It is made with ", "kale", "seaweed", " and potatoes.")),
    ("German", "Austria", "Was isst man zum Fasching?", ("Man isst ", "Krapfen", "Lebkuchen", " mit Marmelade.")),
    ("Japanese", "Japan", "節分には何をしますか。", ("家で", "豆をまきます", "餅をつきます", "。")),
    ("Hebrew", "Israel", "מה אוכלים בחנוכה?", ("בחנוכה אוכלים ", "סופגניות", "מצות", " מטוגנות.")),
)


def task(number, **changes):
    """The task of one row; its id depends on the number alone. `changes`: of its fields, or of what it shows."""
    language, culture, instruction, (before, right, wrong, behind) = TEXTS[number % len(TEXTS)]
    shown = {
        "dataset": "calmqa",
        "original_instruction": ((instruction, False),),
        "modified_instruction": ((instruction, False),),
        "original_output": ((before, False), (right, True), (behind, False)),
        "modified_output": ((before, False), (wrong, True), (behind, False)),
        "explanation": f"{wrong} is not what belongs there.",
        "severity": "minor" if number % 2 else "major",
        "error_type": "incorrect information",
        "comparison_1": f"Not {wrong}.",
        "comparison_2": None if number % 3 == 2 else "The food is wrong.",
    }
    made = campaign.Task(
        id=f"{number:016x}",
        row=f"calmqa/{number}/0/wrong",
        language=language,
        culture=culture,
        annotators=3 if language == "English" else 2,
        shown=shown,
        hidden={"source_1": SOURCES[0], "source_2": SOURCES[1]},
    )
    return changed_task(made, **changes)


def changed_task(made, **changes):
    """The task with other fields, or showing other things."""
    own = {field.name for field in fields(campaign.Task)}
    shown = {name: value for name, value in changes.items() if name not in own}
    kept = {name: value for name, value in changes.items() if name in own}
    return replace(made, **{"shown": {**made.shown, **shown}, **kept})


def small(n=10, **changes):
    """A campaign of n tasks."""
    return campaign.campaign("Test campaign", SOFT, [task(number, **changes) for number in range(n)])


FULL = {
    "culture_related": "yes", "error_valid": "valid", "severity_ok": True, "type_ok": True,
    "explanation_valid": "valid", "changed_mind": "no", "similarity_1": "4", "similarity_2": "no_error", "seconds": 30,
    "saved": "2026-04-01T12:00:00.000Z",
}  # fmt: skip


def answer(number, annotator, **changes):
    """A finished answer about task `number`."""
    return blank(f"{number:016x}", annotator, **{**FULL, **changes})


def at(second):
    """Return the time of an answer that was saved so many seconds after noon."""
    return f"2026-04-01T12:{second // 60:02}:{second % 60:02}.000Z"


def blank(task, annotator, **values):
    """An answer to nothing but what is given."""
    return changed(Answer(task, annotator, SOFT.empty()), **values)


def changed(answer, **changes):
    """The answer with other values of its columns."""
    return Answer.from_row({**answer.row(), **changes})


def owners_csv(about, answers):
    """The CSV file with the columns that only the campaign's owner may see."""
    return exchange.to_csv(about, answers, about.form.owner)


WRITERS = (exchange.to_json, exchange.to_csv, owners_csv)
