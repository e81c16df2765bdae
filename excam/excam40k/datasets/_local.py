"""BLEnD's questions as annotators were asked them in the language of their region, with answers in their own words.

A wrong answer is what annotators who speak the language answered to this question in another region, or to a question
of the same kind; whether it is wrong is decided by its English wordings (`_asked.py`). Two questions are of the same
kind if many of the same answers are given to both. No text is translated.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import combinations, product

import polars as pl

from excam.excam40k.datasets._annotations import PLACEHOLDER, Annotations, Meaning, QuestionRecord
from excam.excam40k.datasets._asked import LONGEST, Asked
from excam.excam40k.datasets._built import MOST_WRONG, Built, built_frame
from excam.excam40k.datasets._cells import digest
from excam.excam40k.datasets._quantities import quantity_of
from excam.excam40k.datasets._wordings import Stems, stems


@dataclass(frozen=True, slots=True)
class Tongue:
    """The language of a region, how Unicode's names of its letters begin, and the region's name in a question."""

    language: str
    script: str
    name: re.Pattern[str]


def _tongue(language: str, script: str, name: str) -> Tongue:
    return Tongue(language, script, re.compile(name, re.I))


ENGLISH_REGIONS = ("UK", "US")
TONGUES = {
    "Algeria": _tongue("Arabic", "ARABIC", "جزائر"),
    "Assam": _tongue("Assamese", "BENGALI", "অসম"),
    "Azerbaijan": _tongue("Azerbaijani", "LATIN", "azərbaycan"),
    "China": _tongue("Chinese", "CJK", "中国"),
    "Ethiopia": _tongue("Amharic", "ETHIOPIC", "ኢትዮ"),
    "Greece": _tongue("Greek", "GREEK", "ελλ[άα]δ|[έε]λλην"),
    "Indonesia": _tongue("Indonesian", "LATIN", "indonesia"),
    "Iran": _tongue("Persian", "ARABIC", "ایران"),
    "Mexico": _tongue("Spanish", "LATIN", "m[ée]xic"),
    "North_Korea": _tongue("Korean", "HANGUL", "북한|조선"),
    "Northern_Nigeria": _tongue("Hausa", "LATIN", "arewa"),
    "South_Korea": _tongue("Korean", "HANGUL", "대한민국|한국"),
    "Spain": _tongue("Spanish", "LATIN", "españ"),
    "West_Java": _tongue("Sundanese", "LATIN", "jawa barat|jabar"),
}
_SAME_ANSWERS, _SHARE = 6, 0.25  # that two questions of one kind have, and their share of the answers to one of them
_QUESTIONS = 2  # of a kind that an answer is given to: one may be misread
_LEAST_VOTES = 2  # of a wrong answer, over all questions of the kind: one is a slip
_SURPLUS = 3  # uses of a wording as a right answer beyond those as a wrong one, or the reverse
_SYLLABLES = ("CJK", "HANGUL", "ETHIOPIC")  # letters that say more than a sound
_START = 5  # letters with which two words of other scripts begin alike


def build_local_questions(dataset: str, annotations: Annotations, least_votes: int, most: int) -> pl.DataFrame:
    """Return a frame with up to `most` rows for each annotated (region, question), in the region's language.

    `before` is the reason to drop a row. A question has two or three wrong answers, one where there are no more.
    """
    local = _Local(annotations, least_votes)
    places = [
        (key, region)
        for key, regions in annotations.records.items()
        for region in sorted(regions, key=lambda each: digest(key, each))
        if region not in ENGLISH_REGIONS
    ]
    right = {place: local.right(*place) for place in places}
    built = {place: local.build(*place, right[place], most) for place in places}
    rows = [
        (annotations.files[region], region, key, annotations.records[key][region].local, questions)
        for (key, region), questions in _evened(built, most).items()
    ]
    language = pl.col("region").replace_strict({each: tongue.language for each, tongue in TONGUES.items()}, default="-")
    return built_frame(dataset, "local", rows).with_columns(language=language)


def _evened(built: Mapping[tuple[str, str], list[Built]], most: int) -> dict[tuple[str, str], list[Built]]:
    """Return the questions without those whose answer is right in more of a language than it is offered wrong in.

    Soccer is the answer to most questions about sports: who always says so would be right.
    """

    def said(region: str, text: str | None) -> tuple[str, str | None]:
        return TONGUES[region].language if region in TONGUES else region, text

    offered = Counter(
        said(region, option)
        for (_, region), questions in built.items()
        for options, answer, _ in questions
        for option in options
        if option != answer
    )
    uses = Counter[tuple[str, str | None]]()
    evened: dict[tuple[str, str], list[Built]] = {place: [] for place in built}
    for number in range(most):
        for key, region in sorted(built, key=lambda place: digest(*place)):
            for options, answer, reason in built[key, region][number : number + 1]:
                again = said(region, answer)
                uses[again] += reason is None
                too_often = reason is None and uses[again] > offered[again] + _SURPLUS
                question = ([], None, "same-answer-too-often") if too_often else (options, answer, reason)
                evened[key, region].append(question)
    return evened


Right = tuple[Meaning, str]  # the answer and its wording


class _Local:
    """What annotators said in the languages of their regions."""

    def __init__(self, annotations: Annotations, least_votes: int) -> None:
        self._annotations, self._least_votes = annotations, least_votes
        self._said = _said(annotations.records)
        self._same_kind = same_kind(self._said)
        self._apart = _apart(annotations.records)
        self._uses: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for regions in annotations.records.values():
            for region, record in regions.items():
                if tongue := TONGUES.get(region):
                    texts = {text.casefold() for answer in record.answers for text in answer.local}
                    self._uses[tongue.language].update(texts)
        self._taken: defaultdict[str, Counter[str]] = defaultdict(Counter)  # of a language: wrong minus right uses
        self._asked = cache(lambda key: Asked(annotations, key, self._same_kind.get(key, ())))

    def right(self, key: str, region: str) -> Right | str:
        """Return the right answer of a region and its local wording, or why there is none."""
        record = self._annotations.records[key][region]
        if not (tongue := TONGUES.get(region)):
            return "unknown-language"
        if not tongue.name.search(record.local):
            return "names-no-region" if record.local.strip() else "no-local-question"
        answers = self._asked(key)
        answer = answers.right(region, self._least_votes)
        if isinstance(answer, str):
            return answer
        text = answer.wordings[0] if answers.quantity(region) else self._text(tongue, answer)
        if text is None:
            return "no-local-wording"
        self._taken[tongue.language][text] -= MOST_WRONG
        return answer, text

    def build(self, key: str, region: str, right: Right | str, most: int) -> list[Built]:
        """Return the questions of a region, or one reason why there are none.

        A wrong answer is taken that was taken least often, beyond the questions to which it is right.
        """
        if isinstance(right, str):
            return [([], None, right)]
        answer, text = right
        taken, answers = self._taken[TONGUES[region].language], self._asked(key)
        if answers.quantity(region):
            wrong = answers.wrong(region, answer, taken)
        else:
            wrong = self._wrong(answers, key, region, answer)
        wrong = [each for each in wrong if taken[each] < _SURPLUS]
        if not wrong:
            return [([], None, "no-local-distractor")]
        number = min(most, max(1, len(wrong) // 2))
        chosen = [wrong[place::number][:MOST_WRONG] for place in range(number)]
        taken.update(each for some in chosen for each in some)
        return [(sorted([text, *some], key=str.casefold), text, None) for some in chosen]

    def _text(self, tongue: Tongue, answer: Meaning) -> str | None:
        """Return the wording of an answer that is used most in the language; None for none in its letters."""
        usable = (text for text in answer.local if _is_written_in(tongue, text))
        return max(usable, key=lambda text: self._uses[tongue.language][text.casefold()], default=None)

    def _wrong(self, answers: Asked, key: str, region: str, right: Meaning) -> list[str]:
        """Return local answers that are wrong in a region and do not overlap, the least taken ones first."""
        tongue, record = TONGUES[region], self._annotations.records[key][region]
        agreed, elsewhere = answers.agrees_on_one(region), answers.given_elsewhere(region)
        beside = frozenset[Stems]().union(*(self._apart[stems(text)] for text in right.wordings))
        local_parts = {part for answer in record.answers for text in answer.local for part in _parts(text)}
        local_parts -= _parts(record.local)
        fits = Counter(each for other in (key, *self._same_kind.get(key, ())) for each in self._said[other])
        votes = Counter[str]()
        candidates: dict[str, Meaning] = {}
        for other, answer in self._answers(tongue.language, key, region):
            said = {stems(text) for text in answer.wordings}
            # an answer that nobody gave to this question is wrong where only one can be right and the region agrees
            was_given = bool(said & elsewhere)
            if not was_given and not (agreed and said & beside and any(fits[each] >= _QUESTIONS for each in said)):
                continue
            text = self._text(TONGUES[other], answer)
            if text is None or _parts(text) & local_parts or not answers.is_wrong(region, right, answer.wordings):
                continue
            votes[text] += answer.votes + was_given
            candidates.setdefault(text, answer)
        uses, taken = self._uses[tongue.language], self._taken[tongue.language]
        voted = {text: answer for text, answer in candidates.items() if votes[text] >= _LEAST_VOTES}
        order = sorted(voted, key=lambda text: (taken[text], -uses[text.casefold()], digest(region, key, text)))
        return _without_overlap(answers, {text: voted[text] for text in order})

    def _answers(self, language: str, key: str, region: str) -> Iterator[tuple[str, Meaning]]:
        """Yield regions and answers in a language to questions of this kind, without the region's own to this one."""
        for other in (key, *self._same_kind.get(key, ())):
            for near, record in self._annotations.records[other].items():
                if near in TONGUES and TONGUES[near].language == language and (other, near) != (key, region):
                    for answer in record.answers:
                        if not any(PLACEHOLDER.search(text) for text in answer.wordings):
                            yield near, answer


def _is_written_in(tongue: Tongue, text: str) -> bool:
    letters = [letter for letter in text if letter.isalpha()]
    named = all(unicodedata.name(letter, "").startswith((tongue.script, "MODIFIER")) for letter in letters)
    return bool(letters) and named and len(text) <= LONGEST and not PLACEHOLDER.search(text)


def _parts(text: str) -> set[str]:
    """Return what two overlapping wordings share: pairs of syllables, or how words of three letters or more begin."""
    parts: set[str] = set()
    for word in re.findall(r"[^\W_]+", unicodedata.normalize("NFC", text.casefold())):
        if unicodedata.name(word[0], "").startswith(_SYLLABLES):
            parts |= {word[place : place + 2] for place in range(len(word) - 1)} or {word}
        elif len(word) > 2:
            parts.add(word[:_START])
    return parts


def _said(records: Mapping[str, Mapping[str, QuestionRecord]]) -> dict[str, set[Stems]]:
    """Return question -> the wordings of all answers to it, without questions that ask for a quantity."""
    return {
        key: {stems(text) for record in regions.values() for text in record.wordings}
        for key, regions in records.items()
        if not any(quantity_of(record.question) for record in regions.values())
    }


def same_kind(stem_sets: Mapping[str, set[Stems]]) -> dict[str, list[str]]:
    """Return question -> others of the same kind."""
    alike: defaultdict[str, list[str]] = defaultdict(list)
    for question, other in combinations(stem_sets, 2):
        same = len((stem_sets[question] & stem_sets[other]) - {frozenset()})
        if same >= max(_SAME_ANSWERS, _SHARE * min(len(stem_sets[question]), len(stem_sets[other]))):
            alike[question].append(other)
            alike[other].append(question)
    return alike


def _apart(records: Mapping[str, Mapping[str, QuestionRecord]]) -> Mapping[Stems, set[Stems]]:
    """Return a wording -> those of other answers that one region gave to one question: they do not mean the same."""
    apart: defaultdict[Stems, set[Stems]] = defaultdict(set)
    for regions in records.values():
        for record in regions.values():
            stem_sets = ({stems(text) for text in answer.wordings} for answer in record.answers)
            for some, others in combinations(stem_sets, 2):
                for wording, other in product(some, others):
                    apart[wording].add(other)
                    apart[other].add(wording)
    return apart


def _without_overlap(answers: Asked, meanings: Mapping[str, Meaning]) -> list[str]:
    """Return the texts of meanings without those that overlap an earlier one."""
    chosen: list[str] = []
    for text, meaning in meanings.items():
        shown = [wording for each in chosen for wording in meanings[each].wordings]
        if not any(answers.overlap(wording, shown) for wording in meaning.wordings):
            chosen.append(text)
    return chosen
