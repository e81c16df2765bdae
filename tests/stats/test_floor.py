"""What is said of p-values that are the smallest their draws can give."""

from excam.stats.permutation import floor_note
from excam.stats.sign_permutation import DRAWS, sign_permutation


def test_the_floor_of_draws_is_said():
    """21 tests of 1,000 draws: none can be below .001, nor .021 after Holm."""
    note = floor_note([1 / 1001] * 20 + [2 / 1001], 1000)
    assert note == "20 of 21 p at the floor of 1,000 draws: none can be below 0.001, or below 0.021 after Holm."
    assert floor_note([2 / 1001], 1000) == floor_note([], 1000) == ""


def test_a_plain_difference_is_at_the_floor_of_its_draws():
    assert floor_note([sign_permutation([1.0] * 30), sign_permutation([1.0, -1.0])], DRAWS).startswith("1 of 2 p at")
