"""Do words alone tell which rows of a data set are wrong? With nothing of the project's own audits.

    python -m bench.words_only results/excam40k

For each data set below a folder: logistic regression on words and pairs of words of the outputs, and on characters,
fitted on some groups of rows and asked about the others (five folds, in three divisions), scaled accuracy
2 * accuracy - 1, and where it lies in 95 % of bootstrap draws of the groups. Rows are read from `train.parquet`,
`dev.parquet` and `test.parquet`; a row is wrong if its `origin` is not "source".
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedGroupKFold, cross_val_predict
from sklearn.pipeline import make_pipeline

from excam.core import tables
from scripts import run

DIVISIONS = 3
DRAWS = 2000
VIEWS = {
    "words": {"ngram_range": (1, 2), "token_pattern": r"\w+"},
    "characters": {"analyzer": "char", "ngram_range": (2, 4)},
}


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="results/excam40k of a run")
    args = parser.parse_args(argv)
    for folder in sorted(path.parent for path in args.folder.glob("*/test.parquet")):
        parts = [tables.read_frame(folder / f"{part}.parquet") for part in ("train", "dev", "test")]
        rows = pl.concat([part.select("output", "group", "origin") for part in parts])
        line = f"{folder.name}: {len(rows)} rows in {rows['group'].n_unique()} groups"
        for view, settings in VIEWS.items():
            line += f"; {view} {_measured(rows, settings)}"
        sys.stdout.write(f"{line}\n")


def _measured(rows: pl.DataFrame, settings: Mapping[str, Any]) -> str:
    texts, groups = rows["output"].to_list(), rows["group"].to_numpy()
    wrong = (rows["origin"] != "source").to_numpy()
    if len(set(groups)) < 5:
        return "too few groups"
    model = make_pipeline(TfidfVectorizer(sublinear_tf=True, **settings), LogisticRegression(C=10, max_iter=1000))
    hits = np.zeros(len(rows))
    for number in range(DIVISIONS):
        division = StratifiedGroupKFold(5, shuffle=True, random_state=number)
        guesses = cross_val_predict(model, texts, wrong, groups=groups, cv=division)
        hits += np.where(guesses == wrong, 1, -1) / DIVISIONS
    _, number_of = np.unique(groups, return_inverse=True)
    sums, sizes = np.bincount(number_of, weights=hits), np.bincount(number_of)
    chance = np.random.default_rng(1)
    drawn = chance.integers(len(sums), size=(DRAWS, len(sums)))
    low, high = np.quantile(sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1), [0.025, 0.975])
    return f"{hits.mean():.3f} [{low:.3f}, {high:.3f}]"


if __name__ == "__main__":
    run(main)
