"""Multiple-choice questions built from BLEnD's annotations, where there are no official ones.

The right option is the region's top answer; the others are answers of other regions that are wrong there (`_asked.py`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable

import polars as pl

from excam.excam40k.datasets._annotations import Annotations
from excam.excam40k.datasets._asked import Asked
from excam.excam40k.datasets._cells import clean_columns, digest, identifier

CHOICES = {"options": pl.List(pl.String), "answer": pl.String}
MOST_BUILT = 3  # questions of one (region, question), with different wrong options
MOST_WRONG, _LEAST_WRONG = 3, 2  # options beside the right one

Built = tuple[list[str], str | None, str | None]  # options, the right one, or why there are none


def build_questions(
    dataset: str,
    annotations: Annotations,
    asked: Callable[[str], Asked],
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
        for region, questions in _build(asked(key), list(annotations.records[key]), key, official, least_votes)
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
    asked: Asked, regions: list[str], key: str, official: Collection[tuple[str, str]], least_votes: int
) -> list[tuple[str, list[Built]]]:
    """Return the built questions of each region, in an order by hash.

    A wrong answer is taken that was taken least often, beyond the regions where it is right: what stands in wrong rows
    stands in right rows as often.
    """
    regions = sorted((each for each in regions if (each, key) not in official), key=lambda each: digest(key, each))
    right = {region: asked.right(region, least_votes) for region in regions}
    used = Counter[str]()
    for answer in right.values():
        if not isinstance(answer, str):
            used[answer.wordings[0]] -= MOST_WRONG
    built: defaultdict[str, list[Built]] = defaultdict(list)
    for region, answer in right.items():
        if isinstance(answer, str):
            built[region].append(([], None, answer))
            continue
        wrong = asked.wrong(region, answer, used)
        for start in range(0, MOST_BUILT * MOST_WRONG, MOST_WRONG):
            chosen = wrong[start : start + MOST_WRONG]
            if len(chosen) >= _LEAST_WRONG:
                text = answer.wordings[0]
                built[region].append((sorted([text, *chosen], key=str.casefold), text, None))
                used.update(chosen)
        if not built[region]:
            built[region].append(([], None, "too-few-distractors"))
    return list(built.items())
