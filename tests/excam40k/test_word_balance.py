"""Pairs that words tell are left out until words tell nothing, and what is said of it."""

import random
from dataclasses import asdict, replace

import pytest
from base_samples import base, wrapped

from excam.error_reports.records import CulturalError, Report, Sample
from excam.excam40k import text_classifier
from excam.excam40k.construction import word_balance

RIGHT = wrapped([base()])[0]
ERROR = Report((CulturalError("output", "x", "minor", "t", 0, 1),), "x is wrong")
WORDS = [f"word{number}" for number in range(40)]


def rows(texts: list[tuple[str, str]], groups: list[str] | None = None) -> list[Sample]:
    """Pairs of a right and a wrong row with these outputs, each of a group of its own."""
    made = []
    for at, (right, wrong) in enumerate(texts):
        own = {"pair": f"p{at}", "base": f"b{at}", "group": groups[at] if groups else f"b{at}"}
        made.append(replace(RIGHT, id=f"p{at}/right", output=right, **own))
        made.append(replace(RIGHT, id=f"p{at}/wrong", output=wrong, report=ERROR, origin="soft-minor", **own))
    return made


def exchanged(count: int, seed: int = 0) -> list[tuple[str, str]]:
    """Outputs of two pairs each, in which a word of one stands in the wrong row of the other."""
    chance, texts = random.Random(seed), []
    for _ in range(count // 2):
        word, other = chance.sample(WORDS, 2)
        for right, wrong in ((word, other), (other, word)):
            around = " ".join(chance.sample(WORDS, 5))
            texts.append((f"{around} {right}", f"{around} {wrong}"))
    return texts


def planted(count: int, step: int) -> list[tuple[str, str]]:
    """As above, and a share of the wrong rows has a word that no right row has."""
    return [
        (right, f"{wrong} forbidden" if at % step == 0 else wrong) for at, (right, wrong) in enumerate(exchanged(count))
    ]


def test_pairs_that_a_single_word_gives_away_are_left_out_and_no_others():
    left_out, balance = word_balance.telling_pairs(rows(planted(240, step=2)))
    assert balance.before[1] > 0, "the word tells"
    assert balance.after[1] <= 0
    assert balance.after[2] <= word_balance.WIDEST
    assert (balance.pairs, balance.left_out, balance.decided) == (240, len(left_out), True)
    telling = {f"p{at}" for at in range(0, 240, 2)}
    assert len(left_out & telling) >= 0.9 * len(left_out) > 0
    assert "pairs, words told 0." in balance.as_line()
    assert f"without {len(left_out)} pairs" in balance.as_line()
    assert asdict(balance)["left_out"] == len(left_out)


def test_the_same_pairs_twice_and_in_any_order():
    samples = rows(planted(120, step=2))
    turned = [sample for at in range(len(samples) - 2, -1, -2) for sample in samples[at : at + 2]]
    first, again, other = (word_balance.telling_pairs(each)[0] for each in (samples, samples, turned))
    assert first
    assert first == again == other


@pytest.mark.variants
@pytest.mark.parametrize("seed", range(4))
def test_a_set_without_a_trace_loses_nothing(seed):
    left_out, balance = word_balance.telling_pairs(rows(exchanged(240, seed)))
    assert left_out == frozenset()
    assert balance.before == balance.after
    assert balance.decided
    assert balance.as_line().startswith("240 pairs, words tell -0.")


def test_of_too_few_pairs_nothing_is_claimed():
    left_out, balance = word_balance.telling_pairs(rows(exchanged(40)[::2]))
    assert (left_out, balance.decided) == (frozenset(), False)
    assert balance.as_line().endswith("; too few pairs to say that words tell nothing")


def test_few_pairs_that_all_tell_are_left_out():
    """Down to two groups: with one, nothing can be asked of others."""
    left_out, balance = word_balance.telling_pairs(rows(planted(20, step=1)))
    assert 10 < len(left_out) <= 18
    assert not balance.decided


def test_with_keep_all_it_is_only_measured():
    left_out, balance = word_balance.telling_pairs(rows(planted(60, step=1)), keep_all=True)
    assert (left_out, balance.left_out, balance.decided) == (frozenset(), 0, False)
    assert balance.before == balance.after
    assert balance.as_line().endswith("; words tell which row is wrong")


@pytest.mark.parametrize("text", ["one and the same", "", "客人喝茶。", "a\r\nb", "?!"])
def test_equal_outputs_are_at_chance(text):
    """Where the error is in the instruction: one of two guesses is right, whatever is guessed."""
    left_out, balance = word_balance.telling_pairs(rows([(text, text)] * 30))
    assert (left_out, balance.after, balance.decided) == (frozenset(), (0, 0, 0), True)


def test_one_group_says_nothing():
    """There is nobody else to learn from."""
    left_out, balance = word_balance.telling_pairs(rows(planted(20, step=1), groups=["g"] * 20))
    assert (left_out, balance.after, balance.decided) == (frozenset(), (0, -1, 1), False)


def test_a_group_is_never_learned_from_when_it_is_asked():
    """In each group the wrong row has a word of its own: known, it would tell all of them."""
    texts = [("they say yes", f"they say own{at // 4}") for at in range(120)]
    turned = [pair if at // 4 % 2 else pair[::-1] for at, pair in enumerate(texts)]
    left_out, balance = word_balance.telling_pairs(rows(turned, [f"g{at // 4}" for at in range(120)]), keep_all=True)
    assert left_out == frozenset()
    assert balance.before[0] < 0.5


def test_pairs_of_a_script_without_spaces_are_compared_by_characters():
    """A clause is one word there, which no other row has."""
    texts = [(f"客人{at}喝茶", f"客人{at}喝酒") for at in range(100)]
    left_out, balance = word_balance.telling_pairs(rows(texts))
    assert text_classifier.word_matrix([text for pair in texts for text in pair]).shape[1] == 1
    assert balance.before[1] > 0.5
    assert left_out
