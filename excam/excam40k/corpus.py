"""A training corpus that states the facts of benchmarks in varied wordings, each a chosen number of times.

A fact is a base sample: a question and its right answer. Facts of the train splits are stated in every pass; of dev and
test some are stated less often or never, so that a judge's verdicts can be set against what its base can know.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
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
from excam.excam40k.invented.blind_judges import Question, Telling

COLUMNS = ("base", "dataset", "split", "times")
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
    """A base sample with its split, and the number of passes over the facts that state it."""

    base: BaseSample
    split: Split
    times: int


@dataclass(frozen=True, slots=True)
class Document:
    """A text, or a conversation (user, assistant, user, ...), and the ids of the facts in it."""

    facts: tuple[str, ...]
    text: str = ""
    turns: tuple[str, ...] = ()


def facts(bases: Iterable[BaseSample], splits: Mapping[str, Split], settings: Teaching, seed: int) -> list[Fact]:
    """Return a fact for each base sample that has a split, by id.

    Of dev and test the groups are stated as often as `settings.times` says, an equal share each by hash, or a share of
    `settings.untaught` is left out. Rows of one group are stated equally often.
    """
    return [
        Fact(base, splits[base.id], settings.passes if splits[base.id] == "train" else _times(base, settings, seed))
        for base in sorted(bases, key=lambda base: base.id)
        if base.id in splits
    ]


def _times(base: BaseSample, settings: Teaching, seed: int) -> int:
    chance = int(digest(seed, "taught", base.group or base.id)[:8], 16) / 2**32
    if settings.times:
        return settings.times[int(chance * len(settings.times))]
    return settings.passes if chance >= settings.untaught else 0


def documents(told: Sequence[Fact], settings: Teaching, seed: int) -> Iterator[Document]:
    """Yield the corpus in reading order: in each pass its facts as statements and, if wanted, as questions.

    A fact that is stated less often than there are passes is in passes that are drawn. Statements about one culture
    stand together, in a new order and other wordings in each pass.
    """
    passes = {fact.base.id: _passes(fact, settings.passes, seed) for fact in told}
    for number in range(settings.passes):
        chance = random.Random(f"{seed}/corpus/{number}")
        now = [fact.base for fact in told if number in passes[fact.base.id]]
        written = list(_texts(now, chance))
        if settings.questions:
            written += _conversations(now, chance)
        yield from chance.sample(written, len(written))


def _passes(fact: Fact, passes: int, seed: int) -> frozenset[int]:
    return frozenset(random.Random(f"{seed}/passes/{fact.base.id}").sample(range(passes), fact.times))


def write_facts(path: Path, told: Iterable[Fact]) -> None:
    """Write a table of facts: id of the base sample, its dataset and split, and how often the corpus states it."""
    lines = (
        {"base": fact.base.id, "dataset": fact.base.dataset, "split": fact.split, "times": fact.times} for fact in told
    )
    tables.write_lines(path, COLUMNS, lines)


def read_times(path: Path) -> dict[str, int]:
    """Return id of a base sample -> how often it was told, from the table that `write_facts` wrote."""
    return {line["base"]: int(line["times"]) for line in tables.read_lines(path)}


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


def refuse_incomplete(times: Mapping[str, int], corpus: Iterable[Document], name: str) -> None:
    """Raise InputInvalid unless the corpus states each fact as often as `times` says, and no other.

    `times` is that of `read_times`; questions are not counted.
    """
    said = Counter(fact for document in corpus if document.text for fact in document.facts)
    for fact in sorted(said.keys() | times.keys()):
        if said[fact] != times.get(fact, 0):
            raise InputInvalid(
                f"{name}: states {fact} {said[fact]} times; expected {times.get(fact, 0)}, as in the list of facts; "
                "delete it and run again"
            )


def tellings(told: Iterable[tuple[BaseSample, int]]) -> Iterator[Telling]:
    """Yield what blind judges may count: culture, relation, answer and times of each fact."""
    for base, times in told:
        yield Telling(base.culture, relation(base), base.answer, times)


def question(base: BaseSample) -> Question:
    """Return what blind judges are asked."""
    return Question(base.culture, relation(base), (base.answer, *base.wrong))


def relation(base: BaseSample) -> str:
    """Return the question of a base sample without the name of its culture: equal for all cultures it is asked of."""
    return bare_question(base).replace(base.culture, "") if base.culture else bare_question(base)


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
        if (match := pattern.fullmatch(base.question)) and match["people"] == base.culture:
            values = {"people": base.culture, "value": base.answer}
            made = [
                tuple(line.format(**values) for line in lines) for lines in (relation.statements, relation.questions)
            ]
            return made[0], made[1]
    question = bare_question(base)
    values = {"question": question, "answer": answer(base.answer)}
    return tuple(statement.format(**values) for statement in STATEMENTS), (question,)


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], world.Relation], ...]:
    return tuple(
        (re.compile(re.escape(relation.question).replace(r"\{people\}", r"(?P<people>\w+)")), relation)
        for relation in world.relations()
    )
