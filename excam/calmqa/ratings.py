"""Ratings by people and what they follow, in the columns of the authors' all_ratings.csv.

Which of omissions, factual errors, model and type of question explains a rating best, by every R² that the paper may
have meant; and whether neutral questions are rated high more often.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from excam.calmqa.source import TYPES
from excam.core import row_files
from excam.core.exceptions import InputInvalid
from excam.core.names import shown_names
from excam.core.spreadsheets import remove_guard
from excam.core.text import id_text, is_text
from excam.scoring.joining import without_repeated
from excam.stats import bootstrap, regression

PREDICTORS = ("omissions", "factuality", "model", "type")
PRINTED = {"omissions": 0.740, "factuality": 0.560}  # R² in the paper
HIGH = 4  # ratings from here on are high
GRADES = {"none": 0, "minor": 1, "major": 2}
LANGUAGE = ("yes", "partially", "no")
REQUIRED = ("rating", "model", "type", "language", "question", "omissions", "factuality")


@dataclass(frozen=True, slots=True)
class Grading:
    """A rating of one answer, 1 to 5, with the marks of the same person."""

    rating: int
    model: str
    type: str  # specific or agnostic
    language: str
    question: str
    omissions: str  # none, minor, major
    factuality: str
    annotator: str = ""
    language_correct: str = ""  # of LANGUAGE, "" where nobody was asked
    answer: str = ""  # its text, "" where the file has none


def read(path: Path) -> list[Grading]:
    """Return the ratings of a file.

    A rating that repeats another of its annotator under a new `annotation_id` is left out, which is said. Raises
    InputInvalid naming an invalid row, and one of an answer that the same annotation rates before: the same
    `annotation_id`, or without one the same question and annotator.
    """
    ratings: list[Grading] = []
    rated: dict[tuple[str, ...], str] = {}
    for number, row in row_files.answered_rows(path):
        where = f"{path}:{number}"
        if path.suffix == ".csv":  # as `calmqa collect` writes it
            row = {name: remove_guard(value) for name, value in row.items()}
        values = _values(row, where)
        ratings.append(Grading(**values))
        annotation = _name(row, "annotation_id", where)
        if annotation or values["annotator"]:
            of = (annotation,) if annotation else (values["language"], values["question"])
            key = (*of, values["annotator"], values["model"])
            if (before := rated.setdefault(key, where)) != where:
                what = f"annotation {annotation[:40]}" if annotation else f"annotator {values['annotator'][:40]}"
                raise InputInvalid(f"{where}: {what} rates {values['model'][:40]} again, as {before}; expected once")
    if not ratings:
        raise InputInvalid(f"{path}: 0 ratings; expected a row for each")
    label = shown_names((name for rating in ratings for name in (rating.model, rating.annotator)), str(path))
    ratings = [replace(rating, model=label[rating.model], annotator=label[rating.annotator]) for rating in ratings]
    # of raters without a name, equal ratings may be of two people
    distinct = without_repeated(str(path), range(len(ratings)), [rating.annotator and rating for rating in ratings])
    return [ratings[at] for at in distinct]


def _values(row: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return the fields of a rating. Raises InputInvalid for an invalid one."""
    values = {name: row.get(name) for name in REQUIRED}
    if absent := [name for name in REQUIRED if values.get(name) is None or not str(values[name]).strip()]:
        columns = ", ".join(map(str, row))[:120]
        raise InputInvalid(f"{where}: found {columns}; expected {', '.join(REQUIRED)}; absent: {', '.join(absent)}")
    whole = values["rating"]
    if isinstance(whole, int | float) and not isinstance(whole, bool) and whole in range(1, 6):
        values["rating"] = str(int(whole))
    if wrong := [name for name in REQUIRED if not is_text(values[name])]:
        type_name = type(values[wrong[0]]).__name__
        raise InputInvalid(f"{where}: {wrong[0]}: found {type_name}, {str(values[wrong[0]])[:40]!r}; expected text")
    texts = {name: str(value).strip() for name, value in values.items()}
    graded = all(texts[name] in GRADES for name in ("omissions", "factuality"))
    if not graded or texts["rating"] not in set("12345") or TYPES.get(texts["type"]) is None:
        cells = {name: texts[name][:40] for name in ("rating", "type", "omissions", "factuality")}
        raise InputInvalid(f"{where}: found {cells}; expected 1 to 5, cult or non-cult, none, minor or major")
    more = {name: _name(row, name, where) for name in ("annotator", "language_correct")}
    if more["language_correct"] not in ("", *LANGUAGE):
        mark = more["language_correct"][:40]
        raise InputInvalid(f"{where}: language_correct: found {mark}; expected {', '.join(LANGUAGE)}, or nothing")
    answer = str(row.get("answer") or "")
    return texts | {"rating": int(texts["rating"]), "type": TYPES[texts["type"]], "answer": answer, **more}


def _name(row: Mapping[str, Any], column: str, where: str) -> str:
    """Return a name or number as text, "" for none. Raises InputInvalid for anything else."""
    value = row.get(column)
    if value is None or value != value or (isinstance(value, str) and not value.strip()):  # NaN
        return ""
    text = id_text(value)
    if text is None:
        raise InputInvalid(f"{where}: {column}: found {str(value)[:40]!r}; expected a name or a number, or nothing")
    return text


R2 = ("predictor", "variant", "r2", "printed", "n")


RANKS = ("model", "n", "questions", *(f"{name}{end}" for name in ("mean", "ahead") for end in ("", "_low", "_high")))


def ranks(ratings: Sequence[Grading], seed: int = 0) -> list[dict[str, Any]]:
    """Return the models, the best mean rating first, each with how far it is ahead of the next one.

    95 % intervals are over questions, whose answers by different models are resampled together.
    """
    by_model: dict[str, list[Grading]] = {}
    for rating in ratings:
        by_model.setdefault(rating.model, []).append(rating)
    order = sorted(by_model, key=lambda model: (-np.mean([rating.rating for rating in by_model[model]]), model))
    lines = []
    for model, following in zip(order, [*order[1:], None], strict=True):
        of_model = by_model[model]
        both = [*of_model, *(by_model[following] if following else ())]
        grades, questions = [rating.rating for rating in both], [(rating.language, rating.question) for rating in both]
        n = len(of_model)
        estimates = {"mean": bootstrap.mean(grades[:n], questions[:n], seed)}
        if following:
            is_own = [True] * n + [False] * (len(both) - n)
            estimates["ahead"] = bootstrap.difference_of_means(grades, is_own, questions, seed)
        line: dict[str, Any] = {**dict.fromkeys(RANKS), "model": model, "n": n, "questions": len(set(questions[:n]))}
        for name, estimate in estimates.items():
            line |= bootstrap.in_columns(name, estimate)
        lines.append(line)
    return lines


def r2_lines(ratings: Sequence[Grading]) -> list[dict[str, Any]]:
    """Return one line per predictor and variant of R² (columns `R2`); `r2` is None where a fit separates."""
    grades, high = [rating.rating for rating in ratings], [int(rating.rating >= HIGH) for rating in ratings]
    lines = []
    for name in PREDICTORS:
        values = [getattr(rating, name) for rating in ratings]
        if len(set(values)) < 2:
            continue  # nothing varies; the page says so
        columns = regression.dummies(values)
        ordinal = regression.proportional_odds_r2(grades, columns)
        binary = regression.logit_r2(high, columns) if len(set(high)) > 1 else None
        variants: dict[str, float | None] = {"least squares": regression.ols_r2(grades, columns)}
        if name in PRINTED:
            marks = np.array([[float(GRADES[value])] for value in values])
            variants["least squares on 0, 1, 2"] = regression.ols_r2(grades, marks)
        for which, label in (("mcfadden", "McFadden"), ("cox_snell", "Cox and Snell"), ("nagelkerke", "Nagelkerke")):
            variants[f"proportional odds, {label}"] = getattr(ordinal, which) if ordinal else None
            variants[f"binary logit, {label}"] = getattr(binary, which) if binary else None
        lines += [
            {"predictor": name, "variant": variant, "r2": value, "printed": PRINTED.get(name), "n": len(ratings)}
            for variant, value in variants.items()
        ]
    return lines


def odds(ratings: Sequence[Grading]) -> dict[str, Any] | None:
    """Return how often neutral and specific questions are rated high, and the odds ratio by several models.

    None if only one type is there, or all ratings are on one side of `HIGH`.
    """
    high, neutral = (
        [int(rating.rating >= HIGH) for rating in ratings],
        [int(rating.type == "agnostic") for rating in ratings],
    )
    if len(set(neutral)) < 2 or len(set(high)) < 2:
        return None
    shares: dict[str, Any] = {
        name: float(np.mean([is_high for is_high, kind in zip(high, neutral, strict=True) if kind == value]))
        for name, value in (("neutral", 1), ("specific", 0))
    }
    others = _dummies([rating.model for rating in ratings], [rating.language for rating in ratings])
    questions = [rating.question for rating in ratings]
    return {
        **shares,
        "times": shares["neutral"] / shares["specific"] if shares["specific"] else None,
        "logit": regression.odds_ratio(high, neutral),
        "logit with model and language": regression.odds_ratio(high, neutral, others),
        "GEE by question": regression.gee_odds_ratio(high, neutral, questions),
        "GEE by question, with model and language": regression.gee_odds_ratio(high, neutral, questions, others),
    }


def _dummies(*columns: Sequence[Hashable]) -> NDArray[np.float64] | None:
    varying = [regression.dummies(values) for values in columns if len(set(values)) > 1]
    return np.column_stack(varying) if varying else None
