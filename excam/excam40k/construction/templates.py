"""Paraphrases in `excam40k/templates`: one per line, 50 per task and slot, and how they are filled.

Where the paper prints a paraphrase, its place is behind a tab ("Table 8"); the others are ours. A slot is a part of an
instruction or an output; an instruction is composed of its slots (role, context, task, options). `{name}` in a line is
a placeholder, and its value is data: it is never expanded again.

English slots are "qa/output"; those of another language stand in a folder with its code, "es/qa/output".
`templates/languages.yaml` lists the languages, how each writes options, and who of its native speakers has read its
lines.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources

import yaml

from excam.core.exceptions import ConfigInvalid
from excam.core.languages import language_name

# Placeholders of each slot: those a paraphrase must name, and those it may name.
SLOTS: Mapping[str, tuple[frozenset[str], frozenset[str]]] = {
    "qa/instruction": (frozenset({"question"}), frozenset()),
    "qa/options": (frozenset({"options"}), frozenset()),
    "qa/output": (frozenset({"letter", "answer"}), frozenset()),
    "freeform/instruction": (frozenset({"question"}), frozenset()),
    "freeform/output": (frozenset({"answer"}), frozenset()),
    "generation/instruction": (frozenset({"question"}), frozenset()),
    "generation/output": (frozenset({"answer"}), frozenset()),
    "impersonation/role": (frozenset({"role"}), frozenset()),
    "impersonation/context": (frozenset({"context"}), frozenset()),
    "impersonation/instruction": (frozenset({"question"}), frozenset()),
    "impersonation/output": (frozenset({"answer"}), frozenset()),
    "hard/explanation": (frozenset({"right"}), frozenset({"wrong", "culture"})),
    "hard/explanation_culture": (frozenset({"right"}), frozenset({"wrong", "culture"})),
    "hard/explanation_opinion": (frozenset({"right"}), frozenset({"wrong", "culture"})),
    "hard/explanation_irony": (frozenset({"right"}), frozenset({"wrong", "culture"})),
}
# paraphrases of these slots; of others there are 50 in English, 12 in another language
FEWER = {"generation/output": 1, **dict.fromkeys((slot for slot in SLOTS if slot.startswith("hard/")), 12)}
ENGLISH = "en"
# A placeholder, with the quotes around it and the mark behind it; the Greek question mark is left to the lines.
_ENDING = re.compile(r"(['«“„]?)\{(\w*)\}(['»”“]?)([.?。।؟？]?)")
_QUOTES = re.compile(r"(?<!\w)'")  # a quotation begins inside a value
_INNER = {"«": "“”", "“": "‘’", "„": "‚‘"}  # quotes around a value that has the outer ones, by what opens these
_LIKE = {"«": frozenset("«»"), "“": frozenset('“”"'), "„": frozenset('„“"')}  # quotes that look like the outer ones
# The marks at the end of a sentence, also inside quotes; the semicolon is the Greek question mark.
_ENDS_SENTENCE = re.compile(r"[.?!:…。？！：？؟۔।։;;]['\"’”»)\]]*\Z")
_ASKS = re.compile(r"[?？؟;;]['\"’”»)\]]*\Z")


@dataclass(frozen=True, slots=True)
class Writing:
    """How a language lists options and joins sentences."""

    option: str  # an option of a list, e.g. "Option {letter}: {option}"
    semicolon: str  # between options, with the space behind it if the language writes one
    stop: str  # at the end of a sentence
    native_reader: str | None = None  # who has read the paraphrases and speaks the language natively; None: nobody
    countries: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])  # their names, by culture

    @property
    def space(self) -> str:
        """Return what stands between sentences."""
        return self.semicolon[1:]


@cache
def languages() -> Mapping[str, Writing]:
    """Return code -> writing of the languages with paraphrases of their own, English first."""
    text = resources.files("excam.excam40k").joinpath("templates", "languages.yaml").read_text(encoding="utf-8")
    return {code: Writing(**fields) for code, fields in yaml.safe_load(text).items()}


def language_of(template: str) -> str:
    """Return the code of the language of a template or slot by its id: "es" of "es/qa/output/07"."""
    code = template.partition("/")[0]
    return code if code in languages() else ENGLISH


def code_of(language: str) -> str | None:
    """Return the code of a language, given by any of its names, that has paraphrases; None for another one."""
    return _codes().get(language_name(language))


@cache
def _codes() -> dict[str, str]:
    return {language_name(code): code for code in languages()}


def in_language(slot: str, code: str) -> str:
    """Return a slot in a language: "es/qa/output" of "qa/output" and "es"."""
    return slot if code == ENGLISH else f"{code}/{slot}"


def _in_english(slot: str) -> str:
    return slot if language_of(slot) == ENGLISH else slot.partition("/")[2]


def paraphrases(slot: str) -> tuple[str, ...]:
    """Return the lines of `templates/<slot>.txt`.

    Raises ConfigInvalid for an unknown slot.
    """
    return tuple(line.partition("\t")[0] for line in _lines(slot))


@cache
def _lines(slot: str) -> tuple[str, ...]:
    if _in_english(slot) not in SLOTS:
        raise ConfigInvalid(
            f"templates/{slot}.txt: no such slot; known: {', '.join(SLOTS)}, "
            f"each in front of it with no code or one of {', '.join(code for code in languages() if code != ENGLISH)}"
        )
    file = resources.files("excam.excam40k").joinpath("templates", f"{slot}.txt")
    return tuple(file.read_text(encoding="utf-8").splitlines())


def printed_in_paper(template: str) -> str:
    """Return where the paper prints the paraphrase with this id, e.g. "Table 8"; empty for one of ours."""
    slot, _, number = template.rpartition("/")
    return _lines(slot)[int(number) - 1].partition("\t")[2]


def paraphrase(template: str) -> str:
    """Return the paraphrase with this id, e.g. "qa/output/07" or "es/qa/output/07": line 7 of the file.

    Raises ConfigInvalid for an unknown one.
    """
    slot, _, number = template.rpartition("/")
    lines = paraphrases(slot) if _in_english(slot).count("/") == 1 else ()
    if not number.isdecimal() or not 1 <= int(number) <= len(lines):
        raise ConfigInvalid(f"{template}: no such template; expected <task>/<slot>/<line of the file>")
    return lines[int(number) - 1]


def names(slot: str) -> list[str]:
    """Return ids of all paraphrases of a slot: "qa/output/01", "qa/output/02", ..."""
    return [f"{slot}/{number:02d}" for number in range(1, len(paraphrases(slot)) + 1)]


def fill(template: str, values: Mapping[str, str]) -> str:
    """Put values in place of `{name}`, in one pass: placeholders inside a value stay unchanged.

    A full stop or question mark behind a quoted value is left out where the value has its own. A value with quotations
    in it stands in double quotes, in curly ones where it has double ones too; between quotes of another form in their
    inner ones.
    """

    def filled(match: re.Match[str]) -> str:
        before, name, behind, mark = match.groups()
        if name not in values:
            return match[0]
        value = values[name]
        if before == "'" and behind and _QUOTES.search(value):
            before, behind = "“”" if '"' in value else '""'
        elif before in _INNER and behind and _LIKE[before].intersection(value):
            before, behind = _INNER[before]
        pattern = _ASKS if mark in "?؟？" else _ENDS_SENTENCE
        return before + value + behind + ("" if behind and mark and pattern.search(value) else mark)

    return _ENDING.sub(filled, template)


def ends_sentence(text: str) -> bool:
    """Return whether a text ends in a full stop, question mark or the like, of any script, also inside quotes."""
    return bool(_ENDS_SENTENCE.search(text))
