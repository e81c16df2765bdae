"""One question of BLEnD with the answers of all regions: what is right in a region, and what is wrong there.

Annotators are few, so that an answer which none of them gave may be true too ("a common snack"). It counts as wrong if
it overlaps with nothing that anybody of the region gave, or of a region that is alike, and if it is no answer of
everybody: few regions give it, and none together with the right one. Where only one answer can be right ("the most
popular") and the region agrees, it may be given by more; where several can be, it has a word of its own region, which
hardly any other uses in answers to any question.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property

from excam.excam40k.construction.option_phrases import asks_for_one
from excam.excam40k.datasets._annotations import PLACEHOLDER, Annotations, Meaning, QuestionRecord
from excam.excam40k.datasets._cells import digest
from excam.excam40k.datasets._quantities import DATE, MONTH, Quantity, quantity_of
from excam.excam40k.datasets._wordings import Stems, Wordings, stems

_GIVEN_BY, _GIVEN_BY_IF_ONE = 3, 6  # regions that may give a wrong answer, of the sixteen; where one can be right
_OWN_WORD = 2  # regions that use a word which says where an answer belongs
_USED_BY_MANY = 6  # regions with a word in answers to other questions; where one gives it to this, it fits the others
LEAST_SHARE = 1 / 3  # of all votes, for a right answer: three of thirteen are no agreement
_LEAD = 2  # votes before the second answer, for a region that agrees on the one answer
_OTHER_CALENDARS = ("Ethiopia", "Iran")  # their dates and months are those of a calendar that no question names
_DISTRACTOR_VOTES = 3  # of a wrong answer where it is right, or two if that is the one top answer: one is a slip
_VERSUS = re.compile(r"___ vs ___")  # a question that asks for two teams
_TWO = re.compile(r"\b(?:vs|versus|against|and)\b|-")
SHORTEST, LONGEST = 3, 60  # characters of an answer: "MW" says nothing, a longer one tells a story


class Asked:
    """The answers of all regions to one question; those to the questions `beside` it are known words, no more."""

    def __init__(self, annotations: Annotations, key: str, beside: Iterable[str] = ()) -> None:
        self._key = key
        self._records: Mapping[str, QuestionRecord] = annotations.records.get(key, {})
        self._alike, self._users = annotations.alike, annotations.users
        questions = [stems(record.question) for record in self._records.values()]
        ignored = frozenset.intersection(*questions) if questions else frozenset[str]()
        records = [record for other in (key, *beside) for record in annotations.records.get(other, {}).values()]
        wordings = (wording for record in records for wording in record.wordings)
        self._wordings = Wordings(wordings, ignored, annotations.synonyms)
        self._names = frozenset(stem for region in annotations.files for stem in stems(region.replace("_", " ")))

    def right(self, region: str, least_votes: int) -> Meaning | str:
        """Return the answer on which a region agrees, or why there is none."""
        answers, unanswered = self._records[region].answers, self._records[region].unanswered
        if region in _OTHER_CALENDARS and self.quantity(region) in (DATE, MONTH):
            return "other-calendar"
        if self._is_unknown:
            return "unknown-to-most"
        least = max(least_votes, unanswered + 1, LEAST_SHARE * sum(answer.votes for answer in answers))
        if not answers or answers[0].votes < least:
            return "few-votes"
        if not self._leads(region) and self._one_can_be_right(region):
            return "tied-top-answer"
        return answers[0] if self._says_something(region, answers[0]) else "no-answer-to-the-question"

    @cached_property
    def _is_unknown(self) -> bool:
        """Return whether more annotators knew no answer than did, as to "winter sports player" in the tropics."""
        votes = sum(answer.votes for record in self._records.values() for answer in record.answers)
        return sum(record.unanswered for record in self._records.values()) > votes

    def _leads(self, region: str) -> bool:
        """Return whether the top answer has more votes than the second one."""
        votes = [answer.votes for answer in self._records[region].answers[:2]]
        return len(votes) < 2 or votes[0] > votes[1]

    def is_known(self, region: str) -> bool:
        """Return whether the annotations have this question for the region."""
        return region in self._records

    def _one_can_be_right(self, region: str) -> bool:
        return bool(self.quantity(region) or asks_for_one(self._records[region].question))

    def quantity(self, region: str) -> Quantity | None:
        """Return the kind of quantity that the question asks for, None if for none."""
        return quantity_of(self._records[region].question)

    @cached_property
    def _agreed(self) -> list[float]:
        """Return the quantities on which regions agree."""
        held = [
            kind.read(record.answers[0].wordings[0])
            for region, record in self._records.items()
            if (kind := self.quantity(region)) and record.answers and record.answers[0].votes >= _DISTRACTOR_VOTES
        ]
        return [value for value in held if value is not None]

    def _given(self, region: str) -> list[str]:
        return list(self._records[region].wordings) if region in self._records else []

    def _says_something(self, region: str, answer: Meaning) -> bool:
        text = answer.wordings[0]
        if kind := self.quantity(region):
            value, agreed = kind.read(text), self._agreed
            if value is None or not kind.in_unit(value, agreed):
                return False
            turned = [agreed.count(reading) for reading in kind.readings(text) if reading != value]
            return not any(count and count >= agreed.count(value) for count in turned)  # "01/06" for the first of June
        if _VERSUS.search(self._records[region].question) and not _TWO.search(text):
            return False
        if text.startswith("of ") or (text.isascii() and len(text) < SHORTEST):  # a part of an answer, translated
            return False
        return bool(self._wordings.content(text)) and len(text) <= LONGEST and not PLACEHOLDER.search(text)

    def still_wrong(self, region: str, right: Meaning, options: Iterable[str]) -> list[str]:
        """Return the options that are wrong in the region by its annotators and those of other regions."""
        offered = (option for option in options if not PLACEHOLDER.search(option))
        return [option for option in offered if self.is_wrong(region, right, (option,))]

    def _is_right_too(self, region: str, answer: str, wordings: tuple[str, ...]) -> bool:
        if kind := self.quantity(region):
            values = [value for text in (answer, *self._given(region)) if (value := kind.read(text)) is not None]
            offered = kind.readings(wordings[0])
            return not offered or not all(kind.apart(reading, value) for reading in offered for value in values)
        reach = self._right_stems(region) | self._wordings.reach([answer])
        return any(self._wordings.content(wording) & reach for wording in wordings)

    @cached_property
    def _reach(self) -> Mapping[str, Stems]:
        return {region: self._wordings.reach(self._given(region)) for region in self._records}

    def _right_stems(self, region: str) -> Stems:
        reached = (self._reach[near] for near in (region, *self._alike.get(region, ())) if near in self._reach)
        return frozenset().union(*reached)

    def wrong(self, region: str, right: Meaning, used: Counter[str]) -> list[str]:
        """Return answers of other regions that are wrong here and do not overlap, the least used ones first."""
        offered: dict[str, Meaning] = {}
        for other, record in self._records.items():
            if other != region:
                least = _DISTRACTOR_VOTES - self._leads(other)
                for answer in record.answers:
                    if answer.votes >= least and self._says_something(other, answer):
                        offered.setdefault(answer.wordings[0], answer)
        wrong = (text for text, answer in offered.items() if self.is_wrong(region, right, answer.wordings))
        order = sorted(wrong, key=lambda text: (used[text], digest(region, self._key, text)))
        chosen: list[str] = []
        kind = self.quantity(region)
        for text in order:
            if kind or not self.overlap(text, chosen):
                chosen.append(text)
        return chosen

    def overlap(self, text: str, others: Iterable[str]) -> bool:
        """Return whether an English wording says, contains or specialises one of the others."""
        return bool(self._wordings.content(text) & self._wordings.reach(others))

    def given_elsewhere(self, region: str) -> set[Stems]:
        """Return the stems of each wording that two or more annotators of another region gave."""
        return {
            stems(wording)
            for other, record in self._records.items()
            for answer in record.answers
            for wording in answer.wordings
            if other != region and answer.votes >= _DISTRACTOR_VOTES - 1
        }

    def is_wrong(self, region: str, right: Meaning, wordings: tuple[str, ...]) -> bool:
        """Return whether an answer, in English wordings, is wrong in a region by all answers to the question."""
        if self._is_right_too(region, right.wordings[0], wordings):
            return False
        if self.quantity(region):
            return True
        content = self._wordings.content(wordings[0])
        if not content or content & self._names:  # it would say where it is right
            return False
        giving = [each for each in self._records if each != region and content & self._reach[each]]
        users = min(self._users[stem] for stem in content)
        if len(giving) == 1 and users >= _USED_BY_MANY:  # "mathematics" is no form of private education
            return False
        if self.agrees_on_one(region):
            return len(giving) <= _GIVEN_BY_IF_ONE
        own = self._wordings.content(right.wordings[0])
        if len(giving) > _GIVEN_BY or any(own & self._wordings.content(" ".join(self._given(each))) for each in giving):
            return False
        return self._one_can_be_right(region) or 1 <= users <= _OWN_WORD

    def agrees_on_one(self, region: str) -> bool:
        """Return whether one answer can be right and the region has votes for hardly any other."""
        votes = [answer.votes for answer in self._records[region].answers[:2]]
        return self._one_can_be_right(region) and votes[0] - sum(votes[1:]) >= _LEAD
