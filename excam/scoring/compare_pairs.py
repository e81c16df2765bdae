"""Which of two answers to one question is better: what a metric prefers, and whether people prefer the same.

A pair is two systems' answers to one item, both scored by one metric. Without labels: how often each system's answer is
preferred, with a sign test. With labels: the share of pairs that the metric orders as the labels do, ties of the metric
half, beside trivial baselines. Pairs with equal labels have no order, and are left out and counted.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Any

from excam.core.exceptions import InputInvalid
from excam.scoring import meta_baselines, meta_numbers
from excam.scoring.compare import System, shared_signature
from excam.scoring.joining import distinct, plain_id, same_text
from excam.scoring.meta_numbers import Influence
from excam.scoring.meta_rows import FACETS, Column, Gold, Labels, aligned
from excam.scoring.metric import Description
from excam.scoring.results import Result
from excam.stats.binary_gold import Estimate
from excam.stats.grouped_pairs import GroupedPairs
from excam.stats.permutation import holm
from excam.stats.sign_permutation import sign_permutation

Items = dict[str, dict[str, float]]  # what decides between the answers to an item, by system, more is better


@dataclass(frozen=True, slots=True)
class Answer:
    """One system's answer to an item, with its result."""

    item: str
    system: str
    result: Result


@dataclass(frozen=True, slots=True)
class Preference:
    """How often the metric prefers one of two systems' answers to the same item."""

    a: str
    b: str
    items: int  # that both answered
    failed: int  # of these, items of which an answer has no score
    a_preferred: int
    b_preferred: int
    ties: int
    p_value: float  # of a two-sided sign test, without the ties
    p_holm: float  # adjusted for all pairs of systems


@dataclass(frozen=True, slots=True)
class Ordering:
    """How often a metric, or a baseline, orders two answers as the labels do."""

    metric: str
    baseline: bool
    pairs: int
    ordered: Estimate  # the share of pairs, ties half; the interval is over items
    difference: float | None  # the first metric's share minus this one
    p_value: float | None  # of the difference, two-sided, by swaps of whole items
    p_holm: float | None


@dataclass(frozen=True, slots=True)
class People:
    """How the metric orders pairs compared with people's labels, and what became of all pairs."""

    labelled: int  # labelled rows
    without_label: int  # rows of the labels that have none
    unscored: int  # labelled rows that no file has
    unlabelled: int  # scored rows without a label
    systems: int
    items: int  # with a pair that counts
    pairs: int  # of labelled answers to one item
    equal: int  # left out: equal labels
    failed: int  # left out: an answer without a score
    orderings: tuple[Ordering, ...]  # of the metric, then of the baselines
    influences: tuple[Influence, ...]


@dataclass(frozen=True, slots=True)
class Pairs:
    """What the metric prefers, and how people see it, if their labels are given."""

    signature: str
    metric: Description
    scores: Items
    preferences: tuple[Preference, ...]
    people: People | None
    repeated: int  # items left out: answers and labels repeat those of another under new ids
    without_pair: int  # other items with fewer than two scores

    def lines(self) -> list[dict[str, Any]]:
        """Return JSON-ready lines: people's view, one for each pair of systems, one for each item."""
        facts = ("signature", "repeated", "without_pair")
        head = {"kind": "preference", **{name: getattr(self, name) for name in facts}}
        return [
            *([] if self.people is None else [{"kind": "people", **asdict(self.people)}]),
            *(head | asdict(preference) for preference in self.preferences),
            *(
                {"kind": "item", "item": item, "preferred": preferred(scores), "decided_by": scores}
                for item, scores in self.scores.items()
            ),
        ]


def preferred(scores: Mapping[str, float]) -> list[str]:
    """Return the systems whose answer is best, several if they are equal."""
    return [system for system, score in scores.items() if score == max(scores.values())]


def compare_pairs(
    systems: Sequence[System],
    labels: Labels | None = None,
    further: Mapping[str, Callable[[Gold], float]] | None = None,
    seed: int = 0,
) -> Pairs:
    """Return which answers the metric prefers and, with labels of the same ids, how often people agree.

    A file alone has the systems in its label system, and items with one instruction; of several files each is a system,
    joined by id or else by instruction. Items named by the labels take precedence. `further` are baselines of texts.
    Raises InputInvalid for several signatures, a row without a system, two answers of a system to an item, one system
    only, and labels of which no two have different values within an item.
    """
    signature = shared_signature(dict(systems))
    answers = _answers(systems)
    if labels is not None:
        answers = _with_items(answers, labels)
    _refuse_twice(answers)
    all_items = _by_item(answers)
    items = {item: all_items[item] for item in _distinct_items(answers, labels)}
    repeated = {answer.result.id for answer in answers if answer.item not in items}
    answers = [answer for answer in answers if answer.item in items]
    known = {item: {name: score for name, score in of.items() if score is not None} for item, of in items.items()}
    scores = {item: of for item, of in known.items() if len(of) > 1}
    names = list(dict.fromkeys(answer.system for answer in answers))
    _refuse_alone(answers, names)
    preferences = _preferences(items, names)
    people = None
    if labels is not None:
        labels = replace(labels, rows=[row for row in labels.rows if row.id not in repeated])
        people = _people(answers, labels, signature, further or {}, seed)
    counts = len(all_items) - len(items), len(items) - len(scores)
    return Pairs(signature, answers[0].result.metric, scores, preferences, people, *counts)


def systems_of(file: System) -> list[System]:
    """Return the systems of one file, named by its label system; `item_of` joins their rows.

    Raises InputInvalid as `compare_pairs`.
    """
    answers = _answers([file])
    _refuse_twice(answers)
    systems: dict[str, list[Result]] = defaultdict(list)
    for answer in answers:
        systems[answer.system].append(answer.result)
    _refuse_alone(answers, list(systems))
    return list(systems.items())


def item_of(result: Result) -> str:
    """Return what a row of a file of several systems answers: its instruction, or else its id."""
    return same_text(result.instruction) or result.id


def _refuse_alone(answers: Sequence[Answer], names: Sequence[str]) -> None:
    if len(names) < 2:
        raise InputInvalid(
            f"{len(answers)} answers, of {names[0] if names else 'no system'} alone; expected two systems or more: a "
            "file for each, or one with the label system"
        )


def _answers(systems: Sequence[System]) -> list[Answer]:
    if len(systems) == 1:
        ((name, results),) = systems
        if lacking := next((result.id for result in results if not result.system), None):
            raise InputInvalid(
                f"{name}: id {lacking}: no system; expected the label system in each row, or a file for each system"
            )
        ordered = sorted(results, key=lambda result: result.system)  # else the first row would decide which is A
        return [Answer(item_of(result), result.system, result) for result in ordered]
    ids = Counter(plain_id(result.id) for _, results in systems for result in results)
    by_id = any(times > 1 for times in ids.values())
    return [
        Answer((not by_id and same_text(result.instruction)) or plain_id(result.id), name, result)
        for name, results in systems
        for result in results
    ]


def _with_items(answers: Sequence[Answer], labels: Labels) -> list[Answer]:
    """Return the answers with the items that the labels name, if they do. Raises InputInvalid for an id twice."""
    twice = [id_ for id_, times in Counter(answer.result.id for answer in answers).items() if times > 1]
    if twice:
        raise InputInvalid(f"id {twice[0]} occurs twice; with labels, expected an id for each answer, which joins them")
    known = aligned(Column("scored rows", dict.fromkeys(answer.result.id for answer in answers)), labels.rows)
    ours = dict(zip((answer.result.id for answer in answers), known.scores, strict=True))
    items = {row.id: row.item for row in labels.rows}
    renamed = [(answer, ours[answer.result.id]) for answer in answers]
    return [
        replace(answer, item=items.get(name) or answer.item, result=replace(answer.result, id=name))
        for answer, name in renamed
    ]


def _refuse_twice(answers: Sequence[Answer]) -> None:
    seen: dict[tuple[str, str], str] = {}
    for answer in answers:
        key = answer.item, answer.system
        if key in seen:
            raise InputInvalid(
                f"ids {seen[key]} and {answer.result.id}: two answers of {answer.system} to one item; expected one "
                "of each system to an instruction, or labels with --item"
            )
        seen[key] = answer.result.id


def _distinct_items(answers: Sequence[Answer], labels: Labels | None) -> list[str]:
    """Return the items without those whose answers and labels repeat another's under new ids."""
    known = {row.id: row.label for row in labels.rows} if labels else {}
    contents: dict[str, set[Hashable]] = defaultdict(set)
    for answer in answers:
        content = answer.result.content or answer.result.id
        contents[answer.item].add((answer.system, known.get(answer.result.id), content))
    names = list(contents)
    return [names[at] for at in distinct(names, list(map(frozenset, contents.values())))]


def _by_item(answers: Sequence[Answer]) -> dict[str, dict[str, float | None]]:
    """Return what decides between the answers to each item, by system; None for a failure."""
    items: dict[str, dict[str, float | None]] = defaultdict(dict)
    for answer in answers:
        items[answer.item][answer.system] = answer.result.preference
    return items


def _preferences(items: Mapping[str, Mapping[str, float | None]], names: Sequence[str]) -> tuple[Preference, ...]:
    counts = [_counts(items, a, b) for a, b in combinations(names, 2)]
    p_values = [_sign_test(a, b) for _, _, a, b, _ in counts]
    return tuple(
        Preference(a, b, *count, p_value, p_holm)
        for (a, b), count, p_value, p_holm in zip(combinations(names, 2), counts, p_values, holm(p_values), strict=True)
    )


def _counts(items: Mapping[str, Mapping[str, float | None]], a: str, b: str) -> tuple[int, int, int, int, int]:
    """Return the items that both answered, those that one has no score of, and how often a, b, neither is preferred."""
    both = [(scores[a], scores[b]) for scores in items.values() if a in scores and b in scores]
    steps = [first - second for first, second in both if first is not None and second is not None]
    a_preferred, b_preferred = sum(step > 0 for step in steps), sum(step < 0 for step in steps)
    return len(both), len(both) - len(steps), a_preferred, b_preferred, len(steps) - a_preferred - b_preferred


def _sign_test(a: int, b: int) -> float:
    from scipy.stats import binomtest

    return float(binomtest(a, a + b).pvalue) if a + b else 1.0


def _people(
    answers: Sequence[Answer],
    labels: Labels,
    signature: str,
    further: Mapping[str, Callable[[Gold], float]],
    seed: int,
) -> People:
    by_id = {answer.result.id: answer for answer in answers}
    rows = [_gold(row, by_id[row.id]) for row in labels.rows if row.id in by_id]
    metric = Column("the metric", {row.id: by_id[row.id].result.preference for row in rows}, signature)
    scored = [row for row in rows if metric.scores[row.id] is not None]
    total, kept = (_pairs_of_items(Counter(row.item for row in some)) for some in (rows, scored))
    columns = [metric, *meta_baselines.baselines(scored, further, seed)]
    orderings, items = _orderings(columns, scored, seed)
    if not orderings or not orderings[0].pairs:
        raise InputInvalid(
            f"{len(rows)} of {len(labels.rows)} labelled rows are in the files, {kept} pairs of them are of one item, "
            "none with different labels; expected labels of several systems' answers under the ids of the scored rows"
        )
    facets = [name for name in FACETS if any(row.facets.get(name) for row in rows)]
    influences = [
        influence
        for column, ordering in zip(columns, orderings, strict=True)
        for influence in meta_numbers.influences(column, scored, facets, {"ordered": ordering.ordered})
    ]
    return People(
        labelled=len(labels.rows),
        without_label=labels.without_label,
        unscored=len(labels.rows) - len(rows),
        unlabelled=len(answers) - len(rows),
        systems=len({row.system for row in scored}),
        items=items,
        pairs=total,
        equal=kept - orderings[0].pairs,
        failed=total - kept,
        orderings=tuple(orderings),
        influences=tuple(influences),
    )


def _gold(row: Gold, answer: Answer) -> Gold:
    """Return a labelled row as a pair has it: its item is its cluster, and texts and facets are those of its result."""
    facets = {"language": answer.result.language or row.facets.get("language", ""), "system": answer.system}
    text = answer.result.output if answer.result.metric.pair else row.text
    instruction = answer.result.instruction or row.instruction
    return replace(row, item=answer.item, cluster=answer.item, instruction=instruction, text=text, facets=facets)


def _pairs_of_items(items: Mapping[str, int]) -> int:
    return sum(rows * (rows - 1) // 2 for rows in items.values())


def _orderings(columns: Sequence[Column], rows: Sequence[Gold], seed: int) -> tuple[list[Ordering], int]:
    """Return how often each column orders the pairs, with tests of the first against the others, and their items."""
    if len(rows) < 2:
        return [], 0
    labels, items = [row.label for row in rows], [row.item for row in rows]
    values = [[score for row in rows if (score := column.scores[row.id]) is not None] for column in columns]
    numbers = [meta_numbers.ordered_pairs(labels, scores, items, items, seed) for scores in values]
    sums = [GroupedPairs(labels, scores, items).sums() for scores in values]
    p_values = [sign_permutation(sums[0].balance - other.balance, seed=seed) for other in sums[1:]]
    tests = [(None, None), *zip(p_values, holm(p_values), strict=True)]
    orderings = [
        Ordering(
            metric=column.name,
            baseline=column.is_baseline,
            pairs=pairs,
            ordered=ordered,
            difference=None if at == 0 else sums[0].ordered - sums[at].ordered,
            p_value=tests[at][0],
            p_holm=tests[at][1],
        )
        for at, (column, (pairs, ordered)) in enumerate(zip(columns, numbers, strict=True))
    ]
    return orderings, int((sums[0].labels_differ > 0).sum())
