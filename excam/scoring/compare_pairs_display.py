"""Which of two answers is better, in a terminal: preferences of systems, and people's view beside baselines."""

from __future__ import annotations

from collections import Counter

from rich.console import Console

from excam.core.escapes import visible
from excam.scoring import display
from excam.scoring.compare_pairs import Ordering, Pairs, People, Preference, preferred
from excam.scoring.meta_display import estimate_cell, metric_name, print_influences

HEAD = ("A", "B", "items", "failed", "A preferred : B preferred : ties", "p", "p (Holm)")
PEOPLE_HEAD = ("metric", "pairs", "ordered as people do", "the metric - this", "p", "p (Holm)")


def show(found: Pairs) -> None:
    """Print everything on stdout."""
    out = display.console()
    print(visible(found.signature))
    print(f"\nWhich answer the metric prefers, of {len(found.scores)} items that two systems or more answered:")
    display.table(out, [HEAD, *map(_preference, found.preferences)])
    print("p: two-sided sign test without the ties.")
    alone = Counter(names[0] for scores in found.scores.values() if len(names := preferred(scores)) == 1)
    best = ", ".join(f"{name} {times}" for name, times in alone.most_common())
    print(
        visible(f"Preferred to all others: {best or 'none'}; several equal ones: {len(found.scores) - alone.total()}.")
    )
    if found.people:
        _people(out, found.people)


def _preference(one: Preference) -> tuple[str, ...]:
    wins = f"{one.a_preferred} : {one.b_preferred} : {one.ties}"
    return (one.a, one.b, f"{one.items}", f"{one.failed}", wins, f"{one.p_value:.4f}", f"{one.p_holm:.4f}")


def _people(out: Console, people: People) -> None:
    print(
        f"\nWhich answer people prefer: {people.labelled} labelled rows, {people.unscored} of them in no file; "
        f"{people.systems} systems."
    )
    print(
        f"{people.pairs} pairs of answers to one item; left out: {people.equal} with equal labels, {people.failed} "
        f"with an answer without a score. {people.items} items have the other pairs."
    )
    display.table(out, [PEOPLE_HEAD, *map(_ordering, people.orderings)])
    print("ordered: share of pairs, ties half, .5 is chance; 95 % intervals over items. p: swaps of whole items.")
    print(
        "In brackets (): trivial baselines. (words): the label predicted from the words, learnt from other items."
    )
    print("(system): the place of the system, by the mean labels of the other items.")
    print_influences(people.influences)


def _ordering(one: Ordering) -> tuple[str, ...]:
    numbers = (one.difference, one.p_value, one.p_holm)
    cells = ["" if n is None else f"{n:{form}}" for n, form in zip(numbers, ("+.2f", ".4f", ".4f"), strict=True)]
    return (metric_name(one.metric, baseline=one.baseline), f"{one.pairs}", estimate_cell(one.ordered), *cells)
