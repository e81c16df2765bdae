"""Read the official files of Macaron: a table of multiple-choice questions, and one of true and false statements.

Licence not established: read them where you may, and publish nothing of them. Names of columns that we could not verify
can be set (`columns`); a table with others is refused with the names that it has.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from math import isnan
from pathlib import Path
from typing import Any

from excam.core import row_files
from excam.core.exceptions import InputInvalid, SourceInvalid
from excam.core.source_tables import read_table
from excam.core.text import id_text, is_text
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
OPTIONS = (*(f"{kind}{n}" for kind in ("english_option", "option") for n in (1, 2, 3, 4)), "correct_option")
TAGS = ("reasoning_category", "cultural_aspect")
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

    The right option is put first; `correct_option` holds its text in either language. Values keep the type that they
    have in the file: what is no text is not made one. Raise InputInvalid for a file without the expected columns,
    SourceInvalid for one that cannot be read.
    """
    renames = dict(columns or {})
    if unknown := sorted(renames.keys() - CHOICES.keys() - STATEMENTS.keys()):
        raise InputInvalid(
            f"columns: found {', '.join(unknown)}; expected some of {', '.join([*CHOICES, *STATEMENTS])}"
        )
    by_id: dict[str, Scenario] = {}
    dropped: list[Dropped] = []
    for place, row in _table(choices, CHOICES, renames):
        made = _scenario(place, row)
        if isinstance(made, Scenario) and made.id in by_id:
            made = Dropped(made.id, "id-twice")
        if isinstance(made, Dropped):
            dropped.append(made)
        else:
            by_id[made.id] = made
    if statements:
        dropped += _add_statements(by_id, _table(statements, STATEMENTS, renames))
    return Built.of(by_id, dropped)


Rows = list[tuple[str, dict[str, Any]]]  # the place of a row, and its values under our names


def _table(path: Path, names: Mapping[str, str], renames: Mapping[str, str]) -> Rows:
    """Return the rows of a table. Raise SourceInvalid, naming the columns that it has."""
    theirs = {ours: renames.get(ours, name) for ours, name in names.items()}
    try:
        read_table(path, "macaron.columns", dict.fromkeys(theirs.values()))
    except SourceInvalid as problem:
        raise SourceInvalid(
            str(problem).replace(PINNED, "name those that differ with --column or macaron.columns")
        ) from None
    return [
        (f"row {number}", {ours: row.get(name) for ours, name in theirs.items()})
        for number, row in row_files.rows(path)
    ]


def _problem(place: str, row: Mapping[str, Any], named: Iterable[str], texts: Iterable[str]) -> Dropped | None:
    """Return why a row is left out: a value of `named` that is missing, or one of `texts` that is no text.

    `named` begins with the id. A missing text is left to `scenarios.text_problem`.
    """
    id_, *others = named
    name = _id(row[id_])
    if not name:
        return Dropped("", f"no-{id_}", f"{place}: {_shown(row[id_])}")
    for column in (*others, *texts):
        value = row[column]
        if column in others and _is_missing(value):
            return Dropped(name, f"no-{column}", f"{place}: {_shown(value)}")
        if not _is_null(value) and not is_text(value):
            reason = "lone-surrogate" if isinstance(value, str) else "not-text"
            return Dropped(name, reason, f"{column}: {_shown(value)}")
    return None


def _id(value: Any) -> str:
    """Return an id, a text or a whole number, as text; "" for anything else."""
    return "" if _is_missing(value) else (id_text(value) or "").strip()


def _is_null(value: Any) -> bool:
    return value is None or (isinstance(value, float) and isnan(value))


def _is_missing(value: Any) -> bool:
    """Return whether a cell has no value: null, blank, or a word that programs write for a missing one."""
    return _is_null(value) or (isinstance(value, str) and value.strip().casefold() in NOTHING)


def _shown(value: Any) -> str:
    return ascii(value)[:60]


def _scenario(place: str, row: Mapping[str, Any]) -> Scenario | Dropped:
    if problem := _problem(place, row, ("id", "country", "language"), ("english_question", "question", *OPTIONS)):
        return problem
    name, language, template = _id(row["id"]), row["language"].strip(), id_text(row["template_id"])
    english, local = ([_option(row[f"{kind}{n}"]) for n in (1, 2, 3, 4)] for kind in ("english_option", "option"))
    correct, tags = _option(row["correct_option"]), [_tags(row[column]) for column in TAGS]
    right = [at for at, pair in enumerate(zip(english, local, strict=True)) if correct in pair]
    if template is None or not re.fullmatch(r"\d{1,9}(\.0+)?", template.strip()):
        return Dropped(name, "unknown-template", _shown(row["template_id"]))
    if len(right) != 1:
        return Dropped(name, "correct-option-is-none" if not right else "correct-option-is-several", correct)
    if None in tags:
        return Dropped(name, "not-text", f"{TAGS[tags.index(None)]}: {_shown(row[TAGS[tags.index(None)]])}")
    order = [right[0], *(at for at in range(4) if at != right[0])]
    made = Scenario(
        id=name,
        template=int(float(template)),
        country=row["country"].strip(),
        language=language,
        script=SCRIPTS.get(language, "unknown"),
        reasoning=tags[0] or (),
        aspects=tags[1] or (),
        slots={},
        question_en=_text(row["english_question"]),
        options_en=tuple(english[at] for at in order),
        question_local=_text(row["question"]),
        options_local=tuple(local[at] for at in order),
        **dict.fromkeys(scenarios.STATEMENTS),
        status="published",
        licence="not established",
    )
    if unknown := [tag for tag in (*made.reasoning, *made.aspects) if tag.casefold() not in KNOWN]:
        return Dropped(name, "unknown-tag", ", ".join(unknown))
    reason = scenarios.text_problem(made)
    return Dropped(name, *reason) if reason else made


def _text(value: Any) -> str:
    return "" if _is_missing(value) else value


def _option(value: Any) -> str:
    """Return an option, "" for a null: "None" may be one."""
    return value.strip() if isinstance(value, str) else ""


def _tags(cell: Any) -> tuple[str, ...] | None:
    """Return the tags of a list, or of a text that separates them by commas or semicolons; duplicates once.

    None for anything else.
    """
    listed = cell if isinstance(cell, list) else [_text(cell)]
    if not all(map(is_text, listed)):
        return None
    parts = [part for text in listed for part in text.strip("[]").replace(";", ",").split(",")]
    tags = [tag for part in parts if (tag := part.strip(" '\""))]
    return tuple(dict.fromkeys(KNOWN.get(tag.casefold(), tag) for tag in tags))


def _add_statements(by_id: dict[str, Scenario], rows: Rows) -> list[Dropped]:
    """Put the statements into their scenarios; return the rows that are left out."""
    dropped: list[Dropped] = []
    texts: dict[str, dict[str, str]] = defaultdict(dict)
    valid = []
    for place, row in rows:
        if problem := _problem(place, row, ("scenario_id",), ("english_statement", "statement")):
            dropped.append(problem)
        else:
            valid.append((_id(row["scenario_id"]), _label(row["label"]), row))
    seen = Counter((name, label) for name, label, _ in valid)
    for name, label, row in valid:
        if name not in by_id:
            dropped.append(Dropped(name, "statement-without-scenario", _text(row["english_statement"])))
        elif label is None:
            dropped.append(Dropped(name, "statement-without-label", _shown(row["label"])))
        elif seen[name, label] > 1:
            dropped.append(Dropped(name, "statement-twice", label))
        else:
            side = "true" if label == "T" else "false"
            texts[name] |= {f"{side}_en": _text(row["english_statement"]), f"{side}_local": _text(row["statement"])}
    for name, statements in texts.items():
        if len(statements) < len(scenarios.STATEMENTS):
            dropped.append(Dropped(name, "statement-without-its-other"))
            continue
        with_statements = replace(by_id[name], **statements)
        if problem := scenarios.text_problem(with_statements):
            dropped.append(Dropped(name, *problem))
        else:
            by_id[name] = with_statements
    return dropped


def _label(value: Any) -> str | None:
    """Return T or F for a label in words, as a truth value or as 1 or 0; None for anything else."""
    text = str(value) if isinstance(value, bool) else id_text(value) or ""
    return LABELS.get(text.strip().lower())
