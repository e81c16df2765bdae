"""Splits, caps and mixtures: pairs stay together, classes are balanced, every dropped row is counted."""

import random
from collections import Counter
from dataclasses import replace

import pytest
from base_samples import SEED, SHARES, acting, base, split_up
from one_line_errors import line_of

from excam.core.exceptions import ConfigInvalid, InputInvalid
from excam.error_reports.records import BaseSample, Report, Sample
from excam.excam40k.construction import hard, splits


def rows_of(bases: list[BaseSample]) -> tuple[list[Sample], list[Sample]]:
    right = split_up(bases)
    return right, hard.hard_errors(right, {base.id: base for base in bases}, SEED)[0]


def pairs_of(bases: list[BaseSample]) -> list[Sample]:
    return splits.pair_up(*rows_of(bases))[0]


def blend(count: int, strata: int = 10) -> list[Sample]:
    return pairs_of([base(number, stratum=f"country {number % strata}") for number in range(count)])


def normad(count: int, strata: int = 10) -> list[Sample]:
    return pairs_of([acting(number, stratum=f"country {number % strata}") for number in range(count)])


def assert_complete_and_balanced(samples: list[Sample]) -> None:
    labels = Counter((sample.pair, bool(sample.report.errors)) for sample in samples)
    assert set(labels.values()) <= {1}
    assert {pair for pair, _ in labels} == {pair for pair, wrong in labels if wrong}
    assert sum(bool(sample.report.errors) for sample in samples) * 2 == len(samples)


@pytest.mark.parametrize("count", [1, 3, 7, 10, 99, 1000, 1227])
def test_counts_are_exact_up_to_rounding(count):
    assignment = splits.assign([(f"g{n}", f"s{n % 7}") for n in range(count)], SHARES, SEED)
    assert len(assignment) == count
    sizes = Counter(assignment.values())
    assert all(abs(sizes[split] - share * count) < 1 for split, share in SHARES.items())


def test_strata_are_divided_alike_even_the_small_ones():
    groups = [(f"g{n}", f"s{n % 40}") for n in range(2000)] + [(f"x{n}", f"single {n}") for n in range(1000)]
    assignment = splits.assign(groups, SHARES, SEED)
    for stratum in range(40):
        sizes = Counter(assignment[group] for group, name in groups if name == f"s{stratum}")
        assert all(abs(sizes[split] - share * 50) <= 2 for split, share in SHARES.items())
    singles = Counter(assignment[f"x{n}"] for n in range(1000))
    assert all(abs(singles[split] - share * 1000) < 60 for split, share in SHARES.items())


def test_groups_of_different_sizes_stay_whole_and_rows_meet_the_shares():
    dice = random.Random(1)
    groups = [(f"g{n}", f"s{dice.randrange(5)}") for n in range(800) for _ in range(dice.randint(1, 8))]
    assignment = splits.assign(groups, SHARES, SEED)
    sizes = Counter(assignment[group] for group, _ in groups)
    assert all(abs(sizes[split] - share * len(groups)) <= 8 for split, share in SHARES.items())


def test_the_split_of_a_group_does_not_follow_the_order_of_rows():
    groups = [(f"g{n}", f"s{n % 7}") for n in range(500)]
    assignment = splits.assign(groups, SHARES, SEED)
    assert assignment == splits.assign(reversed(groups), SHARES, SEED)
    assert assignment != splits.assign(groups, SHARES, SEED + 1)
    late = Counter(assignment[f"g{n}"] for n in range(250, 500))
    assert 20 <= late["test"] <= 80


SHARES_THAT_ARE_NONE = [
    *({}, {"train": 0.9}, {"train": 1.2, "test": -0.2}, {"train": 1.0, "test": 0.0}),
    *({"train": 0.5, "test": 0.499999}, {"train": 0.5, "test": 0.500001}),
]


@pytest.mark.parametrize("shares", SHARES_THAT_ARE_NONE)
def test_shares_that_are_none_are_refused(shares):
    assert "expected positive shares that sum to 1" in line_of(ConfigInvalid, splits.assign, [("g", "s")], shares, SEED)


def test_a_group_alone_is_of_the_largest_share():
    for shares in ({"train": 1.0}, {"test": 0.3, "train": 0.7}):
        assert splits.assign([("g", "s")], shares, SEED) == {"g": "train"}


def test_only_complete_pairs_are_kept_and_the_rest_is_counted():
    right, wrong = rows_of([base(number) for number in range(6)])
    odd = replace(wrong[2], templates=("qa/instruction/01", "qa/output/01"))
    bad = [replace(wrong[3], report=Report())]
    kept, left_out = splits.pair_up([*right[:10], right[0], wrong[0]], [*wrong[1:2], odd, *bad, *wrong[4:], wrong[5]])
    assert_complete_and_balanced(kept)
    assert [sample.pair for sample in kept[::2]] == [right[place].pair for place in (1, 4, 5, 6, 7, 8, 9)]
    assert left_out == {
        "right-without-wrong": 3,  # 0 and its copy, 3
        "right-with-errors": 1, "templates-differ": 2, "wrong-without-errors": 1, "wrong-without-right": 2,
        "duplicate-wrong": 1,
    }  # fmt: skip
    assert len(kept) + left_out.total() == 12 + 12


def test_both_rows_of_a_pair_are_of_the_larger_group_of_the_wrong_one():
    """Answers that were exchanged join the groups of two base samples; only the corrupted rows say so."""
    right, wrong = rows_of([base(number) for number in range(3)])
    joined = [replace(row, group="blend/0") if row.base == "blend/2" else row for row in wrong]
    pairs, _ = splits.pair_up(right, joined)
    groups = {(row.base, row.group) for row in pairs}
    assert groups == {("blend/0", "blend/0"), ("blend/1", "blend/1"), ("blend/2", "blend/0")}


def test_a_pair_is_kept_once():
    right, wrong = rows_of([acting()])
    assert splits.pair_up(right * 2, wrong) == ([*right, *wrong], Counter({"duplicate-right": 1}))


def test_cap_keeps_whole_base_samples_and_equal_strata():
    sizes = {"a": 100, "b": 100, "c": 5, "d": 50}
    names = [stratum for stratum, size in sizes.items() for _ in range(size)]
    samples = pairs_of([base(number, stratum=stratum) for number, stratum in enumerate(names)])
    kept = splits.cap(samples, 400, SEED)
    assert_complete_and_balanced(kept)
    assert len(kept) == 400
    assert set(Counter(sample.base for sample in kept).values()) == {4}
    strata = Counter(sample.stratum for sample in kept)
    assert strata["c"] == 20
    assert max(strata[name] for name in "abd") - min(strata[name] for name in "abd") <= 4


@pytest.mark.parametrize("limit", [0, 1, 2, 3, 5, 6, 398, 399])
def test_cap_is_filled_with_single_pairs_at_the_end(limit):
    kept = splits.cap(blend(120), limit, SEED)
    assert_complete_and_balanced(kept)
    assert len(kept) == limit - limit % 2
    assert sum(count == 2 for count in Counter(sample.base for sample in kept).values()) == limit % 4 // 2


def test_cap_does_not_depend_on_the_order_of_rows_and_leaves_small_sets_whole():
    samples = blend(50)
    shuffled = random.Random(3).sample(samples, len(samples))
    assert splits.cap(samples, 60, SEED) == splits.cap(shuffled, 60, SEED)
    assert splits.cap(samples, 60, SEED) != splits.cap(samples, 60, SEED + 1)
    assert {sample.id for sample in splits.cap(samples, 5000, SEED)} == {sample.id for sample in samples}


def test_a_row_without_its_twin_is_refused():
    samples = blend(3)
    for broken in (samples[1:], [*samples, samples[0]]):
        assert "run pair_up first" in line_of(InputInvalid, splits.cap, broken, 4, SEED)


def test_balanced_subset_takes_pairs_of_different_base_samples_first():
    test = splits.balanced_subset(blend(60, strata=5), 100, SEED)
    assert_complete_and_balanced(test)
    assert (len(test), len({sample.base for sample in test})) == (100, 50)
    assert set(Counter(sample.stratum for sample in test).values()) == {20}
    assert len(splits.balanced_subset(blend(30), 100, SEED)) == 100  # 30 first pairs, 20 second ones
    assert len(splits.balanced_subset(normad(30), 100, SEED)) == 60


def test_mixtures_leave_out_what_their_name_says():
    pool = {"blend": blend(20), "normad": normad(20)}
    everything = splits.mixture(pool, "all", seed=SEED)
    assert {sample.id for sample in everything} == {sample.id for samples in pool.values() for sample in samples}
    without = splits.mixture(pool, "without-blend", seed=SEED)
    assert {sample.dataset for sample in without} == {"normad"}
    assert [sample for sample in everything if sample.dataset == "normad"] == without
    for name in ("nothing", "blend", "without-blnd", "without-", "without-all"):
        with pytest.raises(ConfigInvalid, match="known: all, permissive, without-blend, without-normad"):
            splits.mixture(pool, name, seed=SEED)


def test_what_another_benchmark_is_judged_on_stays_out_with_its_twin():
    pool = {"blend": blend(20), "normad": normad(20)}
    kept = splits.mixture(pool, "all", seed=SEED, leaking={"blend/3", "normad/7"})
    assert_complete_and_balanced(kept)
    assert {sample.base for sample in kept} == (
        {sample.base for samples in pool.values() for sample in samples} - {"blend/3", "normad/7"}
    )


def test_cells_count_rows_by_label():
    assert splits.cells(blend(3)) == {"right": 6, "wrong_hard": 6, "wrong_soft": 0}


def test_a_permissive_mixture_holds_no_share_alike_row():
    free, bound = blend(20), [replace(sample, licence="CC-BY-NC-SA-4.0") for sample in normad(20)]
    kept = splits.mixture({"blend": free, "normad": bound}, "permissive", seed=SEED)
    assert {sample.id for sample in kept} == {sample.id for sample in free}
    unknown = [replace(sample, licence="house rules") for sample in free]
    assert splits.mixture({"blend": unknown}, "permissive", seed=SEED) == []


def test_a_left_out_dataset_cannot_come_in_under_another_name():
    with pytest.raises(InputInvalid, match=r"blend/0.* among the rows of normad"):
        splits.mixture({"blend": blend(2), "normad": blend(2)}, "without-blend", seed=SEED)


def test_a_limited_mixture_takes_as_many_pairs_from_every_dataset():
    pool = {"blend": blend(50), "normad": normad(8)}
    kept = splits.mixture(pool, "all", limit=61, seed=SEED)
    assert_complete_and_balanced(kept)
    assert Counter(sample.dataset for sample in kept) == {"normad": 16, "blend": 44}
    kept = splits.mixture(pool, "all", limit=20, seed=SEED)
    assert Counter(sample.dataset for sample in kept) == {"normad": 10, "blend": 10}
    datasets = [sample.dataset for sample in splits.mixture(pool, "all", seed=SEED)]
    assert len(set(datasets[:40])) == 2  # mixed, not one dataset after the other


def test_adding_a_dataset_moves_no_row_of_the_others():
    small = {"blend": blend(20)}
    large = {"normad": normad(20), "blend": list(reversed(small["blend"]))}
    order = [sample for sample in splits.mixture(large, "all", seed=SEED) if sample.dataset == "blend"]
    assert order == splits.mixture(small, "all", seed=SEED)
