"""INCLUDE-base-44 (Romanou et al., ICLR 2025; "IB44" in ExCAM): exam questions in 44 languages. QA, hard errors.

Culture- and region-specific rows are kept, agnostic ones dropped (spec 5). Two layouts exist: four option columns, and
one `choices` list in the first revisions. The source has no ids, so an id is made of language, question and options.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from excam.datasets import base
from excam.datasets._cells import clean, country_name, digest, identifier, others, text
from excam.exceptions import SourceInvalid
from excam.records import BaseSample

NAME = "include"
SOURCE = base.Source(
    licence="Apache-2.0",
    files=("*/test*.parquet", "data/*/test*.parquet", "*/test*.jsonl", "*/test*.json", "*/test*.csv"),
    hub="CohereLabs/include-base-44",
    homepage="https://huggingface.co/datasets/CohereLabs/include-base-44",
)
ERRORS: base.Errors = "hard"

OPTIONS = tuple(f"option_{letter}" for letter in "abcd")
REQUIRED = ("country", "regional_feature", "question", "answer")
OPTIONAL = ("language", "choices", *OPTIONS)


def read(folder: Path) -> base.Reading:
    """Base samples of a snapshot; rows repeated word for word are dropped. Raises SourceInvalid."""
    return base.gather(NAME, _outcomes(folder), repeated="drop")


def _outcomes(folder: Path) -> Iterator[tuple[Path, base.Outcome]]:
    for path in base.find(folder, NAME, SOURCE.files):
        for row in base.table(path, NAME, REQUIRED, OPTIONAL):
            if "choices" not in row and "option_a" not in row:
                raise SourceInvalid(
                    f"{NAME}: {path.parent.name}/{path.name}: no column option_a; "
                    f"expected option_a to option_d, or choices; check the pinned revision"
                )
            yield path, _outcome(row, language=text(row, "language") or path.parent.name)


def _outcome(row: Mapping[str, Any], language: str) -> base.Outcome:
    feature = text(row, "regional_feature").lower()
    if "agnostic" in feature:
        return "culture-agnostic"
    if not ("cultur" in feature or "region" in feature):
        return "unknown-regional-feature"
    options, place = _options(row), _place(text(row, "answer"))
    if not 0 <= place < len(options):
        return "answer-outside-options"
    answer = options[place]
    wrong = others(options, answer)
    if not wrong:
        return "no-wrong-option"
    country = country_name(text(row, "country"))
    question = text(row, "question")
    return BaseSample(
        id=identifier(NAME, digest(language, question, *options)),
        dataset=NAME,
        task="qa",
        question=question,
        answer=answer,
        language=language,
        culture=country,
        stratum=country,
        options=options,
        wrong=wrong,
    )


def _options(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Options in source order; empty where `choices` is no list. A CSV holds `choices` as JSON text."""
    if row.get("choices") is None:
        return tuple(text(row, column) for column in OPTIONS)
    choices = row["choices"]
    if isinstance(choices, str):
        try:
            choices = json.loads(choices)
        except ValueError:
            return ()
    return tuple(clean(str(choice)) for choice in choices) if isinstance(choices, list) else ()


def _place(answer: str) -> int:
    """Index of the right option, -1 where unreadable: 0 to 3 in the release, a letter in some copies."""
    if answer.isascii() and answer.isdigit():
        return int(answer)
    return "ABCD".index(answer.upper()) if answer.upper() in ("A", "B", "C", "D") else -1
