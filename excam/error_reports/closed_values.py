"""Whether two short answers say the same, where a program can know: closed values, and nothing beside them.

A closed value is yes or no, an option, one number with its unit as written, or one date. A side counts only if it is
wholly such a value, beside phrases that announce an answer ("The answer is") and words that the question says. Texts of
equal words agree as well, and so does an answer that the expected statement holds whole beside words of the question.
Everything else is not known: a second value, a word of comparison, a hedge, a further sentence, a question,
struck text, a sign that is not plain punctuation, another unit or script, another name.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal

import regex

from excam.core.plain_text import plain_text
from excam.core.text import OPTION
from excam.error_reports import content_words
from excam.error_reports.content_words import Word

VERSION = "3"
Range = tuple[int, int]  # half-open, characters
Verdict = Literal["agrees", "differs"] | None
_ASKS = regex.compile("[?？؟‽⁇⁈⁉;]|[:;]-?[()]")  # the Greek question mark, and a face that may deny
# Of a heading, an item of a list, a ruler, a quotation; not what may be part of the value ("- 5 %", "1. 000", "> 5").
_MARK = regex.compile(
    r"\s*(?:(?:#{1,6}|[•▪➤→])\s|-\s(?!\s*\p{Nd}\S*\s?[°%])|(?:1[.)]|\(1\))\s(?!\s*\p{Nd}{3}(?!\p{Nd}))"
    r"|\p{Nd}\)\s(?!\s*\p{Nd})|-{3,}\s*\n|(?P<quotes>(?:>\s?)+))\s*"
)
_LABEL = regex.compile(r"\s*A\s?[:：]\s")  # of an answer, where no option has the letter
# Plain punctuation ("!" before a word denies it), and pictures that deny nothing: food, festivities, smiles, checks.
PUNCTUATION = regex.compile(
    r"(?:[\s.,:;'\"’‘“”„‟«»‹›(){}|。，、：；！「」『』《》·،؛۔।¡…–—-]|(?<=\p{Nd}\s?)%|[✅✔☕🌭-🎓👍🥐-🥯😀😁😃😄😊😋🙂]"
    r"|(?<=[\p{L}\p{M}\p{N}!.…][\"'\p{Pe}\p{Pf}]*[\u00a0\u202f]?)!|\[(?!\s)|(?<=[\w\".。!])\])*"
)
_STRUCK = regex.compile("[\u0334-\u0338\u20d2-\u20f0]")  # lines through letters, signs around them
_SIGN = regex.compile(  # minus, range, ".5"
    r"[\p{Pd}−⁻]\s*[({]*(?=[\p{Nd}.])|(?<![\p{L}\p{M}\p{N}])[\p{Pd}−⁻](?=\p{L})|(?<![\p{Nd}.])[.,](?=\p{Nd})"
)
# Digits in groups of which there are two, or a decimal that is no group; "1,200" and "3.10" may be two things.
_NUMBER = regex.compile(
    r"0|[1-9]\d*|\d{1,3}(?P<group>[,.'])\d{2,3}(?:(?P=group)\d{2,3})*(?P=group)\d{3}|\d+[.,]\d?[1-9]"
)
_ISO = regex.compile(r"\s*([1-9]\d{3})-(\d\d)-(\d\d)[\s.]*")
_LETTERED = regex.compile(rf"(?<![\p{{L}}\p{{Nd}}])(?:(?i:{OPTION})\s*)?\(?([A-H])(?:[):.]\s+|：\s*)")
_LETTER = regex.compile(rf"[\s“„«『\"\[{{{{]*(?:(?i:{OPTION})\s*)?\(?([A-H])(?![\p{{L}}\p{{M}}\p{{Nd}}'’])[).:,：]*")
_ANSWER_IS = r"(?:the|my)\s+(?:(?:correct|right|final)\s+)?answer\s+is"
_CARRIER = regex.compile(rf"\s*(?:(?i:(?:so,?\s+)?(?:{_ANSWER_IS}|it\s+is|it['’]s|that\s+is)\s+))?(?=[\"'“„«({{\[]*\w)")
_IN = frozenset({"in", "on", "en", "em", "im", "am"})  # before a year or a date
_IN_DATES = frozenset({"of", "de", "st", "nd", "rd", "th"})
_YES_NO = {
    "yes": "yes yep yeah ja sí oui sim sì evet ya да نعم 是 是的 はい 네 예 हाँ हां",
    "no": "no nope nein nee non não hayır tidak нет لا 不 不是 否 いいえ 아니요 아니오 नहीं",
}
YES_NO_WORDS = frozenset(" ".join(_YES_NO.values()).split())
ASKS = "asks"  # why a side is not read
LONGEST_NUMBER = 5  # words of a number that is spelled out
LARGE = 2100  # above the years of today; a larger number may be rounded
ROUNDED = 1.1  # ratio of two numbers of which one may be the other one rounded


@dataclass(frozen=True, slots=True)
class _ClosedComparison:
    """What is known of two answers; `ranges` are those of the text that differ."""

    verdict: Verdict
    reason: str
    ranges: tuple[Range, ...] = ()


@dataclass(frozen=True, slots=True)
class Value:
    """A closed value; `unit` is the word behind a number as written. Parts of a date are 0 where it states none."""

    kind: Literal["yes or no", "option", "number", "date"]
    value: str | float | tuple[int, int, int]
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Side:
    """A text to be compared: without markup, its words behind what announces it, and why it cannot be read."""

    plain: str
    start: int
    words: tuple[Word, ...]
    unread: str

    @property
    def keys(self) -> list[str]:
        return [word.key for word in self.words]


def compared(expected: str, text: str, question: str, language: str = "") -> _ClosedComparison:
    """Return whether a text says what is expected as the answer to a question; verdict None: not known.

    `language` is an English name or a code, "" if it is not known.
    """
    question_text, options = without_options(plain_text(question).text)
    code = content_words.code_of(language) or content_words.likely_language(f"{question} {expected}")
    sides = [side_of(side, code, bool(options)) for side in (expected, text)]
    for name, side in zip(("the expected statement", "the text"), sides, strict=True):
        if not side.words or side.unread:
            return _ClosedComparison(None, f"{name} {side.unread or 'has no word'}")
    stated = sides[1]
    written = [signed(side.plain, side.start, side.words) for side in sides]
    if written[0] == written[1]:
        return _ClosedComparison("agrees", "the same words")
    keys = _keys(question_text)
    values = [value_of(side, keys, options, code) for side in sides]
    if values[0] and values[1]:
        verdict = _of_values(values[0], values[1], keys)
        values_text = " against ".join(side.plain[side.words[0].start : side.words[-1].end] for side in sides)
        place = plain_text(text).span(stated.words[0].start, stated.words[-1].end)
        return _ClosedComparison(verdict, f"{values[1].kind}: {values_text}", (place,) if verdict == "differs" else ())
    short, long = sorted(written, key=len)
    if not options and holds_whole(long, short, keys, code):
        return _ClosedComparison("agrees", "the same beside words of the question")
    return _ClosedComparison(None, "more is said than one value")


@lru_cache(maxsize=4096)
def side_of(text: str, code: str, has_options: bool) -> Side:
    """Return a text in a language as it is compared, as the answer to a question with or without options."""
    plain = plain_text(text).text
    start = 0
    while begun := _begun(plain, start, code, has_options):
        start = begun
    if carried := _CARRIER.match(plain, start):
        start = carried.end()
    spoken = [word for word in content_words.words_of_plain(plain) if word.start >= start]
    words = tuple(word for word in spoken if word.key != "the")
    gaps = [*zip([start, *(word.end for word in spoken)], [*(word.start for word in spoken), len(plain)], strict=True)]
    unread = ""
    if _STRUCK.search(unicodedata.normalize("NFD", plain)):
        unread = "is struck through"
    elif _ASKS.search(plain):
        unread = ASKS
    elif any(not PUNCTUATION.fullmatch(plain, *gap) for gap in gaps):
        unread = "has signs that are not read"
    return Side(plain, start, words, unread)


def _begun(plain: str, start: int, code: str, has_options: bool) -> int:
    """Return where a text goes on behind a mark or phrase from `start` on that says nothing, 0 without one."""
    if announced := content_words.opening(plain[start:]):
        return start + announced
    label, mark = _LABEL.match(plain, start), _MARK.match(plain, start)
    if label and not has_options:
        return label.end()
    if not mark or ("1." in mark[0] and _first(code) == "1."):
        return 0
    counts = {*content_words.spelled_numbers(code), *content_words.spelled_numbers("en")} if mark["quotes"] else ()
    behind = content_words.words_of_plain(plain[mark.end() :])
    is_more = any(word.key in counts or word.key[0].isdecimal() for word in behind)
    return 0 if mark["quotes"] and is_more else mark.end()


@cache
def _first(code: str) -> str:
    """Return how ICU writes "1st" in a language; "1." before a word may be it."""
    from icu4py.messageformat import MessageFormat

    return MessageFormat("{n, ordinal}", code or "root").format({"n": 1})


def signed(plain: str, start: int, spoken: Sequence[Word]) -> list[str]:
    """Return words of a plain text, from `start` on, with dashes and points before them, "%" and the case of units."""
    tokens = list[str]()
    for before, word in zip([None, *spoken], spoken, strict=False):
        gap = plain[before.end if before else start : word.start]
        touches = before is not None and before.key[-1:].isdecimal() and word.end - word.start <= 2
        if gap.strip():
            tokens += ["-"] * len(_SIGN.findall(gap + word.key)) + ["%"] * gap.count("%")
        tokens.append(plain[word.start : word.end] if touches else word.key)
    return tokens + ["%"] * (plain[spoken[-1].end :].count("%") if spoken else 0)


def without_options(question: str) -> tuple[str, dict[str, str]]:
    """Return a question without its answer options, and the options by letter; "A" and "B" are the fewest."""
    marks = list(_LETTERED.finditer(question))
    for at, mark in enumerate(marks):
        run = marks[at : at + 8]
        count = next((n for n, other in enumerate(run) if other[1] != "ABCDEFGH"[n]), len(run))
        if count >= 2:
            ends = [*(other.start() for other in run[1:count]), len(question)]
            texts = [question[other.end() : end].strip() for other, end in zip(run[:count], ends, strict=True)]
            return question[: mark.start()], dict(zip("ABCDEFGH", texts, strict=False))
    return question, {}


def value_of(side: Side, question: Sequence[str], options: dict[str, str], code: str) -> Value | None:
    """Return the closed value that a side is, None if it is none or says more; `question` are words of the question."""
    if options:
        return _option(side, options)
    if written := _ISO.fullmatch(side.plain, side.start):
        year, month, day = map(int, written.groups())
        return Value("date", (year, month, day)) if 1 <= month <= 12 and 1 <= day <= 31 else None
    if _SIGN.search(side.plain, side.start):
        return None
    keys = side.keys
    for answer, forms in _YES_NO.items():
        if keys[0] in forms.split() and (len(keys) == 1 or _repeats(keys[1:], question[1:], question[:1], code)):
            return Value("yes or no", answer)
    return _date(side, question, code) or _number(side, question, code)


def _numbers(keys: Sequence[str], code: str) -> list[tuple[int, int, float]]:
    """Return the numbers among words, each with the half-open range of its words; none if one cannot be read."""
    spelled = content_words.spelled_numbers(code)
    numbers = list[tuple[int, int, float]]()
    at = 0
    while at < len(keys):
        lengths = range(min(LONGEST_NUMBER, len(keys) - at), 0, -1)
        length = next((n for n in lengths if " ".join(keys[at : at + n]) in spelled), 0)
        if keys[at][0].isdecimal():
            if not _NUMBER.fullmatch(keys[at]):
                return []
            groups = regex.split("[,.']", keys[at])  # two of them: a decimal
            numbers.append((at, at + 1, float(("." if len(groups) == 2 else "").join(groups))))
        elif length:
            numbers.append((at, at + length, spelled[" ".join(keys[at : at + length])]))
        at += length or 1
    return numbers


def _option(side: Side, options: dict[str, str]) -> Value | None:
    """Return the option that a side names by its letter, its text or both."""
    keys_by_letter = {letter: _keys(text) for letter, text in options.items()}
    named = _LETTER.match(side.plain, side.start)
    if named and named[1] in keys_by_letter and _keys(side.plain[named.end() :]) in ([], keys_by_letter[named[1]]):
        return Value("option", named[1])
    letters = [letter for letter, keys in keys_by_letter.items() if keys == side.keys]
    return Value("option", letters[0]) if len(letters) == 1 else None


def _date(side: Side, question: Sequence[str], code: str) -> Value | None:
    """Return the one date of a side: a day, a month by name and a year, two of them at least."""
    names = content_words.month_names(code) | content_words.month_names("en")
    keys = [key for key in side.keys if key not in _IN]
    months = [at for at, key in enumerate(keys) if key in names]
    numbers = [at for at, key in enumerate(keys) if key.isdecimal()]
    if len(months) != 1 or not 1 <= len(numbers) <= 2 or "%" in side.plain:
        return None
    first, last = min(*months, *numbers), max(*months, *numbers)
    between = [key for at, key in enumerate(keys[first : last + 1], first) if at not in (*months, *numbers)]
    rest = [*keys[:first], *keys[last + 1 :]]
    parts = [keys[at] for at in numbers]
    days = [int(part) for part in parts if len(part) <= 2 and 1 <= int(part) <= 31]
    years = [int(part) for part in parts if len(part) == 4]
    is_date = len(days) <= 1 and len(years) <= 1 and len(days) + len(years) == len(parts)
    if not is_date or not _IN_DATES.issuperset(between) or not set(parts).isdisjoint(question):
        return None
    if rest and not _repeats(rest, [key for key in question[2:] if key not in _IN], question[:2], code):
        return None
    return Value("date", (max(years, default=0), names[keys[months[0]]], max(days, default=0)))


def _number(side: Side, question: Sequence[str], code: str) -> Value | None:
    """Return the one number of a side with its unit, beside no other word than those of the question."""
    keys, numbers = side.keys, _numbers(side.keys, code)
    if len(numbers) != 1 or not set(keys[numbers[0][0] : numbers[0][1]]).isdisjoint(question):
        return None
    ((start, end, number),) = numbers
    before, after = keys[:start], keys[end:]
    if before and set(before) <= _IN and not after and number == int(number) and 1000 <= number <= LARGE:
        before = []  # "in 1932"
    unit = "%" if side.plain[side.words[end - 1].end :].lstrip().startswith("%") else ""
    if after and not unit and (after[0] not in question or not (before or after[1:])):
        word = side.words[end]
        unit = after[0] if word.end - word.start > 2 else side.plain[word.start : word.end]  # "Mg" is not "mg"
        after = after[1:]
    rest = [*before, *after]
    is_wholly = not rest or _repeats(rest, question[2:], question[:2], code)
    return Value("number", number, unit) if is_wholly and unit not in content_words.function_words(code) else None


def _keys(text: str) -> list[str]:
    """Return the folded words of a text without "the", which changes no answer."""
    return [word.key for word in content_words.words_of_plain(text) if word.key != "the"]


def _repeats(words: Sequence[str], must: Sequence[str], may: Sequence[str], code: str) -> bool:
    """Return whether words are those of a question: all of `must`, its content in the same order, and some of `may`."""
    functions = content_words.function_words(code)
    content = [[key for key in keys if key not in functions] for keys in (words, must)]
    rest = Counter(words) - Counter(must)
    return not Counter(must) - Counter(words) and rest <= Counter(may) and is_within(content[1], content[0])


def is_within(few: Sequence[str], many: Sequence[str]) -> bool:
    """Return whether words stand among others in the same order."""
    rest = iter(many)
    return all(key in rest for key in few)


def holds_whole(long: Sequence[str], short: Sequence[str], question: Sequence[str], code: str) -> bool:
    """Return whether a text is another one without the question: all of it before, or what follows its first word.

    "The tamada leads the toasts" holds "tamada" whole, if it is asked "who leads the toasts". What the short text says
    must be no part of the question.
    """
    starts = [at for at in range(len(long) - len(short) + 1) if list(long[at : at + len(short)]) == list(short)]
    if len(starts) != 1 or all(key in question for key in short):
        return False
    before, after = long[: starts[0]], long[starts[0] + len(short) :]
    if before:
        return not after and _repeats(before, question[2:], question[:2], code)
    return list(after) == list(question[1 : 1 + len(after)])


def _of_values(wanted: Value, stated: Value, question: Sequence[str]) -> Verdict:
    """Return what two closed values say of each other."""
    first, second = wanted.value, stated.value
    if isinstance(first, tuple) and isinstance(second, tuple):  # a date that says less is not known
        differs = any(left and right and left != right for left, right in zip(first, second, strict=True))
        return "differs" if differs else "agrees" if first == second else None
    if isinstance(first, float | int) and isinstance(second, float | int):
        units = {wanted.unit, stated.unit} - {""}
        if len(units) > 1 or (wanted.unit != stated.unit and units.isdisjoint(question[1:3])):
            return None
        if first != second and _may_be_one(min(first, second), max(first, second), units, wanted.unit == stated.unit):
            return None
    return None if wanted.kind != stated.kind else "agrees" if first == second else "differs"


def _may_be_one(small: float, large: float, units: Collection[str], is_one_unit: bool) -> bool:
    """Return whether of two numbers one may be the other one rounded, or in another unit: 24 are two dozen."""
    may_be_rounded = (units or large != int(large) or large > LARGE) and large <= ROUNDED * small
    return bool(may_be_rounded) or ((not is_one_unit or small < 1) and not (small and large % small))
