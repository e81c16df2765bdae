"""Votes of annotators: ExCAM Tables 3, 12 and 13. Items in, lines of the tables out.

A vote counts once its step is answered. Whatever is not positive (including "don't know" and "highlighted without
changes") is a vote against, because the paper's shares add up to 100 %, and has its own column. A majority is more than
half of those who voted: two of three, and both of two, as in Table 13.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from excam.error_reports.records import SEVERITIES
from excam.excam40k.validation.human_answers import AnsweredTask
from excam.stats.few_clusters import wilson

FEW = 30  # items below which a share is marked: one item then moves it by more than 3 points
SHARES = ("3/3", "2/3", "1/3", "0/3")
UNSURE = ("dont_know", "no_change")
COUNTED = (*UNSURE, "left_out", "few")
COLUMNS_3 = ("criterion", *SHARES, "n", *COUNTED, *(f"printed_{share}" for share in SHARES), "printed_n")
COLUMNS_12 = ("language", "criterion", "percent", "low", "high", "yes", "n", *COUNTED, "printed_percent", "printed_n")
COLUMNS_13 = ("criterion", "yes", "n", "percent", "low", "high", *COUNTED)
COLUMNS_13 = (*COLUMNS_13, "printed_yes", "printed_n", "printed_percent")

Line = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Criterion:
    """The subject of a vote: the field of an answer, the step that asks it, and the positive values."""

    name: str
    step: int
    field: str
    positive: Collection[Any]

    def votes(self, item: AnsweredTask) -> list[bool]:
        """Return one vote per annotator who answered the step."""
        return [value in self.positive for value in self.values(item)]

    def values(self, item: AnsweredTask) -> list[Any]:
        """Return the values of the annotators who answered the step."""
        return [answer[self.field] for answer in item.answered(self.step)]


CULTURE = Criterion("Culture rel.", 1, "culture_related", ("yes",))
STRICT = Criterion("Error valid (strict)", 1, "error_valid", ("valid",))
PARTIAL = Criterion("Error valid (partial)", 1, "error_valid", ("valid", "partly"))
EXPLANATION = Criterion("Expl. valid", 2, "explanation_valid", ("valid",))
EXPLANATION_PARTIAL = Criterion("Expl. valid or partly (ours)", 2, "explanation_valid", ("valid", "partly"))
SEVERITY = Criterion("Severity OK", 2, "severity_ok", (True,))
TYPE = Criterion("Type OK", 2, "type_ok", (True,))
CHANGED = Criterion("Changed mind", 2, "changed_mind", ("yes",))
VOTED = (CULTURE, STRICT, PARTIAL, EXPLANATION, EXPLANATION_PARTIAL)  # the lines of Table 3, and one more
BY_LANGUAGE = {CULTURE: "Culture rel.", PARTIAL: "Error valid", EXPLANATION: "Expl. valid"}  # as Table 12 calls them


def majority(votes: Sequence[bool]) -> bool | None:
    """Return whether more than half say yes: two of three, both of two. None: fewer than two votes decide nothing."""
    return 2 * sum(votes) > len(votes) if len(votes) > 1 else None


def distribution(items: Iterable[AnsweredTask], criterion: Criterion) -> list[int]:
    """Return how many of the items with exactly three votes got three, two, one and no positive ones."""
    counts = Counter(sum(votes) for votes in map(criterion.votes, items) if len(votes) == 3)
    return [counts[positive] for positive in (3, 2, 1, 0)]


def table_3(items: Sequence[AnsweredTask], printed: Sequence[Mapping[str, str]]) -> Iterator[Line]:
    """Return a line per criterion: shares of items with three votes, in percent, and the paper's."""
    paper = {line["criterion"]: line for line in printed}
    for criterion in VOTED:
        voted = [item for item in items if len(criterion.votes(item)) == 3]
        shares = {
            name: _percent(count, len(voted))
            for name, count in zip(SHARES, distribution(items, criterion), strict=True)
        }
        beside = {f"printed_{name}": paper.get(criterion.name, {}).get(name) for name in (*SHARES, "n")}
        yield {"criterion": criterion.name, **shares, **_counted(voted, items, criterion), **beside}


def table_12(items: Sequence[AnsweredTask], printed: Sequence[Mapping[str, str]]) -> Iterator[Line]:
    """Return a line per criterion and language with two annotators: both say yes, over items with two votes."""
    paper = {line["criterion"]: line for line in printed}
    for language in sorted({item.task.language for item in items if item.task.annotators == 2}):
        column = language.lower()
        group = [item for item in items if item.task.language == language and item.task.annotators == 2]
        for criterion, name in BY_LANGUAGE.items():
            voted = [item for item in group if len(criterion.votes(item)) == 2]
            beside = {"printed_percent": paper[name].get(column), "printed_n": paper["N"].get(column)}
            counted = _share(sum(all(criterion.votes(item)) for item in voted), len(voted))
            yield {"language": language, "criterion": name} | counted | _counted(voted, group, criterion) | beside


def table_13(items: Sequence[AnsweredTask], printed: Sequence[Mapping[str, str]]) -> Iterator[Line]:
    """Return a line per question of step 2, severity by the provided label: items whose majority says yes."""
    paper = {line["criterion"]: line for line in printed}
    for name, criterion, group in _of_step_2(items):
        voted = [item for item in group if majority(criterion.votes(item)) is not None]
        counted = _share(sum(bool(majority(criterion.votes(item))) for item in voted), len(voted))
        beside = {f"printed_{key}": paper.get(name, {}).get(key) for key in ("yes", "n", "percent")}
        yield {"criterion": name} | counted | _counted(voted, group, criterion) | beside


def _of_step_2(items: Sequence[AnsweredTask]) -> Iterator[tuple[str, Criterion, Sequence[AnsweredTask]]]:
    for severity in SEVERITIES:
        yield f"Severity OK ({severity})", SEVERITY, [item for item in items if item.task.shown["severity"] == severity]
    yield TYPE.name, TYPE, items
    yield CHANGED.name, CHANGED, items


def _counted(voted: Sequence[AnsweredTask], items: Sequence[AnsweredTask], criterion: Criterion) -> Line:
    """Return the number of items of a line, of items left out, and of votes that are neither yes nor no."""
    chosen = Counter(value for item in voted for value in criterion.values(item))
    unsure = {name: chosen[name] for name in UNSURE}
    return {"n": len(voted), **unsure, "left_out": len(items) - len(voted), "few": "yes" if len(voted) < FEW else ""}


def _share(yes: int, n: int) -> Line:
    """Return a share in percent with its 95 % interval (Wilson's, valid for small n and shares near 0 and 1)."""
    ends = wilson(yes / n, n) if n else (None, None)
    low, high = (None if end is None else f"{100 * end:.1f}" for end in ends)
    return {"yes": yes, "percent": _percent(yes, n), "low": low, "high": high}


def _percent(count: int, n: int) -> str | None:
    """Return one digit, as printed; halves are rounded to even, which reproduces every number of Table 3."""
    return f"{100 * count / n:.1f}" if n else None
