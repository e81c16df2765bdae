"""What a judge is worth on labelled rows, in one sentence: better than guessing or not, and how often it was right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

from excam.scoring.defaults import FEW
from excam.stats.binary_gold import Estimate, association

FEWEST, FEWEST_OF_A_KIND = 10, 2  # clusters; of fewer, at least one order in 40 has none at the wrong place
VERDICTS = {"clean": 1.0, "unsure": 0.5, "error": 0.0}


def in_words(
    labels: Sequence[float],
    verdicts: Sequence[str],
    clusters: Sequence[Hashable],
    auc: Estimate,
    tau: Estimate,
    instructions: int = 0,
) -> str:
    """Return what a judge is worth on at least one row with a label, more is better, and a verdict, "" for none.

    What decides is the verdict on two labels, the lower of which is an error; without one the AUC of the scores, and on
    more labels Kendall's tau-b.

    Args:
        labels: of each row, more is better
        verdicts: of each row, a key of `VERDICTS`, "" without one
        clusters: of each row
        auc: of the scores, for two labels
        tau: of the scores, for more labels
        instructions: how many different ones the rows have; 0: not known
    """
    (most, usual), best, groups = Counter(labels).most_common(1)[0], max(labels), len(set(clusters))
    other = {cluster for label, cluster in zip(labels, clusters, strict=True) if label != most}
    is_few = groups < FEWEST or len(other) < FEWEST_OF_A_KIND
    name, number, chance = ("AUC", auc, 0.5) if len(set(labels)) <= 2 else ("tau-b", tau, 0.0)
    right = ""
    if name == "AUC" and any(verdicts):
        scores = [VERDICTS.get(verdict) for verdict in verdicts]
        agree = sum(score == (label == best) for score, label in zip(scores, labels, strict=True))
        right = f"right in {agree} (always the same answer: {usual}); "
        name, number = "balanced accuracy", association([label == best for label in labels], scores, clusters).auc
    beside = _beside(number, chance, is_few=is_few)
    rows = f"{len(labels)} labelled rows" + " of one instruction" * (instructions == 1)
    rows += f" in {groups} cluster{'s' * (groups > 1)}" * (groups < len(labels))
    more = f"; {groups} cluster{'s' * (groups > 1)}: {FEW} labelled rows or more, of as many instructions, are better"
    more *= beside.startswith("not") and groups < FEW
    return f"{beside} guessing on {rows}: {right}{name} {_written(number)}{more}"


def _beside(number: Estimate, chance: float, *, is_few: bool) -> str:
    """Return how a number is beside chance. One without an interval is the same in all draws: but of few, certain."""
    low, high = (number.value, number.value) if number.low is None and not is_few else (number.low, number.high)
    if low is not None and round(low, 2) > chance:  # as it is printed
        return "better than"
    return "worse than" if high is not None and round(high, 2) < chance else "not distinguishable from"


def _written(number: Estimate) -> str:
    bounds = "" if number.low is None else f" [{number.low:.2f}, {number.high:.2f}]"
    return "undefined" if number.value is None else f"{number.value:.2f}{bounds}"
