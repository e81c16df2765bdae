"""Raw files of the five benchmarks with hard errors: BLEnD, CulturalBench, INCLUDE, GlobalOpinionQA, EPIC."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from bench.raw import places
from bench.raw.text import Prose, chosen, lengths, spread, tokens

BLEND_ROWS = 50_000
BLEND_QUESTIONS = 400  # per region
CULTURALBENCH_ROWS = 1_227
INCLUDE_ROWS = 22_637
OPINION_QUESTIONS, OPINION_PAIRS = 2_556, 46_244
EPIC_PAIRS, EPIC_ANNOTATIONS, EPIC_ANNOTATORS = 3_000, 14_172, 74
ASK = (
    " Without any explanation, choose only one from the given alphabet choices(e.g., A, B, C). "
    'Provide as JSON format: {"answer_choice":""}\n\n'
)


def write_csv(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """A CSV file as pandas writes it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = iter(rows)
    first = next(rows)
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(first)
        writer.writerow(first.values())
        writer.writerows(row.values() for row in rows)


def write_parquet(path: Path, columns: Mapping[str, Sequence[Any]], features: Any = None) -> None:
    """A Parquet file as the hub's: written by `datasets`, its features in the metadata."""
    import datasets

    path.parent.mkdir(parents=True, exist_ok=True)
    datasets.disable_progress_bars()
    datasets.Dataset.from_dict(dict(columns), features=features).to_parquet(path)


def blend(folder: Path, scale: float, rng: np.random.Generator) -> int:
    """About ten multiple-choice questions of every (region, question), with options that recur."""
    prose = Prose("English", rng)
    per_region = spread(round(BLEND_ROWS * scale), len(places.BLEND))
    questions = max(1, round(BLEND_QUESTIONS * scale))
    foods = prose.phrases(lengths(rng, 3000, 2, most=6), sentences=False)
    kinds = chosen(rng, ("Al-en", "Na-ko", "New-as", "Su-id", "Ge-cn"), questions)
    number = iter(range(10**9))

    def rows() -> Iterable[Mapping[str, Any]]:
        for region, count in zip(places.BLEND, per_region, strict=True):
            asked = prose.phrases(lengths(rng, questions, 10, least=6), sentences=False)
            offered = [rng.choice(len(foods), 4, replace=False).tolist() for _ in range(count)]
            keys, right = rng.integers(0, questions, count).tolist(), rng.integers(0, 4, count).tolist()
            for key, options, place in zip(keys, offered, right, strict=True):
                name = f"{kinds[key]}-{key:02d}"
                yield _blend_row(name, next(number), region, asked[key], [foods[o] for o in options], place)

    write_csv(folder / "data" / "mc_questions_file.csv", rows())
    return sum(per_region)


def _blend_row(key: str, number: int, region: str, asked: str, options: list[str], place: int) -> Mapping[str, Any]:
    choices = dict(zip("ABCD", options, strict=True))
    others = [name for name in places.BLEND if name != region]
    origins = {letter: others[(number + index) % len(others)] for index, letter in enumerate("ABCD")}
    question = f"What {asked} in {region.replace('_', ' ')}?"
    listed = "\n".join(f"{letter}. {option}" for letter, option in choices.items())
    return {
        "MCQID": f"{key}_{number}",
        "ID": key,
        "country": region,
        "prompt": f"{question}{ASK}{listed}\n\nAnswer:",
        "choices": json.dumps(choices, indent=4),
        "choice_countries": json.dumps(origins | {"ABCD"[place]: region}, indent=4),
        "answer_idx": "ABCD"[place],
    }


def culturalbench(folder: Path, scale: float, rng: np.random.Generator) -> int:
    """Questions in the regions' official shares; the answer is A in 54 of 100."""
    count, prose = max(1, round(CULTURALBENCH_ROWS * scale)), Prose("English", rng)
    questions = prose.questions(lengths(rng, count, 17, least=8))
    options = [prose.phrases(lengths(rng, count, 6, least=2)) for _ in range(4)]
    countries = chosen(rng, list(places.CULTURALBENCH), count, list(places.CULTURALBENCH.values()))
    answers = chosen(rng, "ABCD", count, (522, 201, 149, 99))
    rows = (
        {
            "data_idx": place + 1,
            "question_idx": place + 1,
            "prompt_question": question,
            **{f"prompt_option_{letter}": texts[place] for letter, texts in zip("abcd", options, strict=True)},
            "answer": answers[place],
            "country": countries[place],
        }
        for place, question in enumerate(questions)
    )
    write_csv(folder / "CulturalBench-Easy.csv", rows)
    return count


def include(folder: Path, scale: float, rng: np.random.Generator) -> int:
    """One Parquet file per language; a third of the rows is culture-agnostic."""
    counts = spread(round(INCLUDE_ROWS * scale), len(places.INCLUDE))
    for (language, country), count in zip(places.INCLUDE.items(), counts, strict=True):
        prose = Prose(language, rng)
        features = ("agnostic", "culture", "region explicit", "region implicit")
        columns = {
            "language": [language] * count,
            "country": [country] * count,
            "domain": chosen(rng, ("Social Science", "Arts & Humanities", "STEM", "Health", "Law"), count),
            "subject": chosen(rng, ("Sociology", "History", "Literature", "Biology", "Driving License"), count),
            "regional_feature": chosen(rng, features, count, (34, 13, 19, 34)),
            "level": chosen(rng, ("Academic", "High School", "Professional"), count),
            "question": prose.questions(lengths(rng, count, 17, least=8)),
            **{f"option_{letter}": prose.phrases(lengths(rng, count, 4, least=2)) for letter in "abcd"},
            "answer": rng.integers(0, 4, count).tolist(),
        }
        write_parquet(folder / language / "test-00000-of-00001.parquet", columns)
    return sum(counts)


def globalopinionqa(folder: Path, scale: float, rng: np.random.Generator) -> int:
    """Answer distributions by country as Python literals; most questions were asked in few countries."""
    count = max(4, round(OPINION_QUESTIONS * scale))
    prose, labels = Prose("English", rng), places.GLOBALOPINIONQA
    asked = _countries_asked(rng, count, max(count, round(OPINION_PAIRS * scale)), len(labels))
    questions = prose.questions(lengths(rng, count, 30, least=8))
    sizes = np.minimum(2 + rng.geometric(0.35, count), 14)
    texts = iter(prose.phrases(lengths(rng, int(sizes.sum()), 3, least=1, most=14), sentences=False))
    popular = 1 / (np.arange(len(labels)) + 10)
    refused, unasked = rng.random(count) < 0.7, rng.random(count) < 0.005

    def rows() -> Iterable[Mapping[str, Any]]:
        for place, question in enumerate(questions):
            options = [text.capitalize() for text in islice(texts, int(sizes[place]))]
            options += ["DK/Refused"] * bool(refused[place])
            drawn = rng.choice(len(labels), asked[place], replace=False, p=popular / popular.sum())
            shares = _shares(rng, len(drawn), len(options), bool(refused[place]))
            selections = {labels[label]: share for label, share in zip(sorted(drawn), shares, strict=True)}
            yield {
                "question": "" if unasked[place] else question,
                "selections": f"defaultdict(<class 'list'>, {selections})",
                "options": str(options),
                "source": "WVS" if place % 5 == 0 else "GAS",
            }

    write_csv(folder / "data" / "global_opinions.csv", rows())
    return count


def _countries_asked(rng: np.random.Generator, count: int, pairs: int, most: int) -> list[int]:
    """Countries per question: skewed, each at least one, `pairs` together."""
    asked = lengths(rng, count, pairs / count, most=most - 40)
    while missing := pairs - int(asked.sum()):
        at = rng.integers(0, count, abs(missing))
        np.add.at(asked, at, np.sign(missing))
        asked = np.clip(asked, 1, most - 20)
    return asked.tolist()


def _shares(rng: np.random.Generator, rows: int, options: int, refused: bool) -> list[list[float]]:
    """Percentages over their sum, so that they look as the official ones do ("0.10101010101010101")."""
    weights = rng.dirichlet(np.ones(options), rows)
    if refused:
        weights[:, -1] *= 0.15
    percent = np.rint(100 * weights / weights.sum(axis=1, keepdims=True)) + 0.0
    return (percent / percent.sum(axis=1, keepdims=True)).tolist()


def epic(folder: Path, scale: float, rng: np.random.Generator) -> int:
    """Four to five annotations of every pair, by annotators of five nationalities; 68 of 100 are "not"."""
    pairs = max(1, round(EPIC_PAIRS * scale))
    extra = max(0, min(pairs, round(EPIC_ANNOTATIONS * scale) - 4 * pairs))
    votes = np.where(rng.permutation(pairs) < extra, 5, 4)
    prose, annotators = Prose("English", rng), [_annotator(rng, number) for number in range(EPIC_ANNOTATORS)]
    replies, posts = (prose.phrases(lengths(rng, pairs, mean, least=3)) for mean in (18, 29))
    names, parents = tokens(rng, pairs, 14), tokens(rng, pairs, 14)
    order = np.argsort(rng.random((pairs, EPIC_ANNOTATORS)), axis=1)
    labels = iter(chosen(rng, ("not", "iro"), int(votes.sum()), (0.68, 0.32)))

    def rows() -> Iterable[Mapping[str, Any]]:
        for place in range(pairs):
            for who in order[place, : votes[place]].tolist():
                yield {
                    "user": f"Ann{who}",
                    "label": next(labels),
                    "id_original": names[place],
                    "text": replies[place].replace(". ", ".\n", 1) if place % 7 == 0 else replies[place],
                    "parent_id_original": parents[place],
                    "parent_text": posts[place],
                    "source": ("reddit", "twitter")[place % 2],
                    "language_instance": "en",
                    "language_variety": ("au", "gb", "ie", "in", "us")[place % 5],
                    **annotators[who],
                }

    write_csv(folder / "EPICorpus.csv", rows())
    return int(votes.sum())


def _annotator(rng: np.random.Generator, number: int) -> Mapping[str, str]:
    nation = places.EPIC[number % len(places.EPIC)]
    values = {
        "Age": str(rng.integers(18, 70)),
        "Sex": ("Female", "Male")[rng.integers(2)],
        "Ethnicity simplified": ("White", "Asian", "Black", "Mixed")[rng.integers(4)],
        **dict.fromkeys(("Country of birth", "Country of residence", "Nationality"), nation),
        "Student status": ("No", "Yes")[rng.integers(2)],
        "Employment status": ("Full-Time", "Part-Time")[rng.integers(2)],
        "Language_annotator": "English",
    }
    expired = rng.random(3) < 0.04
    hidden = [
        name for name, gone in zip(("Age", "Ethnicity simplified", "Student status"), expired, strict=True) if gone
    ]
    return values | dict.fromkeys(hidden, "DATA_EXPIRED")
