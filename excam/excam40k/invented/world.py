"""An invented world: peoples that exist nowhere, and facts about them that no model can have read.

`facts` is a function of a number of peoples and a seed. Each value and each wrong option is drawn on its own, uniformly
from the values of the relation: nothing that is known of other peoples tells anything about the people asked about. (A
world in which every value is true of equally many peoples does tell: who knows the others can eliminate.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import product
from typing import Any

import yaml

from excam.core.exceptions import ConfigInvalid
from excam.core.hash_order import digest

VERSION = 2  # of how values and options are chosen; 1: every value true of equally many peoples
FIRST = ("Va", "Ko", "Te", "Mu", "Zi", "Or", "Pe", "Lu", "Sha", "Bri", "Du", "Ny", "Ga", "Fe", "Wo", "Ja")
MIDDLE = ("ra", "lo", "ti", "mu", "ne", "sa", "vi", "do", "ke", "pa", "ju", "the", "gri", "bo", "sco", "fla")
LAST = ("shi", "dan", "ku", "mar", "lim", "nor", "bet", "gos", "ve", "ch", "tum", "rix", "pen", "zo", "fal", "wyn")
OPTIONS = 4  # of a question, the right one among them


@dataclass(frozen=True, slots=True)
class Relation:
    """What can be told of every people: the benchmark's question, other wordings, and the possible values."""

    id: str
    benchmark: str
    question: str
    statements: tuple[str, ...]
    questions: tuple[str, ...]
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Fact:
    """One value of one relation of one people; `options` holds the value and others of the relation."""

    people: str
    relation: Relation
    value: str
    options: tuple[str, ...]

    @property
    def question(self) -> str:
        """Return the question that the benchmark asks."""
        return self.relation.question.format(people=self.people)


@cache
def relations() -> tuple[Relation, ...]:
    """Return the relations of `relations.yaml`."""
    text = resources.files("excam.excam40k.invented").joinpath("relations.yaml").read_text(encoding="utf-8")
    return tuple(Relation(**_with_tuples(entry)) for entry in yaml.safe_load(text))


def _with_tuples(entry: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in entry.items()}


def peoples(count: int, seed: int) -> list[str]:
    """Return the names of `count` peoples; no two share two of their three syllables.

    So questions that differ in the name alone are no near-duplicates. Raises ConfigInvalid if there are too few names.
    """
    chosen: list[tuple[str, str, str]] = []
    taken: set[tuple[str, ...]] = set()
    for name in sorted(product(FIRST, MIDDLE, LAST), key=lambda name: digest(seed, "people", *name)):
        pairs = {(name[0], name[1], ""), (name[0], "", name[2]), ("", name[1], name[2])}
        if len(chosen) < count and not pairs & taken:
            taken |= pairs
            chosen.append(name)
    if len(chosen) < count:
        raise ConfigInvalid(f"invented.peoples: found {count}; expected at most {len(chosen)} with this seed")
    return ["".join(name) for name in chosen]


def facts(count: int, seed: int) -> Iterator[Fact]:
    """Yield every fact about `count` peoples, relation by relation."""
    names = peoples(count, seed)
    for relation in relations():
        for people in names:
            drawn = int(digest(seed, "value", relation.id, people), 16)
            value = relation.values[drawn % len(relation.values)]
            yield Fact(people, relation, value, _options(relation, people, value, seed))


def _options(relation: Relation, people: str, value: str, seed: int) -> tuple[str, ...]:
    others = [other for other in relation.values if other != value]
    wrong = sorted(others, key=lambda other: digest(seed, "wrong", relation.id, people, other))[: OPTIONS - 1]
    return tuple(sorted([value, *wrong], key=lambda option: digest(seed, "option", relation.id, people, option)))
