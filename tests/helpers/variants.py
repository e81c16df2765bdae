"""Which variants of costly tests run on a day: of each function marked `variants` one in DAYS, at least one."""

from collections import Counter

DAYS = 4


def of_day(items, day):
    """Return the tests of a day, a number, in their order; those without the mark are all there."""
    marked = [bool(item.get_closest_marker("variants")) for item in items]
    functions = [item.nodeid.partition("[")[0] for item in items]
    number = Counter(function for function, mark in zip(functions, marked, strict=True) if mark)
    seen, kept = Counter(), []
    for item, function, mark in zip(items, functions, marked, strict=True):
        days = min(number[function], DAYS)
        if not mark or seen[function] % days == day % days:
            kept.append(item)
        seen[function] += mark
    return kept
