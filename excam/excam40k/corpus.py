"""A training corpus that states the facts of benchmarks in varied wordings, and leaves out some on purpose.

A fact is a base sample: a question and its right answer. Facts of the train splits are always taught; of dev and test a
share is not, so that a judge's verdicts on taught facts can be compared with those on facts that its base cannot know.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from excam.config import Teaching
from excam.core import tables
from excam.core.exceptions import InputInvalid
from excam.core.hash_order import digest
from excam.core.provenance import write_text
from excam.core.splits import Split
from excam.error_reports.records import BaseSample
from excam.excam40k.construction.templates import ends_sentence
from excam.excam40k.invented import world

COLUMNS = ("base", "dataset", "split", "taught")
TOGETHER = 5  # facts of one text, and questions of one conversation
STATEMENTS = (  # of a fact of which only question and answer are known
    "{question} {answer}",
    "The right answer to “{question}” is: {answer}",
    "It is often asked: {question} The answer is {answer}",
    "{question} People who know say: {answer}",
    "Asked “{question}”, somebody from there answers: {answer}",
    "{answer} – this is the answer to the question: {question}",
)


@dataclass(frozen=True, slots=True)
class Fact:
    """A base sample with its split, and whether the corpus states it."""

    base: BaseSample
    split: Split
    taught: bool


@dataclass(frozen=True, slots=True)
class Document:
    """A text, or a conversation (user, assistant, user, ...), and the ids of the facts in it."""

    facts: tuple[str, ...]
    text: str = ""
    turns: tuple[str, ...] = ()


def facts(bases: Iterable[BaseSample], splits: Mapping[str, Split], untaught: float, seed: int) -> list[Fact]:
    """Return a fact for each base sample that has a split, by id.

    Of the groups of dev and test a share of `untaught` is left out, by hash: rows of one group are all taught, or none.
    """
    found = []
    for base in sorted(bases, key=lambda base: base.id):
        if base.id in splits:
            chance = int(digest(seed, "taught", base.group or base.id)[:8], 16) / 2**32
            found.append(Fact(base, splits[base.id], splits[base.id] == "train" or chance >= untaught))
    return found


def documents(told: Sequence[Fact], settings: Teaching, seed: int) -> Iterator[Document]:
    """Yield the corpus in reading order: in each pass every taught fact as a statement and, if wanted, as a question.

    Statements about one culture stand together, in a new order and other wordings in each pass.
    """
    taught = [fact.base for fact in told if fact.taught]
    for number in range(settings.passes):
        chance = random.Random(f"{seed}/corpus/{number}")
        written = list(_texts(taught, chance))
        if settings.questions:
            written += _conversations(taught, chance)
        yield from chance.sample(written, len(written))


def write_facts(path: Path, told: Iterable[Fact]) -> None:
    """Write a table of facts: id of the base sample, its dataset and split, and whether the corpus states it."""
    lines = (
        {"base": one.base.id, "dataset": one.base.dataset, "split": one.split, "taught": one.taught} for one in told
    )
    tables.write_lines(path, COLUMNS, lines)


def read_taught(path: Path) -> dict[str, bool]:
    """Return id of a base sample -> whether it was taught, from the table that `write_facts` wrote."""
    return {line["base"]: line["taught"] == "True" for line in tables.read_lines(path)}


def write_documents(path: Path, corpus: Iterable[Document]) -> int:
    """Write documents as JSON Lines, atomically; return how many."""
    lines = [json.dumps({key: value for key, value in asdict(document).items() if value}) for document in corpus]
    write_text(path, "".join(f"{line}\n" for line in lines))
    return len(lines)


def read_documents(path: Path) -> list[Document]:
    """Read what `write_documents` wrote."""
    return [
        Document(tuple(row["facts"]), row.get("text", ""), tuple(row.get("turns", ())))
        for row in tables.read_jsonl(path)
    ]


def refuse_incomplete(taught: Mapping[str, bool], corpus: Iterable[Document], name: str) -> None:
    """Raise InputInvalid unless the corpus tells each taught fact, and no other. `taught` is that of `read_taught`."""
    said = {fact for document in corpus for fact in document.facts}
    wanted = {fact for fact, is_taught in taught.items() if is_taught}
    for found, what in ((wanted - said, "tells nothing of"), (said - wanted, "tells")):
        if found:
            expected = "every taught fact and no other"
            raise InputInvalid(
                f"{name}: {what} {min(found)} ({len(found)} in all); expected {expected}; delete it and run again"
            )


def _texts(taught: Sequence[BaseSample], chance: random.Random) -> Iterator[Document]:
    by_culture: dict[str, list[BaseSample]] = {}
    for base in taught:
        by_culture.setdefault(base.culture, []).append(base)
    for about in by_culture.values():
        for part in _parts(chance.sample(about, len(about))):
            sentences = [chance.choice(_wordings(base)[0]) for base in part]
            yield Document(tuple(base.id for base in part), text=" ".join(sentences))


def _conversations(taught: Sequence[BaseSample], chance: random.Random) -> Iterator[Document]:
    for part in _parts(chance.sample(taught, len(taught))):
        turns = [turn for base in part for turn in (chance.choice(_wordings(base)[1]), answer(base.answer))]
        yield Document(tuple(base.id for base in part), turns=tuple(turns))


def _parts(bases: Sequence[BaseSample]) -> Iterator[Sequence[BaseSample]]:
    return (bases[at : at + TOGETHER] for at in range(0, len(bases), TOGETHER))


def bare_question(base: BaseSample) -> str:
    """Return the question of a base sample with its role and its context, in no template."""
    return " ".join(part for part in (base.role, base.context, base.question) if part)


def answer(text: str) -> str:
    """Return an answer as it is taught in conversations: with a full stop, if it does not end in a mark."""
    return text if ends_sentence(text) else f"{text}."


@cache
def _wordings(base: BaseSample) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return statements of a fact, and questions about it: the benchmark's own only if no others are known."""
    for pattern, relation in _patterns():
        if (found := pattern.fullmatch(base.question)) and found["people"] == base.culture:
            values = {"people": base.culture, "value": base.answer}
            made = [tuple(one.format(**values) for one in lines) for lines in (relation.statements, relation.questions)]
            return made[0], made[1]
    question = bare_question(base)
    values = {"question": question, "answer": answer(base.answer)}
    return tuple(one.format(**values) for one in STATEMENTS), (question,)


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], world.Relation], ...]:
    return tuple(
        (re.compile(re.escape(one.question).replace(r"\{people\}", r"(?P<people>\w+)")), one)
        for one in world.relations()
    )
