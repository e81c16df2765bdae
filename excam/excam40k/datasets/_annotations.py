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
from excam.excam40k.datasets._quantities import quantity_of
from excam.excam40k.datasets._wordings import Stems, stems

ANNOTATIONS = ("annotations/*_data.json.gz", "annotations/*_data.json", "data/annotations_hf/*_data.json")
PLACEHOLDER = re.compile(  # matches a complete answer; Python and polars read it alike
    r"(?i)^(?:not[- ]applicable|n/?a|as usual|same as usual|idk|i don.?t know|don.?t know|no[- ]answer|not sure|unsure|"
    r"none|absolutely none|nothing|nothing special|unknown|no idea|(really )?varies|depends|it depends\b.*|same|dummy|"
    r"all|any|anyone|anything|anywhere|everyone|everything|everywhere|many|others?|various|"
    r"(there|they|we|it) (is|are|do|does) ?(no|none|not|n.t)\b.*)"
    r"[.!]?$"
)
_ALIKE = 0.5  # of the questions of two regions: with a common answer to more, the regions are alike
_LEAST_COMMON = 20  # questions that two regions share, below which nothing is said about them

Records = Mapping[str, Mapping[str, Any]]  # of one region: question id -> record


@dataclass(frozen=True, slots=True)
class Meaning:
    """One group of wordings of a record: annotators who gave any of them, English wordings, local ones."""

    votes: int
    wordings: tuple[str, ...]
    local: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class QuestionRecord:
    """What is held about one question of a region; the answers with most votes come first.

    `local`: the question as it was asked there; empty where the annotations hold none. `unanswered`: annotators who
    knew no answer, or none that applies.
    """

    question: str
    local: str
    answers: tuple[Meaning, ...]
    unanswered: int = 0

    @property
    def wordings(self) -> Iterator[str]:
        """Return the English wordings of all answers."""
        return (wording for answer in self.answers for wording in answer.wordings)


@dataclass(frozen=True, slots=True)
class Annotations:
    """Annotations of all regions of a snapshot; empty where it holds none."""

    files: Mapping[str, str]  # region -> file name
    records: Mapping[str, Mapping[str, QuestionRecord]]  # question id -> region -> record
    synonyms: Mapping[Stems, set[Stems]]  # a wording -> others that were used for the same answer, to any question
    alike: Mapping[str, set[str]]  # region -> others whose annotators answer most questions as its own do
    users: Counter[str]  # stem -> regions with it in an answer to any question


def read_annotations(dataset: str, folder: Path) -> Annotations:
    """Return the annotations of a snapshot. Raises SourceInvalid for a damaged file."""
    annotation_paths = next((paths for pattern in ANNOTATIONS if (paths := sorted(folder.glob(pattern)))), [])
    records: defaultdict[str, dict[str, QuestionRecord]] = defaultdict(dict)
    for path in annotation_paths:
        for key, record in _records(dataset, path).items():
            records[key][_region(path)] = _record(record)
    files = {_region(path): path.name for path in annotation_paths}
    used = {(region, stem) for regions in records.values() for region, held in regions.items() for stem in _said(held)}
    users = Counter(stem for _, stem in used)
    return Annotations(files, records, _synonyms(records), _alike(list(files), records), users)


def _said(record: QuestionRecord) -> Stems:
    return frozenset(stem for wording in record.wordings for stem in stems(wording))


def _synonyms(records: Mapping[str, Mapping[str, QuestionRecord]]) -> dict[Stems, set[Stems]]:
    """Return pairs of wordings in one group, or of groups of one region that share a local wording."""
    same: defaultdict[Stems, set[Stems]] = defaultdict(set)
    of_local: defaultdict[tuple[str, str], set[Stems]] = defaultdict(set)
    for regions in records.values():
        for region, record in regions.items():
            for answer in record.answers:
                stem_sets = {stems(wording) for wording in answer.wordings} - {frozenset()}
                for wording in stem_sets:
                    same[wording] |= stem_sets
                for local in answer.local:
                    of_local[region, local.casefold()] |= stem_sets
    for wordings in of_local.values():
        for wording in wordings:
            same[wording] |= wordings
    return same


def _alike(regions: list[str], records: Mapping[str, Mapping[str, QuestionRecord]]) -> dict[str, set[str]]:
    said = [
        {
            region: set(map(stems, record.wordings))
            for region, record in of_question.items()
            if record.answers and not quantity_of(record.question)
        }
        for of_question in records.values()
    ]
    alike: dict[str, set[str]] = {region: set() for region in regions}
    for first, second in combinations(regions, 2):
        common = [
            bool(by_region[first] & by_region[second])
            for by_region in said
            if first in by_region and second in by_region
        ]
        if len(common) >= _LEAST_COMMON and sum(common) > _ALIKE * len(common):
            alike[first].add(second)
            alike[second].add(first)
    return alike


def _region(path: Path) -> str:
    return path.name.partition("_data.json")[0]


def _records(dataset: str, path: Path) -> Records:
    """Return the records of a file, an object. Raises SourceInvalid, also for a question id that occurs twice."""
    try:
        with open_text(path) as stream:  # an object of objects: polars would take it for a single row with 400 columns
            held = json.load(stream, object_pairs_hook=_once)
        if not isinstance(held, dict):
            raise ValueError("expected an object of records by question id")
        if not all(_record(record).question for record in held.values()):
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


def _record(record: Mapping[str, Any]) -> QuestionRecord:
    ordered = sorted(record["annotations"], key=lambda entry: -entry["count"])  # stable: the file's order breaks ties
    answers = (
        Meaning(int(entry["count"]), _texts(entry["en_answers"]), _texts(entry.get("answers") or (), separator=None))
        for entry in ordered
    )
    question = replace_surrogates(str(record["en_question"]))
    local = replace_surrogates(str(record.get("question") or ""))
    unanswered = sum(map(int, record.get("idks", {}).values()))
    return QuestionRecord(question, local, tuple(answer for answer in answers if answer.wordings), unanswered)


def _texts(wordings: Iterable[object], separator: str | None = ", ") -> tuple[str, ...]:
    """Return wordings as text; one that lists several ("Turkey dinner, Roast turkey") counts as each of them."""
    texts = (replace_surrogates(str(wording)) for wording in wordings)
    parts = (part.strip() for text in texts for part in (text.split(separator) if separator else [text]))
    return tuple(dict.fromkeys(part for part in parts if part))
