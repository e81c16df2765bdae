"""Multiple-choice questions built from BLEnD's annotations, for regions that have no official ones.

The right option is the region's top answer, the others are top answers of other regions that nobody of the region gave.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from excam.datasets._cells import cleaned, digest, identifier
from excam.datasets._plain import opened, whole
from excam.exceptions import SourceInvalid

ANNOTATIONS = ("annotations/*_data.json.gz", "annotations/*_data.json")
CHOICES = {"options": pl.List(pl.String), "answer": pl.String}
PLACEHOLDER = (  # of a whole answer; Python and polars read it alike
    r"(?i)^(?:not[- ]applicable|n/?a|as usual|same as usual|idk|i don.?t know|don.?t know|no[- ]answer|not sure|unsure|"
    r"none|absolutely none|nothing|nothing special|unknown|no idea|(really )?varies|depends|it depends\b.*|same|dummy)"
    r"[.!]?$"
)
_PLACEHOLDER = re.compile(PLACEHOLDER)
_FILLER = frozenset(["a", "an", "and", "at", "for", "in", "of", "on", "or", "the", "to", "with"])

Records = Mapping[str, Mapping[str, Any]]  # of one region: question id -> record
Answers = list[tuple[int, list[str]]]  # of one question: votes and English wordings, most votes first
Built = tuple[list[str], str | None, str | None]  # options, the right one, or why there are none


def built(dataset: str, folder: Path, covered: set[str]) -> pl.DataFrame:
    """One row per annotated question of a region that is not covered; `before` says why it is none."""
    found = next((paths for pattern in ANNOTATIONS if (paths := sorted(folder.glob(pattern)))), [])
    regions = {path: _records(dataset, path) for path in found}
    given: defaultdict[str, dict[str, Answers]] = defaultdict(dict)  # question -> region -> its answers
    for path, records in regions.items():
        for key, record in records.items():
            given[key][_region(path)] = _answers(record)
    rows = [
        (path.name, region, key, whole(str(record["en_question"])), *_build(region, key, given[key]))
        for path, records in regions.items()
        if (region := _region(path)) not in covered
        for key, record in records.items()
    ]
    names = dict.fromkeys(("_file", "region", "group", "question"), pl.String)
    frame = pl.DataFrame(rows, {**names, **CHOICES, "before": pl.String}, orient="row")
    frame = cleaned(frame, ("question", *CHOICES))
    return frame.with_columns(id=identifier(dataset, pl.lit("built"), pl.col("region"), pl.col("group")))


def _region(path: Path) -> str:
    return path.name.partition("_data.json")[0]


def _records(dataset: str, path: Path) -> Records:
    """The records of a file, an object. Raises SourceInvalid, also for a question id that occurs twice."""
    try:
        with opened(path) as stream:  # an object of objects: polars would take it for a single row with 400 columns
            held = json.load(stream, object_pairs_hook=_once)
        if not isinstance(held, dict):
            raise ValueError("expected an object of records by question id")
        if not all(isinstance(_answers(record), list) and record["en_question"] for record in held.values()):
            raise ValueError("a record without en_question")
    except (
        OSError,
        EOFError,
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        OverflowError,
        RecursionError,
    ) as damage:
        reason = f"{type(damage).__name__} {damage}"
        raise SourceInvalid(f"{dataset}: {path.name}: not readable: {reason}; fetch the file again") from damage
    return held


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    held = dict(pairs)
    if repeated := [key for key, count in Counter(key for key, _ in pairs).items() if count > 1]:
        raise ValueError(f"{repeated[0]!r} occurs twice")
    return held


def _answers(record: Mapping[str, Any]) -> Answers:
    ordered = sorted(record["annotations"], key=lambda entry: -entry["count"])  # stable: the file's order breaks ties
    worded = ((int(entry["count"]), [whole(str(word)).strip() for word in entry["en_answers"]]) for entry in ordered)
    return [(votes, kept) for votes, words in worded if (kept := [word for word in words if word])]


def _build(region: str, key: str, given: Mapping[str, Answers]) -> Built:
    """One multiple-choice question with four options in alphabetical order, as the official ones have them."""
    answers = given[region]
    if not answers or answers[0][0] < 2:
        return [], None, "no-agreed-answer"
    answer = answers[0][1][0]
    taken = {word for _, wordings in answers for wording in wordings for word in _words(wording)}
    distractors: list[str] = []
    for wordings in _tops(region, key, given):
        words = {word for wording in wordings for word in _words(wording)}
        if len(distractors) < 3 and words and not words & taken and not _PLACEHOLDER.search(wordings[0]):
            distractors.append(wordings[0])
            taken |= words
    if len(distractors) < 3:
        return [], None, "too-few-distractors"
    return sorted([answer, *distractors], key=str.casefold), answer, None


def _tops(region: str, key: str, given: Mapping[str, Answers]) -> list[list[str]]:
    """Top answers of the other regions, in an order that depends on the region and the question."""
    tops = (answers[0][1] for other, answers in given.items() if other != region and answers)
    return sorted(tops, key=lambda wordings: digest(region, key, *wordings))


def _words(answer: str) -> frozenset[str]:
    """Content words in a rough singular; answers that share one ("dress", "white dress") may both be right."""
    words = (word for word in re.findall(r"[\w:]+", answer.casefold()) if word not in _FILLER)
    return frozenset(word[:-1] if len(word) > 3 and word.endswith("s") else word for word in words)
