"""Paraphrases in `excam40k/templates`: one per line, 50 per task and slot, and the linter that checks them.

Where the paper prints a paraphrase, its place is behind a tab ("Table 8"); the others are ours. A slot is a part of an
instruction or an output; an instruction is composed of its slots (role, context, task, options). `{name}` in a line is
a placeholder, and its value is data: it is never expanded again.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from functools import cache
from importlib import resources
from itertools import combinations

from excam.core.exceptions import ConfigInvalid

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
    "hard/explanation_majority": (frozenset({"right"}), frozenset({"wrong", "culture"})),
    "hard/explanation_irony": (frozenset({"right"}), frozenset({"wrong", "culture"})),
}
MANY = 50  # paraphrases of a slot
FEWER = {"generation/output": 1, **dict.fromkeys((slot for slot in SLOTS if slot.startswith("hard/")), 12)}
_PLACEHOLDER = re.compile(r"\{(\w*)\}")
_ENDING = re.compile(r"('?)\{(\w*)\}('?)([.?]?)")  # a placeholder, with the quotes around it and the mark behind it
_QUOTES = re.compile(r"(?<!\w)'")  # a quotation begins inside a value
# The marks at the end of a sentence, also inside quotes; the semicolon is the Greek question mark.
_ENDS_SENTENCE = re.compile(r"[.?!:…。？！：？؟۔।։;;]['\"’”»)\]]*\Z")
_ASKS = re.compile(r"[?？؟;;]['\"’”»)\]]*\Z")
_PRINTED = re.compile(r"(?:Table|Figure) \d+")
_FILLERS = frozenset({"a", "an", "the", "please"})  # two paraphrases that differ in these alone are the same


def paraphrases(task: str, slot: str) -> tuple[str, ...]:
    """Return the lines of `templates/<task>/<slot>.txt`. Raises ConfigInvalid for an unknown slot."""
    return tuple(line.partition("\t")[0] for line in _lines(task, slot))


@cache
def _lines(task: str, slot: str) -> tuple[str, ...]:
    if f"{task}/{slot}" not in SLOTS:
        raise ConfigInvalid(f"templates/{task}/{slot}.txt: no such slot; known: {', '.join(SLOTS)}")
    file = resources.files("excam.excam40k").joinpath("templates", task, f"{slot}.txt")
    return tuple(file.read_text(encoding="utf-8").splitlines())


def printed_in_paper(template: str) -> str:
    """Return where the paper prints the paraphrase with this id, e.g. "Table 8"; empty for one of ours."""
    slot, _, number = template.rpartition("/")
    return _lines(*slot.split("/"))[int(number) - 1].partition("\t")[2]


def paraphrase(template: str) -> str:
    """Return the paraphrase with this id, e.g. "qa/output/07": line 7 of the file.

    Raises ConfigInvalid for an unknown one.
    """
    slot, _, number = template.rpartition("/")
    lines = paraphrases(*slot.split("/")) if slot.count("/") == 1 else ()
    if not number.isdecimal() or not 1 <= int(number) <= len(lines):
        raise ConfigInvalid(f"{template}: no such template; expected <task>/<slot>/<line of the file>")
    return lines[int(number) - 1]


def names(slot: str) -> list[str]:
    """Return ids of all paraphrases of a slot: "qa/output/01", "qa/output/02", ..."""
    return [f"{slot}/{number:02d}" for number in range(1, len(paraphrases(*slot.split("/"))) + 1)]


def fill(template: str, values: Mapping[str, str]) -> str:
    """Put values in place of `{name}`, in one pass: placeholders inside a value stay unchanged.

    A full stop or question mark behind a quoted value is left out where the value has its own. A value with quotations
    in it stands in double quotes, in curly ones where it has double ones too.
    """

    def filled(found: re.Match[str]) -> str:
        before, name, behind, mark = found.groups()
        if name not in values:
            return found[0]
        value = values[name]
        if before and behind and _QUOTES.search(value):
            before, behind = "“”" if '"' in value else '""'
        own = _ASKS if mark == "?" else _ENDS_SENTENCE
        return before + value + behind + ("" if behind and mark and own.search(value) else mark)

    return _ENDING.sub(filled, template)


def ends_sentence(text: str) -> bool:
    """Return whether a text ends in a full stop, question mark or the like, of any script, also inside quotes."""
    return bool(_ENDS_SENTENCE.search(text))


def lint() -> list[str]:
    """Return problems of the template files, one line each; none for the shipped ones (tested)."""
    problems = []
    for name, (required, optional) in SLOTS.items():
        seen: dict[tuple[str, ...], int] = {}
        lines = paraphrases(*name.split("/"))
        if len(lines) != (expected := FEWER.get(name, MANY)):
            problems.append(f"{name}: {len(lines)} lines; expected {expected}")
        for number, line in enumerate(lines, start=1):
            where = f"{name}:{number}"
            used = Counter(_PLACEHOLDER.findall(line))
            problems += [f"{where}: lacks {{{missing}}}" for missing in sorted(required - used.keys())]
            problems += [f"{where}: unknown {{{unknown}}}" for unknown in sorted(used.keys() - required - optional)]
            problems += [f"{where}: {{{often}}} {count} times" for often, count in sorted(used.items()) if count > 1]
            if (place := printed_in_paper(f"{name}/{number}")) and not _PRINTED.fullmatch(place):
                problems.append(f"{where}: {place!r} behind the tab; expected a table or figure of the paper")
            if line != line.strip() or not line:
                problems.append(f"{where}: empty, or spaces at an end")
            words = tuple(sorted(_words(line)))
            if words in seen:
                problems.append(f"{where}: the same words as line {seen[words]}")
            seen.setdefault(words, number)
    return problems


def alike(threshold: float = 0.75) -> list[tuple[str, int, int, float]]:
    """Return pairs of paraphrases of a slot that share most of their words: (slot, line, line, Jaccard similarity).

    For manual review: two short lines may share a word and still be different phrasings.
    """
    found = []
    for name in SLOTS:
        lines = [frozenset(_words(line)) for line in paraphrases(*name.split("/"))]
        for (here, one), (there, other) in combinations(enumerate(lines, start=1), 2):
            if (similarity := len(one & other) / max(len(one | other), 1)) >= threshold:
                found.append((name, here, there, round(similarity, 3)))
    return found


def _words(line: str) -> list[str]:
    own = _PLACEHOLDER.sub(" ", line)
    return [word for word in re.findall(r"\w+", own.casefold()) if word not in _FILLERS]
