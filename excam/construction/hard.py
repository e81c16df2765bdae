"""Hard errors: a wrong answer of the source takes the place of the right one (ExCAM §3, spec 20, 21).

The severity is major (§3: "a default severity of major (-5)"); the explanation is a template that names the answer
that should have been given. The error type and the span are not in the paper: the wrong answer is the span.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log

from excam.construction.chance import digest
from excam.construction.cultures import in_a_sentence
from excam.construction.templates import fill, paraphrases
from excam.construction.wrapping import answer_start, render, speaks_of_options
from excam.exceptions import InputInvalid
from excam.records import BaseSample, CulturalError, Report, Sample


@dataclass(frozen=True, slots=True)
class Mistake:
    """What kind of mistake a wrong answer is, and which file explains it."""

    type: str
    explanations: str


FACT = Mistake("incorrect answer", "explanation")
OPINION = Mistake("misrepresented opinion", "explanation_opinion")
IRONY = Mistake("misread irony", "explanation_irony")


def mistake(base: BaseSample) -> Mistake:
    """In a role: a misread irony where every answer is an irony label, else an opinion. Without a role: a fact."""
    if base.task != "impersonation":
        return FACT
    answers = (base.answer, *base.wrong)
    return IRONY if all("ironic" in answer.casefold() for answer in answers) else OPINION


def wrong_answers(bases: Iterable[BaseSample], seed: int) -> dict[str, str]:
    """Id of a base sample -> the answer that replaces the right one, the same in every pair of the base sample.

    The paper is silent on the choice (spec 20). Drawn blindly, wrong answers differ from right ones as a set: "Yes" is
    more often right, and distractors are shorter. So each base sample, in an order by hash, takes the wrong answer
    whose wording is most often right and was least often taken, and among equals the one nearest in length to the right
    one: neither tells the label. Raises InputInvalid where a base sample has no wrong answer, or the right one or an
    empty one is among them.
    """
    bases = sorted(bases, key=lambda base: digest(seed, "wrong", base.id))
    left = Counter(base.answer for base in bases)
    taken = {}
    for base in bases:
        _check(base)
        usable = [wrong for wrong in base.wrong if not speaks_of_options(wrong)] or base.wrong
        order = sorted(usable, key=lambda wrong: digest(seed, "wrong", base.id, wrong))
        wrong = max(order, key=lambda wrong: (left[wrong], -abs(log(len(wrong) / len(base.answer)))))
        left[wrong] -= 1
        taken[base.id] = wrong
    return taken


def _check(base: BaseSample) -> None:
    if not base.wrong or any(not wrong.strip() or wrong == base.answer for wrong in base.wrong):
        raise InputInvalid(
            f"{base.id}: {len(base.wrong)} wrong answers; expected one or more, none empty and none of them right; "
            "check the loader, or make its errors soft"
        )


def hard_error(right: Sample, base: BaseSample, wrong: str, seed: int) -> Sample:
    """The wrong twin of an error-free row: same instruction, same templates, a wrong answer and one major error.

    Raises InputInvalid when `right` was not made from `base` with this seed.
    """
    variant = right.pair.removeprefix(f"{base.id}/")
    if right.base != base.id or render(base, base.answer, variant, right.templates, seed) != (
        right.instruction,
        right.output,
    ):
        raise InputInvalid(f"{right.id}: not made from {base.id} with seed {seed}; expected its own base sample")
    _, output = render(base, wrong, variant, right.templates, seed)
    start = answer_start(base, wrong, variant, right.templates, seed)
    kind = mistake(base)
    error = CulturalError("output", wrong, "major", kind.type, start, start + len(wrong))
    report = Report((error,), explanation(base, wrong, right.pair, seed))
    return replace(right, id=f"{right.pair}/wrong", output=output, report=report, origin="hard")


def hard_errors(
    right: Sequence[Sample], bases: Mapping[str, BaseSample], seed: int
) -> tuple[list[Sample], Counter[str]]:
    """The wrong twins of all rows whose base sample has a wrong answer; the others are counted by reason.

    Wrong answers are balanced within each split, so that none of it can be learnt in one and used in another.
    """
    split = {sample.base: sample.split for sample in right if sample.base in bases and bases[sample.base].wrong}
    wrong = {}
    for part in sorted(set(split.values())):
        wrong |= wrong_answers([bases[base] for base in split if split[base] == part], seed)
    samples, dropped = [], Counter[str]()
    for sample in right:
        if sample.base in wrong:
            samples.append(hard_error(sample, bases[sample.base], wrong[sample.base], seed))
        else:
            dropped["no-base-sample" if sample.base not in bases else "no-wrong-answer"] += 1
    return samples, dropped


def explanation(base: BaseSample, wrong: str, pair: str, seed: int) -> str:
    """A template explanation that names the right answer, chosen by hash of the pair.

    Phrasings that name the culture are left out where the culture is not known.
    """
    lines = paraphrases("hard", mistake(base).explanations)
    usable = [line for line in lines if base.culture or "{culture}" not in line]
    line = usable[int(digest(seed, "explanation", pair), 16) % len(usable)]
    culture = in_a_sentence(base.culture, base.language, base.task)
    return fill(line, {"right": base.answer, "wrong": wrong, "culture": culture})
