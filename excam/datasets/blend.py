"""BLEnD (Myung et al., NeurIPS 2024): everyday knowledge of 16 countries and regions. QA, hard errors.

Read are the official multiple-choice questions, five of each (country, question) as public evaluations do. Where a
snapshot holds the annotations too, one question is built for each annotated question of a region without official ones:
the right option is the region's top answer, the others are top answers of other regions that nobody of the region gave.
Placeholders that annotators typed ("not-applicable") are never right and never a wrong answer.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from excam.datasets import base
from excam.datasets._cells import clean, country_name, digest, identifier, others, text
from excam.datasets._plain import opened
from excam.exceptions import SourceInvalid
from excam.records import BaseSample

NAME = "blend"
ANNOTATIONS = ("annotations/*_data.json.gz", "annotations/*_data.json", "data/annotations_hf/*_data.json")
QUESTIONS = (
    "**/mc_questions*.csv",
    "**/mc_questions*.csv.gz",
    "**/mc_*.csv",
    "multiple-choice-questions/test*.parquet",
)
SOURCE = base.Source(
    licence="CC-BY-SA-4.0",
    # "**/" is any depth for a local folder, but at least one folder for the hub's matching
    files=("mc_questions*.csv", "mc_questions*.csv.gz", *QUESTIONS, *ANNOTATIONS[:2]),
    hub="nayeon212/BLEnD",
    homepage="https://github.com/nlee0212/BLEnD",
)
ERRORS: base.Errors = "hard"

COLUMNS = ("MCQID", "ID", "country", "prompt", "choices", "answer_idx")
MOST_PER_QUESTION = 5
PLACEHOLDER = re.compile(
    r"(not[- ]applicable|n/?a|as usual|same as usual|idk|i don.?t know|don.?t know|no[- ]answer|not sure|unsure|none|"
    r"absolutely none|nothing|nothing special|unknown|no idea|(really )?varies|depends|it depends\b.*|same|dummy)[.!]?",
    re.I,
)
_FILLER = frozenset(["a", "an", "and", "at", "for", "in", "of", "on", "or", "the", "to", "with"])


def read(folder: Path) -> base.Reading:
    """Base samples of a snapshot, official questions first, then the built ones. Raises SourceInvalid."""
    path = base.find(folder, NAME, QUESTIONS)[0]
    rows = list(base.table(path, NAME, COLUMNS))
    outcomes = [(path, outcome) for outcome in _few_per_question(_official(row) for row in rows)]
    covered = {text(row, "country") for row in rows}
    return base.gather(NAME, [*outcomes, *_built(_annotations(folder), covered)])


def _official(row: Mapping[str, Any]) -> base.Outcome:
    question, marker, _ = text(row, "prompt").partition("Without any explanation")
    if not marker:
        return "no-question"
    try:
        choices = json.loads(text(row, "choices"))
    except ValueError:
        return "malformed"
    letter = text(row, "answer_idx").upper()
    if not isinstance(choices, dict) or letter not in choices:
        return "answer-outside-options"
    options = tuple(clean(str(choices[key])) for key in sorted(choices))
    region, key = text(row, "country"), text(row, "ID")
    return _sample(identifier(NAME, text(row, "MCQID")), question, region, key, options, clean(str(choices[letter])))


def _sample(name: str, question: str, region: str, key: str, options: tuple[str, ...], answer: str) -> base.Outcome:
    if PLACEHOLDER.fullmatch(answer):
        return "placeholder-answer"
    wrong = others((option for option in options if not PLACEHOLDER.fullmatch(option)), answer)
    if not wrong:
        return "no-wrong-option"
    country = country_name(region)
    return BaseSample(
        id=name,
        dataset=NAME,
        task="qa",
        question=question.strip(),
        answer=answer,
        language="English",
        culture=country,
        stratum=country,
        options=options,
        wrong=wrong,
        group=f"{country}:{key}",
    )


def _few_per_question(outcomes: Iterable[base.Outcome]) -> Iterator[base.Outcome]:
    """All but five of each (country, question) become "over-5-per-question"; which five, a digest of the id says."""
    groups: dict[str, list[BaseSample]] = defaultdict(list)
    for outcome in outcomes:
        if isinstance(outcome, BaseSample):
            groups[outcome.group].append(outcome)
        else:
            yield outcome
    for members in groups.values():
        members.sort(key=lambda sample: digest(sample.id))
        yield from members[:MOST_PER_QUESTION]
        yield from (f"over-{MOST_PER_QUESTION}-per-question" for _ in members[MOST_PER_QUESTION:])


Answers = list[tuple[int, list[str]]]  # of one question: votes and English wordings, most votes first


def _annotations(folder: Path) -> list[tuple[Path, dict[str, Mapping[str, Any]]]]:
    """Per file (one region) question id -> record; upstream an object, on the hub rows with an ID. Empty: none here."""
    found = next((paths for pattern in ANNOTATIONS if (paths := sorted(folder.glob(pattern)))), [])
    return [(path, _records(path)) for path in found]


def _records(path: Path) -> dict[str, Mapping[str, Any]]:
    # `datasets` takes an object of objects for a single row with 400 columns
    try:
        with opened(path) as stream:
            held = json.load(stream)
        if isinstance(held, list):
            held = {row["ID"]: row for row in held}
        if not all(isinstance(_answers(record), list) and record["en_question"] for record in held.values()):
            raise ValueError("a record without en_question")
    except (OSError, EOFError, ValueError, KeyError, TypeError, AttributeError) as damage:
        reason = f"{type(damage).__name__} {damage}"
        raise SourceInvalid(f"{NAME}: {path.name}: not readable: {reason}; fetch the file again") from damage
    return held


def _built(
    regions: list[tuple[Path, dict[str, Mapping[str, Any]]]], covered: set[str]
) -> Iterator[tuple[Path, base.Outcome]]:
    given = {(_region(path), key): _answers(record) for path, records in regions for key, record in records.items()}
    for path, records in regions:
        region = _region(path)
        if region in covered:
            continue
        for key, record in records.items():
            elsewhere = [given.get((_region(other), key), []) for other, _ in regions if other != path]
            yield path, _build(region, key, record, given[region, key], elsewhere)


def _region(path: Path) -> str:
    return path.name.partition("_data.json")[0]


def _answers(record: Mapping[str, Any]) -> Answers:
    ordered = sorted(record["annotations"], key=lambda entry: -entry["count"])  # stable: the file's order breaks ties
    worded = ((int(entry["count"]), [clean(str(word)) for word in entry["en_answers"]]) for entry in ordered)
    return [(votes, kept) for votes, words in worded if (kept := [word for word in words if word])]


def _build(
    region: str, key: str, record: Mapping[str, Any], answers: Answers, elsewhere: list[Answers]
) -> base.Outcome:
    """One multiple-choice question with four options in alphabetical order, as the official ones have them."""
    if not answers or answers[0][0] < 2:
        return "no-agreed-answer"
    answer = answers[0][1][0]
    taken = {word for _, wordings in answers for wording in wordings for word in _words(wording)}
    distractors: list[str] = []
    for wordings in sorted((top[0][1] for top in elsewhere if top), key=lambda top: digest(region, key, *top)):
        words = {word for wording in wordings for word in _words(wording)}
        if len(distractors) < 3 and words and not words & taken and not PLACEHOLDER.fullmatch(wordings[0]):
            distractors.append(wordings[0])
            taken |= words
    if len(distractors) < 3:
        return "too-few-distractors"
    options = tuple(sorted([answer, *distractors], key=str.casefold))
    question = clean(str(record["en_question"]))
    return _sample(identifier(NAME, "built", region, key), question, region, key, options, answer)


def _words(answer: str) -> frozenset[str]:
    """Content words in a rough singular; answers that share one ("dress", "white dress") may both be right."""
    words = (word for word in re.findall(r"[\w:]+", answer.casefold()) if word not in _FILLER)
    return frozenset(word[:-1] if len(word) > 3 and word.endswith("s") else word for word in words)
