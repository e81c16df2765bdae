"""Check that templates, lead-ins, lengths, letters and text copied from the instruction do not predict the label.

For each dataset a logistic regression sees one view of a row (`views`) and predicts whether it is corrupted. It is
trained on train and dev and tested on test; if the test set has fewer than `ENOUGH` groups, on all rows by
cross-validation over groups. If a view is the same in both rows of every pair, any prediction is right in exactly one
of them: the accuracy is 1/2 and nothing is fitted.

**The rule.** Scaled accuracy 2a - 1 gets a two-sided t interval over groups. Its confidence is 95 % for all tests of an
audit together (Bonferroni: 1 - .05 / tests for each). A view "tells the label", and fails, if the interval is entirely
above 0; a view of `TOLERATED` fails above that value and is reported below it. An interval below 0 is no shortcut: if a
trait is balanced over the dataset, an excess in train is a lack in test; this is called "below chance". An interval
that reaches up to 1 excludes nothing, and with fewer groups than `fewest` says even perfect predictions could be chance
(2 ** -groups): both are "not decidable". The n-grams are reported and cannot fail: content is not a shortcut, but a
high number shows how much one text tells without the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, log2, sqrt
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from excam.excam40k.audits import views
from excam.excam40k.audits.checks import PARTS, Audit, Check, Outcome

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
    "copied from the instruction": views.copied,
}
TOLERATED = {"copied from the instruction": 0.1}  # a right answer has a word of its question a little more often
REPORTED = {"n-grams of the output": "output", "n-grams of the instruction": "instruction"}

Labels = NDArray[np.bool_]
Verdict = Literal["at chance", "below chance", "tells the label", "not decidable"]
Guesses = tuple[NDArray[np.intp], Labels]  # places of the rows that were tested, and whether each was guessed wrong


@dataclass(frozen=True, slots=True)
class Found:
    """How well one view predicts the label in one dataset. `sums`, `sizes`: right minus wrong predictions, rows, per
    group.
    """

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
        """Return the t interval of `scaled_accuracy_of_sums`, a ratio of sums over independent groups."""
        from scipy.stats import t

        groups = len(self.sums)
        if groups < 2:
            return -1.0, 1.0
        rest = self.sums - self.scaled * self.sizes
        error = sqrt(groups / (groups - 1) * float(rest @ rest)) / float(self.sizes.sum())
        half = float(t.ppf((1 + level) / 2, groups - 1)) * error
        return max(-1.0, self.scaled - half), min(1.0, self.scaled + half)


def audit(rows: pl.DataFrame) -> Audit:
    """Return every view in every dataset. `rows` have their `part`."""
    found, reported = [], []
    for (_,), own in rows.filter(pl.col("part").is_in(PARTS)).group_by("dataset", maintain_order=True):
        for view, tokens_of in AT_CHANCE.items():
            found += _test(own, view, tokens_of(own))
        for view, field in REPORTED.items():
            reported += _test(own, view, own[field].str.slice(0, LONGEST).to_list())
    level = 1 - (1 - LEVEL) / max(len(found), 1)
    checks = [_check(one, level, len(found), TOLERATED.get(one.view, 0)) for one in found]
    checks += [_check(one, level, len(found), 1) for one in reported]
    note = f"An interval has a confidence of {level:.2%}: {LEVEL:.0%} for all {len(found)} tests together. "
    note += "Scaled accuracy: 0 is chance, 1 is always right. A view may tell as much as the high end of its interval: "
    note += "with few rows, 'at chance' says little."
    tables = {
        "Must be at chance": _table(found, level, len(found)),
        "Reported: n-grams": _table(reported, level, len(found)),
    }
    return Audit("shortcuts", tuple(checks), tables, (note,))


def _test(rows: pl.DataFrame, view: str, shown: Sequence[Any]) -> list[Found]:
    """Test one view of one dataset; None if no row shows anything."""
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
    """Return predictions for rows that were not trained on."""
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
    return np.asarray(fit_classifier(matrix[learned], wrong[learned]).predict(matrix[tested]), dtype=np.bool_)


def fit_classifier(matrix: Any, labels: Labels) -> LogisticRegression:
    """Return the classifier of every shortcut and trivial baseline; `labels` holds both classes."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(solver="liblinear", random_state=0).fit(matrix, labels)


def matrix_of(shown: Sequence[Any]) -> Any:
    """Return one sparse row per row: its tokens; for a text the words, word pairs and short character n-grams.

    It is made from all rows at once: it uses no label, and a token that no training row has gets no weight.
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


def verdict(found: Found, level: float, tests: int) -> Verdict:
    """Return what the interval says of one view."""
    if found.how == SAME:
        return "at chance"
    low, high = found.interval(level)
    if high < 0:
        return "below chance"
    if len(found.sums) < fewest(tests) or (low <= 0 and high >= 1):
        return "not decidable"
    return "tells the label" if low > 0 else "at chance"


def fewest(tests: int) -> int:
    """Return the number of groups below which all-correct predictions could be chance, at the confidence of one of
    `tests` tests.
    """
    return ceil(log2(tests / (1 - LEVEL)))


def _check(found: Found, level: float, tests: int, tolerated: float) -> Check:
    low, high = found.interval(level)
    text = f"{found.scaled:.3f} [{low:.3f}, {high:.3f}], n={int(found.sizes.sum())} in {len(found.sums)} groups"
    judged = verdict(found, level, tests)
    expected = f"an interval ({level:.2%}) that reaches down to {tolerated:g}" if tolerated < 1 else "nothing, reported"
    telling: Outcome = "failed" if low > tolerated else "reported"
    outcomes: dict[Verdict, Outcome] = {"tells the label": telling, "not decidable": "not decidable"}
    outcome = outcomes.get(judged, "passed")
    return Check(f"at chance: {found.view}", found.dataset, f"{text}: {judged}", expected, outcome)


def _table(found: Sequence[Found], level: float, tests: int) -> pl.DataFrame:
    columns = ("dataset", "view", "scaled accuracy", "low", "high", "n", "groups", "how", "verdict")
    lines = []
    for one in found:
        low, high = one.interval(level)
        numbers = (one.scaled, low, high, int(one.sizes.sum()), len(one.sums))
        lines.append((one.dataset, one.view, *numbers, one.how, verdict(one, level, tests)))
    return pl.DataFrame(lines, schema=columns, orient="row")
