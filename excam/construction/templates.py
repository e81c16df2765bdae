"""The paraphrases in `excam/templates`: one a line, 50 per task and slot, and the linter that keeps them so (spec 17).

A slot is a part of an instruction or an output; an instruction is put together from its slots (spec 18: role, context,
task, options). `{name}` in a line is a placeholder, and what is put in its place is data: never read again.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from functools import cache
from importlib import resources
from itertools import combinations

from excam.exceptions import ConfigInvalid

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
    "hard/explanation_opinion": (frozenset({"right"}), frozenset({"wrong", "culture"})),
    "hard/explanation_irony": (frozenset({"right"}), frozenset({"wrong", "culture"})),
}
MANY = 50  # paraphrases of a slot (spec 17)
FEWER = {"generation/output": 1, **dict.fromkeys((slot for slot in SLOTS if slot.startswith("hard/")), 12)}
_PLACEHOLDER = re.compile(r"\{(\w*)\}")
_FILLERS = frozenset({"a", "an", "the", "please"})  # two paraphrases that differ in these alone are the same


@cache
def paraphrases(task: str, slot: str) -> tuple[str, ...]:
    """The lines of `templates/<task>/<slot>.txt`. Raises ConfigInvalid for an unknown slot."""
    if f"{task}/{slot}" not in SLOTS:
        raise ConfigInvalid(f"templates/{task}/{slot}.txt: no such slot; known: {', '.join(SLOTS)}")
    file = resources.files("excam").joinpath("templates", task, f"{slot}.txt")
    return tuple(file.read_text(encoding="utf-8").splitlines())


def paraphrase(template: str) -> str:
    """The paraphrase with this id, e.g. "qa/output/07": line 7 of the file. Raises ConfigInvalid for an unknown one."""
    slot, _, number = template.rpartition("/")
    lines = paraphrases(*slot.split("/")) if slot.count("/") == 1 else ()
    if not number.isdecimal() or not 1 <= int(number) <= len(lines):
        raise ConfigInvalid(f"{template}: no such template; expected <task>/<slot>/<line of the file>")
    return lines[int(number) - 1]


def names(slot: str) -> list[str]:
    """Ids of all paraphrases of a slot: "qa/output/01", "qa/output/02", ..."""
    return [f"{slot}/{number:02d}" for number in range(1, len(paraphrases(*slot.split("/"))) + 1)]


def fill(template: str, values: Mapping[str, str]) -> str:
    """Put values in place of `{name}`, in one pass: what stands inside a value is data and comes out untouched."""
    return _PLACEHOLDER.sub(lambda found: values.get(found[1], found[0]), template)


def lint() -> list[str]:
    """Problems of the template files, one line each; none for the shipped ones (a test keeps it so)."""
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
            if line != line.strip() or not line:
                problems.append(f"{where}: empty, or spaces at an end")
            words = tuple(sorted(_words(line)))
            if words in seen:
                problems.append(f"{where}: the same words as line {seen[words]}")
            seen.setdefault(words, number)
    return problems


def alike(threshold: float = 0.75) -> list[tuple[str, int, int, float]]:
    """Pairs of paraphrases of a slot that share most of their words: (slot, line, line, Jaccard similarity).

    For the eye of a person: two short lines may share a word and still be two ways to say it.
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
