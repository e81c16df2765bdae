"""Read the official files of Macaron: a table of multiple-choice questions, and one of true and false statements.

Licence not established: read them where you may, and publish nothing of them. Names of columns that we could not verify
can be set (`columns`); a table with others is refused with the names that it has.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from excam.core.exceptions import InputInvalid, SourceInvalid
from excam.core.source_tables import HALF, read_table
from excam.macaron import scenarios
from excam.macaron.scenarios import Built, DroppedScenario, Scenario
from excam.macaron.templates import ASPECTS, REASONING

CHOICES = {  # ours -> theirs, of the multiple-choice table; those of public code that loads it
    **{name: name for name in ("id", "template_id", "country", "language", "reasoning_category", "cultural_aspect")},
    **{name: name for name in ("english_question", "question", "correct_option")},
    **{f"english_option{n}": f"english_option{n}" for n in (1, 2, 3, 4)},
    **{f"option{n}": f"option{n}" for n in (1, 2, 3, 4)},
}
STATEMENTS = {  # of the table of statements; unverified
    "scenario_id": "id",
    "english_statement": "english_question",
    "statement": "question",
    "label": "correct_option",
}
PINNED = "check the pinned revision"  # what is said of a benchmark that is fetched
OPTIONS = (*(f"{kind}{n}" for kind in ("english_option", "option") for n in (1, 2, 3, 4)), "correct_option")
NOTHING = ("", "nan", "null", "none", "<na>")  # what programs write for a missing value
KNOWN = {tag.casefold(): tag for tag in (*REASONING, *ASPECTS)}
LABELS = {"true": "T", "t": "T", "1": "T", "false": "F", "f": "F", "0": "F"}
SCRIPTS = {  # of Table 2
    **dict.fromkeys(("Egyptian Arabic", "Tunisian Arabic", "Yemeni Arabic", "Moroccan Arabic"), "Arabic"),
    **{"Hindi": "Devanagari", "Amharic": "Ge’ez", "Greek": "Greek", "Kyrgyz": "Cyrillic", "Thai": "Thai"},
    **{"Georgian": "Mkhedruli", "Chinese": "Han (Hans)", "Japanese": "Japanese"},
    **dict.fromkeys(("Tagalog", "Mexican Spanish", "Portuguese", "Zulu", "Italian", "Turkish"), "Latin"),
    **dict.fromkeys(("Indonesian", "Yoruba"), "Latin"),
}


def read(choices: Path, statements: Path | None = None, columns: Mapping[str, str] | None = None) -> Built:
    """Return the scenarios of the official files. A row that is none is left out with the reason.

    The right option is put first; `correct_option` holds its text in either language. Cells are texts, as in the files
    of every benchmark. Raise InputInvalid for an unknown column of `columns`, SourceInvalid for a file that cannot be
    read or lacks one.
    """
    renames = dict(columns or {})
    if unknown := sorted(renames.keys() - CHOICES.keys() - STATEMENTS.keys()):
        raise InputInvalid(
            f"columns: found {', '.join(unknown)}; expected some of {', '.join([*CHOICES, *STATEMENTS])}"
        )
    by_id: dict[str, Scenario] = {}
    dropped: list[DroppedScenario] = []
    for row in _table(choices, CHOICES, renames):
        made = _scenario(row)
        if isinstance(made, Scenario) and made.id in by_id:
            made = DroppedScenario(made.id, "id-twice")
        if isinstance(made, DroppedScenario):
            dropped.append(made)
        else:
            by_id[made.id] = made
    if statements:
        dropped += _add_statements(by_id, _table(statements, STATEMENTS, renames))
    return Built.of(by_id, dropped)


Row = Mapping[str, str]  # under our names; "" for a missing value


def _table(path: Path, names: Mapping[str, str], renames: Mapping[str, str]) -> list[Row]:
    """Return the rows of a table. Raise SourceInvalid, naming the columns that it has."""
    theirs = {ours: renames.get(ours, name) for ours, name in names.items()}
    try:
        frame = read_table(path, "macaron.columns", dict.fromkeys(theirs.values()))
    except SourceInvalid as problem:
        raise SourceInvalid(
            str(problem).replace(PINNED, "name those that differ with --column or macaron.columns")
        ) from None
    return [
        {ours: _cell(row[name], nothing=() if ours in OPTIONS else NOTHING) for ours, name in theirs.items()}
        for row in frame.iter_rows(named=True)
    ]


def _cell(value: str | None, nothing: Sequence[str]) -> str:
    """Return a text, "" for a null and for what programs write instead of it; an option may be "None"."""
    text = (value or "").strip().replace(HALF, "\ud800")  # which `scenarios.text_problem` refuses
    return "" if text.casefold() in nothing else text


def _scenario(row: Row) -> Scenario | DroppedScenario:
    name = row["id"]
    if empty := next((column for column in ("id", "country", "language") if not row[column]), None):
        return DroppedScenario(name, f"no-{empty}")
    english, local = ([row[f"{kind}{n}"] for n in (1, 2, 3, 4)] for kind in ("english_option", "option"))
    right = [at for at, pair in enumerate(zip(english, local, strict=True)) if row["correct_option"] in pair]
    if not re.fullmatch(r"\d{1,9}(\.0+)?", row["template_id"]):
        return DroppedScenario(name, "unknown-template", row["template_id"][:60])
    if len(right) != 1:
        reason = "correct-option-is-several" if right else "correct-option-is-none"
        return DroppedScenario(name, reason, row["correct_option"])
    order = [right[0], *(at for at in range(4) if at != right[0])]
    made = Scenario(
        id=name,
        template=int(float(row["template_id"])),
        country=row["country"],
        language=row["language"],
        script=SCRIPTS.get(row["language"], "unknown"),
        reasoning=_tags(row["reasoning_category"]),
        aspects=_tags(row["cultural_aspect"]),
        slots={},
        question_en=row["english_question"],
        options_en=tuple(english[at] for at in order),
        question_local=row["question"],
        options_local=tuple(local[at] for at in order),
        **dict.fromkeys(scenarios.STATEMENTS),
        status="published",
        licence="not established",
    )
    if unknown := [tag for tag in (*made.reasoning, *made.aspects) if tag.casefold() not in KNOWN]:
        return DroppedScenario(name, "unknown-tag", ", ".join(unknown))
    reason = scenarios.text_problem(made)
    return DroppedScenario(name, *reason) if reason else made


def _tags(cell: str) -> tuple[str, ...]:
    """Return the tags of a list, or of a text that separates them by commas or semicolons; duplicates once."""
    tags = [tag for part in cell.strip("[]").replace(";", ",").split(",") if (tag := part.strip(" '\""))]
    return tuple(dict.fromkeys(KNOWN.get(tag.casefold(), tag) for tag in tags))


def _add_statements(by_id: dict[str, Scenario], rows: Sequence[Row]) -> list[DroppedScenario]:
    """Put the statements into their scenarios; return the rows that are left out."""
    dropped: list[DroppedScenario] = []
    texts: dict[str, dict[str, str]] = defaultdict(dict)
    labelled = [(row["scenario_id"], LABELS.get(row["label"].lower()), row) for row in rows]
    counts = Counter((name, label) for name, label, _ in labelled)
    for name, label, row in labelled:
        if name not in by_id:
            dropped.append(DroppedScenario(name, "statement-without-scenario", row["english_statement"]))
        elif label is None:
            dropped.append(DroppedScenario(name, "statement-without-label", row["label"][:60]))
        elif counts[name, label] > 1:
            dropped.append(DroppedScenario(name, "statement-twice", label))
        else:
            side = "true" if label == "T" else "false"
            texts[name] |= {f"{side}_en": row["english_statement"], f"{side}_local": row["statement"]}
    for name, statements in texts.items():
        if len(statements) < len(scenarios.STATEMENTS):
            dropped.append(DroppedScenario(name, "statement-without-its-other"))
            continue
        with_statements = replace(by_id[name], **statements)
        if problem := scenarios.text_problem(with_statements):
            dropped.append(DroppedScenario(name, *problem))
        else:
            by_id[name] = with_statements
    return dropped
