"""Wrapping a verified row into an instruction and an output, through paraphrased templates (ExCAM §3, spec 17-19, 21).

A base sample becomes one or two *pairs*. The right and the wrong row of a pair use the same paraphrases and the same
order of options, so neither can tell the label; and every paraphrase is used equally often in each split.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from string import ascii_uppercase

from excam.construction.chance import digest
from excam.construction.templates import fill, names, paraphrase
from excam.exceptions import InputInvalid
from excam.records import BaseSample, Errors, Report, Sample, Split, Task

STAND_IN_INSTRUCTION = "Generate a culturally correct text"  # for a text that comes without an instruction (spec 19)

_OTHERS = re.compile(r"\b(all|none|both|any|neither|either)\b.{0,12}\b(above|these|them|following|options)\b", re.I)
_LETTERS = re.compile(r"\b[A-F]\b.{1,12}\b[A-F]\b|\([a-f]\).{1,12}\([a-f]\)")


def variants(base: BaseSample, errors: Errors) -> tuple[str, ...]:
    """The pairs a base sample becomes.

    Multiple choice: with its options and, unless the answer speaks of them, a second time as freeform QA without them
    (spec 21). Soft errors: one minor, one major (spec 24). Everything else: a single pair.
    """
    if errors == "soft":
        return ("minor", "major")
    if base.task == "qa" and base.options:
        return ("options",) if speaks_of_options(base.answer) else ("options", "freeform")
    return ("single",)


def bases_for(rows: int, task: Task, errors: Errors) -> int:
    """How many base samples it takes to fill `rows` final rows (spec 4, cap after generation).

    Every pair is two rows. A soft error may fail and is not tried again (spec 24), so a quarter more is drawn there.
    """
    enough = -(-rows // (2 * (2 if task == "qa" or errors == "soft" else 1)))
    return enough + enough // 4 if errors == "soft" else enough


def form(base: BaseSample, variant: str) -> Task:
    """The task as the wrapped sample shows it: QA that shows no options is freeform QA (§3)."""
    return "freeform" if base.task == "qa" and (variant == "freeform" or not base.options) else base.task


def forms(task: Task) -> tuple[Task, ...]:
    """Every task that samples of a benchmark of this task may show; their templates are what it is wrapped with."""
    return ("qa", "freeform") if task == "qa" else (task,)


def shuffled_options(base: BaseSample, seed: int) -> tuple[str, ...]:
    """The options in an order that depends on the seed and the id alone: sources put the right one first too often.

    Options that speak of one another by letter ("A and C") keep the order of the source: shuffled they would lie. One
    that speaks of all others ("All of the above") stays behind them.
    """
    if any(_LETTERS.search(option) for option in base.options):
        return base.options
    places = sorted(range(len(base.options)), key=lambda place: digest(seed, "options", base.id, str(place)))
    return tuple(sorted((base.options[place] for place in places), key=lambda option: bool(_OTHERS.search(option))))


def speaks_of_options(answer: str) -> bool:
    """Whether an answer means nothing without the options beside it ("None of the above", "Both A and C")."""
    return bool(_OTHERS.search(answer) or _LETTERS.search(answer))


def render(base: BaseSample, answer: str, variant: str, templates: Sequence[str], seed: int) -> tuple[str, str]:
    """Instruction and output for one answer, right or wrong, from the paraphrases named by id (last: the output's).

    Raises InputInvalid when options are shown and `answer` is not one of them, ConfigInvalid for an unknown template.
    """
    values = _values(base, answer, variant, seed)
    *instruction, output = (fill(paraphrase(template), values) for template in templates)
    return " ".join(instruction), output


def answer_start(base: BaseSample, answer: str, variant: str, templates: Sequence[str], seed: int) -> int:
    """Offset of the answer in the output that `render` gives, in characters."""
    head, _, _ = paraphrase(templates[-1]).partition("{answer}")
    return len(fill(head, _values(base, answer, variant, seed)))


def right_samples(
    bases: Sequence[BaseSample], errors: Errors, licence: str, seed: int, splits: Mapping[str, Split]
) -> list[Sample]:
    """The error-free row of every pair, in the order of `bases`, with an empty report (spec 3).

    `splits` names the split of every group (`BaseSample.group`, or the id where it is empty). Within a dataset, split,
    task and slot, paraphrases are used equally often, up to one (spec 17). Raises InputInvalid for an id that occurs
    twice.
    """
    if repeated := [id for id, count in Counter(base.id for base in bases).items() if count > 1]:
        raise InputInvalid(f"{repeated[0]}: {len(repeated)} base ids occur more than once; expected unique ids")
    pairs = {f"{base.id}/{variant}": (base, variant) for base in bases for variant in variants(base, errors)}
    templates = _assigned(pairs, seed, splits)
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
                split=splits[base.group or base.id],
            )
        )
    return samples


def _slots(base: BaseSample, variant: str) -> tuple[str, ...]:
    """Slots in the order in which they are put together: role, context, task, options, output (spec 18).

    A part without content is left out, e.g. a role line where nobody is impersonated.
    """
    task = form(base, variant)
    parts = {"role": base.role, "context": base.context} if task == "impersonation" else {}
    before = [f"{task}/{slot}" for slot, content in parts.items() if content]
    options = ["qa/options"] if task == "qa" else []
    return (*before, f"{task}/instruction", *options, f"{task}/output")


def _assigned(
    pairs: Mapping[str, tuple[BaseSample, str]], seed: int, splits: Mapping[str, Split]
) -> dict[str, tuple[str, ...]]:
    """Template ids of every pair. Per dataset, split, task, slot, pairs and paraphrases meet in two orders by hash."""
    queues: defaultdict[tuple[str, str, str, str], list[str]] = defaultdict(list)
    for pair, (base, variant) in pairs.items():
        for slot in _slots(base, variant):
            queues[base.dataset, splits[base.group or base.id], form(base, variant), slot].append(pair)
    chosen: dict[tuple[str, str], str] = {}
    for (dataset, split, task, slot), members in queues.items():
        deck = sorted(names(slot), key=lambda name: digest(seed, "template", dataset, split, task, name))
        members.sort(key=lambda pair: digest(seed, "templates", slot, pair))  # the slot: slots are not locked together
        chosen |= {(pair, slot): deck[place % len(deck)] for place, pair in enumerate(members)}
    return {pair: tuple(chosen[pair, slot] for slot in _slots(*content)) for pair, content in pairs.items()}


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
