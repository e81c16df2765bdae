"""Multiple-choice questions built from BLEnD's annotations, where there are no official ones.

The right option is the region's top answer; the others are answers of other regions that are wrong there (`_asked.py`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable

import polars as pl

from excam.excam40k.datasets._annotations import Annotations, Meaning
from excam.excam40k.datasets._asked import Asked
from excam.excam40k.datasets._cells import clean_columns, identifier
from excam.excam40k.datasets._exchanged import exchange

CHOICES = {"options": pl.List(pl.String), "answer": pl.String}
MOST_BUILT = 3  # questions of one (region, question), with different wrong options
MOST_WRONG, _LEAST_WRONG = 3, 2  # options beside the right one

Built = tuple[list[str], str | None, str | None]  # options, the right one, or why there are none


def build_questions(
    dataset: str,
    annotations: Annotations,
    question_of: Callable[[str], Asked],
    official: Collection[tuple[str, str]],
    least_votes: int,
) -> pl.DataFrame:
    """Return a frame with up to three rows for each annotated (region, question) without official ones.

    `before` is the reason to drop a row; a question that cannot be built has one row. The id of a second row ends
    in 2, of a third one in 3.
    """
    rows = [
        (annotations.files[region], region, key, annotations.records[key][region].question, questions)
        for key in annotations.records
        for region, questions in _build(question_of(key), list(annotations.records[key]), key, official, least_votes)
    ]
    return built_frame(dataset, "built", rows)


def built_frame(dataset: str, kind: str, rows: Iterable[tuple[str, str, str, str, list[Built]]]) -> pl.DataFrame:
    """Return a frame of built questions from file, region, key, question and choices; ids begin with `kind`."""
    placed = [(*of, str(place), *built) for *of, questions in rows for place, built in enumerate(questions, 1)]
    names = dict.fromkeys(("_file", "region", "group", "question", "place"), pl.String)
    frame = pl.DataFrame(placed, {**names, **CHOICES, "before": pl.String}, orient="row")
    frame = clean_columns(frame, ("question", *CHOICES))
    parts = [pl.lit(kind), pl.col("region"), pl.col("group")]
    ids = pl.when(pl.col("place") == "1").then(identifier(dataset, *parts))
    return frame.with_columns(id=ids.otherwise(identifier(dataset, *parts, pl.col("place"))))


def _build(
    answers: Asked, regions: list[str], key: str, official: Collection[tuple[str, str]], least_votes: int
) -> list[tuple[str, list[Built]]]:
    """Return the built questions of each region.

    In every round regions exchange their right answers (`_exchanged.py`): each takes one that is wrong there and that
    it had not before, so that what stands in wrong rows can stand in right rows as often. Other options are those least
    used, as is the first one of a region with which none exchanges.
    """
    regions = [region for region in regions if (region, key) not in official]
    right = {region: answers.right(region, least_votes) for region in regions}
    used = Counter[str]()
    wrong = {
        region: answers.wrong(region, answer, used) for region, answer in right.items() if isinstance(answer, Meaning)
    }
    built: defaultdict[str, list[Built]] = defaultdict(list)
    for region, answer in right.items():
        if not isinstance(answer, Meaning):
            built[region].append(([], None, answer))
        elif len(wrong[region]) < _LEAST_WRONG:
            built[region].append(([], None, "too-few-distractors"))
    left = {region: list(texts) for region, texts in wrong.items() if region not in built}
    texts = {region: answer.wordings[0] for region, answer in right.items() if isinstance(answer, Meaning)}
    for _ in range(MOST_BUILT):
        rows = [{"id": region, "answer": texts[region], "wrong": those} for region, those in left.items()]
        exchanged = exchange(rows)
        for region, those in left.items():
            if not those:
                continue
            taken = exchanged.get(region, those[0])
            others = sorted((text for text in wrong[region] if text != taken), key=lambda text: used[text])
            chosen = [taken, *others[: MOST_WRONG - 1]]
            used.update(chosen)
            left[region].remove(taken)
            built[region].append((sorted([texts[region], *chosen], key=str.casefold), texts[region], None))
    return list(built.items())
