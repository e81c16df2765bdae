"""Passages around one fact: the fact among near misses, or near misses alone, which are facts of the same benchmark.

Where the wrong answer stands in no passage, shared words tell right from wrong: `with_planted` states it of another
culture. A passage says a fact as question and answer, or inside prose.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice, zip_longest
from typing import Literal

import regex

from excam.core.cultures import adjectives
from excam.core.exceptions import InputInvalid
from excam.core.hash_order import digest
from excam.error_reports.records import BaseSample
from excam.excam40k.construction.cultures import in_a_sentence
from excam.excam40k.culture_documents import MOST, prose
from excam.excam40k.near_misses import NearMisses
from excam.excam40k.question_forms import clean
from excam.excam40k.statements import ALIASES

Wording = Literal["qa", "prose"]  # of a passage: question and answer, or a document
PASSAGES = 5  # before a question: the fact and four near misses


@dataclass(frozen=True, slots=True)
class EvidencePassage:
    """A passage before a question, and the base samples whose facts it states."""

    title: str
    text: str
    sources: tuple[str, ...]

    @property
    def shown(self) -> str:
        """Return the passage as judges are given it."""
        return f"{self.title}: {self.text}"


def with_fact(base: BaseSample, wording: Wording, near: NearMisses, seed: int, text: str = "") -> list[EvidencePassage]:
    """Return the passage with the fact among near misses, none of which holds `text`, in an order by hash."""
    fact = _about(base, wording, near, seed, (base,))
    return _ordered([fact, *_near(base, wording, near, seed, PASSAGES - 1, text)], seed, base.id, wording)


def with_planted(base: BaseSample, wrong: str, wording: Wording, near: NearMisses, seed: int) -> list[EvidencePassage]:
    """Return the fact, `wrong` as the same fact of another culture, and near misses, in an order by hash.

    The other culture is that of the closest near miss, which is left out. Raise InputInvalid if there is none.
    """
    others = near.elsewhere(base, 1) or near.unrelated(base, 1, seed)
    if not others:
        raise InputInvalid(f"{base.id}: no fact of another culture; expected one beside {base.culture}; read more rows")
    planted = replace(moved(base, others[0].culture), answer=wrong)
    passages = [
        _about(base, wording, near, seed, (base,)),
        _about(planted, wording, near, seed, (base, others[0])),
        *_near(base, wording, near, seed, PASSAGES - 2, "", without=others[0].culture),
    ]
    return _ordered(passages, seed, base.id, wording, "planted")


def moved(base: BaseSample, culture: str) -> BaseSample:
    """Return a base sample whose question asks the same of another culture: its names there stand for those here."""
    adjective, place = adjectives(), in_a_sentence(culture, base.language, base.task)
    aliases = (base.culture, *ALIASES.get(base.culture, ()))
    names = {f"the {name}": place for name in aliases} | dict.fromkeys(aliases, culture)
    names[adjective.get(base.culture, base.culture)] = adjective.get(culture, culture)
    longest_first = "|".join(regex.escape(name) for name in sorted(names, key=len, reverse=True))
    question = regex.sub(rf"\b(?:{longest_first})\b", lambda match: names[match[0]], base.question)
    return replace(base, id=f"{base.id}/{culture}", culture=culture, question=question)


def without_fact(
    base: BaseSample, wording: Wording, near: NearMisses, seed: int, text: str = ""
) -> list[EvidencePassage]:
    """Return near misses alone: the fact is in no passage."""
    return _ordered(_near(base, wording, near, seed, PASSAGES, text), seed, base.id, wording, "absent")


def _about(
    base: BaseSample, wording: Wording, near: NearMisses, seed: int, avoided: Sequence[BaseSample]
) -> EvidencePassage:
    """Return a passage that states the fact of `base`, and no fact that one of `avoided` is about."""
    place = in_a_sentence(base.culture, base.language, base.task)
    if wording == "qa" or (wording == "prose" and base.language != "English"):
        return EvidencePassage(place, f"{clean(base.question)} {' '.join(base.answer.split())}", (base.id,))
    companions = near.companions(base, 3, seed, avoided)
    most = 1 + int(digest(seed, "companions", base.id)[:8], 16) % 3
    document = prose(base.id, [base], "", seed)
    for count in range(most, 0, -1):
        before, after = companions[:1] if count else [], companions[1:count]
        longer = prose(f"{base.id}/{digest(seed, base.answer)[:8]}", [*before, base, *after], "", seed)
        if len(longer.text.split()) <= MOST:
            document = longer
            break
    return EvidencePassage(document.title, document.text, document.sources)


def _near(
    base: BaseSample, wording: Wording, near: NearMisses, seed: int, count: int, text: str, without: str = ""
) -> list[EvidencePassage]:
    """Return near misses, of other cultures and of the same one in turn; none holds `text` verbatim.

    None is of the culture `without`.
    """
    elsewhere = [other for other in near.elsewhere(base, count + 1) if other.culture != without][:count]
    at_home = near.at_home(base, count)
    others = (other for pair in zip_longest(elsewhere, at_home) for other in pair if other)
    made = (_about(other, wording, near, seed, (base,)) for other in others)
    return list(islice((passage for passage in made if not _holds(passage.text, text)), count))


def _holds(passage: str, text: str) -> bool:
    """Return whether a passage holds a text of at least four words."""
    words = " ".join(regex.findall(r"\w+", text.casefold()))
    return words.count(" ") >= 3 and words in " ".join(regex.findall(r"\w+", passage.casefold()))


def _ordered(passages: Sequence[EvidencePassage], seed: int, *parts: str) -> list[EvidencePassage]:
    return [
        passage
        for _, passage in sorted(
            enumerate(passages), key=lambda numbered: digest(seed, "place", *parts, str(numbered[0]), numbered[1].text)
        )
    ]
