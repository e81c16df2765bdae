"""Ids seen so far: a second one is known, in a fifth of a set's memory."""

import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from excam.metric.ids import Ids


@given(st.lists(st.text(max_size=3), max_size=200))
def test_each_is_new_once(names):
    seen, wanted = Ids(), set()
    for name in names:
        assert seen.add(name) == (name not in wanted)
        wanted.add(name)
    assert len(seen) == len(wanted)


def test_none_is_lost_while_it_grows():
    seen = Ids()
    assert all(seen.add(str(number)) for number in range(5000))
    assert not any(seen.add(str(number)) for number in range(5000))
    assert seen.add("\ud800"), "a lone surrogate is an id too"


def test_what_it_remembers_is_small():
    tracemalloc.start()
    try:
        seen = Ids()
        for number in range(100_000):
            seen.add(str(number))
        kept, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 24 * 100_000
    assert peak < 36 * 100_000
