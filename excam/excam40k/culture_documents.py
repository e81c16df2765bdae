"""Documents about one culture made of verified facts: prose of 60 to 200 words.

Facts of a document are of one culture and, as far as there are enough, of one topic; each stands in the middle in a
wording of its own, behind an introduction and before an end that say nothing about any culture. A document names the
base samples it was made from, so that a row's own fact can be left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from excam.core.hash_order import digest
from excam.error_reports.records import BaseSample
from excam.excam40k.construction.cultures import in_a_sentence
from excam.excam40k.question_forms import lowered
from excam.excam40k.statements import is_norm, stated_answer, statement, with_synonyms

LEAST, MOST = 60, 200  # words of a prose document
TOPICS = {
    "Food and drink": "food eat dish drink meal snack fruit soup cook dinner lunch breakfast restaurant tea coffee "
    "beer sauce dessert cuisine",
    "Sports and games": "sport soccer football athlete olympic basketball volleyball game player coach team",
    "School and study": "school student universit exam teacher education study graduat subject",
    "Weddings, funerals and the family": "wedding marri funeral bride birth baby parent famil mother father child",
    "Holidays and festivals": "holiday festival christmas new.year celebrat independence tradition",
    "Work and money": "work job compan occupation profession salary econom entrepreneur business retire export trade",
    "Towns and travel": "city region tourist transport destination bus train travel airport street",
    "Manners": "greet polite rude etiquette manners acceptable guest visit gift respect",
    "Music, stories and television": "song music movie film tv television book story writer actor singer animation",
    "Politics and the world": "president government election countr threat war politic democra law united.nations",
}  # beginnings of words
OTHER = "Everyday life"
OPENINGS = (
    "These notes are about {topic} in {place}.",
    "Readers who want to know more about {topic} in {place} will find some facts below.",
    "This short text collects what is known about {topic} in {place}.",
    "Much has been written about {topic} in {place}, and here is a small part of it.",
    "A newcomer to {place} will have questions about {topic}.",
)
LINKS = (
    "Besides, ",
    "In addition, ",
    "Apart from that, ",
    "Here is another point: ",
    "There is more to say: ",
    "On a related note, ",
    "One more thing is worth mentioning: ",
    "Something else belongs here: ",
)
FILLERS = (
    "None of this has to hold for every single person.",
    "Habits differ from one household to the next, and from one generation to another.",
    "Those who grew up there rarely think about it, while visitors notice it at once.",
    "It is easy to find people who see it in another way, as everywhere in the world.",
    "Such things are best learned by talking with people who live there.",
    "What is said here was put together from answers of people who know the place well.",
)
ENDINGS = (
    "Things may change with time, so it is wise to ask again from time to time.",
    "That is enough for a first impression, and more can be learned on the spot.",
    "Anyone who stays longer will find out much more than a page can hold.",
    "Other texts of this collection describe further sides of daily life.",
    "As always, a text of this kind can only give an outline.",
)


_FRAME = re.compile(  # first words of statements that are no names
    r"(?:The|An?|In|People|When|It|Whoever|This|What|As|Asked|If|More|Those|Interviewers|According|Guides|Visitors|One|"
    r"On|At|During)\b"
)


@dataclass(frozen=True, slots=True)
class Document:
    """A text about one culture, with the ids of the base samples whose facts it states."""

    id: str
    title: str
    text: str
    language: str
    culture: str
    licence: str
    sources: tuple[str, ...]


@lru_cache(maxsize=20_000)
def topic(base: BaseSample) -> str:
    """Return the topic of a question: the first of TOPICS with a word of it, or OTHER."""
    text = (base.answer if is_norm(base) else base.question).casefold()
    return next((name for name, words in TOPICS.items() if re.search(rf"\b(?:{words.replace(' ', '|')})", text)), OTHER)


def prose(id: str, bases: Sequence[BaseSample], licence: str, seed: int) -> Document:
    """Return a prose document of facts about the culture of `bases`, in their order, on the topic of the second.

    It has 60 to 200 words if the facts leave room for that. English only.
    """
    first = bases[0]
    place = in_a_sentence(first.culture, first.language, first.task)
    theme = topic(bases[min(1, len(bases) - 1)])
    facts = [_fact(base, seed, id, number) for number, base in enumerate(bases)]
    opening = _drawn(OPENINGS, 1, seed, id, "opening")[0].format(topic=_small(theme), place=place)
    closing = _drawn(ENDINGS, 1, seed, id, "ending")
    links = _drawn(LINKS, len(facts), seed, id, "links")
    body = [facts[0], *(f"{link}{_joined(fact)}" for link, fact in zip(links, facts[1:], strict=False))]
    sentences = [opening, *body, *closing]
    for filler in _drawn(FILLERS, len(FILLERS), seed, id, "fillers"):
        if sum(len(sentence.split()) for sentence in sentences) < LEAST + 8:
            sentences.insert(-1 if len(sentences) % 2 else 2, filler)
    return Document(
        id,
        f"{theme} in {place}",
        " ".join(sentences),
        first.language,
        first.culture,
        licence,
        tuple(base.id for base in bases),
    )


def _fact(base: BaseSample, seed: int, id: str, number: int) -> str:
    """Return a statement with synonyms outside of its answer."""
    said = statement(base, seed, id, str(number))
    if base.task == "impersonation" or "“" in said:
        return said
    answer = stated_answer(base)
    places = [place for place in (said.find(answer), said.find(lowered(answer))) if place >= 0]
    if not places:
        return said
    start = places[0]
    before, kept, after = said[:start], said[start : start + len(answer)], said[start + len(answer) :]
    return f"{with_synonyms(before, seed, id)}{kept}{with_synonyms(after, seed, id)}"


def _joined(fact: str) -> str:
    """Return a fact as it stands behind a linking word: its first letter small where it is that of a frame."""
    return fact[0].lower() + fact[1:] if _FRAME.match(fact) else fact


def _small(theme: str) -> str:
    return theme[0].lower() + theme[1:]


def _drawn(texts: Sequence[str], count: int, seed: int, *parts: str) -> list[str]:
    order = sorted(texts, key=lambda text: digest(seed, *parts, text))
    return [order[number % len(order)] for number in range(count)]
