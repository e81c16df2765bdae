"""Can the label be told from what is no culture: templates, lead-ins, lengths, letters? (spec 17)

Per dataset a logistic regression sees one view of a row (`views`) and guesses whether it is wrong. It learns from train
and dev and is tested on test; where the test set has fewer than `ENOUGH` groups, on all rows by cross-validation, whole
groups held out. Where a view is the same in both rows of every pair, any guess is right in exactly one of them: the
accuracy is 1/2 and nothing is fitted.

**The rule.** Scaled accuracy 2a - 1 gets a two-sided t interval whose unit is the group. Its confidence is 95 % for
all tests of an audit together (Bonferroni: 1 - .05 / tests for each). A view fails where the whole interval lies above
0: it tells the label. An interval below 0 is no shortcut: where a trait is even over the whole dataset, what train has
too much of, test has too little of; it is called "below chance". With fewer groups than `fewest` says, even perfect
guesses could be luck (2 ** -groups), and the verdict is "too few groups". The n-grams are reported and cannot fail:
what a text says is not the same as a shortcut, but a high number tells how far one gets without the other text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, log2, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from excam.audits import views
from excam.audits.checks import PARTS, Audit, Check

if TYPE_CHECKING:
    from sklearn.linear_model import LogisticRegression

LEVEL = 0.95  # of all intervals together
ENOUGH = 100  # groups of a test set; with fewer, cross-validation over all rows
FOLDS = 5
SAME = "the same in both rows of every pair"
LONGEST = 1500  # characters of a text that n-grams are taken from

AT_CHANCE: Mapping[str, views.View] = {
    "templates": views.templates,
    "lead-in": views.lead_in,
    "lengths": views.lengths,
    "option letter": views.letter,
}
REPORTED = {"n-grams of the output": "output", "n-grams of the instruction": "instruction"}

Labels = NDArray[np.bool_]
Guesses = tuple[NDArray[np.intp], Labels]  # places of the rows that were tested, and whether each was guessed wrong


@dataclass(frozen=True, slots=True)
class Found:
    """How well one view tells the label in one dataset. `sums`, `sizes`: right minus wrong guesses, rows, per group."""

    dataset: str
    view: str
    how: str
    sums: NDArray[np.float64]
    sizes: NDArray[np.float64]

    @property
    def scaled(self) -> float:
        """Right minus wrong guesses over rows: 2 * accuracy - 1."""
        return float(self.sums.sum() / self.sizes.sum())

    def interval(self, level: float) -> tuple[float, float]:
        """The t interval of `scaled`, a ratio of sums over independent groups."""
        from scipy.stats import t

        groups = len(self.sums)
        if groups < 2:
            return -1.0, 1.0
        rest = self.sums - self.scaled * self.sizes
        error = sqrt(groups / (groups - 1) * float(rest @ rest)) / float(self.sizes.sum())
        half = float(t.ppf((1 + level) / 2, groups - 1)) * error
        return max(-1.0, self.scaled - half), min(1.0, self.scaled + half)


def audit(rows: pl.DataFrame) -> Audit:
    """Every view in every dataset. `rows` have their `part`."""
    found, reported = [], []
    for (_,), own in rows.filter(pl.col("part").is_in(PARTS)).group_by("dataset", maintain_order=True):
        for view, tokens_of in AT_CHANCE.items():
            found += _test(own, view, tokens_of(own))
        for view, field in REPORTED.items():
            reported += _test(own, view, own[field].str.slice(0, LONGEST).to_list())
    level = 1 - (1 - LEVEL) / max(len(found), 1)
    checks = tuple(_check(one, level, len(found)) for one in found)
    note = f"An interval has a confidence of {level:.2%}: {LEVEL:.0%} for all {len(found)} tests together. "
    note += "Scaled accuracy: 0 is chance, 1 is always right. A view may tell as much as the high end of its interval: "
    note += "with few rows, 'at chance' says little."
    tables = {
        "Must be at chance": _table(found, level, len(found)),
        "Reported: n-grams": _table(reported, level, len(found)),
    }
    return Audit("shortcuts", checks, tables, (note,))


def _test(rows: pl.DataFrame, view: str, shown: Sequence[Any]) -> list[Found]:
    """One view of one dataset; nothing where no row shows anything."""
    there = [place for place, tokens in enumerate(shown) if tokens]
    rows, shown = rows[there], [shown[place] for place in there]
    wrong = (rows["origin"] != "source").to_numpy()
    if not there or wrong.all() or not wrong.any():
        return []
    if _same_in_pairs(rows["pair"].to_list(), shown, wrong):
        how, tested, hits = SAME, np.arange(len(shown)), ~wrong
    else:
        how, (tested, guesses) = _guess(rows, shown, wrong)
        hits = guesses == wrong[tested]
    group = rows["group"].to_numpy()[tested]
    _, number = np.unique(group, return_inverse=True)
    sums = np.bincount(number, weights=np.where(hits, 1.0, -1.0)).astype(np.float64)
    return [Found(str(rows["dataset"][0]), view, how, sums, np.bincount(number).astype(np.float64))]


def _same_in_pairs(pairs: Sequence[str], shown: Sequence[Any], wrong: Labels) -> bool:
    sides: dict[str, list[Any]] = {}
    for pair, tokens, is_wrong in zip(pairs, shown, wrong, strict=True):
        sides.setdefault(pair, []).append((bool(is_wrong), tokens))
    return all(len(two) == 2 and two[0][0] != two[1][0] and two[0][1] == two[1][1] for two in sides.values())


def _guess(rows: pl.DataFrame, shown: Sequence[Any], wrong: Labels) -> tuple[str, Guesses]:
    """Guesses about rows that were not learned from."""
    matrix, test, groups = matrix_of(shown), (rows["part"] == "test").to_numpy(), rows["group"].to_numpy()
    if len(set(groups[test])) >= ENOUGH:
        tested = np.flatnonzero(test)
        return "train and dev, tested on test", (tested, _fit_guess(matrix, wrong, np.flatnonzero(~test), tested))
    from sklearn.model_selection import GroupKFold

    guesses = np.zeros(len(shown), dtype=np.bool_)
    folds = min(FOLDS, len(set(groups)))
    if folds < 2:
        return "one group", (np.arange(len(shown)), guesses)
    for learned, tested in GroupKFold(folds).split(np.zeros(len(shown)), groups=groups):
        guesses[tested] = _fit_guess(matrix, wrong, learned, tested)
    return f"{folds} folds over all rows", (np.arange(len(shown)), guesses)


def _fit_guess(matrix: Any, wrong: Labels, learned: NDArray[np.intp], tested: NDArray[np.intp]) -> Labels:
    if len(set(wrong[learned])) < 2:
        return np.full(len(tested), wrong[learned][0])
    return np.asarray(fitted(matrix[learned], wrong[learned]).predict(matrix[tested]), dtype=np.bool_)


def fitted(matrix: Any, labels: Labels) -> LogisticRegression:
    """The classifier of every shortcut and floor; `labels` holds both classes."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(solver="liblinear", random_state=0).fit(matrix, labels)


def matrix_of(shown: Sequence[Any]) -> Any:
    """A sparse row per row: its tokens; of a text the words, pairs of words and short runs of characters in it.

    Made from all rows at once: it uses no label, and what no learned row has gets no weight.
    """
    from scipy.sparse import hstack
    from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

    if not isinstance(shown[0], str):
        return CountVectorizer(analyzer=_as_they_are, binary=True).fit_transform(shown)  # pyright: ignore # a function
    settings = {"sublinear_tf": True, "min_df": 2}
    words = TfidfVectorizer(ngram_range=(1, 2), token_pattern=r"\w+", **settings)  # noqa: S106
    characters = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4), **settings)
    return hstack([words.fit_transform(shown), characters.fit_transform(shown)], format="csr")


def _as_they_are(tokens: list[str]) -> list[str]:
    return tokens


def verdict(found: Found, level: float, tests: int) -> str:
    """What the interval says of one view."""
    if found.how == SAME:
        return "at chance"
    low, high = found.interval(level)
    if low > 0:
        return "tells the label" if len(found.sums) >= fewest(tests) else "too few groups"
    if high < 0:
        return "below chance"
    return "at chance" if len(found.sums) >= fewest(tests) else "too few groups"


def fewest(tests: int) -> int:
    """Groups below which even guesses that are all right could be luck, at the confidence of one of `tests` tests."""
    return ceil(log2(tests / (1 - LEVEL)))


def _check(found: Found, level: float, tests: int) -> Check:
    low, high = found.interval(level)
    text = f"{found.scaled:.3f} [{low:.3f}, {high:.3f}], n={int(found.sizes.sum())} in {len(found.sums)} groups"
    said = verdict(found, level, tests)
    expected = f"an interval ({level:.2%}) that reaches down to 0"
    return Check(f"at chance: {found.view}", found.dataset, f"{text}: {said}", expected, said != "tells the label")


def _table(found: Sequence[Found], level: float, tests: int) -> pl.DataFrame:
    columns = ("dataset", "view", "scaled accuracy", "low", "high", "n", "groups", "how", "verdict")
    lines = []
    for one in found:
        low, high = one.interval(level)
        numbers = (one.scaled, low, high, int(one.sizes.sum()), len(one.sums))
        lines.append((one.dataset, one.view, *numbers, one.how, verdict(one, level, tests)))
    return pl.DataFrame(lines, schema=columns, orient="row")
