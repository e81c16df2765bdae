"""The parts of the nightly tests: each test is in one of them."""

import re
import subprocess
import sys
from collections import Counter
from datetime import date, timedelta
from pathlib import Path
from types import SimpleNamespace

import nightly
import variants

FILES = {
    path.relative_to(nightly.ROOT).as_posix(): path.read_text(encoding="utf-8")
    for path in Path(__file__).parent.rglob("test_*.py")
}


def test_each_file_with_nightly_tests_is_in_one_group():
    marked = {name for name, text in FILES.items() if re.search(r"pytest\.mark\.nightly\b", text)}
    named = [word for group in nightly.GROUPS.values() if "nightly" in group.words for word in group.words[2:]]
    assert Counter(named) == dict.fromkeys(marked, 1)


def test_no_property_has_a_number_of_inputs_of_its_own():
    """Or it would keep that at night."""
    assert [name for name, text in FILES.items() if re.search(r"max_examples *=", text)] == []


def test_each_part_has_its_turn_and_none_that_needs_more_than_a_checkout():
    days = [date(2026, 11, 27) + timedelta(days) for days in range(100)]
    assert {nightly.turn(day, commits=7) for day in days} == {
        part for name, group in nightly.GROUPS.items() if not group.needs for part in nightly.parts(name)
    }


def test_slices_hold_each_test_once():
    words = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-o", "addopts=", "tests/core/test_paths.py"]
    names = [
        subprocess.run([*words, f"--slice={part}"], cwd=nightly.ROOT, capture_output=True, text=True, check=True)
        .stdout.partition("\n\n")[0]
        .splitlines()
        for part in ("1/1", "1/2", "2/2")
    ]
    assert len(names[0]) > 10
    assert sorted(names[0]) == sorted(names[1] + names[2])
    assert abs(len(names[1]) - len(names[2])) <= 1


def test_every_variant_has_its_day_and_every_test_a_variant_each_day():
    names = [
        *(f"a.py::test[{at}]" for at in range(10)),
        "a.py::other[0]",
        "a.py::other[1]",
        "a.py::single",
        "b.py::test[x]",
    ]
    items = [SimpleNamespace(nodeid=name, get_closest_marker=lambda _, at=name: at[0] == "a") for name in names]
    days = [[item.nodeid for item in variants.of_day(items, day)] for day in range(variants.DAYS)]
    assert set().union(*days) == set(names)
    assert all({name.partition("[")[0] for name in names} == {name.partition("[")[0] for name in day} for day in days)
    assert max(map(len, days)) == 6  # three of the ten, one of the two, and those without variants


def test_a_part_ends_within_its_time():
    assert not [row for row in nightly.recorded().values() if float(row.core_minutes) > nightly.MOST]
