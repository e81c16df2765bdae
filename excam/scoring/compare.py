"""Comparison of two systems on the same rows, scored by the same metric: which is better, and how certain is that?

Rows are joined by id. A row that is in one file only, or failed in either, is in no number but is counted. Two measures
are tested: the score and, if the metric lists errors, whether there is any. Rows that share content are permuted and
resampled together, see `cluster`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from excam.core.exceptions import InputInvalid
from excam.scoring.defaults import STAND_IN_INSTRUCTION
from excam.scoring.metrics import wording
from excam.scoring.scored import Scored
from excam.stats import bootstrap
from excam.stats.sign_permutation import sign_permutation

FEWEST = 10  # clusters for an interval; with fewer, the percentile bootstrap is far too narrow
DRAWS = 10_000  # random swaps; the smallest p-value is 1 / (DRAWS + 1)
GROUPS = ("language", "culture")
_TWIN = re.compile(r"(.+)/[^/]+/(?:right|wrong)")  # an id of ExCAM40k: base sample, variant, side

Couple = tuple[Scored, Scored]
Value = Callable[[Scored], float]


@dataclass(frozen=True, slots=True)
class Denominators:
    """Number of rows by what became of them; only `compared` ones are in the measures."""

    rows_a: int
    rows_b: int
    compared: int
    only_a: int  # ids that the other file lacks
    only_b: int
    not_judged_a: int  # failed in this file only
    not_judged_b: int
    not_judged_both: int


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure of both systems over n rows. `difference` is a minus b, with its 95 % interval if there is one."""

    name: str
    n: int
    clusters: int
    a: float
    b: float
    difference: float
    low: float | None
    high: float | None
    a_better: int
    b_better: int
    ties: int
    p_value: float | None  # two-sided; None if not tested (groups)


@dataclass(frozen=True, slots=True)
class Group:
    """The rows of one language or culture; rows that failed are counted but in no measure."""

    by: str
    name: str
    not_judged: int
    measures: tuple[Measure, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """The comparison of two systems. `widest` are the rows that differ most in score, the largest difference first."""

    signature: str
    mean: str  # what a mean score is, and which is better
    counts: Denominators
    measures: tuple[Measure, ...]
    groups: tuple[Group, ...]
    widest: tuple[Couple, ...]

    def lines(self) -> list[dict[str, Any]]:
        """Return JSON-ready lines: one for the whole, one for each group, one for each row of `widest`."""
        head = {"kind": "comparison", "signature": self.signature, **asdict(self.counts)}
        whole = head | {"measures": [asdict(one) for one in self.measures]}
        rows = [{"kind": "row", "id": a.id, "a": a.to_dict(), "b": b.to_dict()} for a, b in self.widest]
        return [whole, *({"kind": "group", **asdict(group)} for group in self.groups), *rows]


def compare(a: Iterable[Scored], b: Iterable[Scored], rows: int = 5) -> Comparison:
    """Compare the results of two systems; `rows` is how many of those that differ most are kept.

    Raises InputInvalid if signatures differ, an id occurs twice, no id was scored in both, or an id has different
    instructions.
    """
    ours, theirs = _by_id(a, "A"), _by_id(b, "B")
    signature = _signature(ours, theirs)
    couples = [(one, theirs[one.id]) for one in ours.values() if one.id in theirs]
    for one, other in couples:
        if one.instruction != other.instruction:
            raise InputInvalid(
                f"id {one.id}: A asks {_short(one.instruction)}, B asks {_short(other.instruction)}; expected the "
                "outputs of two systems for the same instructions, under the same ids"
            )
    judged = [couple for couple in couples if _not_judged(couple) == ""]
    counts = _denominators(ours, theirs, couples)
    if not judged:
        raise InputInvalid(
            f"A has {len(ours)} rows, B {len(theirs)}, {len(couples)} with an id of the other, none of them judged in "
            "both; expected two files about the same instructions, with their ids"
        )
    widest = sorted(judged, key=lambda couple: (-abs(_score(couple[0]) - _score(couple[1])), couple[0].id))
    kept = tuple(couple for couple in widest[:rows] if _score(couple[0]) != _score(couple[1]))
    mean = wording(judged[0][0]).mean
    return Comparison(signature, mean, counts, _measures(judged, DRAWS), tuple(_groups(couples)), kept)


def cluster(one: Scored) -> tuple[str, str]:
    """Return the group that a row shares content with: a base sample (ids of ExCAM40k), an instruction, or itself."""
    if twin := _TWIN.fullmatch(one.id):
        return "base", twin[1]
    own = one.instruction in ("", STAND_IN_INSTRUCTION)
    return ("id", one.id) if own else ("instruction", one.instruction)


def _by_id(rows: Iterable[Scored], name: str) -> dict[str, Scored]:
    found: dict[str, Scored] = {}
    for one in rows:
        if one.id in found:
            raise InputInvalid(f"{name}: id {one.id} occurs twice; expected unique ids, which join the rows")
        found[one.id] = one
    return found


def _signature(a: Mapping[str, Scored], b: Mapping[str, Scored]) -> str:
    """Return the signature of all rows. Raise InputInvalid if there are several."""
    found = [list(dict.fromkeys(one.signature for one in rows.values())) for rows in (a, b)]
    if len({*found[0], *found[1]}) > 1:
        named = " ".join(f"{name}: {', '.join(signatures)}" for name, signatures in zip("AB", found, strict=True))
        raise InputInvalid(f"unlike signatures, {named}; expected one; score both with the same adapter and release")
    return next(iter([*found[0], *found[1]]), "")


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:59] + "…")


def _score(one: Scored) -> float:
    assert one.score is not None  # rows that failed were left out before
    return one.score


def _has_errors(one: Scored) -> float:
    return float(one.report is not None and bool(one.report.errors))


def _not_judged(couple: Couple) -> str:
    return "".join(name for name, one in zip("ab", couple, strict=True) if one.score is None)


def _denominators(a: Mapping[str, Scored], b: Mapping[str, Scored], couples: Sequence[Couple]) -> Denominators:
    not_judged = Counter(map(_not_judged, couples))
    return Denominators(
        rows_a=len(a),
        rows_b=len(b),
        compared=not_judged[""],
        only_a=len(a) - len(couples),
        only_b=len(b) - len(couples),
        not_judged_a=not_judged["a"],
        not_judged_b=not_judged["b"],
        not_judged_both=not_judged["ab"],
    )


def _measures(couples: Sequence[Couple], draws: int) -> tuple[Measure, ...]:
    """Return the measures of at least one couple; with 0 draws nothing is tested."""
    score = _measure("score", couples, _score, 1 if couples[0][0].better == "higher" else -1, draws)
    if not any(one.lists_errors for couple in couples for one in couple):
        return (score,)
    return score, _measure("with errors", couples, _has_errors, -1, draws)


def _measure(name: str, couples: Sequence[Couple], value: Value, better: int, draws: int) -> Measure:
    """Return one measure; `better` is 1 if more is better, else -1."""
    a, b = (np.array([value(couple[side]) for couple in couples]) for side in (0, 1))
    step, clusters = a - b, [cluster(one) for one, _ in couples]
    many = len(set(clusters)) >= FEWEST
    low, high = (bootstrap.ratio_interval(step, np.ones(len(step)), clusters) if many else None) or (None, None)
    return Measure(
        name=name,
        n=len(step),
        clusters=len(set(clusters)),
        a=float(a.mean()),
        b=float(b.mean()),
        difference=float(step.mean()),
        low=low,
        high=high,
        a_better=int(np.count_nonzero(step * better > 0)),
        b_better=int(np.count_nonzero(step * better < 0)),
        ties=int(np.count_nonzero(step == 0)),
        p_value=sign_permutation(step, clusters, draws) if draws else None,
    )


def _groups(couples: Sequence[Couple]) -> Iterable[Group]:
    """Yield groups by language and by culture, in order of their names. They are too many to be tested."""
    for by in GROUPS:
        named: dict[str, list[Couple]] = {}
        for couple in couples:
            named.setdefault(getattr(couple[0], by) or getattr(couple[1], by), []).append(couple)
        if set(named) <= {""}:
            continue
        for name, members in sorted(named.items()):
            judged = [couple for couple in members if not _not_judged(couple)]
            yield Group(by, name, len(members) - len(judged), _measures(judged, 0) if judged else ())
