"""Which way of judging is best for a model, from the margins of every way on the qualification set.

A verdict counts +1 if it is right (agrees, differs, or "not known" about a row that no document decides), -1 if it is
wrong, and 0 if it is "not known" about a row that is decided; the **net** is the mean. Thresholds are fitted on one
half of the pairs of documents and used on the other, so no number is of rows that it was fitted on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from excam.core.hash_order import digest
from excam.error_reports import floors
from excam.error_reports.comparators.base import Range
from excam.error_reports.judges import grounded, likelihood
from excam.error_reports.judges.base import chance_of_agreement, if_decisive
from excam.error_reports.qualification.asking import GAINS, Examined
from excam.stats import bootstrap, fit_calibration, ranking, ranking_interval
from excam.stats.bootstrap import share_interval

LEAST = (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)  # from which probability on there is a verdict
FLOORS = (*floors.FLOORS, "length", "always right")
FEWEST = 10  # rows of right and of wrong texts, to fit a threshold


@dataclass(frozen=True, slots=True)
class Judged:
    """A row as one way judges it: its margin, None for "not known"; the marked words, None if it marks none."""

    pair: str  # of documents that resemble each other: what is right by one is wrong by the other
    label: str
    kind: str
    margin: float | None
    gold: Range | None = None
    marked: tuple[Range, ...] | None = None


@dataclass(frozen=True, slots=True)
class Fit:
    """A threshold, slope and least probability, see `grounded.Way`."""

    threshold: float
    slope: float
    least: float

    def verdict(self, margin: float | None) -> str:
        """Return the label that a margin stands for."""
        if margin is None:
            return "undecidable"
        chance = if_decisive(chance_of_agreement(margin, self.threshold, self.slope), self.least)
        if chance is None:
            return "undecidable"
        return "right" if chance >= 0.5 else "wrong"


@dataclass(frozen=True, slots=True)
class WayNumbers:
    """What one way is worth, with intervals of 95 % over pairs of documents; None where nothing can be computed."""

    way: str
    rows: int
    net: float
    net_interval: tuple[float, float]
    minus: float | None  # the net minus that of the best floor, paired; None of a floor
    minus_interval: tuple[float, float] | None
    auc: float | None  # of right against wrong texts
    auc_interval: tuple[float, float] | None
    correct: float | None  # of the verdicts on right and wrong texts
    correct_interval: tuple[float, float] | None
    coverage: float | None  # share of right and wrong texts with a verdict
    unknown: float | None  # share of undecidable texts that are "not known"
    orders: float | None  # share of right verdicts where a passage gives orders
    span_f1: float | None  # of the marked characters in wrong texts that were judged wrong
    seconds: float  # a row
    fit: Fit | None  # on all rows


def ways(examined: Sequence[Examined], seconds: dict[str, float]) -> list[WayNumbers]:
    """Return the numbers of every way, the best net first, then the floors."""
    rows = len(examined)
    stating = seconds.get("stated", 0.0)
    floor_rows = {name: [_floor(row, name) for row in examined] for name in FLOORS}
    nets = {name: _gains(own, _verdicts(own)) for name, own in floor_rows.items()}
    best = dict(zip((row.question.id for row in examined), max(nets.values(), key=sum), strict=True))
    made: list[WayNumbers] = []
    for name in sorted({way for row in examined for way in row.margins}):
        kept = [row for row in examined if name in row.margins]
        below = [best[row.question.id] for row in kept]
        spent = (seconds.get(name.split("-gain")[0], 0.0) + (0 if name.startswith("likelihood") else stating)) / rows
        if name.startswith("likelihood"):
            made.append(_numbers(name, [_judged(row, name) for row in kept], spent, below))
            continue
        made.append(_numbers(name, [_judged(row, name, needs_statement=True) for row in kept], spent, below))
        if any(row.margins[name] is not None and not row.stated.answer for row in kept):
            made.append(_numbers(f"{name}, unstated too", [_judged(row, name) for row in kept], spent, below))
    floors_of_set = [_numbers(name, own, 0.0) for name, own in floor_rows.items()]
    return [*sorted(made, key=lambda way: -way.net), *floors_of_set]


def _judged(row: Examined, name: str, *, needs_statement: bool = False) -> Judged:
    question = row.question
    margin = row.margins[name] if row.stated.answer or not needs_statement else None
    at = question.text.find(question.wrong_words) if question.wrong_words else -1
    gold = (at, at + len(question.wrong_words)) if at >= 0 else None
    return Judged(question.pair, question.label, question.kind, margin, gold, row.marked.get(name))


def _floor(row: Examined, name: str) -> Judged:
    from excam.error_reports.qualification.question_set import pack

    question = row.question
    if name == "length":
        margin = float(len(question.text))
    elif name == "always right":
        margin = 1.0
    else:
        passages = [passage.as_line for passage in pack().passages_for(question.question, question.text)]
        margin = floors.FLOORS[name](question.question, question.text, passages, question.language)
    return Judged(question.pair, question.label, question.kind, margin)


def _verdicts(rows: Sequence[Judged]) -> list[str]:
    """Return the verdict on each row by what is fitted on the other half of the pairs."""
    half = [int(digest(0, "half", row.pair)[:8], 16) % 2 for row in rows]
    fits = [fit([row for row, side in zip(rows, half, strict=True) if side != own]) for own in (0, 1)]
    return [_verdict(fits[side], row) for row, side in zip(rows, half, strict=True)]


def _gains(rows: Sequence[Judged], verdicts: Sequence[str]) -> list[float]:
    return [_gain(verdict, row.label) for verdict, row in zip(verdicts, rows, strict=True)]


def _numbers(way: str, rows: Sequence[Judged], seconds: float, below: Sequence[float] | None = None) -> WayNumbers:
    """Return the numbers of a way; `below` are the gains of the best floor on the same rows."""
    verdicts, pairs = _verdicts(rows), [row.pair for row in rows]
    gains = _gains(rows, verdicts)
    minus = bootstrap.mean(np.subtract(gains, gains if below is None else below), pairs, 0)
    decided = [row.label != "undecidable" for row in rows]
    answered = [ok and verdict != "undecidable" for ok, verdict in zip(decided, verdicts, strict=True)]
    hits = [ok and verdict == row.label for ok, verdict, row in zip(answered, verdicts, rows, strict=True)]
    silent = [verdict == "undecidable" for verdict, ok in zip(verdicts, decided, strict=True) if not ok]
    ordered = [verdict == row.label for verdict, row in zip(verdicts, rows, strict=True) if row.kind == "order"]
    compared = [row for row in rows if row.label != "undecidable"]
    wrong, margins = [row.label == "wrong" for row in compared], [row.margin for row in compared]
    return WayNumbers(
        way,
        len(rows),
        _mean(gains) or 0.0,
        _net_interval(gains, pairs),
        None if below is None else minus["value"],
        None if minus["low"] is None or minus["high"] is None else (minus["low"], minus["high"]),
        ranking(wrong, margins).auroc,
        ranking_interval(wrong, margins, [row.pair for row in compared]),
        _share(hits, answered),
        share_interval(hits, answered, pairs),
        _share(answered, decided),
        _mean(silent),
        _mean(ordered),
        _span_f1([row for row, verdict in zip(rows, verdicts, strict=True) if verdict == row.label == "wrong"]),
        seconds,
        fit(rows),
    )


def fit(rows: Sequence[Judged]) -> Fit | None:
    """Return threshold, slope and least probability that give the best net on these rows; None if there are too few."""
    told = [(row.margin, row.label == "right") for row in rows if row.margin is not None and row.label != "undecidable"]
    if min(sum(right for _, right in told), sum(not right for _, right in told)) < FEWEST:
        return None
    scale = max(abs(margin) for margin, _ in told) or 1.0
    made = fit_calibration([right for _, right in told], [margin / scale for margin, _ in told], "platt")
    if made is None or not made.slope or made.intercept is None or made.slope < 0:
        return None
    threshold, slope = -made.intercept / made.slope * scale, made.slope / scale
    fits = [Fit(threshold, slope, least) for least in LEAST]
    return max(fits, key=lambda candidate: sum(_gain(candidate.verdict(row.margin), row.label) for row in rows))


def _verdict(fitted: Fit | None, row: Judged) -> str:
    return fitted.verdict(row.margin) if fitted else "undecidable"


def _gain(verdict: str, label: str) -> float:
    if verdict == label:
        return 1.0
    return 0.0 if verdict == "undecidable" else -1.0


def _net_interval(gains: Sequence[float], pairs: Sequence[str]) -> tuple[float, float]:
    """Return the interval of the mean of gains from -1 to 1, as that of a share of twice the range."""
    low, high = share_interval([(1 + gain) / 2 for gain in gains], None, pairs) or (0.0, 1.0)
    return 2 * low - 1, 2 * high - 1


def _mean(values: Sequence[float | bool]) -> float | None:
    return float(np.mean(values)) if values else None


def _share(hits: Sequence[bool], answered: Sequence[bool]) -> float | None:
    return sum(hits) / sum(answered) if any(answered) else None


def _span_f1(rows: Sequence[Judged]) -> float | None:
    """Return the F1 of marked characters against the wrong words of all rows together."""
    hit = marked = gold = 0
    for row in rows:
        if row.gold is None or row.marked is None:
            continue
        right = set(range(*row.gold))
        said = {at for start, end in row.marked for at in range(start, end)}
        hit, marked, gold = hit + len(right & said), marked + len(said), gold + len(right)
    return 2 * hit / (marked + gold) if marked + gold else None


def best_way(numbers: Sequence[WayNumbers]) -> WayNumbers | None:
    """Return the way with the best net if it is above 0 and, on the same rows, above the best floor; else None.

    Both intervals must lie above 0.
    """
    for way in numbers:
        if way.way not in FLOORS and way.fit and way.net_interval[0] > 0 and (way.minus_interval or (0.0,))[0] > 0:
            return way
    return None


def settings(way: WayNumbers) -> dict[str, Any]:
    """Return the judge and its way as `qualified` reads them.

    Rows are single claims, so `least_decided` of a longer text is written as it is by default, and not fitted.
    """
    assert way.fit, "the best way has a fit"
    curve = asdict(way.fit)
    if way.way.startswith("likelihood-"):
        reading = way.way.removeprefix("likelihood-")
        assert reading in GAINS, "a reading that was asked"
        return {"judge": "likelihood", "way": asdict(likelihood.Way(reading, **curve))}  # pyright: ignore
    comparator, _, more = way.way.partition(", ")
    return {"judge": "grounded", "way": asdict(grounded.Way(comparator, **curve, needs_statement=not more))}


def lines(numbers: Sequence[WayNumbers]) -> Iterator[list[str]]:
    """Yield the cells of a table, the head first."""
    head = ("way", "rows", "net [95 %]", "minus floor [95 %]", "AUC [95 %]", "right [95 %]", "decided", "silent")
    yield [*head, "orders", "span F1", "s/row"]
    for way in numbers:
        yield [
            way.way,
            str(way.rows),
            _cell(way.net, way.net_interval),
            _cell(way.minus, way.minus_interval),
            _cell(way.auc, way.auc_interval),
            _cell(way.correct, way.correct_interval),
            *(_cell(value) for value in (way.coverage, way.unknown, way.orders, way.span_f1)),
            f"{way.seconds:.1f}",
        ]


def _cell(value: float | None, between: tuple[float, float] | None = None) -> str:
    def short(number: float) -> str:
        return f"{number:.2f}".replace("0.", ".", 1) if abs(number) < 1 else f"{number:.2f}"

    if value is None:
        return "–"
    return short(value) + (f" [{short(between[0])}, {short(between[1])}]" if between else "")
