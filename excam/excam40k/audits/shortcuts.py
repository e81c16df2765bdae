"""Check that nothing about the form of a row predicts its label: words, characters, lengths, templates, copying.

For each dataset a logistic regression sees one view of a row (`views`) and predicts whether it is corrupted. It is
fitted on one half of the groups (a question, a battery of a survey) and asked about the other, both ways; views of
`IN_KNOWN_GROUPS` on one half of the base samples, so that it knows other countries' answers to the same question.
Construction fits no classifier, so it has seen neither half. If a view is the same in both rows of every pair, any
prediction is right in exactly one of them: the accuracy is 1/2 and nothing is fitted.

**The rule.** Scaled accuracy 2a - 1 gets a two-sided t interval over groups. A view is "at chance" only if the high end
of its 95 % interval is below `BOUND`. It "tells the label", and the check fails, if it is above chance even in an
interval that is so wide that all of an audit hold together with 95 % (Bonferroni: 1 - .05 / tests for each); else it is
"not decidable". With fewer groups than `fewest` says even perfect predictions could be chance (2 ** -groups); nor does
a classifier that calls all rows alike show anything in fewer than `ENOUGH`. An interval below 0 is no shortcut: a wrong
answer is chosen for being right elsewhere; this is called "below chance". What the words of an instruction tell is
reported and cannot fail: with the rows in pairs it can only be chance. So are an answer with its group, and words of
the instruction with the answer: which answer fits a text is what judges are asked, and may need no culture; and the
vector of the answer alone, where the experiment has an encoder (`answer_vectors`): a benchmark's own wrong options mean
other things than its right ones, which no rule mends. Table 4 asks that judges are above it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, log2
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from excam.excam40k import text_classifier
from excam.excam40k.audits import views
from excam.excam40k.audits.checks import Audit, Check, Outcome, by_dataset, in_splits
from excam.excam40k.text_classifier import Labels

LEVEL = 0.95  # of an interval that shows chance, and of all together that show a shortcut
BOUND = 0.15  # scaled accuracy; a view that may tell more is not at chance
ENOUGH = 100  # groups in which a classifier that calls all rows alike has shown that there is nothing to learn
SAME = "the same in both rows of every pair"

View = Callable[[pl.DataFrame], Sequence[Any]]
Matrix = Callable[[Sequence[Any]], Any]

AT_CHANCE: Mapping[str, tuple[View, Matrix]] = {
    "words": (views.words, text_classifier.word_matrix),
    "characters": (views.words, text_classifier.character_matrix),
    "lengths": (views.lengths, text_classifier.token_matrix),
    "punctuation": (views.punctuation, text_classifier.token_matrix),
    "templates": (views.templates, text_classifier.token_matrix),
    "lead-in": (views.lead_in, text_classifier.token_matrix),
    "option letter": (views.letter, text_classifier.token_matrix),
    "copied from the instruction": (views.copied, text_classifier.token_matrix),
}
IN_KNOWN_GROUPS: Mapping[str, tuple[View, Matrix]] = {
    "words, in known groups": (views.words, text_classifier.word_matrix),
    "answer": (views.answer, text_classifier.token_matrix),
}
IN_ITS_GROUP = "answer in its group", views.answer_in_group, text_classifier.token_matrix
REPORTED: Mapping[str, tuple[View, Matrix]] = {
    "words of the instruction": (lambda rows: rows["instruction"].to_list(), text_classifier.word_matrix),
    "instruction with the answer": (views.asked_and_answered, text_classifier.token_matrix),
}

Verdict = Literal["at chance", "below chance", "tells the label", "not decidable"]


@dataclass(frozen=True, slots=True)
class ShortcutScore:
    """How well one view predicts the label in one dataset. `sums`, `sizes`: right minus wrong predictions, rows, per
    group.
    """

    dataset: str
    view: str
    how: str
    sums: NDArray[np.float64]
    sizes: NDArray[np.float64]

    def interval(self, level: float) -> tuple[float, float, float]:
        """Return the scaled accuracy with the t interval of a ratio of sums over independent groups."""
        return text_classifier.interval(self.sums, self.sizes, level)


def audit(rows: pl.DataFrame, encoded: Mapping[str, tuple[View, Matrix]] = MappingProxyType({})) -> Audit:
    """Return every view in every dataset. `rows` have their `part`; `encoded`: the view of an encoder, if any."""
    required, reported = [], []
    for _, group in by_dataset(in_splits(rows)):
        for view, functions in AT_CHANCE.items():
            required += _test(group, view, *functions)
        for view, functions in IN_KNOWN_GROUPS.items():
            required += _test(group, view, *functions, unit="base")
        for view, functions in {**REPORTED, **encoded}.items():
            reported += _test(group, view, *functions)
        for view, functions in encoded.items():
            reported += _test(group, f"{view}, in known groups", *functions, unit="base")
        # Where annotators judge one text (EPIC) this is what the others said, which is no fault of the rows
        reported += _test(group, *IN_ITS_GROUP, unit="base")
    checks = [_check(result, len(required)) for result in required]
    checks += [_check(result, len(required), fails=False) for result in reported]
    note = f"An interval has a confidence of {LEVEL:.0%}; at chance: its high end is below {BOUND:g}. A view tells the "
    note += f"label if it is above chance at a confidence of {_all_together(len(required)):.2%}: {LEVEL:.0%} for all "
    note += f"{len(required)} tests together. Scaled accuracy: 0 is chance, 1 is always right."
    tables = {"Must be at chance": _table(required, len(required)), "Reported": _table(reported, len(required))}
    return Audit("shortcuts", tuple(checks), tables, (note,))


def _all_together(tests: int) -> float:
    """Return the confidence of one interval so that all of them hold together with `LEVEL`."""
    return 1 - (1 - LEVEL) / max(tests, 1)


def _test(
    rows: pl.DataFrame, view: str, show: View, matrix_of: Matrix, unit: Literal["group", "base"] = "group"
) -> list[ShortcutScore]:
    """Test one view of one dataset, a half of its units by the other one; none if no row shows anything."""
    tokens_of_rows = show(rows)
    there = [place for place, tokens in enumerate(tokens_of_rows) if tokens]
    rows, token_rows = rows[there], [tokens_of_rows[place] for place in there]
    wrong = (rows["origin"] != "source").to_numpy()
    if not there or wrong.all() or not wrong.any():
        return []
    if _same_in_pairs(rows["pair"].to_list(), token_rows, wrong):
        how, hits = SAME, ~wrong
    else:
        how, guesses = _guess(rows[unit], matrix_of(token_rows), wrong)
        hits = guesses == wrong
    sums, sizes = text_classifier.by_group(rows["group"].to_numpy(), hits)
    return [ShortcutScore(str(rows["dataset"][0]), view, how, sums, sizes)]


def _same_in_pairs(pairs: Sequence[str], token_rows: Sequence[Any], wrong: Labels) -> bool:
    sides: dict[str, list[Any]] = {}
    for pair, tokens, is_wrong in zip(pairs, token_rows, wrong, strict=True):
        sides.setdefault(pair, []).append((bool(is_wrong), tokens))
    return all(len(two) == 2 and two[0][0] != two[1][0] and two[0][1] == two[1][1] for two in sides.values())


def _guess(units: pl.Series, matrix: Any, wrong: Labels) -> tuple[str, Labels]:
    """Return whether each row is called wrong by a classifier that was fitted on the other half of the units."""
    guesses = np.zeros(len(units), dtype=np.bool_)
    halves = list(text_classifier.halves(units.to_numpy()))
    for learned, tested in halves:
        guesses[tested] = _fit_guess(matrix, wrong, learned, tested)
    return f"halves of the {units.name}s" if halves else f"one {units.name}", guesses


def _fit_guess(matrix: Any, wrong: Labels, learned: NDArray[np.intp], tested: NDArray[np.intp]) -> Labels:
    if len(set(wrong[learned])) < 2:
        return np.full(len(tested), wrong[learned][0])
    return np.asarray(text_classifier.fit(matrix[learned], wrong[learned]).predict(matrix[tested]), dtype=np.bool_)


def verdict(result: ShortcutScore, tests: int) -> Verdict:
    """Return what is known of one view, of `tests` that are judged together."""
    if result.how == SAME:
        return "at chance"
    if not result.sums.any() and len(result.sums) < ENOUGH:
        return "not decidable"
    _, _, high = result.interval(LEVEL)
    if high < 0:
        return "below chance"
    if len(result.sums) >= fewest(tests):
        if high < BOUND:
            return "at chance"
        if result.interval(_all_together(tests))[1] > 0:
            return "tells the label"
    return "not decidable"


def fewest(tests: int) -> int:
    """Return the number of groups below which all-correct predictions could be chance, at the confidence of one of
    `tests` tests.
    """
    return ceil(log2(tests / (1 - LEVEL)))


def _check(result: ShortcutScore, tests: int, *, fails: bool = True) -> Check:
    scaled, low, high = result.interval(LEVEL)
    numbers = f"{scaled:.3f} [{low:.3f}, {high:.3f}]"
    size = f"n={int(result.sizes.sum())} in {len(result.sums)} groups"
    judged = verdict(result, tests)
    observed = f"{numbers}: not decidable at {size}" if judged == "not decidable" else f"{numbers}, {size}: {judged}"
    expected = f"an interval ({LEVEL:.0%}) below {BOUND:g}" if fails else "nothing, reported"
    outcomes: dict[Verdict, Outcome] = {
        "tells the label": "failed" if fails else "reported",
        "not decidable": "not decidable",
    }
    return Check(f"at chance: {result.view}", result.dataset, observed, expected, outcomes.get(judged, "passed"))


def _table(results: Sequence[ShortcutScore], tests: int) -> pl.DataFrame:
    columns = ("dataset", "view", "scaled accuracy", "low", "high", "n", "groups", "how", "verdict")
    lines = []
    for result in results:
        numbers = (*result.interval(LEVEL), int(result.sizes.sum()), len(result.sums))
        lines.append((result.dataset, result.view, *numbers, result.how, verdict(result, tests)))
    return pl.DataFrame(lines, schema=columns, orient="row")
