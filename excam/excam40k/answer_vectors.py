"""Answers as vectors of a sentence encoder: what meaning alone tells, to an audit and as a trivial baseline."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from excam.core import tables
from excam.excam40k.audits import views

NAME = "encoder"

Shown = Mapping[str, tuple[Callable[[pl.DataFrame], Sequence[Any]], Callable[[Sequence[Any]], Any]]]


def as_frame(rows: pl.DataFrame, encode: Callable[[Sequence[str], str], np.ndarray]) -> pl.DataFrame:
    """Return each answer of rows once, without its template, with its vector: no question, no options."""
    answers = sorted(set(views.answers(rows)))
    return pl.DataFrame({"answer": answers, "vector": encode(answers, "answers").astype(np.float32)})


def shown(path: Path | None) -> Shown:
    """Return the view of a file of answers and how it becomes a matrix, by its name; nothing without a file."""
    if path is None:
        return {}
    frame = tables.read_frame(path)
    vectors, row_of = frame["vector"].to_numpy(), {answer: at for at, answer in enumerate(frame["answer"])}
    return {NAME: (views.answers, lambda answers: vectors[[row_of[answer] for answer in answers]])}
