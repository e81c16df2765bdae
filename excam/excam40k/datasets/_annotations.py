"""BLEnD's annotations: what the annotators of each region answered, and which wordings they hold to be one answer.

A record has groups of answers with their votes; wordings in one group mean the same.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from excam.core.exceptions import InputInvalid, SourceInvalid
from excam.core.row_layouts import layout_of, open_text
from excam.core.source_tables import replace_surrogates

ANNOTATIONS = ("annotations/*_data.json.gz", "annotations/*_data.json", "data/annotations_hf/*_data.json")
PLACEHOLDER = (  # matches a complete answer; Python and polars read it alike
    r"(?i)^(?:not[- ]applicable|n/?a|as usual|same as usual|idk|i don.?t know|don.?t know|no[- ]answer|not sure|unsure|"
    r"none|absolutely none|nothing|nothing special|unknown|no idea|(really )?varies|depends|it depends\b.*|same|dummy)"
    r"[.!]?$"
)
_FILLER = frozenset(["a", "an", "and", "at", "for", "in", "of", "on", "or", "the", "to", "with"])

Words = frozenset[str]
Records = Mapping[str, Mapping[str, Any]]  # of one region: question id -> record
Answers = list[tuple[int, list[str]]]  # of one question: votes and English wordings, most votes first


@dataclass(frozen=True, slots=True)
class Annotations:
    """Annotations of all regions of a snapshot; empty where it holds none."""

    files: Mapping[str, str]  # region -> file name
    questions: Mapping[tuple[str, str], str]  # region, question id -> English question
    answers: Mapping[str, Mapping[str, Answers]]  # question id -> region -> answers
    grouped: Counter[frozenset[Words]]  # two wordings -> groups with both, over all regions and questions

    def mean_the_same(self, one: str, other: str) -> bool:
        """Return whether annotators put the two wordings into one group more than once."""
        return self.grouped[frozenset((words(one), words(other)))] > 1

    def disagreement(self, region: str, key: str, least_votes: int) -> str | None:
        """Return why a question has no agreed answer in a region: two most frequent ones, or too few votes."""
        answers = self.answers[key][region]
        if len(answers) > 1 and answers[0][0] == answers[1][0]:
            return "tied-top-answer"
        return "few-votes" if not answers or answers[0][0] < least_votes else None

    def objection(self, region: str, key: str, answer: str, wrong: Iterable[str], least_votes: int) -> str | None:
        """Return why an official question is unclear by the annotations, None if it is clear or they lack it."""
        answers = self.answers.get(key, {}).get(region)
        if answers is None:
            return None
        if why := self.disagreement(region, key, least_votes):
            return why
        if words(answer) not in map(words, answers[0][1]):
            return "not-the-top-answer"
        given = {words(wording) for _, wordings in answers for wording in wordings}
        if any(words(option) in given or self.mean_the_same(answer, option) for option in wrong):
            return "wrong-option-is-right-too"
        return None


def read_annotations(dataset: str, folder: Path) -> Annotations:
    """Return the annotations of a snapshot. Raises SourceInvalid for a damaged file."""
    found = next((paths for pattern in ANNOTATIONS if (paths := sorted(folder.glob(pattern)))), [])
    questions: dict[tuple[str, str], str] = {}
    given: defaultdict[str, dict[str, Answers]] = defaultdict(dict)
    for path in found:
        for key, record in _records(dataset, path).items():
            questions[_region(path), key] = replace_surrogates(str(record["en_question"]))
            given[key][_region(path)] = _answers(record)
    grouped = Counter(pair for regions in given.values() for answers in regions.values() for pair in _pairs(answers))
    return Annotations({_region(path): path.name for path in found}, questions, given, grouped)


def _pairs(answers: Answers) -> Iterator[frozenset[Words]]:
    for _, wordings in answers:
        different = {words(wording) for wording in wordings}
        yield from (frozenset(pair) for pair in combinations(different, 2))


def words(answer: str) -> Words:
    """Return content words in a rough singular: "the walks" and "walk" are one wording."""
    content = (word for word in re.findall(r"[\w:]+", answer.casefold()) if word not in _FILLER)
    return frozenset(word[:-1] if len(word) > 3 and word.endswith("s") else word for word in content)


def _region(path: Path) -> str:
    return path.name.partition("_data.json")[0]


def _records(dataset: str, path: Path) -> Records:
    """Return the records of a file, an object. Raises SourceInvalid, also for a question id that occurs twice."""
    try:
        with open_text(path) as stream:  # an object of objects: polars would take it for a single row with 400 columns
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
        try:
            layout_of(path)
        except InputInvalid as problem:  # another kind of file
            reason = str(problem).removeprefix(f"{path}: ")
            raise SourceInvalid(f"{dataset}: {path.name}: {reason}") from damage
        raise SourceInvalid(f"{dataset}: {path.name}: not readable: {reason}; fetch the file again") from damage
    return held


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    held = dict(pairs)
    if repeated := [key for key, count in Counter(key for key, _ in pairs).items() if count > 1]:
        raise ValueError(f"{repeated[0]!r} occurs twice")
    return held


def _answers(record: Mapping[str, Any]) -> Answers:
    ordered = sorted(record["annotations"], key=lambda entry: -entry["count"])  # stable: the file's order breaks ties
    worded = (
        (int(entry["count"]), [replace_surrogates(str(word)).strip() for word in entry["en_answers"]])
        for entry in ordered
    )
    return [(votes, kept) for votes, words in worded if (kept := [word for word in words if word])]
