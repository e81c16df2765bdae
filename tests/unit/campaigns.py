"""Campaigns and answers for tests: texts of our own in several scripts; hostile ones on request."""

from excam.annotation import answers, campaign

SOURCES = ("alpha/all/report", "beta/all/report")
FORMULAS = (  # what one spreadsheet or another would run, opened with commas, semicolons or tabs
    *(
        "=cmd|' /C calc'!A0",
        "\r=1+1",
        "\n=1+1",
        "\t=1",
        "x;=1+1",
        'x;"=1+1',
        "x;''@SUM(1)",
        "a\r\n=1;b",
        "=;=\t+\r-\n@;",
    ),
    *("\uff1d1+1", "x\t\uff20a", "'=1", "x;'=1", ";;''\"'-1", "- a\n- b"),
)
TEXTS = (  # language, culture, instruction, (before, right words, wrong words, behind)
    ("English", "Portugal", "What goes into caldo verde?", ("It is made with ", "kale", "seaweed", " and potatoes.")),
    ("German", "Austria", "Was isst man zum Fasching?", ("Man isst ", "Krapfen", "Lebkuchen", " mit Marmelade.")),
    ("Japanese", "Japan", "節分には何をしますか。", ("家で", "豆をまきます", "餅をつきます", "。")),
    ("Hebrew", "Israel", "מה אוכלים בחנוכה?", ("בחנוכה אוכלים ", "סופגניות", "מצות", " מטוגנות.")),
)


def task(number, **changes):
    """The task of one row; its id and codes depend on the number alone."""
    language, culture, instruction, (before, right, wrong, behind) = TEXTS[number % len(TEXTS)]
    fields = {
        "id": f"{number:016x}",
        "row": f"calmqa/{number}/0/wrong",
        "dataset": "calmqa",
        "language": language,
        "culture": culture,
        "annotators": 3 if language == "English" else 2,
        "original_instruction": ((instruction, False),),
        "modified_instruction": ((instruction, False),),
        "original_output": ((before, False), (right, True), (behind, False)),
        "modified_output": ((before, False), (wrong, True), (behind, False)),
        "explanation": f"{wrong} is not what belongs there.",
        "severity": "minor" if number % 2 else "major",
        "error_type": "incorrect information",
        "comparisons": (
            campaign.Comparison(f"{2 * number:08x}", f"Not {wrong}."),
            campaign.Comparison(f"{2 * number + 1:08x}", None if number % 3 == 2 else "The food is wrong."),
        ),
    }
    return campaign.Task(**{**fields, **changes})


def small(n=10, **changes):
    """A campaign of n tasks."""
    tasks = [task(number, **changes) for number in range(n)]
    codes = [[comparison.code for comparison in each.comparisons] for each in tasks]
    return campaign.campaign(
        "Test campaign", tasks, {code: SOURCES[at] for pair in codes for at, code in enumerate(pair)}
    )


FULL = {
    "culture_related": "yes",
    "error_valid": "valid",
    "severity_ok": True,
    "type_ok": True,
    "explanation_valid": "valid",
    "changed_mind": "no",
    "similarity_1": "4",
    "similarity_2": "no_error",
    "seconds": 30,
    "saved": "2026-04-01T12:00:00.000Z",
}


def answer(number, annotator, **changes):
    """A finished answer about task `number`."""
    return answers.Answer(**{"task": f"{number:016x}", "annotator": annotator, **FULL, **changes})
