"""What CaLMQA's paper claims, answered from the questions, answers, scores and ratings of an experiment."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from statistics import mean
from typing import Any

from excam.calmqa import ratings
from excam.calmqa.ratings import Grading
from excam.calmqa.source import Question
from excam.calmqa.surface import LOW_RESOURCE
from excam.core.language_identity import code_name
from excam.pages.claims import Ours
from excam.stats.regression import OddsRatio, dummies, ols_r2

Answers = Iterator[tuple[str, Ours]]

AFAR = "Afar"
RELIABLE = 0.9  # share of answers in the right language, without loops; the paper says "reliably", without a number
NO_RATINGS = "no ratings by people: calmqa.people"
NEUTRAL = ("human-neutral", "human-neutral-p")


def answers(
    questions: Mapping[str, Question],
    rows: Sequence[Mapping[str, Any]],
    gaps: Sequence[Mapping[str, Any]],
    languages: Sequence[Mapping[str, str]],
    human: Sequence[Grading],
    settings: Mapping[str, Any],
) -> dict[str, Ours]:
    """Return ours of each claim by its id, but that of `cost`.

    `rows` are answers with `subject`, `language`, the columns of `surface` and those of `scores`; `settings` are the
    models and the rule of repetition.
    """
    return (
        dict(_sizes(questions))
        | dict(_settings(settings))
        | dict(_factuality(rows, gaps))
        | dict(_wrong_language(rows))
        | {"afar": _afar(rows)}
        | {"undecidable": _undecidable(languages)}
        | dict(_human(human))
    )


def cost(printed: Mapping[str, str]) -> Ours:
    """Return the sum of the costs that the paper states."""
    stated = {name: float(printed[name]) for name in ("seed-cost", "writers", "writer-test", "questions-low")}
    fixed = stated["seed-cost"] + stated["writers"] * stated["writer-test"]
    low, high = (fixed + stated["questions-low"] * float(printed[f"question-pay-{end}"]) for end in ("low", "high"))
    return Ours(
        f"{low:.0f} to {high:.0f}", "sum of the printed parts: seeds, tests, questions; the filter's model aside"
    )


def _sizes(questions: Mapping[str, Question]) -> Answers:
    rows = questions.values()
    low = {question.language for question in rows if code_name(question.language) in LOW_RESOURCE}
    codes = {question.language for question in rows}
    specific = [question.language for question in rows if question.type == "specific"]
    neutral: dict[str, set[str]] = defaultdict(set)
    for question in rows:
        if question.type == "agnostic":
            neutral[question.group].add(question.language)
    note = "questions.parquet"
    yield "questions-low", Ours(sum(code in low for code in specific), f"{note}: culturally specific")
    yield "questions-high", Ours(sum(code not in low for code in specific), f"{note}: culturally specific")
    yield "questions", Ours(len(specific), f"{note}: culturally specific, as the printed sum")
    yield "languages", Ours(len(codes), note)
    yield "languages-low", Ours(len(low), f"{note}: of the paper's twelve")
    yield "languages-high", Ours(len(codes - low), f"{note}: all others")
    yield "neutral", Ours(len(neutral), f"{note}: culturally agnostic, each language counted once")
    most = max(map(len, neutral.values()), default=1) - 1
    yield "neutral-translated", Ours(most, f"{note}: languages of a neutral question, without its own; at most")


def _settings(settings: Mapping[str, Any]) -> Answers:
    yield "models", Ours(len(settings["models"]), f"calmqa.models: {', '.join(settings['models']) or 'none'}")
    for name in ("tokens", "times"):
        yield (
            f"repeat-{name}",
            Ours(settings["repetition"][name], "calmqa.repetition, at least; as the authors' code"),
        )


def _factuality(rows: Sequence[Mapping[str, Any]], gaps: Sequence[Mapping[str, Any]]) -> Answers:
    for kind, of in (("specific", "specific"), ("neutral", "agnostic")):
        values: dict[str, list[float]] = defaultdict(list)
        for row in rows:
            if row["type"] == of and row["s"] is not None:
                values[row["subject"]].append(100 * row["factuality"])
        means = {subject: mean(numbers) for subject, numbers in values.items()}
        for end, choose in (("low", min), ("high", max)):
            yield (
                f"{kind}-{end}",
                _extreme(means, choose, values, f"no answer to a question of the type {of} has a score"),
            )
    differences = {gap["subject"]: -100 * gap["difference"] for gap in gaps if gap["part"] == "precision"}
    counts = {gap["subject"]: range(gap["specific"] + gap["agnostic"]) for gap in gaps}
    for end, choose in (("low", min), ("high", max)):
        yield f"gap-{end}", _extreme(differences, choose, counts, "no subject answered both types")


def _extreme(values: Mapping[str, float], choose: Any, of: Mapping[str, Sequence[Any]], why: str) -> Ours:
    """Return the lowest or highest value over subjects; `of` holds the answers of each."""
    if not values:
        return Ours("", why)
    subject = choose(values, key=values.__getitem__)
    return Ours(round(values[subject], 1), f"{subject}, n = {len(of[subject])}; of {len(values)} subjects")


def _wrong_language(rows: Sequence[Mapping[str, Any]]) -> Answers:
    wrong: dict[str, list[bool]] = defaultdict(list)
    for row in rows:
        if row["decidable"] and code_name(row["language"]) in LOW_RESOURCE:
            wrong[row["subject"]].append(row["wrong_language"])
    shares = {subject: 100 * mean(marks) for subject, marks in wrong.items()}
    why = "no answer in a low-resource language that the detector knows"
    for claim, name, choose in (("llama", "llama", max), ("gpt4o", "4o", min)):  # another subject stands in for it
        share_of = {subject: share for subject, share in shares.items() if name in subject.lower()}
        yield f"wrong-language-{claim}", _extreme(share_of or shares, choose, wrong, why)


def _afar(rows: Sequence[Mapping[str, Any]]) -> Ours:
    of_afar = [row for row in rows if code_name(row["language"]) == AFAR]
    decided = [row for row in of_afar if row["decidable"]]
    if not decided:
        return Ours("", f"{len(of_afar)} answers in Afar, and the detector knows the language of none")
    good: dict[str, list[int]] = defaultdict(list)
    for row in decided:
        good[row["subject"]].append(row["surface"])
    shares = ", ".join(f"{subject} {sum(marks)} of {len(marks)}" for subject, marks in sorted(good.items()))
    reliable = sum(mean(marks) >= RELIABLE for marks in good.values())
    return Ours(reliable, f"subjects with {100 * RELIABLE:.0f} % of answers in Afar and without loops: {shares}")


def _undecidable(languages: Sequence[Mapping[str, str]]) -> Ours:
    unknown = [code_name(line["code"]) for line in languages if line["decidable"] != "True"]
    return Ours(len(unknown), f"languages.csv, of {len(languages)}: {', '.join(unknown) or 'none'}")


def _human(human: Sequence[Grading]) -> Answers:
    if not human:
        counted = (f"human-{name}" for name in ("languages", "models", "questions", "ratings", "scale", "order"))
        explained = (f"r2-{name}" for name in ("omissions", "factuality", "order"))
        yield from ((name, Ours("", NO_RATINGS)) for name in (*counted, *NEUTRAL, *explained))
        return
    by_language: dict[str, set[str]] = defaultdict(set)
    for rating in human:
        by_language[rating.language].add(rating.question)
    sizes = sorted(map(len, by_language.values()))
    order = " > ".join(rank["model"] for rank in ratings.ranks(human))
    yield "human-languages", Ours(len(by_language), "regression.md")
    yield "human-models", Ours(len({rating.model for rating in human}), "regression.md")
    yield "human-questions", Ours(sizes[0] if sizes[0] == sizes[-1] else f"{sizes[0]} to {sizes[-1]}", "of a language")
    yield "human-ratings", Ours(len(human), "regression.md")
    yield "human-scale", Ours(5, "1 to 5")
    yield "human-order", Ours(order, f"by mean rating, n = {len(human)}; with intervals in regression.md")
    yield from _neutral(ratings.odds(human))
    yield from _r2(human)


def _neutral(odds: Mapping[str, Any] | None) -> Answers:
    if odds is None or not odds["times"]:
        yield from ((name, Ours("", "one type of question, or one side of the scale")) for name in NEUTRAL)
        return
    yield NEUTRAL[0], Ours(odds["times"], f"share rated {ratings.HIGH} or more; the odds are in regression.md")
    estimate, name = odds["GEE by question"], "GEE by question, odds"
    fitted = isinstance(estimate, OddsRatio)
    yield NEUTRAL[1], Ours(float(f"{estimate.p_value:.2g}") if fitted else "", name if fitted else f"{name}: no fit")


def _r2(human: Sequence[Grading]) -> Answers:
    grades = [rating.rating for rating in human]
    columns = {name: [getattr(rating, name) for rating in human] for name in ratings.PREDICTORS}
    r2 = {name: ols_r2(grades, dummies(values)) for name, values in columns.items() if len(set(values)) > 1}
    note = f"least squares, n = {len(human)}; regression.md has every variant"
    for name in ("omissions", "factuality"):
        yield f"r2-{name}", Ours(r2.get(name, ""), note if name in r2 else f"{note}; {name}: all alike")
    yield "r2-order", Ours(" > ".join(sorted(r2, key=r2.__getitem__, reverse=True)), note)
