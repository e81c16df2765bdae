"""Wrap a verified row into an instruction and an output, with paraphrased templates (ExCAM §3).

A base sample becomes one or two *pairs*. The original and the corrupted row of a pair use the same paraphrases and the
same order of options, so neither predicts the label; and every paraphrase is used equally often in each split.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from string import ascii_uppercase

from excam.core.exceptions import InputInvalid
from excam.core.hash_order import digest
from excam.core.splits import Split
from excam.error_reports.records import BaseSample, Errors, Report, Sample, Task
from excam.excam40k.construction.option_phrases import (
    answer_needs_options,
    asks_for_one,
    is_about_all,
    names_letters,
    question_needs_options,
    wrong_alone,
)
from excam.excam40k.construction.templates import (
    ENGLISH,
    Writing,
    code_of,
    ends_sentence,
    fill,
    in_language,
    language_of,
    languages,
    names,
    paraphrase,
)
from excam.excam40k.datasets._changes import are_as_published


def variants(base: BaseSample, errors: Errors) -> tuple[str, ...]:
    """Return the names of the variants that a base sample becomes, e.g. ("options", "freeform").

    Multiple choice: one with lettered options, and one as freeform QA. That is without options if question, answer and
    wrong answers do not refer to them and, in English, the question asks for the one that is most so. Else several
    answers may be right, and it lists the options without letters ("listed"); rows as published have no such variant.
    Soft errors: one minor, one major. Everything else: a single pair.
    """
    if errors == "soft":
        return ("minor", "major")
    if base.task != "qa" or not base.options:
        return ("single",)
    none_alone = base.wrong and not any(wrong_alone(wrong, base.answer) for wrong in base.wrong)
    needed = none_alone or answer_needs_options(base.answer) or question_needs_options(base.question)
    if not needed and (are_as_published() or base.language != "English" or asks_for_one(base.question)):
        return ("options", "freeform")
    return ("options",) if are_as_published() or any(map(names_letters, base.options)) else ("options", "listed")


def bases_for(rows: int, task: Task, errors: Errors) -> int:
    """Return the number of base samples needed for `rows` final rows (cap after generation).

    Every pair is two rows. A soft error may fail and is not tried again, so a quarter more is drawn.
    """
    enough = -(-rows // (2 * (2 if task == "qa" or errors == "soft" else 1)))
    return enough + enough // 4 if errors == "soft" else enough


def rows_of(bases: Iterable[BaseSample], errors: Errors) -> int:
    """Return the number of rows of all pairs that these base samples become, if no error fails."""
    return 2 * sum(len(variants(base, errors)) for base in bases)


def form(base: BaseSample, variant: str) -> Task:
    """Return the task as the wrapped sample shows it: QA without options is freeform QA (§3)."""
    return "freeform" if base.task == "qa" and (variant != "options" or not base.options) else base.task


def forms(task: Task) -> tuple[Task, ...]:
    """Return every task that samples of a benchmark of this task can show; they decide which templates are used."""
    return ("qa", "freeform") if task == "qa" else (task,)


def shuffled_options(base: BaseSample, seed: int) -> tuple[str, ...]:
    """Return the options in an order that depends only on the seed and the id: sources put the right one first too
    often.

    Options that refer to one another by letter ("A and C") keep the order of the source, because shuffling would make
    them wrong. An option about all others ("All of the above") stays behind them.
    """
    if any(names_letters(option) for option in base.options):
        return base.options
    places = sorted(range(len(base.options)), key=lambda place: digest(seed, "options", base.id, str(place)))
    return tuple(sorted((base.options[place] for place in places), key=lambda option: is_about_all(option)))


def render(base: BaseSample, answer: str, variant: str, templates: Sequence[str], seed: int) -> tuple[str, str]:
    """Return instruction and output for one answer, right or wrong, from the paraphrases with these ids (last: the
    output's).

    Raises InputInvalid if options are shown and `answer` is not one of them, ConfigInvalid for an unknown template.
    """
    writing = languages()[language_of(templates[-1])]
    values = _values(base, answer, variant, seed, writing)
    *instruction, output = (fill(paraphrase(template), values) for template in templates)
    return writing.space.join(instruction), output


def answer_start(base: BaseSample, answer: str, variant: str, templates: Sequence[str], seed: int) -> int:
    """Return offset of the answer in the output that `render` gives, in characters."""
    head, _, _ = paraphrase(templates[-1]).partition("{answer}")
    writing = languages()[language_of(templates[-1])]
    return len(fill(head, _values(base, answer, variant, seed, writing)))


def right_samples(
    bases: Sequence[BaseSample],
    errors: Errors,
    licence: str,
    seed: int,
    splits: Mapping[str, Split],
    local: Collection[str] = (),
) -> list[Sample]:
    """Return the original row of every pair, in the order of `bases`, with an empty report.

    `splits` names the split of every group (`BaseSample.group`, or the id if it is empty); `local` the codes of the
    languages whose rows are wrapped in paraphrases of their own language, all others in English ones. Within a dataset,
    split, task and slot of a language, the numbers of uses of the paraphrases differ by at most one. Raises
    InputInvalid for an id that occurs twice.
    """
    if repeated := [id for id, count in Counter(base.id for base in bases).items() if count > 1]:
        raise InputInvalid(f"{repeated[0]}: {len(repeated)} base ids occur more than once; expected unique ids")
    pairs = {f"{base.id}/{variant}": (base, variant) for base in bases for variant in variants(base, errors)}
    templates = _assign_templates(pairs, seed, splits, local)
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


def frames(samples: Iterable[Sample]) -> dict[str, dict[str, int]]:
    """Return language of the row -> code of the language of its templates -> number of pairs."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for sample in samples:
        counts[sample.language][language_of(sample.templates[-1])] += 1
    return {language: dict(counts[language]) for language in sorted(counts)}


def _slots(base: BaseSample, variant: str, local: Collection[str]) -> tuple[str, ...]:
    """Return the slots in the order of composition: role, context, task, options, output.

    A part without content is left out, e.g. a role line without a role.
    """
    task = form(base, variant)
    parts = {"role": base.role, "context": base.context} if task == "impersonation" else {}
    before = [f"{task}/{slot}" for slot, content in parts.items() if content]
    options = ["qa/options"] if task == "qa" else []
    local_code = code_of(base.language)
    code = local_code if local_code and local_code in local else ENGLISH
    return tuple(in_language(slot, code) for slot in (*before, f"{task}/instruction", *options, f"{task}/output"))


def _assign_templates(
    pairs: Mapping[str, tuple[BaseSample, str]], seed: int, splits: Mapping[str, Split], local: Collection[str]
) -> dict[str, tuple[str, ...]]:
    """Return the template ids of every pair.

    Per dataset, split, task and slot, pairs and paraphrases are each ordered by hash and matched cyclically.
    """
    queues: defaultdict[tuple[str, str, str, str], list[str]] = defaultdict(list)
    slots = {pair: _slots(base, variant, local) for pair, (base, variant) in pairs.items()}
    for pair, (base, variant) in pairs.items():
        for slot in slots[pair]:
            queues[base.dataset, splits[base.group or base.id], form(base, variant), slot].append(pair)
    chosen: dict[tuple[str, str], str] = {}
    for (dataset, split, task, slot), members in queues.items():
        deck = sorted(names(slot), key=lambda name: digest(seed, "template", dataset, split, task, name))
        members.sort(key=lambda pair: digest(seed, "templates", slot, pair))  # the slot: slots are not locked together
        chosen |= {(pair, slot): deck[place % len(deck)] for place, pair in enumerate(members)}
    return {pair: tuple(chosen[pair, slot] for slot in pair_slots) for pair, pair_slots in slots.items()}


def _values(base: BaseSample, answer: str, variant: str, seed: int, writing: Writing) -> dict[str, str]:
    role = base.role if ends_sentence(base.role) or not base.role else f"{base.role}{writing.stop}"
    values = {"question": base.question, "answer": answer, "role": role, "context": base.context}
    options = shuffled_options(base, seed)
    if variant == "listed":
        return values | {"question": f"{base.question} ({_options_line(options, writing, '{option}')})"}
    if form(base, variant) != "qa":
        return values
    if answer not in options or len(options) > len(ascii_uppercase):
        raise InputInvalid(f"{base.id}: {answer!r:.60}: expected one of at most 26 options; check the loader")
    values["options"] = _options_line(options, writing, writing.option)
    values["letter"] = ascii_uppercase[options.index(answer)]  # of the first, where a source lists an option twice
    return values


def _options_line(options: Sequence[str], writing: Writing, written: str) -> str:
    """Return the options on one line: 'Option A: kimchi; Option B: pizza' (Table 1), and only a space after a sentence
    (Table 8: 'Option A: They pay. Option B: ...'). Options with a semicolon in them end with a full stop.
    """
    mark = writing.stop if any(writing.semicolon in option for option in options) else writing.semicolon[0]
    lettered = [
        fill(written, {"letter": letter, "option": option})
        for letter, option in zip(ascii_uppercase, options, strict=False)
    ]
    marked = [*(text if ends_sentence(text) else f"{text}{mark}" for text in lettered[:-1]), *lettered[-1:]]
    return writing.space.join(marked)
