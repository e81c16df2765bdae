"""Which of two answers is better, in a terminal: preferences of systems, and people's view beside baselines."""

from __future__ import annotations

from collections import Counter

from rich.console import Console

from excam.core.escapes import visible
from excam.scoring import display
from excam.scoring.compare import what_decides
from excam.scoring.compare_pairs import Ordering, Pairs, People, Preference, preferred
from excam.scoring.meta_display import estimate_cell, metric_name, print_influences

HEAD = ("A", "B", "items", "failed", "A preferred : B preferred : ties", "p", "p (Holm)")
PEOPLE_HEAD = ("metric", "pairs", "ordered as people do", "the metric - this", "p", "p (Holm)")


def show(pairs: Pairs) -> None:
    """Print everything on stdout."""
    out = display.console()
    print(visible(pairs.signature))
    left_out = f"{pairs.without_pair} with fewer than two scores, {pairs.repeated} that repeat another under new ids"
    print(f"\nWhich answer the metric prefers, of {len(pairs.scores)} items. Left out: {left_out}.")
    display.table(out, [HEAD, *map(_preference, pairs.preferences)])
    print(visible(f"{what_decides(pairs.metric)}."))
    print("p: two-sided sign test without the ties. p (Holm): p adjusted for the number of tests here.")
    alone = Counter(names[0] for scores in pairs.scores.values() if len(names := preferred(scores)) == 1)
    best = ", ".join(f"{name} {times}" for name, times in alone.most_common())
    print(
        visible(f"Preferred to all others: {best or 'none'}; several equal ones: {len(pairs.scores) - alone.total()}.")
    )
    if pairs.people:
        _people(out, pairs.people)


def _preference(preference: Preference) -> tuple[str, ...]:
    wins = f"{preference.a_preferred} : {preference.b_preferred} : {preference.ties}"
    return (
        preference.a,
        preference.b,
        f"{preference.items}",
        f"{preference.failed}",
        wins,
        f"{preference.p_value:.4f}",
        f"{preference.p_holm:.4f}",
    )


def _people(out: Console, people: People) -> None:
    print(
        f"\nWhich answer people prefer: {people.labelled} labelled rows, {people.unscored} of them in no file, and "
        f"{people.without_label} without a label; {people.unlabelled} scored rows have none; {people.systems} systems."
    )
    print(
        f"{people.pairs} pairs of answers to one item; left out: {people.equal} with equal labels, {people.failed} "
        f"with an answer without a score. {people.items} items have the other pairs."
    )
    display.table(out, [PEOPLE_HEAD, *map(_ordering, people.orderings)])
    print("ordered: share of pairs, ties half, .5 is chance; 95 % intervals over items. p: swaps of whole items.")
    print("In brackets (): trivial baselines. (words): the label predicted from the words, learnt from other items.")
    print("(system): the place of the system, by the mean labels of the other items.")
    print_influences(people.influences)


def _ordering(ordering: Ordering) -> tuple[str, ...]:
    numbers = (ordering.difference, ordering.p_value, ordering.p_holm)
    cells = ["" if n is None else f"{n:{form}}" for n, form in zip(numbers, ("+.2f", ".4f", ".4f"), strict=True)]
    return (
        metric_name(ordering.metric, baseline=ordering.baseline),
        f"{ordering.pairs}",
        estimate_cell(ordering.ordered),
        *cells,
    )
