"""Word lists of the comparators, by language: function words, numerals, units, weekdays, colours, kin, places."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

import regex

from excam.core.package_tables import table_rows
from excam.error_reports.comparators._words import Word, atoms, fold

KOREAN = regex.compile(
    r"(?<=.)(?:입니다|이에요|예요|이다|이며|이고|에서|에게|으로|부터|까지|처럼|마다|은|는|이|가|을|를|의|에|와|과|도|로|만)$"
)
TURKISH = regex.compile(r"(?<=...)(?:[dt][iu]r|[dt][ea]n?|n[iu]n|y[iuea])$")  # folded: i for ı, u for ü
ARABIC = regex.compile(r"^(?:[وفبلك]?ال|لل|[وبل])(?=..)")
HANGUL, ARAB = regex.compile(r"\p{Hangul}"), regex.compile(r"\p{Arabic}")
SCRIPT_LANGUAGES = (  # script -> languages whose lists are read; kana decide between Japanese and Chinese
    (regex.compile(r"\p{Hangul}"), ("Korean",)),
    (regex.compile(r"[\p{Hiragana}\p{Katakana}]"), ("Japanese",)),
    (regex.compile(r"\p{Han}"), ("Chinese", "Japanese")),
    (regex.compile(r"\p{Devanagari}"), ("Hindi",)),
    (regex.compile(r"\p{Arabic}"), ("Arabic",)),
    (regex.compile(r"\p{Cyrillic}"), ("Russian",)),
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
ANY = ""  # a list of every language

Languages = tuple[str, ...]
Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """A phrase of a list: its kind ("colour", "unit:length"), its value, and its folded atoms."""

    kind: str
    value: str
    key: Key


@cache
def _rows(name: str) -> tuple[Mapping[str, str], ...]:
    head, *rows = table_rows("excam.error_reports.comparators", f"{name}.tsv")
    return tuple(dict(zip(head, row, strict=True)) for row in rows)


def _key(form: str) -> Key:
    return tuple(atom.key for atom in atoms(form))


def minutes_before_hour() -> dict[str, int]:
    """Return what English says before an hour ("half past"), and the minutes that it adds."""
    rows = (row for row in _rows("numerals") if (row["language"], row["kind"]) == ("English", "before-hour"))
    return {form: int(row["value"]) for row in rows for form in row["forms"].split("|")}


@cache
def word_list(name: str, languages: Languages) -> frozenset[str]:
    """Return the folded words of `function_words`, `negations` or `carriers` in these languages."""
    rows = (row for row in _rows(name) if row["language"] in languages)
    return frozenset(fold(word) for row in rows for word in row["words"].split())


def _entries(languages: Languages) -> Iterable[Entry]:
    for row in (*_rows("concepts"), *_rows("numerals")):
        if row["language"] in languages:
            yield from (Entry(row["kind"], row["value"], _key(form)) for form in row["forms"].split("|"))
    for row in _rows("units"):
        value = f"{row['dimension']} {row['factor']}"
        yield from (Entry("unit", value, _key(form)) for form in row["forms"].split("|"))
    for row in _rows("opposites"):
        for side in ("one", "other"):
            yield from (Entry(f"opposite:{row['group']}", side, _key(form)) for form in row[side].split("|"))


@cache
def phrases(languages: Languages) -> Mapping[str, tuple[Entry, ...]]:
    """Return first atom -> entries that begin with it, the longest first."""
    table: defaultdict[str, list[Entry]] = defaultdict(list)
    for entry in _entries(languages):
        if entry.key:
            table[entry.key[0]].append(entry)
    return {first: tuple(sorted(entries, key=lambda entry: -len(entry.key))) for first, entries in table.items()}


@cache
def aliases() -> Mapping[Key, tuple[str, ...]]:
    """Return the folded words of a name -> other names of the same thing, of every line of `aliases.tsv`."""
    table: defaultdict[Key, list[str]] = defaultdict(list)
    for row in _rows("aliases"):
        forms = row["forms"].split("|")
        for form in forms:
            table[_key(form)] += [other for other in forms if _key(other) != _key(form)]
    return {key: tuple(dict.fromkeys(others)) for key, others in table.items()}


@cache
def variants(key: str) -> tuple[str, ...]:
    """Return a folded word, then itself without a particle, suffix or article that its script attaches."""
    if HANGUL.search(key):
        return key, KOREAN.sub("", key)
    if ARAB.search(key):
        return key, ARABIC.sub("", key)
    return (key, TURKISH.sub("", key)) if len(key) > 4 else (key,)


def languages_of(words: Iterable[Word], language: str = "") -> Languages:
    """Return the languages whose lists are read for a text: by its script, else by its function words.

    `language` is the name of the expected one. One function word alone may be chance, so it does not overrule that.
    """
    keys = [word.key for word in words]
    text = " ".join(keys)
    for script, names in SCRIPT_LANGUAGES:
        if script.search(text):
            return names
    counts = {name: sum(key in word_list("function_words", (name,)) for key in keys) for name in LATIN_LANGUAGES}
    best = max(LATIN_LANGUAGES, key=lambda name: (counts[name], name == language))
    if counts[best] > 1 or (counts[best] and language not in LATIN_LANGUAGES):
        return (best,)
    return (language, "English") if language in LATIN_LANGUAGES and language != "English" else ("English",)
