"""Hard errors: a wrong answer of the source replaces the right one (ExCAM §3).

The severity is major (§3: "a default severity of major (-5)") unless the benchmark says minor; the explanation is a
template that names the right answer. Templates that speak of a culture are for questions that name it; none speaks of
a majority, since readers cannot check it. The paper states neither the error type nor the span: it is the wrong answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from math import log

import regex

from excam.core.cultures import culture_key, names
from excam.core.exceptions import InputInvalid
from excam.core.hash_order import digest
from excam.core.text import as_word
from excam.error_reports.records import BaseSample, CulturalError, Report, Sample, Severity
from excam.excam40k.construction import templates
from excam.excam40k.construction.cultures import in_a_sentence
from excam.excam40k.construction.option_phrases import wrong_alone
from excam.excam40k.construction.wrapping import answer_start, render
from excam.excam40k.datasets.base import Mistake


def names_culture(base: BaseSample) -> bool:
    """Return whether a base sample's question, role or context names its culture: by name, adjective or another name.

    English names begin with a capital; short ones are capitals ("US", not "us"). Those in the language of the row are
    the beginnings of words that `languages.yaml` lists.
    """
    text = f"{base.question}\n{base.role}\n{base.context}"
    matches = _name_of(base.culture).finditer(text) if base.culture else ()
    if any(name[0].isupper() if len(name[0]) < 4 else name[0][0].isupper() for name in matches):
        return True
    code = templates.code_of(base.language)
    known = templates.languages()[code].countries if code else {}
    return any(name in text for name in known.get(base.culture, ()))


@cache
def _name_of(culture: str) -> regex.Pattern[str]:
    key = culture_key(culture)
    forms = {culture.casefold(), *(name for name in names() if culture_key(name) == key)}
    either = "|".join(map(regex.escape, sorted(forms, key=len, reverse=True)))
    return regex.compile(as_word(rf"(?:{either})s?"), regex.I)


# The error type of a wrong answer, and the file with explanations that are true of all of them.
MISTAKES: Mapping[Mistake, tuple[str, str]] = {
    "fact": ("incorrect answer", "explanation"),
    "opinion": ("misrepresented opinion", "explanation_opinion"),
    "irony": ("misread irony", "explanation_irony"),
}


def wrong_answers(bases: Iterable[BaseSample], seed: int) -> dict[str, str]:
    """Return id of a base sample -> the answer that replaces the right one, equal in every pair of the base sample.

    The paper is silent on the choice. Random wrong answers differ from right ones as a set: "Yes" is more often right,
    and distractors are shorter. So each base sample, in an order by hash, takes the wrong answer whose wording, and
    then whose words, are most often right and were least often taken, and among equals the one closest in length to the
    right one: then none predicts the label. Raises InputInvalid if a base sample has no wrong answer, or if the right
    one or an empty one is among them.
    """
    bases = sorted(bases, key=lambda base: digest(seed, "wrong", base.id))
    left = Counter(base.answer for base in bases)
    right_words = Counter(word for base in bases for word in _words(base.answer))
    wrong_words = Counter[str]()

    def surplus(answer: str) -> float:
        words = _words(answer)
        return sum(log((right_words[word] + 1) / (wrong_words[word] + 1)) for word in words) / max(len(words), 1)

    taken = {}
    for base in bases:
        order = sorted(_usable(base), key=lambda wrong: digest(seed, "wrong", base.id, wrong))
        wrong = max(order, key=lambda wrong: (left[wrong], surplus(wrong), -abs(log(len(wrong) / len(base.answer)))))
        left[wrong] -= 1
        wrong_words.update(_words(wrong))
        taken[base.id] = wrong
    return taken


def _words(answer: str) -> set[str]:
    return set(regex.findall(r"\w+", answer.casefold()))


def _usable(base: BaseSample) -> Sequence[str]:
    """Return the wrong answers that are wrong without options beside them; all of them where there is none."""
    if not base.wrong or any(not wrong.strip() or wrong == base.answer for wrong in base.wrong):
        raise InputInvalid(
            f"{base.id}: {len(base.wrong)} wrong answers; expected one or more, none empty and none of them right; "
            "check the loader, or make its errors soft"
        )
    return [wrong for wrong in base.wrong if wrong_alone(wrong, base.answer)] or base.wrong


def hard_error(right: Sample, base: BaseSample, wrong: str, seed: int, mistake: Mistake = "fact") -> Sample:
    """Return the corrupted version of an original row: same instruction and templates, a wrong answer and one error.

    Raises InputInvalid if `right` was not made from `base` with this seed.
    """
    variant = right.pair.removeprefix(f"{base.id}/")
    if right.base != base.id or render(base, base.answer, variant, right.templates, seed) != (
        right.instruction,
        right.output,
    ):
        raise InputInvalid(f"{right.id}: not made from {base.id} with seed {seed}; expected its own base sample")
    _, output = render(base, wrong, variant, right.templates, seed)
    start = answer_start(base, wrong, variant, right.templates, seed)
    severity: Severity = "minor" if wrong in base.minor else "major"
    kind, _ = MISTAKES[mistake]
    error = CulturalError("output", wrong, severity, kind, start, start + len(wrong))
    language = templates.language_of(right.templates[-1])
    report = Report((error,), explanation(base, wrong, right.pair, seed, mistake, language))
    return replace(right, id=f"{right.pair}/wrong", output=output, report=report, origin="hard")


def hard_errors(
    right: Sequence[Sample],
    bases: Mapping[str, BaseSample],
    seed: int,
    mistake: Mistake = "fact",
) -> tuple[list[Sample], Counter[str]]:
    """Return the corrupted versions of all rows whose base sample has a wrong answer; count the others by reason.

    Wrong answers are balanced within each split, so that no
    pattern is learned in one split and useful in another.
    """
    split = {sample.base: sample.split for sample in right if sample.base in bases and bases[sample.base].wrong}
    wrong = {}
    for part in sorted(set(split.values())):
        wrong |= wrong_answers([bases[base] for base in split if split[base] == part], seed)
    samples, dropped = [], Counter[str]()
    for sample in right:
        if sample.base in wrong:
            samples.append(hard_error(sample, bases[sample.base], wrong[sample.base], seed, mistake))
        else:
            dropped["no-base-sample" if sample.base not in bases else "no-wrong-answer"] += 1
    return samples, dropped


def explanation(
    base: BaseSample, wrong: str, pair: str, seed: int, mistake: Mistake = "fact", language: str = templates.ENGLISH
) -> str:
    """Return a template explanation that names the right answer, in the language with this code, chosen by hash of the
    pair.

    Phrasings that name the culture are left out where the culture is not known.
    """
    _, slot = MISTAKES[mistake]
    lines = templates.paraphrases(templates.in_language(f"hard/{slot}", language))
    if mistake == "fact" and names_culture(base):
        lines += templates.paraphrases(templates.in_language("hard/explanation_culture", language))
    usable = [line for line in lines if base.culture or "{culture}" not in line]
    line = usable[int(digest(seed, "explanation", pair), 16) % len(usable)]
    culture = in_a_sentence(base.culture, base.language, base.task)
    return templates.fill(line, {"right": base.answer, "wrong": wrong, "culture": culture})
