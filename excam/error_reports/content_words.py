"""The words of a text with their places, and which of them say something.

Invisible characters and markup are left out in one place, `excam.core.plain_text`, which knows the way back to the
original. A word keeps its accents, endings and doubled letters; `stem` is for looking it up, never for a verdict.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache, lru_cache
from typing import Any, NamedTuple

import regex

from excam.core.exceptions import InputInvalid
from excam.core.language_identity import language_code
from excam.core.languages import language_name
from excam.core.plain_text import plain_text
from excam.core.text import SCRIPTS

UNSPACED = regex.compile(rf"(?V1)[{SCRIPTS}ー々〆]+")
# A number with its separators, letters of a script that sets spaces with the apostrophes between them ("don't"), or a
# run of a script that sets none, in which there may be marks of others.
_NUMBER = r"\p{Nd}+(?:[.,:٫٬'’\u00a0\u202f]\p{Nd}+)*"
SPACED = regex.compile(rf"{_NUMBER}|[\p{{L}}\p{{M}}]+(?:['’ʼ＇`´](?=\p{{L}})[\p{{L}}\p{{M}}]+)*")
ASCII = re.compile(r"\d+(?:[.,:']\d+)*|[a-z]+(?:['`][a-z]+)*", re.ASCII)  # the same of a folded text, and faster
PIECE = regex.compile(
    rf"(?V1){_NUMBER}|[{SCRIPTS}ー々〆]+"
    rf"|[[\p{{L}}\p{{M}}]--[{SCRIPTS}]]+(?:['’ʼ＇`´](?=\p{{L}})[[\p{{L}}\p{{M}}]--[{SCRIPTS}]]+)*"
)
LETTER = regex.compile(r"[\p{L}\p{N}]")
LONGEST_RUN = 400  # characters that are divided at once; ICU's time grows faster than the length of a run
APOSTROPHES = str.maketrans("’ʼ＇`´", "'" * 5)
ELISION = regex.compile(r"^\p{L}{1,5}'(?=\p{L}{2})|'s$")  # l'acqua, dell'acqua, Georgia's
NUMBER_WORDS = 100  # numbers up to here are content also where they are spelled out
PREFIX = {True: 2, False: 5}  # characters by which words without a stemmer are looked up: Hangul syllables, letters
HANGUL = regex.compile(r"\p{Hangul}")
# Words of phrases that announce an answer before a colon or in a line: "Here is my reply:". All its words are here.
_ANNOUNCED = regex.compile(r"\s*+([^:：\n]{1,80}?)(?:(?<!\b[A-H])[:：]|\n|(?=\b[A-H][:：]))\s*")
_ANNOUNCING = """
a according accurate am among an and answer answered answering answers appropriate as asked be best by can choice
choose chosen conclusion considering context correct decide decision final find fits fitting following follows for
from give given have here here's i in information is it key know let letter like listed mark match may me meaning my
namely of on one option options output person pick position possible proper query question regarding replies reply
requested respond response result returned right role say select selection setting short should so solution someone
speaking statement take task tell that the these this tick to use valid what which with would you your
die das ist es lautet meine richtige antwort lösung la el mi respuesta correcta réponse ma est bonne resposta minha
risposta mia giusta è é het mijn antwoord juiste cevap yanıt doğru jawaban jawabannya saya adalah ответ мой правильный η
απάντηση είναι الإجابة الجواب هي إجابتي الصحيحة उत्तर जवाब मेरा सही है 答案 回答 我 的 是 正确 答え 私 は 답 답변 정답 은
"""


class Word(NamedTuple):
    """A word of a text: half-open characters [start, end), and its folded form."""

    key: str
    start: int
    end: int


def has_unspaced(text: str) -> bool:
    """Return whether a text has a sign of a script that sets no spaces between words."""
    return not text.isascii() and UNSPACED.search("".join(set(text))) is not None


@lru_cache(maxsize=4096)
def words(text: str) -> tuple[Word, ...]:
    """Return the words of a text in order; digits and letters that touch are apart ("5km"), hyphens divide."""
    plain = plain_text(text)
    tokens = words_of_plain(plain.text)
    return tokens if plain.is_whole else tuple(Word(word.key, *plain.span(word.start, word.end)) for word in tokens)


@lru_cache(maxsize=4096)
def words_of_plain(text: str) -> tuple[Word, ...]:
    """Return the words of a text without markup and invisible signs."""
    if text.isascii():
        return tuple([Word(match[0].replace("`", "'"), *match.span()) for match in ASCII.finditer(text.casefold())])
    if not has_unspaced(text):
        return tuple(Word(fold(match[0]), *match.span()) for match in SPACED.finditer(text))
    return tuple(_words(text))


def keys_of_plain(text: str) -> list[str]:
    """Return the folded words of a text without markup and invisible signs; places take most of the time of words."""
    if text.isascii():
        return ASCII.findall(text.casefold().replace("`", "'"))
    if has_unspaced(text) or not unicodedata.is_normalized("NFKC", text):
        return [word.key for word in words_of_plain(text)]
    return [fold(key) for key in SPACED.findall(text.casefold())]


def _words(text: str) -> Iterator[Word]:
    for match in PIECE.finditer(text):
        if UNSPACED.fullmatch(match[0]):
            yield from _unspaced(text, *match.span())
        else:
            yield Word(fold(match[0]), *match.span())


def _unspaced(text: str, start: int, end: int) -> Iterator[Word]:
    """Divide a run of a script without spaces into ICU's words."""
    from icu4py.breakers import WordBreaker  # loads 40 MB of tables

    for first in range(start, end, LONGEST_RUN):
        at = first
        for piece in WordBreaker(text[first : min(first + LONGEST_RUN, end)], "root"):
            if LETTER.search(piece):
                yield Word(fold(piece), at, at + len(piece))
            at += len(piece)


@cache
def fold(word: str) -> str:
    """Return a word as it is compared: NFKC, case-folded, with ASCII digits; accents and doubled letters stay.

    A number whose groups spaces divide ("1 000") is one word without them.
    """
    plain = unicodedata.normalize("NFKC", word.translate(APOSTROPHES)).casefold()
    folded = unicodedata.normalize("NFKC", plain).translate(APOSTROPHES).replace(" ", "")
    return "".join(str(unicodedata.decimal(sign)) if sign.isdecimal() else sign for sign in folded)


def opening(text: str) -> int:
    """Return where a text begins behind a phrase that announces an answer ("Here is my reply:"), 0 without one.

    The letter of an option belongs to the answer ("I choose option B: tea").
    """
    colon = _ANNOUNCED.match(text)
    if not colon or not words(text[colon.end() :]):
        return 0
    announced = [word.key for word in words(colon[1])]
    return colon.end() if announced and _announcing().issuperset(announced) else 0


@cache
def _announcing() -> frozenset[str]:
    return frozenset(word.key for word in words(_ANNOUNCING))


def content(text: str, language: str = "") -> list[Word]:
    """Return the words that say something: no function words, elided articles or announcing phrase.

    `language` is an English name or a code; by default the one most of whose function words the text has. Without any
    such word, all words are returned.
    """
    start = opening(text)
    all_words = [word for word in words(text) if word.start >= start]
    functions = function_words(code_of(language) or likely_language(text))
    content_words = [word._replace(key=without_elision(word.key)) for word in all_words if word.key not in functions]
    return content_words or all_words


def without_elision(key: str) -> str:
    """Return a folded word without an elided article before it and a genitive's "'s"."""
    return ELISION.sub("", key) if "'" in key else key


@lru_cache(maxsize=256)
def code_of(language: str) -> str:
    """Return the code of a language, "" if it is not stated or not known."""
    try:
        return language_code(language) if language else ""
    except InputInvalid:
        return ""


@lru_cache(maxsize=4096)
def likely_language(text: str) -> str:
    """Return the code of the language most of whose function words a text has, English if none has more."""
    keys = [word.key for word in words(text)]
    return max(_listed(), key=lambda code: sum(key in function_words(code) for key in keys))


@cache
def _listed() -> Mapping[str, Sequence[str]]:
    """Return the function words that `bm25s` lists, by the code of their language, English first."""
    from bm25s import stopwords

    lists = {name.removeprefix("STOPWORDS_").title(): name for name in dir(stopwords) if name.startswith("STOPWORDS_")}
    others = {code_of(name): getattr(stopwords, of_name) for name, of_name in lists.items() if code_of(name)}
    return {"en": stopwords.STOPWORDS_EN_PLUS} | {code: listed for code, listed in others.items() if code != "en"}


@cache
def function_words(code: str) -> frozenset[str]:
    """Return the folded function words of a language, without those that spell numbers; none where none are listed."""
    listed = (fold(word) for word in _listed().get(code, ()))
    return frozenset(word for word in listed if not word.isdecimal()).difference(spelled_numbers(code))


@cache
def spelled_numbers(code: str) -> dict[str, int]:
    """Return the numbers up to `NUMBER_WORDS` by how ICU spells them in a language: "twenty one" is 21."""
    from icu4py.messageformat import MessageFormat

    spell = MessageFormat("{n, spellout}", code or "root")
    spelled = {number: words(spell.format({"n": number})) for number in range(NUMBER_WORDS + 1)}
    return {" ".join(word.key for word in number_words): number for number, number_words in spelled.items()}


@cache
def scales_of(code: str) -> frozenset[str]:
    """Return the words of a language that multiply a number before them: "thousand" to "trillion", in their forms."""
    from icu4py.messageformat import MessageFormat

    spell = MessageFormat("{n, spellout}", code or "root")
    spelled = (words(spell.format({"n": n * 10**power})) for n in (2, 5) for power in (3, 4, 6, 8, 9, 12))
    last = {number_words[-1].key for number_words in spelled if number_words}
    return frozenset(key[-1] if UNSPACED.match(key) else key for key in last) - spelled_numbers(code).keys()


class Vocabulary:
    """The words of some texts, to look up whether they hold a word of another one in any form."""

    def __init__(self, texts: Iterable[str], language: str) -> None:
        self.language = language
        keys = {key for text in texts for key in keys_of_plain(plain_text(text).text)}
        self.stems = {stem(form, language) for key in keys for form in {key, without_elision(key)}}
        self.unspaced = "\n".join(key for key in keys if not key.isascii() and UNSPACED.fullmatch(key))

    def holds(self, word: Word) -> bool:
        """Return whether a word is among them: in its form, its stem, or in a script without spaces as a part."""
        return stem(word.key, self.language) in self.stems or (len(word.key) > 1 and word.key in self.unspaced)


def not_held(text: str, others: Iterable[str], language: str = "") -> list[Word]:
    """Return the content words of a text that none of the others holds in any form."""
    vocabulary = Vocabulary(others, language or likely_language(text))
    return [word for word in content(text, language) if not vocabulary.holds(word)]


def unsupported(text: str, others: Iterable[str], language: str = "") -> tuple[tuple[int, int], ...]:
    """Return the character ranges of a text whose content no other text holds, joined across function words."""
    content_words = content(text, language)
    missing = set(not_held(text, others, language))
    ranges = list[tuple[int, int]]()
    for before, word in zip([None, *content_words], content_words, strict=False):
        if word in missing:
            start = ranges.pop()[0] if before in missing else word.start
            ranges.append((start, word.end))
    return tuple(ranges)


@cache
def month_names(code: str) -> dict[str, int]:
    """Return the months, 1 to 12, by their folded names in a language, alone and behind a day (ICU)."""
    from icu4py.messageformat import MessageFormat

    return {
        word.key: month
        for month in range(1, 13)
        for skeleton in ("MMMM", "dMMMM", "MMM")
        for word in words_of_plain(
            MessageFormat(f"{{d, date, ::{skeleton}}}", code or "en").format({"d": datetime(2000, month, 15)})
        )
        if not word.key[0].isdecimal() and len(word.key) > 1
    }


@lru_cache(maxsize=65536)
def stem(key: str, language: str = "") -> str:
    """Return what a folded word is looked up by: Snowball's stem, in a language without one its first letters."""
    from nltk.stem.snowball import SnowballStemmer

    name = language_name(language).casefold() or "english"
    if name in SnowballStemmer.languages:
        return stemmer(name).stem(key)
    return key if UNSPACED.search(key) else key[: PREFIX[HANGUL.search(key) is not None]]


@cache
def stemmer(name: str) -> Any:
    """Return Snowball's stemmer of a language, by its English name in lower case."""
    from nltk.stem.snowball import SnowballStemmer

    return SnowballStemmer(name)
