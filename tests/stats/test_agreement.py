"""Agreement beyond chance equals its definitions, spelled out here, and the worked examples of the literature."""

import itertools

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from late import inter_rater
from one_line_errors import line_of

from excam.core.exceptions import InputInvalid
from excam.stats import agreement
from excam.stats.agreement import _alpha_of_numbers

# Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability", part D: 4 observers, 12 units; nominal alpha .743
OBSERVERS = ("123321412...", "1233224125.3", ".3332342251.", "12332441251.")
KRIPPENDORFF = [[row[unit] for row in OBSERVERS if row[unit] != "."] for unit in range(12)]
FIVE = list("12345")
# Fleiss (1971) as worked in the literature: 10 subjects, 14 raters, 5 categories; kappa .210
FLEISS = [[0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1]]
FLEISS += [[7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7]]


def spelled_out(ratings, values, scale):
    """Alpha from its definition: every pair of ratings of a unit, and every pair of all pairable ratings."""
    units = [unit for unit in ratings if len(unit) > 1]
    flat = [rating for unit in units for rating in unit]

    def distance(rating, other):
        if scale == "nominal":
            return float(rating != other)
        low, high = sorted((values.index(rating), values.index(other)))
        between = sum(flat.count(value) for value in values[low : high + 1])
        return (between - (flat.count(rating) + flat.count(other)) / 2) ** 2

    apart = {pair: distance(*pair) for pair in itertools.product(set(flat), repeat=2)}
    n = len(flat)
    observed = sum(apart[a, b] / (len(unit) - 1) for unit in units for a, b in itertools.permutations(unit, 2)) / n
    expected = sum(apart[a, b] for a, b in itertools.permutations(flat, 2)) / (n * (n - 1))
    return 1 - observed / expected


def resampled(ratings, statistic, seed, draws=2000):
    """The percentile interval by drawing items one by one."""
    generator, estimates = np.random.default_rng(seed), []
    for _ in range(draws):
        drawn = [ratings[at] for at in generator.integers(len(ratings), size=len(ratings))]
        if len({rating for unit in drawn for rating in unit}) > 1:
            estimates.append(statistic(drawn))
    return np.quantile(estimates, [0.025, 0.975])


def test_krippendorffs_own_example():
    alpha = agreement.alpha(KRIPPENDORFF, FIVE, "nominal", 0)
    assert alpha.value == pytest.approx(0.743, abs=5e-4)
    assert (alpha.n, alpha.ratings) == (11, 40)
    assert alpha.low < alpha.value < alpha.high
    assert agreement.alpha(KRIPPENDORFF, FIVE, "ordinal", 0).value == pytest.approx(0.815, abs=5e-4)


def test_fleiss_own_example():
    ratings = [[FIVE[at] for at, count in enumerate(row) for _ in range(count)] for row in FLEISS]
    kappa = agreement.kappa([*ratings, ["1"]], FIVE, 14, 0)
    assert kappa.value == pytest.approx(0.210, abs=5e-4)
    assert (kappa.n, kappa.ratings) == (10, 140)
    pairs = agreement.kappa([["a", "a"], ["b", "b"], ["a", "b"]] * 30, ["a", "b"], 2, 0)
    assert pairs.low < pairs.value < pairs.high < pairs.low + 0.5


RATINGS = st.lists(st.lists(st.sampled_from("abcd"), max_size=4), min_size=2, max_size=12)


@given(RATINGS)
def test_alpha_is_its_definition_and_the_librarys(ratings):
    values = list("abcd")
    units = [unit for unit in ratings if len(unit) > 1]
    for scale in ("nominal", "ordinal"):
        alpha = agreement.alpha(ratings, values, scale, 0)
        assert alpha.n == len(units)
        if len({rating for unit in units for rating in unit}) < 2:
            assert (alpha.value, alpha.low, alpha.high) == (None, None, None)
            continue
        expected = spelled_out(ratings, values, scale)
        assert alpha.value == pytest.approx(expected)
        counts = np.array([[unit.count(value) for value in values] for unit in units])
        assert alpha.value == pytest.approx(krippendorff.alpha(value_counts=counts, level_of_measurement=scale))
        sums = agreement._coincidences(counts.astype(float)).sum(axis=0).reshape(-1, 1)
        assert agreement._alpha(sums, scale)[0] == pytest.approx(expected)


@given(RATINGS)
def test_kappa_of_the_sums_is_the_librarys(ratings):
    values = list("abcd")
    triples = [unit for unit in ratings if len(unit) == 3]
    kappa = agreement.kappa(ratings, values, 3, 0)
    assert (kappa.n, kappa.ratings) == (len(triples), 3 * len(triples))
    if len({rating for unit in triples for rating in unit}) < 2:
        assert kappa.value is None
        return
    counts = np.array([[unit.count(value) for value in values] for unit in triples], dtype=float)
    alike = (counts * (counts - 1)).sum(axis=1) / 6
    sums = np.stack([*counts.T, alike, np.ones(len(counts))]).sum(axis=1, keepdims=True)
    assert agreement._kappa(sums, 3)[0] == pytest.approx(kappa.value) == pytest.approx(inter_rater.fleiss_kappa(counts))


@pytest.mark.usefixtures("bootstrap_above_30")
@pytest.mark.parametrize("scale", ["nominal", "ordinal"])
def test_the_interval_is_that_of_drawing_items(scale):
    generator = np.random.default_rng(1)
    ratings = [list(generator.choice(list("aab" if at % 2 else "bcc"), size=3)) for at in range(40)]
    alpha = agreement.alpha(ratings, list("abc"), scale, 0)
    expected = resampled(ratings, lambda drawn: spelled_out(drawn, list("abc"), scale), 2, 400)
    assert [alpha.low, alpha.high] == pytest.approx(expected, abs=0.05)
    assert alpha == agreement.alpha(ratings, list("abc"), scale, 0)
    other = agreement.alpha(ratings, list("abc"), scale, 1)
    assert (alpha.low, alpha.high) != (other.low, other.high)


def test_nothing_is_claimed_where_there_is_no_variation():
    for ratings in ([], [["a"]], [["a", "a"]] * 9, [["a"], ["b"]]):
        assert agreement.alpha(ratings, ["a", "b"], "nominal", 0).value is None
        assert agreement.kappa(ratings, ["a", "b"], 2, 0).value is None
    perfect = agreement.alpha([["a", "a"], ["b", "b"]] * 5, ["a", "b"], "nominal", 0)
    assert (perfect.value, perfect.low, perfect.high) == (1.0, None, None)


def test_strange_ratings_are_refused():
    assert "'c'; expected one of a, b" in line_of(InputInvalid, agreement.alpha, [["a", "c"]], ["a", "b"], "nominal", 0)
    assert "kappa got 1 raters; expected at least two" in line_of(InputInvalid, agreement.kappa, [["a"]], ["a"], 1, 0)


def test_alpha_of_numbers_is_that_of_the_interval_scale():
    """Part E of Krippendorff (2011) gives .849 for the interval alpha of his example; `krippendorff` computes others."""
    own = agreement.alpha_of_numbers([[int(value) for value in unit] for unit in KRIPPENDORFF], 0)
    assert own.value == pytest.approx(0.849, abs=5e-4)
    assert (own.n, own.ratings) == (11, 40)
    generator = np.random.default_rng(0)
    cells = generator.normal(1e6, 3, (1, 30)) + generator.normal(size=(3, 30))
    cells[generator.random((3, 30)) < 0.2] = np.nan
    ratings = [list(unit[~np.isnan(unit)]) for unit in cells.T]
    expected = krippendorff.alpha(reliability_data=cells, level_of_measurement="interval")
    made = agreement.alpha_of_numbers(ratings, 0)
    assert made.value == pytest.approx(expected)
    assert made.low < made.value < made.high
    assert agreement.alpha_of_numbers([[0.1, 0.1], [0.1, 0.1]], 0).value is None
    assert agreement.alpha_of_numbers([[1.0]], 0).n == 0


def test_cohens_kappa_is_that_of_statsmodels():
    pairs = [*[("a", "a")] * 20, *[("a", "b")] * 5, *[("b", "a")] * 10, *[("b", "c")] * 15]
    made = agreement.cohens_kappa(pairs, 0)
    counts = [[pairs.count((first, second)) for second in "abc"] for first in "abc"]
    assert made.value == pytest.approx(inter_rater.cohens_kappa(np.array(counts)).kappa)
    assert made.low < made.value < made.high
    assert (made.n, made.ratings) == (50, 100)
    assert agreement.cohens_kappa([("a", "a")] * 3, 0).value is None


def test_alpha_of_equal_numbers_is_undefined():
    assert np.isnan(_alpha_of_numbers(np.array([[0.0], [4.0], [12.0], [36.0]]))).all()
