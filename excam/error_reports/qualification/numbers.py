"""What a model is worth as a judge, from its margins on the qualification set.

A verdict counts +1 if it is right (agrees, differs, or "not known" about a row that no document decides), -1 if it is
wrong, and 0 if it is "not known" about a row that is decided; the **net** is the mean. Thresholds are fitted on one
half of the pairs of documents and used on the other, so no number is of rows that it was fitted on.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass

import numpy as np

from excam.core.hash_order import digest
from excam.error_reports import floors
from excam.error_reports.content_words import code_of
from excam.error_reports.judges.base import if_decisive
from excam.error_reports.judges.grounded import Way, as_texts
from excam.error_reports.qualification.asking import Examined
from excam.error_reports.qualification.question_set import ExamQuestion, pack
from excam.stats import bootstrap
from excam.stats.binary_gold import Estimate, auroc
from excam.stats.bootstrap import share_interval
from excam.stats.calibration import fit_calibration

LEAST = (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)  # from which probability on there is a verdict
FLOORS = (*floors.FLOORS, "length", "always right")
FEWEST = 10  # rows of right and of wrong texts, to fit a threshold
FEWEST_OF_LANGUAGE = 8  # rows with a margin, to fit how sure it is in a language
NOTHING = Estimate(None, None, None)
HALVINGS = 50  # of the interval in which a slope lies


@dataclass(frozen=True, slots=True)
class Numbers:
    """What a judge is worth, with intervals of 95 % over pairs of documents; None where nothing can be computed."""

    judge: str
    rows: int
    net: Estimate
    minus: Estimate  # the net minus that of the best floor, paired; nothing of a floor
    auc: Estimate  # of right against wrong texts
    correct: Estimate  # of the verdicts on right and wrong texts
    coverage: float | None  # share of right and wrong texts with a verdict
    unknown: float | None  # share of undecidable texts that are "not known"
    orders: float | None  # share of right verdicts where a passage gives orders
    span_f1: float | None  # of the marked characters in wrong texts that were judged wrong
    seconds: float  # a row
    way: Way | None  # fitted on all rows

    @property
    def is_worth_something(self) -> bool:
        """Return whether its net, and on the same rows that minus the best floor, lie above 0 with their intervals."""
        return self.way is not None and all((number.low or 0.0) > 0 for number in (self.net, self.minus))


def numbers(judge: str, examined: Sequence[Examined], seconds: float) -> list[Numbers]:
    """Return the numbers of a judge that took so many seconds, then those of the floors on the same rows."""
    below = {name: [_floor(row.question, name) for row in examined] for name in FLOORS}
    best = max((_gains(floor_rows, _verdicts(floor_rows)) for floor_rows in below.values()), key=sum)
    made = _numbers(judge, examined, seconds / len(examined), best)
    return [made, *(_numbers(name, floor_rows, 0.0) for name, floor_rows in below.items())]


def _floor(question: ExamQuestion, name: str) -> Examined:
    if name == "length":
        return Examined(question, float(len(question.text)))
    if name == "always right":
        return Examined(question, 1.0)
    passages = as_texts(pack().passages_for(question.question, question.text))
    return Examined(question, floors.FLOORS[name](question.question, question.text, passages, question.language))


def _verdicts(rows: Sequence[Examined]) -> list[str]:
    """Return the verdict on each row by what is fitted on the other half of the pairs of each language."""
    pairs = sorted({row.question.pair for row in rows}, key=lambda pair: digest(0, "half", pair))
    count: defaultdict[str, int] = defaultdict(int)
    half: dict[str, int] = {}
    for pair in pairs:
        language = pair.rsplit("-", 1)[0]
        half[pair], count[language] = count[language] % 2, count[language] + 1
    ways = [fit([row for row in rows if half[row.question.pair] != side]) for side in (0, 1)]
    return [verdict(ways[half[row.question.pair]], row) for row in rows]


def _numbers(judge: str, rows: Sequence[Examined], seconds: float, below: Sequence[float] | None = None) -> Numbers:
    """Return the numbers of a judge; `below` are the gains of the best floor on the same rows."""
    verdicts, questions, pairs = _verdicts(rows), [row.question for row in rows], [row.question.pair for row in rows]
    gains = _gains(rows, verdicts)
    decided = [question.label != "undecidable" for question in questions]
    answered = [ok and said != "undecidable" for ok, said in zip(decided, verdicts, strict=True)]
    hits = [ok and said == question.label for ok, said, question in zip(answered, verdicts, questions, strict=True)]
    silent = [said == "undecidable" for said, ok in zip(verdicts, decided, strict=True) if not ok]
    ordered = [
        said == question.label for said, question in zip(verdicts, questions, strict=True) if question.kind == "order"
    ]
    compared = [row for row in rows if row.question.label != "undecidable"]
    wrong, margins = [row.question.label == "wrong" for row in compared], [row.margin for row in compared]
    caught = [row for row, said in zip(rows, verdicts, strict=True) if said == row.question.label == "wrong"]
    return Numbers(
        judge,
        len(rows),
        _net(gains, pairs),
        NOTHING if below is None else Estimate(**bootstrap.mean(np.subtract(gains, below), pairs, 0)),
        auroc(wrong, margins, [row.question.pair for row in compared]),
        Estimate(**bootstrap.share(hits, pairs, 0, answered)),
        sum(answered) / sum(decided) if any(decided) else None,
        _mean(silent),
        _mean(ordered),
        _span_f1(caught),
        seconds,
        fit(rows),
    )


def fit(rows: Sequence[Examined]) -> Way | None:
    """Return threshold, slopes and least probability that give the best net on these rows; None if there are too few.

    The threshold is that of all rows. The slope of a language is at most that of all: where the judge is right less
    often than elsewhere it is less sure, and never surer. A language of too few rows has none.
    """
    decidable = [row for row in rows if row.margin is not None and row.question.label != "undecidable"]
    margins = np.array([row.margin for row in decidable], float)
    right = [row.question.label == "right" for row in decidable]
    if min(sum(right), len(right) - sum(right)) < FEWEST:
        return None
    scale = float(np.abs(margins).max()) or 1.0
    made = fit_calibration(right, (margins / scale).tolist())
    if made is None or not made.slope or made.intercept is None or made.slope < 0:
        return None
    threshold, slope = -made.intercept / made.slope * scale, made.slope / scale
    codes = [code_of(row.question.language) for row in decidable]
    sides = np.where(right, margins - threshold, threshold - margins)
    slopes = {
        code: _slope(sides[[other == code for other in codes]], slope)
        for code in sorted(set(codes))
        if codes.count(code) >= FEWEST_OF_LANGUAGE
    }
    ways = [Way(threshold, slope, least, slopes=slopes) for least in LEAST]
    return max(ways, key=lambda way: sum(_gains(rows, [verdict(way, row) for row in rows])))


def _slope(sides: np.ndarray, most: float) -> float:
    """Return the likeliest slope from 0 to `most`; `sides` are margins beyond the threshold, above 0 on the right side.

    The likelihood is concave in the slope: its derivative is halved into.
    """
    low, high = 0.0, most
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        rises = float(np.sum(sides / (1 + np.exp(np.clip(middle * sides, -700, 700))))) > 0
        low, high = (middle, high) if rises else (low, middle)
    return high if high == most else low


def verdict(way: Way | None, row: Examined) -> str:
    """Return the label that a margin stands for, "undecidable" in a language that the way was not fitted in."""
    code = code_of(row.question.language)
    if way is None or row.margin is None or code not in way.slopes:
        return "undecidable"
    chance = if_decisive(way.agrees(row.margin, code), way.least)
    return "undecidable" if chance is None else "right" if chance >= 0.5 else "wrong"


def _gains(rows: Sequence[Examined], verdicts: Sequence[str]) -> list[float]:
    return [_gain(verdict, row.question.label) for verdict, row in zip(verdicts, rows, strict=True)]


def _gain(verdict: str, label: str) -> float:
    if verdict == label:
        return 1.0
    return 0.0 if verdict == "undecidable" else -1.0


def _net(gains: Sequence[float], pairs: Sequence[str]) -> Estimate:
    """Return the mean of gains from -1 to 1, with an interval as of a share of twice the range."""
    low, high = share_interval([(1 + gain) / 2 for gain in gains], None, pairs) or (0.0, 1.0)
    return Estimate(_mean(gains) or 0.0, 2 * low - 1, 2 * high - 1)


def _mean(values: Sequence[float | bool]) -> float | None:
    return float(np.mean(values)) if values else None


def _span_f1(rows: Sequence[Examined]) -> float | None:
    """Return the F1 of marked characters against the wrong words of all rows together."""
    hit = marked = gold = 0
    for row in rows:
        start = row.question.text.find(row.question.wrong_words)
        right = set(range(start, start + len(row.question.wrong_words)))
        marked_places = {at for place in row.marked or () for at in range(*place)}
        hit, marked, gold = hit + len(right & marked_places), marked + len(marked_places), gold + len(right)
    return 2 * hit / (marked + gold) if marked else None


def lines(numbers: Sequence[Numbers]) -> Iterator[list[str]]:
    """Yield the cells of a table, the head first."""
    head = ("judge", "rows", "net [95 %]", "minus floor [95 %]", "AUC [95 %]", "right [95 %]", "decided", "silent")
    yield [*head, "orders", "span F1", "s/row"]
    for entry in numbers:
        shares = (Estimate(value, None, None) for value in (entry.coverage, entry.unknown, entry.orders, entry.span_f1))
        estimates = map(_cell, (entry.net, entry.minus, entry.auc, entry.correct, *shares))
        yield [entry.judge, str(entry.rows), *estimates, f"{entry.seconds:.1f}"]


def _cell(number: Estimate) -> str:
    value, *ends = [_short(part) for part in astuple(number) if part is not None] or ["–"]
    return value + (f" [{', '.join(ends)}]" if ends else "")


def _short(number: float) -> str:
    return f"{number:.2f}".replace("0.", ".", 1) if abs(number) < 1 else f"{number:.2f}"
