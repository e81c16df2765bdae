"""Hard errors: a wrong answer of the source takes the place of the right one (ExCAM §3, spec 20, 21).

The severity is major (§3: "a default severity of major (-5)"); the explanation is a template that names the answer
that should have been given. The error type and the span are not in the paper: the wrong answer is the span.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from excam.construction.wrapping import answer_start, digest, fill, paraphrases, render
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


def wrong_answer(base: BaseSample, seed: int) -> str:
    """The answer that replaces the right one, the same in every pair of the base sample.

    Raises InputInvalid when there is none, or when the right answer or an empty one is among them.
    """
    if not base.wrong or any(not wrong.strip() or wrong == base.answer for wrong in base.wrong):
        raise InputInvalid(
            f"{base.id}: {len(base.wrong)} wrong answers; expected one or more, none empty and none of them right; "
            "check the loader, or make its errors soft"
        )
    return base.wrong[int(digest(seed, "wrong", base.id), 16) % len(base.wrong)]


def hard_error(right: Sample, base: BaseSample, seed: int) -> Sample:
    """The wrong twin of an error-free row: same instruction, same templates, a wrong answer and one major error.

    Raises InputInvalid when `right` was not made from `base` with this seed, or when `base` has no wrong answer.
    """
    variant = right.pair.removeprefix(f"{base.id}/")
    if right.base != base.id or render(base, base.answer, variant, right.templates, seed) != (
        right.instruction,
        right.output,
    ):
        raise InputInvalid(f"{right.id}: not made from {base.id} with seed {seed}; expected its own base sample")
    wrong = wrong_answer(base, seed)
    _, output = render(base, wrong, variant, right.templates, seed)
    start = answer_start(base, wrong, variant, right.templates, seed)
    kind = mistake(base)
    error = CulturalError("output", wrong, "major", kind.type, start, start + len(wrong))
    report = Report((error,), explanation(base, wrong, right.pair, seed))
    return replace(right, id=f"{right.pair}/wrong", output=output, report=report, origin="hard")


def hard_errors(
    right: Iterable[Sample], bases: Mapping[str, BaseSample], seed: int
) -> tuple[list[Sample], Counter[str]]:
    """The wrong twins of all rows whose base sample has a wrong answer; the others are counted by reason."""
    samples, dropped = [], Counter[str]()
    for sample in right:
        base = bases.get(sample.base)
        if base is None:
            dropped["no-base-sample"] += 1
        elif not base.wrong:
            dropped["no-wrong-answer"] += 1
        else:
            samples.append(hard_error(sample, base, seed))
    return samples, dropped


def explanation(base: BaseSample, wrong: str, pair: str, seed: int) -> str:
    """A template explanation that names the right answer, chosen by hash of the pair.

    Phrasings that name the culture are left out where the culture is not known.
    """
    lines = paraphrases("hard", mistake(base).explanations)
    usable = [line for line in lines if base.culture or "{culture}" not in line]
    line = usable[int(digest(seed, "explanation", pair), 16) % len(usable)]
    return fill(line, {"right": base.answer, "wrong": wrong, "culture": base.culture})
