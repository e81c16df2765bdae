"""Word lists of the comparators, by language: function words, negations, numerals, units, months, yes and no.

Every entry goes through the tokenizer of the texts, so that it is met wherever it stands. Negations are listed for the
languages of `listed_languages`; of a text in another one nothing is left out as saying nothing.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

import regex

from excam.core.package_tables import table_rows
from excam.core.plain_text import plain_text
from excam.error_reports.comparators._words import atoms, words

KOREAN = regex.compile(
    r"(?<=.)(?:입니다|이에요|예요|이다|이며|이고|에서|에게|으로|부터|까지|처럼|마다|은|는|이|가|을|를|의|에|와|과|도|로|만)$"
)
TURKISH = regex.compile(r"(?<=...)(?:[dt][iu]r|[dt][ea]n?|n[iu]n|y[iuea])$")  # folded: i for ı, u for ü
ARABIC = regex.compile(r"^(?:[وفبلك]?ال|لل|[وبل])(?=..)")
HANGUL, ARAB = regex.compile(r"\p{Hangul}"), regex.compile(r"\p{Arabic}")
SCRIPT_LANGUAGES = (  # letters -> languages whose lists are read, none of them those of another language's letters
    (HANGUL, ("Korean",)),
    (regex.compile(r"[\p{Hiragana}\p{Katakana}]"), ("Japanese",)),
    (regex.compile(r"\p{Han}"), ("Chinese", "Japanese")),
    (regex.compile(r"\p{Devanagari}"), ("Hindi",)),
    (regex.compile(r"[پچژگکیےہٹڈڑں]"), ()),
    (ARAB, ("Arabic",)),
    (regex.compile(r"[іїєґўјљњћђџѓќѕәғқңөұүһ]"), ()),
    (regex.compile(r"\p{Cyrillic}"), ("Russian",)),
    (regex.compile(r"(?V1)[\p{L}--[\p{Latin}\p{Common}\p{Inherited}]]"), ()),
)
LATIN_LANGUAGES = (
    "English",
    "German",
    "Spanish",
    "French",
    "Portuguese",
    "Italian",
    "Dutch",
    "Turkish",
    "Indonesian",
)
SHARE = 0.2  # of a text's words that are listed ones of a language, for it to be in that language

Languages = tuple[str, ...]
Key = tuple[str, ...]
NEGATION = "negation"


@dataclass(frozen=True, slots=True)
class Entry:
    """A phrase of a list: its kind ("month", "unit", "negation"), its value, and its folded atoms."""

    kind: str
    value: str
    key: Key


@cache
def _rows(name: str) -> tuple[Mapping[str, str], ...]:
    head, *rows = table_rows("excam.error_reports.comparators", f"{name}.tsv")
    return tuple(dict(zip(head, row, strict=True)) for row in rows)


def _key(form: str) -> Key:
    return tuple(atom.key for atom in atoms(form))


@cache
def word_list(name: str, languages: Languages, column: str = "words") -> frozenset[str]:
    """Return the folded words of `function_words` or `carriers` in these languages.

    Function words of the column `linking` state nothing by themselves and change what others say ("or", "before").
    """
    rows = (row for row in _rows(name) if row["language"] in languages)
    return frozenset(word.key for row in rows for form in row[column].split() for word in words(form))


def listed_languages() -> tuple[str, ...]:
    """Return the languages with a list of negations: those in which a program reads what a text says."""
    return tuple(row["language"] for row in _rows("negations"))


def _entries(languages: Languages) -> Iterable[Entry]:
    for row in (*_rows("named_values"), *_rows("numerals")):
        if row["language"] in languages:
            yield from (Entry(row["kind"], row["value"], _key(form)) for form in row["forms"].split("|"))
    for row in _rows("negations"):
        if row["language"] in languages:
            yield from (Entry(NEGATION, "", _key(form)) for form in row["words"].split())
    for row in _rows("units"):
        value = f"{row['dimension']} {row['factor']}"
        yield from (Entry("unit", value, _key(form)) for form in row["forms"].split("|"))


@cache
def phrases(languages: Languages) -> Mapping[str, tuple[Entry, ...]]:
    """Return first atom -> entries that begin with it, the longest first."""
    table: defaultdict[str, list[Entry]] = defaultdict(list)
    for entry in _entries(languages):
        if entry.key:
            table[entry.key[0]].append(entry)
    return {first: tuple(sorted(entries, key=lambda entry: -len(entry.key))) for first, entries in table.items()}


@cache
def variants(key: str) -> tuple[str, ...]:
    """Return a folded word, then itself without a particle, suffix or article that its script attaches."""
    if HANGUL.search(key):
        return key, KOREAN.sub("", key)
    if ARAB.search(key):
        return key, ARABIC.sub("", key)
    return (key, TURKISH.sub("", key)) if len(key) > 4 else (key,)


def languages_of(text: str, language: str = "") -> Languages:
    """Return the languages whose lists are read for a text, none if there is no list or it cannot be told.

    Its script decides, and in Latin letters its function words and negations. `language` is the name of the expected
    one: it stands where the text does not say otherwise.
    """
    listed = listed_languages()
    for script, names in SCRIPT_LANGUAGES:
        if script.search(text):
            return names if not language or language in (*names, *LATIN_LANGUAGES) else ()
    known = regex.findall(r"[\p{L}\p{M}]+", unicodedata.normalize("NFC", plain_text(text).text).casefold())
    counts = {name: sum(word in _telling(name) for word in known) for name in LATIN_LANGUAGES}
    best = max(counts.values())
    (first, *others) = [name for name in LATIN_LANGUAGES if counts[name] == best]
    if best >= SHARE * len(known) and best > bool(language) and not others:
        return (first,)
    if language:
        return ((language,) if language == "English" else (language, "English")) if language in listed else ()
    return ()


@cache
def _telling(language: str) -> frozenset[str]:
    """Return the words, with their accents, that tell that a text is in a language."""
    rows = (row for name in ("function_words", "negations") for row in _rows(name) if row["language"] == language)
    return frozenset(word for row in rows for word in row["words"].casefold().split())
