"""Wrapping a verified row into an instruction and an output, through paraphrased templates (ExCAM §3, spec 17-19, 21).

A base sample becomes one or two *pairs*. The right and the wrong row of a pair use the same paraphrases and the same
order of options, so neither can tell the label. Templates are plain text, one paraphrase a line, in `excam/templates`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import resources
from string import ascii_uppercase

from excam.datasets.base import Errors
from excam.exceptions import ConfigInvalid, InputInvalid
from excam.records import BaseSample, Report, Sample, Task

STAND_IN_INSTRUCTION = "Generate a culturally correct text"  # for a text that comes without an instruction (spec 19)

# Placeholders of each slot: those a paraphrase must name, and those it may name.
SLOTS: Mapping[str, tuple[frozenset[str], frozenset[str]]] = {
    "qa/instruction": (frozenset({"question", "options"}), frozenset()),
    "qa/output": (frozenset({"letter", "answer"}), frozenset()),
    "freeform/instruction": (frozenset({"question"}), frozenset()),
    "freeform/output": (frozenset({"answer"}), frozenset()),
    "generation/instruction": (frozenset({"question"}), frozenset()),
    "generation/output": (frozenset({"answer"}), frozenset()),
    "impersonation/role": (frozenset({"role"}), frozenset()),
    "impersonation/instruction": (frozenset({"context", "question"}), frozenset()),
    "impersonation/output": (frozenset({"answer"}), frozenset()),
    "hard/explanation": (frozenset({"right"}), frozenset({"wrong", "culture"})),
    "hard/explanation_opinion": (frozenset({"right"}), frozenset({"wrong", "culture"})),
    "hard/explanation_irony": (frozenset({"right"}), frozenset({"wrong", "culture"})),
}
_PLACEHOLDER = re.compile(r"\{(\w*)\}")
_LETTERS = re.compile(r"\b[A-F]\b.{1,12}\b[A-F]\b|\([a-f]\).{1,12}\([a-f]\)")
_FILLERS = frozenset({"a", "an", "the", "please"})  # two paraphrases that differ in these alone are the same


def digest(seed: int, *parts: str) -> str:
    """SHA-256 of the seed and the parts, in hexadecimal: every random choice of construction is an order by this.

    The parts are written as a JSON list, so that no two lists of parts give the same text.
    """
    return hashlib.sha256(json.dumps([seed, *parts]).encode("ascii")).hexdigest()


@cache
def paraphrases(task: str, slot: str) -> tuple[str, ...]:
    """The lines of `templates/<task>/<slot>.txt`. Raises ConfigInvalid for an unknown slot."""
    if f"{task}/{slot}" not in SLOTS:
        raise ConfigInvalid(f"templates/{task}/{slot}.txt: no such slot; known: {', '.join(SLOTS)}")
    file = resources.files("excam").joinpath("templates", task, f"{slot}.txt")
    return tuple(file.read_text(encoding="utf-8").splitlines())


def fill(template: str, values: Mapping[str, str]) -> str:
    """Put values in place of `{name}`, in one pass: what stands inside a value is data and comes out untouched."""
    return _PLACEHOLDER.sub(lambda found: values.get(found[1], found[0]), template)


def lint() -> list[str]:
    """Problems of the template files, one line each; none for the shipped ones (a test keeps it so)."""
    problems = []
    for name, (required, optional) in SLOTS.items():
        seen: dict[tuple[str, ...], int] = {}
        for number, line in enumerate(paraphrases(*name.split("/")), start=1):
            where = f"{name}:{number}"
            used = Counter(_PLACEHOLDER.findall(line))
            problems += [f"{where}: lacks {{{missing}}}" for missing in sorted(required - used.keys())]
            problems += [f"{where}: unknown {{{unknown}}}" for unknown in sorted(used.keys() - required - optional)]
            problems += [f"{where}: {{{often}}} {count} times" for often, count in sorted(used.items()) if count > 1]
            if line != line.strip() or not line:
                problems.append(f"{where}: empty, or spaces at an end")
            words = tuple(sorted(word for word in re.findall(r"\w+", line.casefold()) if word not in _FILLERS))
            if words in seen:
                problems.append(f"{where}: nearly the same as line {seen[words]}")
            seen.setdefault(words, number)
    return problems


def variants(base: BaseSample, errors: Errors) -> tuple[str, ...]:
    """The pairs a base sample becomes.

    Multiple choice: with its options and, a second time, as freeform QA without them (spec 21). Soft errors: one
    minor, one major (spec 24). Everything else: a single pair.
    """
    if errors == "soft":
        return ("minor", "major")
    return ("options", "freeform") if base.task == "qa" and base.options else ("single",)


def bases_for(rows: int, bases: Sequence[BaseSample], errors: Errors) -> int:
    """How many base samples it takes to fill `rows` final rows (spec 4, cap after generation).

    Every pair is two rows. A soft error may fail and is not tried again (spec 24), so a quarter more is drawn there.
    """
    pairs = max((len(variants(base, errors)) for base in bases), default=1)
    enough = -(-rows // (2 * pairs))
    return enough + enough // 4 if errors == "soft" else enough


def form(base: BaseSample, variant: str) -> Task:
    """The task as the wrapped sample shows it: QA that shows no options is freeform QA (§3)."""
    return "freeform" if base.task == "qa" and (variant == "freeform" or not base.options) else base.task


def shuffled_options(base: BaseSample, seed: int) -> tuple[str, ...]:
    """The options in an order that depends on the seed and the id alone: sources put the right one first too often.

    Options that speak of one another by letter ("A and C") keep the order of the source: shuffled they would lie.
    """
    if any(_LETTERS.search(option) for option in base.options):
        return base.options
    places = sorted(range(len(base.options)), key=lambda place: digest(seed, "options", base.id, str(place)))
    return tuple(base.options[place] for place in places)


def render(base: BaseSample, answer: str, variant: str, templates: Sequence[str], seed: int) -> tuple[str, str]:
    """Instruction and output for one answer, right or wrong, from the paraphrases named by id (last: the output's).

    Raises InputInvalid when options are shown and `answer` is not one of them, ConfigInvalid for an unknown template.
    """
    values = _values(base, answer, variant, seed)
    *instruction, output = (fill(_text(template), values) for template in templates)
    return " ".join(instruction), output


def answer_start(base: BaseSample, answer: str, variant: str, templates: Sequence[str], seed: int) -> int:
    """Offset of the answer in the output that `render` gives, in characters."""
    head, _, _ = _text(templates[-1]).partition("{answer}")
    return len(fill(head, _values(base, answer, variant, seed)))


def right_samples(bases: Sequence[BaseSample], errors: Errors, licence: str, seed: int) -> list[Sample]:
    """The error-free row of every pair, in the order of `bases`, with an empty report (spec 3).

    Within a dataset, task and slot, paraphrases are used equally often, up to one (spec 17). Raises InputInvalid for
    an id that occurs twice.
    """
    if repeated := [id for id, count in Counter(base.id for base in bases).items() if count > 1]:
        raise InputInvalid(f"{repeated[0]}: {len(repeated)} base ids occur more than once; expected unique ids")
    pairs = {f"{base.id}/{variant}": (base, variant) for base in bases for variant in variants(base, errors)}
    templates = _assigned(pairs, seed)
    samples = []
    for pair, (base, variant) in pairs.items():
        instruction, output = render(base, base.answer, variant, templates[pair], seed)
        samples.append(
            Sample(
                id=f"{pair}/right",
                pair=pair,
                base=base.id,
                dataset=base.dataset,
                task=form(base, variant),
                instruction=instruction,
                output=output,
                report=Report(),
                origin="source",
                language=base.language,
                culture=base.culture,
                stratum=base.stratum,
                licence=licence,
                answer=base.answer,
                templates=templates[pair],
                group=base.group or base.id,
            )
        )
    return samples


def _slots(base: BaseSample, variant: str) -> tuple[str, ...]:
    """Slots in the order in which they are put together: role, context and task, output (spec 18).

    A part without content is left out: no role line without a role; without a context the task is a plain question.
    """
    task = form(base, variant)
    if task != "impersonation":
        return (f"{task}/instruction", f"{task}/output")
    role = ("impersonation/role",) if base.role else ()
    return (*role, "impersonation/instruction" if base.context else "freeform/instruction", "impersonation/output")


def _assigned(pairs: Mapping[str, tuple[BaseSample, str]], seed: int) -> dict[str, tuple[str, ...]]:
    """Template ids of every pair: per dataset, task and slot, pairs and paraphrases meet in two independent orders."""
    queues: defaultdict[tuple[str, str, str], list[str]] = defaultdict(list)
    for pair, (base, variant) in pairs.items():
        for slot in _slots(base, variant):
            queues[base.dataset, form(base, variant), slot].append(pair)
    chosen: dict[tuple[str, str], str] = {}
    for (dataset, task, slot), members in queues.items():
        names = [f"{slot}/{number:02d}" for number in range(1, len(paraphrases(*slot.split("/"))) + 1)]
        names.sort(key=lambda name: digest(seed, "template", dataset, task, name))
        members.sort(key=lambda pair: digest(seed, "templates", slot, pair))  # the slot: slots are not locked together
        chosen |= {(pair, slot): names[place % len(names)] for place, pair in enumerate(members)}
    return {pair: tuple(chosen[pair, slot] for slot in _slots(*content)) for pair, content in pairs.items()}


def _text(template: str) -> str:
    """The paraphrase with this id, e.g. "qa/output/07": line 7 of the file."""
    slot, _, number = template.rpartition("/")
    lines = paraphrases(*slot.split("/")) if slot.count("/") == 1 else ()
    if not number.isdecimal() or not 1 <= int(number) <= len(lines):
        raise ConfigInvalid(f"{template}: no such template; expected <task>/<slot>/<line of the file>")
    return lines[int(number) - 1]


def _values(base: BaseSample, answer: str, variant: str, seed: int) -> dict[str, str]:
    values = {"question": base.question, "answer": answer, "role": base.role, "context": base.context}
    if form(base, variant) != "qa":
        return values
    options = shuffled_options(base, seed)
    if answer not in options or len(options) > len(ascii_uppercase):
        raise InputInvalid(f"{base.id}: {answer!r:.60}: expected one of at most 26 options; check the loader")
    values["options"] = _lettered(options)
    values["letter"] = ascii_uppercase[options.index(answer)]  # of the first, where a source lists an option twice
    return values


def _lettered(options: Iterable[str]) -> str:
    """'Option A: kimchi Option B: pizza', on one line as Tables 8 and 9 print it."""
    return " ".join(f"Option {letter}: {option}" for letter, option in zip(ascii_uppercase, options, strict=False))
