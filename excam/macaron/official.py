"""Read the official files of Macaron: a table of multiple-choice questions, and one of true and false statements.

Licence not established: read them where you may, and publish nothing of them. Names of columns that we could not verify
can be set (`columns`); a table with others is refused with the names that it has.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import polars as pl

from excam.core.exceptions import InputInvalid, SourceInvalid
from excam.core.source_tables import read_table
from excam.macaron import scenarios
from excam.macaron.scenarios import Built, Dropped, Scenario
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

    The right option is put first; `correct_option` holds its text in either language. Raise InputInvalid for a file
    without the expected columns, SourceInvalid for one that cannot be read.
    """
    asked = dict(columns or {})
    if unknown := sorted(asked.keys() - CHOICES.keys() - STATEMENTS.keys()):
        raise InputInvalid(
            f"columns: found {', '.join(unknown)}; expected some of {', '.join([*CHOICES, *STATEMENTS])}"
        )
    rows = _table(choices, CHOICES, asked)
    found: dict[str, Scenario] = {}
    dropped: list[Dropped] = []
    for row in rows:
        made = _scenario(row)
        if isinstance(made, Scenario) and made.id in found:
            made = Dropped(made.id, "id-twice")
        if isinstance(made, Dropped):
            dropped.append(made)
        else:
            found[made.id] = made
    if statements:
        dropped += _add_statements(found, _table(statements, STATEMENTS, asked))
    return Built(tuple(found[name] for name in sorted(found)), tuple(dropped))


def _table(path: Path, names: Mapping[str, str], asked: Mapping[str, str]) -> list[dict[str, str]]:
    """Return the rows of a table under our names. Raise SourceInvalid, naming the columns that it has."""
    theirs = {ours: asked.get(ours, name) for ours, name in names.items()}
    try:
        frame = read_table(path, "macaron.columns", dict.fromkeys(theirs.values()))
    except SourceInvalid as problem:
        raise SourceInvalid(
            str(problem).replace(PINNED, "name those that differ with --column or macaron.columns")
        ) from None
    return frame.select(pl.col(name).fill_null("").alias(ours) for ours, name in theirs.items()).to_dicts()


def _scenario(row: Mapping[str, str]) -> Scenario | Dropped:
    name = row["id"].strip()
    english, local = ([row[f"{kind}{n}"].strip() for n in (1, 2, 3, 4)] for kind in ("english_option", "option"))
    right = [at for at, pair in enumerate(zip(english, local, strict=True)) if row["correct_option"].strip() in pair]
    if not re.fullmatch(r"\d{1,9}(\.0+)?", row["template_id"].strip()):
        return Dropped(name, "unknown-template", row["template_id"])
    if len(right) != 1:
        return Dropped(
            name, "correct-option-is-none" if not right else "correct-option-is-several", row["correct_option"]
        )
    order = [right[0], *(at for at in range(4) if at != right[0])]
    language = row["language"].strip()
    made = Scenario(
        id=name,
        template=int(float(row["template_id"])),
        country=row["country"].strip(),
        language=language,
        script=SCRIPTS.get(language, "unknown"),
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
        return Dropped(name, "unknown-tag", ", ".join(unknown))
    problem = scenarios.text_problem(made)
    return Dropped(name, *problem) if problem else made


def _tags(cell: str) -> tuple[str, ...]:
    """Return the tags of a cell, separated by commas or semicolons; duplicates once."""
    found = [tag for part in cell.strip("[]").replace(";", ",").split(",") if (tag := part.strip(" '\""))]
    return tuple(dict.fromkeys(KNOWN.get(tag.casefold(), tag) for tag in found))


def _add_statements(found: dict[str, Scenario], rows: list[dict[str, str]]) -> list[Dropped]:
    """Put the statements into their scenarios; return the rows that are left out."""
    dropped: list[Dropped] = []
    texts: dict[str, dict[str, str]] = defaultdict(dict)
    seen = Counter((row["scenario_id"].strip(), LABELS.get(row["label"].strip().lower())) for row in rows)
    for row in rows:
        name, label = row["scenario_id"].strip(), LABELS.get(row["label"].strip().lower())
        if name not in found:
            dropped.append(Dropped(name, "statement-without-scenario", row["english_statement"]))
        elif label is None:
            dropped.append(Dropped(name, "statement-without-label", row["label"]))
        elif seen[name, label] > 1:
            dropped.append(Dropped(name, "statement-twice", label))
        else:
            side = "true" if label == "T" else "false"
            texts[name] |= {f"{side}_en": row["english_statement"], f"{side}_local": row["statement"]}
    for name, statements in texts.items():
        if len(statements) < len(scenarios.STATEMENTS):
            dropped.append(Dropped(name, "statement-without-its-other"))
            continue
        with_statements = replace(found[name], **statements)
        if problem := scenarios.text_problem(with_statements):
            dropped.append(Dropped(name, *problem))
        else:
            found[name] = with_statements
    return dropped
