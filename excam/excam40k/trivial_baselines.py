"""Trivial baselines: measures of scores that use no judgement of culture, on a test set (beside ExCAM's Table 4).

- **constant**: one answer and one score for every row; the answer is the more frequent one of the test set itself, so
  that no constant gets more. Its tie-calibrated accuracy is the share of pairs that the gold scores tie; it has no
  tau-b.
- **length-only**, **words-only**, **template-only**: a logistic regression that is shown lengths, the words of the
  output without its instruction, or the ids of the paraphrases, and nothing else (`audits.views`), fitted on the train
  and dev rows of the dataset; of every dataset together for `all`. **encoder**, where the experiment has one, is shown
  the vector of the answer alone in their place (`answer_vectors`).
  Its score is the probability that it gives to "no error", its answer is the more probable one.
- **vote-of-others**, where labels are those of single annotators (EPIC): the label that most other annotators of the
  text chose. It is no baseline to be above, but what a judge reaches that knows everything except the one annotator.
- **share of words**, **question where the answer stands**, where a judge reads documents: floors that read the same
  passages, without a threshold to fit. No baselines for judges without documents.
- **random**: the gold scores themselves in another order: as many errors, as grave, in the wrong places. The mean of
  `DRAWS` seeded orders; its interval holds 95 % of them, which is what chance alone reaches.

Intervals of the others are those of every cell: 95 %, over groups.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import polars as pl
from numpy.typing import NDArray

from excam.config.experiment import BY_DOCUMENTS
from excam.error_reports.floors import FLOORS
from excam.excam40k import answer_vectors, text_classifier
from excam.excam40k.agreement import chance_of_no_error
from excam.excam40k.audits import shortcuts
from excam.stats import accuracy, correlation

DRAWS = 200  # orders of the gold scores
FITTED: Mapping[str, tuple[shortcuts.View, shortcuts.Matrix]] = {
    "length-only": shortcuts.AT_CHANCE["lengths"],
    "words-only": shortcuts.AT_CHANCE["words"],
    "template-only": shortcuts.AT_CHANCE["templates"],
}
VOTE = "vote-of-others"
WORDS_HELD, QUESTION_HELD = FLOORS
RULES: Mapping[str, str] = {
    "constant": "the test set's more frequent answer for every row",
    "length-only": "logistic regression on lengths, fitted on train and dev",
    "words-only": "logistic regression on the words of the output, fitted on train and dev",
    "template-only": "logistic regression on paraphrase ids, fitted on train and dev",
    answer_vectors.NAME: "logistic regression on the answer's vector by a sentence encoder, fitted on train and dev",
    VOTE: "the label that most other annotators of the text chose; no baseline, the most that can be known",
    WORDS_HELD: "an error, if a content word of the answer stands in no passage of the judge with documents",
    QUESTION_HELD: "an error, if more of the question stands in another sentence of these passages than in that with "
    "the answer",
    "random": f"the gold scores in another order; mean of {DRAWS}, and where 95 % of them lie",
}
NAMES = tuple(RULES)

Scores = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class TrivialBaseline:
    """One trivial baseline of one test set. None: the measure is undefined for it, or there were no two gold scores to
    order.
    """

    floor: str
    scaled_accuracy: float
    low: float
    high: float
    kendall_b: float | None
    tie_calibrated_accuracy: float | None
    n: int
    groups: int


def measure_baselines(
    learned: pl.DataFrame,
    tested: pl.DataFrame,
    seed: int,
    agreement: Mapping[str, float] | None = None,
    heights: Mapping[str, Mapping[str, float]] | None = None,
    encoded: answer_vectors.Shown = MappingProxyType({}),
) -> Iterator[TrivialBaseline]:
    """Return every trivial baseline of one test set, in the order of `NAMES`; `VOTE` where every row has an agreement.

    `agreement`: id of a base sample -> share of the other annotators with its label (`excam40k.agreement`). `heights`:
    id of a row -> name of a floor that reads passages -> its height (`excam40k.by_documents`). `encoded`: the view of
    an encoder, if there is one.
    Both frames have the columns of `SAMPLE_SCHEMA`; `learned` holds the rows of train and dev, `tested` those of
    the test set. Raises InputInvalid if `tested` is empty.
    """
    gold = tested["score"].to_numpy().astype(np.float64)
    wrong, groups = gold < 0, tested["group"].fill_null(tested["base"])
    more = bool(2 * np.count_nonzero(wrong) > len(wrong))
    judged: dict[str, tuple[NDArray[np.bool_], Scores]] = {"constant": (np.full(len(gold), more), np.zeros(len(gold)))}
    for name, (view, matrix_of) in {**FITTED, **encoded}.items():
        chance = _no_error(view, matrix_of, learned, tested)
        judged[name] = (chance < 0.5, chance)
    if agreement and set(tested["base"]) <= agreement.keys():
        followed = chance_of_no_error(tested, agreement)
        judged[VOTE] = (followed < 0.5, followed)
    if heights and set(tested["id"]) <= heights.keys():
        for name, least in ((WORDS_HELD, 1.0), (QUESTION_HELD, 0.0)):
            held = np.array([heights[row][name] for row in tested["id"]])
            judged[name] = (held < least, held)
    for name, (predicted, scores) in judged.items():
        result = accuracy.summarise_accuracy(wrong, predicted, clusters=groups.to_list(), seed=seed)
        yield TrivialBaseline(
            name, result.scaled, result.low, result.high, *_order(gold, scores), len(gold), groups.n_unique()
        )
    yield _random(gold, groups.n_unique(), seed)


def highest(lines: Iterable[Mapping[str, str]], dataset: str, measure: str, model: str) -> float:
    """Return the best that a trivial baseline gets by a measure on a dataset's test set; -inf where none has a value.

    `lines` are the rows of results/paper/floors.csv. A score of `model` that is not above this shows no judgement.
    Floors that read passages count for the judge that reads them alone.
    """
    here = (line for line in lines if (line["dataset"], line["split"]) == (dataset, "test"))
    others = (VOTE,) if model == BY_DOCUMENTS[0] else (VOTE, *FLOORS)
    own = (line[measure] for line in here if line["floor"] not in others)
    return max((float(value) for value in own if value), default=-math.inf)


def _order(gold: Scores, scores: Scores) -> tuple[float | None, float | None]:
    """Return tau-b and tie-calibrated accuracy, if they are defined."""
    if len(gold) < 2 or len(set(gold)) < 2:
        return None, None
    kendall = correlation.kendall(gold, scores) if len(set(scores)) > 1 else None
    return kendall, correlation.tie_calibrated_accuracy(gold, scores).accuracy


def _no_error(view: shortcuts.View, matrix_of: shortcuts.Matrix, learned: pl.DataFrame, tested: pl.DataFrame) -> Scores:
    """Return the probability of "no error" for each tested row, from one view of it; equal rows get equal ones.

    The view sees all rows at once, as lengths become tenths of them; it uses no label.
    """
    tokens = view(pl.concat([part.select("instruction", "output", "templates") for part in (learned, tested)]))
    wrong = (learned["score"] < 0).to_numpy()
    if len(set(wrong)) < 2:
        return np.full(tested.height, 0.0 if wrong.any() else 1.0)
    matrix = matrix_of(tokens)
    chances = text_classifier.fit(matrix[: learned.height], ~wrong).predict_proba(matrix[learned.height :])[:, 1]
    # A pair whose two sides are shown alike must be a tie: 12 digits, and what the order of additions moves is gone.
    return np.round(chances, 12)


def _random(gold: Scores, groups: int, seed: int) -> TrivialBaseline:
    """Return the mean over shuffled gold scores, and the middle 95 % of their scaled accuracies."""
    generator = np.random.default_rng(seed)
    orders = [generator.permutation(gold) for _ in range(DRAWS)]
    scaled = [2 * float(np.mean((order < 0) == (gold < 0))) - 1 for order in orders]
    low, high = np.quantile(scaled, [0.025, 0.975])
    kendalls, ties = zip(*(_order(gold, order) for order in orders), strict=True)
    return TrivialBaseline(
        "random",
        float(np.mean(scaled)),
        float(low),
        float(high),
        _mean_or_none(kendalls),
        _mean_or_none(ties),
        len(gold),
        groups,
    )


def _mean_or_none(values: tuple[float | None, ...]) -> float | None:
    there = [value for value in values if value is not None]
    return float(np.mean(there)) if there else None
