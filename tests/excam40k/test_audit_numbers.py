"""The numbers of the audits, each computed by hand."""

import numpy as np
import polars as pl
import pytest

from excam.excam40k import text_classifier
from excam.excam40k.audits import balance, inventory, leaks, licences, page, shortcuts, views
from excam.excam40k.audits.checks import Audit, Check, absence_check
from excam.excam40k.construction import duplicates


def view_result(*sums: float, size: float = 1.0, how: str = "") -> shortcuts.ShortcutScore:
    return shortcuts.ShortcutScore("blend", "lengths", how, np.array(sums), np.full(len(sums), size))


# --- shortcuts


def test_so_many_groups_are_needed():
    """2 ** -5 < .05 < 2 ** -4; of 4 tests 2 ** -7 < .05 / 4 < 2 ** -6."""
    assert [shortcuts.fewest(tests) for tests in (1, 4)] == [5, 7]


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (view_result(*[1.0] * 5), "tells the label"),
        (view_result(*[1.0] * 4), "not decidable"),
        (view_result(*[0.0] * 99), "not decidable"),  # all rows are called alike
        (view_result(*[0.0] * 100), "at chance"),
        (view_result(*[-1.0] * 5), "below chance"),
        (view_result(*[-1.0] * 4), "below chance"),
        (view_result(*[-1.0] * 5, how=shortcuts.SAME), "at chance"),
        (view_result(1, 1, 1, 0, -1, size=2), "not decidable"),
        (view_result(-1, -1, -1, 0, 1, size=2), "not decidable"),
        (view_result(1, 1, -1, 1, 1), "not decidable"),  # .6 within -.51 and 1
        (view_result(*[1, -1] * 50), "not decidable"),  # 0 within -.199 and .199
        (view_result(*[1, -1] * 100), "at chance"),  # 0 within -.140 and .140
        (view_result(*[1, 1, 1, -1] * 9), "tells the label"),
        (view_result(3, 3, 3, 2, 4, size=4), "tells the label"),
        (view_result(-3, -3, -3, -2, -4, size=4), "below chance"),
        (view_result(*[1.0] * 5, size=10), "at chance"),  # .1 for sure, and not more than is allowed
        (view_result(*[1.5] * 5, size=10), "tells the label"),  # .15
    ],
)
def test_what_an_interval_says(result, expected):
    assert shortcuts.verdict(result, 1) == expected


def test_more_tests_make_it_harder_to_fail_and_not_easier_to_pass():
    """.25 within .023 and .477; of eight tests together, within -.07 and .57."""
    telling, quiet = view_result(*[1, 1, 1, 1, 1, -1, -1, -1] * 9), view_result(*[1, -1] * 100)
    assert [shortcuts.verdict(telling, tests) for tests in (1, 8)] == ["tells the label", "not decidable"]
    assert [shortcuts.verdict(quiet, tests) for tests in (1, 8)] == ["at chance"] * 2


def test_an_interval_of_two_groups_and_of_one():
    """Sums 4 and 2 of 8 rows each: scaled 3/8, residuals 1 and -1, error sqrt(2 * 2) / 16; t(.75, 1) = 1."""
    two = view_result(4, 2, size=8)
    assert two.interval(0.5)[1:] == pytest.approx((0.25, 0.5))
    assert view_result(1, size=2).interval(0.5)[1:] == (-1.0, 1.0)
    assert view_result(2, -2, size=2).interval(0.9)[1:] == (-1.0, 1.0), "no accuracy is outside"


def test_a_check_and_its_line():
    """Sums 5 and 5 of 8 rows each: no doubt of .625, and too few groups."""
    numbers, expected = "0.625 [0.625, 0.625]", "an interval (95%) below 0.15"
    shown = f"{numbers}: not decidable at n=16 in 2 groups"
    check = shortcuts._check(view_result(5, 5, size=8), 4)
    assert check == Check("at chance: lengths", "blend", shown, expected, "not decidable")
    telling = view_result(*[5.0] * 7, size=8)
    shown = f"{numbers}, n=56 in 7 groups: tells the label"
    assert shortcuts._check(telling, 4) == Check("at chance: lengths", "blend", shown, expected, "failed")
    reported = shortcuts._check(telling, 4, fails=False)
    assert (reported.outcome, reported.expected) == ("reported", "nothing, reported")
    assert [shortcuts._check(view_result(*[sums] * 7), 4).outcome for sums in (0.1, -1)] == ["passed"] * 2
    table = shortcuts._table([view_result(5, 5, size=8, how="h")], 4)
    assert table.rows() == [("blend", "lengths", 0.625, 0.625, 0.625, 16, 2, "h", "not decidable")]


def rows_with_tokens(*tokens: str, part: str = "train") -> pl.DataFrame:
    """Rows of pairs, the right one first, and what a view shows of each."""
    n = len(tokens)
    return pl.DataFrame(
        {
            "dataset": ["blend"] * n,
            "pair": [f"p{at // 2}" for at in range(n)],
            "group": [f"g{at // 2}" for at in range(n)],
            "origin": ["source", "hard"] * (n // 2) + ["source"] * (n % 2),
            "part": [part] * n,
            "tokens": [[token] if token else [] for token in tokens],
        }
    )


def found_tokens(frame: pl.DataFrame) -> list[shortcuts.ShortcutScore]:
    return shortcuts._test(frame, "templates", lambda rows: rows["tokens"].to_list(), text_classifier.token_matrix)


def guessed(frame: pl.DataFrame) -> tuple[str, list[bool]]:
    wrong = (frame["origin"] != "source").to_numpy()
    how, guesses = shortcuts._guess(frame["group"], text_classifier.token_matrix(frame["tokens"].to_list()), wrong)
    return how, guesses.tolist()


def test_pairs_that_show_the_same_are_not_fitted():
    (result,) = found_tokens(rows_with_tokens("a", "a", "b", "b"))
    assert (result.how, result.sums.tolist(), result.sizes.tolist()) == (shortcuts.SAME, [0, 0], [2, 2])
    wrong = np.array([False, True])
    assert shortcuts._same_in_pairs(["p", "p"], [["a"], ["a"]], wrong)
    assert not shortcuts._same_in_pairs(["p", "p"], [["a"], ["b"]], wrong)
    assert not shortcuts._same_in_pairs(["p", "q"], [["a"], ["a"]], wrong), "half pairs"
    assert not shortcuts._same_in_pairs(["p", "p"], [["a"], ["a"]], np.array([True, True]))
    assert not shortcuts._same_in_pairs(["p"] * 3, [["a"]] * 3, np.array([False, True, True]))


def test_rows_that_show_nothing_are_left_out():
    (result,) = found_tokens(rows_with_tokens("a", "a", "", "", "b"))
    assert result.sizes.tolist() == [2, 1]
    assert found_tokens(rows_with_tokens("", "")) == []
    assert found_tokens(rows_with_tokens("a", "", "b", "")) == [], "only right rows"
    assert found_tokens(rows_with_tokens("", "a", "", "b")) == [], "only wrong rows"


def test_rows_are_predicted_by_others():
    """Twelve pairs, of which the wrong row has a token of its own: always predicted."""
    frame = rows_with_tokens(*["right", "wrong"] * 12)
    assert guessed(frame) == ("halves of the groups", [False, True] * 12)
    assert guessed(frame.with_columns(group=pl.lit("g"))) == ("one group", [False] * 24)
    (result,) = found_tokens(frame)
    assert result.sums.tolist() == [2] * 12


def test_what_most_countries_say_is_learned_from_other_base_samples_of_the_group():
    """In each of two groups one answer is right in eight countries and another wrong; in new groups both are unknown."""
    labels = [(group, base, side) for group in "gh" for base in range(8) for side in ("source", "hard")]
    frame = pl.DataFrame(
        {
            "dataset": ["blend"] * 32,
            "pair": [f"{group}{base}" for group, base, _ in labels],
            "base": [f"{group}{base}" for group, base, _ in labels],
            "group": [group for group, *_ in labels],
            "origin": [side for *_, side in labels],
            "output": [
                f"Answer: {'tea' if (side == 'hard') == (group == 'g') else 'mate'}" for group, _, side in labels
            ],
            "templates": [["freeform/output/03"]] * 32,
        }
    )
    (known,) = shortcuts._test(frame, *shortcuts.IN_ITS_GROUP, unit="base")
    (new,) = shortcuts._test(frame, *shortcuts.IN_ITS_GROUP)
    assert (known.how, known.interval(0.95)[0]) == ("halves of the bases", 1)
    assert (new.how, new.interval(0.95)[0]) == ("halves of the groups", 0)
    assert shortcuts.verdict(new, 1) == "not decidable", "it calls all rows alike"


def test_a_fold_of_one_class_predicts_it():
    wrong = np.array([True, True, False])
    assert shortcuts._fit_guess(None, wrong, np.array([0, 1]), np.array([2])).tolist() == [True]
    assert shortcuts._fit_guess(None, ~wrong, np.array([0, 1]), np.array([2, 2])).tolist() == [False, False]


def test_what_a_classifier_sees_of_texts_and_of_tokens():
    """Three words and two pairs; of " abc ", " de " and " f " nine n-grams of 2 characters, six of 3 and three of 4. A
    third text has what occurs once, which is too seldom."""
    texts = ["abc de f", "abc de f", "xy"]
    assert text_classifier.word_matrix(texts).shape == (3, 3 + 2)
    assert text_classifier.character_matrix(texts).shape == (3, 9 + 6 + 3)
    tokens = text_classifier.token_matrix([["a b", "c"], ["c", "c"]])
    assert tokens.toarray().tolist() == [[1, 1], [0, 1]]


def test_a_vowel_sign_ends_no_word():
    assert text_classifier.word_matrix(["हिन्दी", "हिन्दी", "ह", "न"]).toarray()[:, 0].tolist() == [1, 1, 0, 0]


@pytest.mark.parametrize("texts", [["one", "two"], ["", ""], ["?!", "..."]])
def test_texts_that_have_nothing_in_common_show_nothing(texts):
    for matrix in (text_classifier.word_matrix(texts), text_classifier.character_matrix(["a", "b"])):
        assert (matrix.shape, matrix.nnz) == ((2, 1), 0)


def test_halves_share_no_group_and_every_row_is_tested_once():
    groups = np.array([f"g{at // 2}" for at in range(40)])
    (first, second), back = text_classifier.halves(groups)
    assert (second.tolist(), first.tolist()) == tuple(each.tolist() for each in back)
    assert (len(first), len(second), set(groups[first]) & set(groups[second])) == (20, 20, set())
    assert list(text_classifier.halves(np.array(["g"] * 4))) == []


# --- views


def test_lengths_become_tenths():
    assert views._tenths(pl.Series(range(20))).to_list() == [at // 2 for at in range(20)]
    assert views._tenths(pl.Series([5, 5, 7, 9])).to_list() == [0, 0, 5, 7], "equal ones alike; 2 and 3 of 4 are below"
    frame = pl.DataFrame({"instruction": ["a b", "a b c"], "output": ["abcd", "xy z"]})
    first, second = views.lengths(frame)
    assert first == ["instruction characters 0", "instruction words 0", "output characters 0", "output words 0"]
    assert second == ["instruction characters 5", "instruction words 5", "output characters 0", "output words 5"]


def test_the_marks_of_an_output():
    """Which there are, the last one, and how many, as a tenth of the rows."""
    frame = pl.DataFrame({"output": ["No.", "Yes, 'so'! ", "", "好。"]})
    marks, commas, none, chinese = views.punctuation(frame)
    assert sorted(marks) == ["ends with .", "has .", "marks 2"]
    assert sorted(commas) == ["ends with !", "has !", "has '", "has ,", "marks 7"]
    assert none == ["ends with ", "marks 0"]
    assert sorted(chinese) == ["ends with 。", "has 。", "marks 2"]


def test_eight_characters_are_copied_and_seven_are_not():
    copied = views._characters_within
    assert [copied(text, f"x{text}x") for text in ("abcdefg", "abcdefgh", "abcdefghi")] == [0, 8, 9]
    assert [copied(f"so {text} so", text) for text in ("abcdefg", "abcdefgh")] == [7, 8]
    assert [copied(f"so{text}so", text) for text in ("abcdefg", "abcdefgh")] == [0, 8]
    assert copied("abcdefgh, ijklmnop", "ABCDEFGH-ijklmnop") == 16, "two runs"


def test_options_are_counted_in_order():
    assert views._options("Option A: x Option B: y Option C: z") == 3
    assert views._options("Option B: x Option A: y") == 1
    assert views._options("") == 0


# --- balance


def test_a_test_of_equal_shares():
    """Chi-square of 6 and 2 is (4 + 4) / 4 = 2 with one degree of freedom: p = .1573."""
    assert balance.p_of_equal([6, 2]) == pytest.approx(0.1573, abs=1e-4)
    assert balance.p_of_equal([1, 0]) is not None
    assert [balance.p_of_equal(counts) for counts in ([], [3], [0, 0])] == [None] * 3


def test_the_bound_of_positions_is_shared_by_all_tests():
    columns = ["dataset", "options", "pairs", "right option", "p"]
    lines = [("a", 4, 8, "A 8", 0.0251), ("b", 4, 8, "A 8", 0.0249), ("c", 1, 8, "A 8", None)]
    check, other = balance._positions(pl.DataFrame(lines, schema=columns, orient="row"))
    assert check.expected == "p of equal shares at least 0.0250"
    assert (check.found, check.failed, other.failed) == ("A 8; p=0.0251", False, True)
    (alone,) = balance._positions(pl.DataFrame([("a", 2, 8, "A 8", 0.0499)], schema=columns, orient="row"))
    assert (alone.expected, alone.failed) == ("p of equal shares at least 0.0500", True)


def test_nothing_to_test_and_just_enough():
    columns = {"dataset": pl.String, "options": pl.Int64, "right option": pl.String, "p": pl.Float64}
    assert list(balance._positions(pl.DataFrame(schema=columns))) == []
    table = pl.DataFrame([("a", 4, "A 8", 1 - balance.LEVEL)], schema=columns, orient="row")
    assert [check.failed for check in balance._positions(table)] == [False]


def test_answers_may_differ_by_one_pair():
    columns = ["dataset", "label", "pairs"]
    check, other = balance._answers(
        pl.DataFrame([("a", "no", 3), ("a", "yes", 4), ("b", "no", 3), ("b", "yes", 5)], schema=columns, orient="row")
    )
    assert (check.found, check.failed, other.failed) == ("no 3, yes 4", False, True)


def test_most_uneven_slot():
    columns = ("dataset", "part", "task", "slot", "pairs", "templates", "least", "most", "p")
    lines = [
        ("a", "dev", "qa", "x", 9, 2, 4, 5, 0.7),
        ("a", "dev", "qa", "y", 8, 2, 2, 6, 0.2),
        ("a", "test", "qa", "x", 4, 2, 0, 4, 0.05),
    ]
    used = pl.DataFrame(lines, schema=columns, orient="row")
    assert balance._most_uneven(used).rows() == [("a", "dev", 2, 9, 4, "y", 0.2), ("a", "test", 1, 4, 4, "x", 0.05)]
    spread, even = balance._spread(used, {"a": 3})
    assert (spread.found, spread.expected, spread.outcome) == ("4, 3 slots in splits", "at most 4", "passed")
    assert (even.found, even.expected, even.failed) == ("p=0.0500", "p of equal uses at least 0.01667", False)
    assert next(balance._spread(used, {"a": 2})).failed
    assert next(balance._spread(used, {"a": 7})).outcome == "passed", "at most 8 of 9 pairs"
    unknown = next(balance._spread(used, {"a": 8}))
    assert (unknown.expected, unknown.outcome) == ("at most 9", "not decidable")
    assert unknown.found == "4, 3 slots in splits; more pairs were lost than any has"
    uneven = used.with_columns(p=pl.Series([0.7, 0.2, 0.016]))
    assert [check.failed for check in balance._spread(uneven, {"a": 3})] == [False, True]
    (_, alone) = balance._spread(used.head(1).with_columns(p=pl.lit(0.0)), {})
    assert (alone.found, alone.expected, alone.failed) == ("p=0.0000", "p of equal uses at least 0.05000", True)
    (_, just) = balance._spread(used.head(1).with_columns(p=pl.lit(1 - balance.LEVEL)), {})
    assert not just.failed
    (_, untested) = balance._spread(used.head(1).with_columns(p=pl.lit(None, pl.Float64)), {})
    assert (untested.found, untested.failed) == ("p=1.0000", False)


SHARES = {"train": 0.7, "dev": 0.1, "test": 0.2}


def test_sizes_of_splits_and_their_bound():
    """Largest group 2, 1 pair lost: one by rounding: off by 4 at most. 70 % of 20 is 14."""

    def checks(train: int, dev: int, test: int, lost: int = 1) -> dict[str, Check]:
        parts = ["train"] * train + ["dev"] * dev + ["test"] * test
        numbers = range(len(parts))
        groups, bases = [f"g{at // 2}" for at in numbers], [f"b{at}" for at in numbers]
        split = pl.DataFrame({"dataset": "a", "part": parts, "group": groups, "base": bases})
        return {check.check: check for check in balance._sizes(split, SHARES, {"a": lost})}

    even = checks(18, 2, 0)
    assert (even["share of train"].failed, even["no split is empty"].failed) == (False, True)
    assert even["no split is empty"].found == "18 train, 2 dev, 0 test"
    assert even["share of train"].expected == "70% of 20, off by at most 4"
    assert not checks(10, 5, 5)["share of train"].failed
    assert checks(9, 5, 6)["share of train"].failed
    assert checks(19, 1, 0)["share of train"].failed
    assert not checks(9, 5, 6)["no split is empty"].failed
    assert [checks(20, 0, 0, lost)["share of train"].outcome for lost in (10, 11)] == ["passed", "not decidable"]
    assert checks(20, 0, 0, 12)["share of dev"].failed is False
    lost = checks(14, 2, 4, 11)["share of train"]
    assert lost.found == "14 base samples; more pairs were lost afterwards than could be missing"
    assert lost.expected == "70% of 20, off by at most 14"
    nothing = list(
        balance._sizes(
            pl.DataFrame(schema=dict.fromkeys(("dataset", "part", "group", "base"), pl.String)), SHARES, {"b": 3}
        )
    )
    assert (nothing[1].expected, nothing[1].outcome) == ("70% of 0, off by at most 4", "not decidable")


def test_pairs_lost_of_an_odd_number_of_rows():
    assert balance.pairs_lost({"dropped": {"a": 2, "b": 1}, "beyond_cap": 7}) == 6


# --- pages and inventory


def test_a_check_that_nothing_is_there():
    assert absence_check("c", "d", ["a", "b", "c", "d"], "of 9") == Check("c", "d", "4 of 9: a, b, c", "0", "failed")
    assert absence_check("c", "d", ["a"]) == Check("c", "d", "1: a", "0", "failed")
    assert absence_check("c", "d", 2, "of 9") == Check("c", "d", "2 of 9", "0", "failed")
    assert absence_check("c", "d", 0) == absence_check("c", "d", []) == Check("c", "d", "0", "0", "passed")


def test_equal_checks_are_one_line_of_the_page():
    lines = [Check("c", name, count, "0", "passed") for name, count in (("a", "1"), ("b", "2"), ("c", "3"))]
    assert page.brief(lines).rows() == [("c", "a, b, c", "1; 2; …", "0", "passed")]
    assert page.brief(lines[:2]).rows() == [("c", "a, b", "1; 2", "0", "passed")]
    assert page.brief([lines[0], lines[0]]).rows() == [("c", "a, a", "1", "0", "passed")]
    assert page.markdown_table(pl.DataFrame({"a": [0.12345, None]})).splitlines()[2:] == ["| 0.123 |", "|  |"]
    assert page.markdown_table(pl.DataFrame()) == "Nothing."
    assert page.text_of(Audit("n", ())).splitlines()[0] == "**Passed: 0 of 0 checks** – audit of n"


def test_kinds_of_names_and_the_order_of_regions():
    lines = [("mango", "Maori", "Maori"), ("blend", "China", "Thai"), ("blend", "Thai", "Thai")]
    lines += [("blend", "Peru", "Thai")] * 2 + [("blend", "Chad", "Thai")]
    split = pl.DataFrame(lines, schema=["dataset", "culture", "language"], orient="row").with_columns(
        part=pl.lit("dev")
    )
    assert inventory.cultures(split).select("dataset", "kind", "culture", "rows").rows() == [
        ("blend", "language named instead", "Thai", 1),
        ("blend", "region", "Chad", 1),
        ("blend", "region", "China", 1),
        ("blend", "region", "Peru", 2),
        ("mango", "culture", "Maori", 1),
    ]
    assert inventory.per_region(split)["region"].to_list() == ["Peru", "Chad", "China"]


def test_the_digest_of_a_source_is_of_its_files_in_any_order():
    digest = licences.source_digest({"outputs": {"b.csv": "2", "a.csv": "1"}})
    assert digest == licences.source_digest({"outputs": {"a.csv": "1", "b.csv": "2"}})
    assert digest != licences.source_digest({"outputs": {"a.csv": "1", "b.csv": "3"}})


def test_of_a_long_answer_sixty_characters_are_shown():
    """Case, spaces and final marks aside; not of an edited instruction, nor with other options."""
    rows = pl.DataFrame(
        {
            "asked": ["q", "q", "q", "q"],
            "options": [None, None, "a|b", None],
            "said": ["X" * 61 + " .", "x" * 61, "x" * 61, "y"],
            "origin": ["source", "hard", "hard", "hard"],
            "pair": ["p2", "p1", "p3", "p4"],
            "edited": [False] * 4,
        }
    )
    assert balance._ties(rows) == ["x" * 60 + " (p1)"]
    assert balance._ties(rows.with_columns(edited=pl.lit(True))) == []


# --- leaks


def test_without_a_left_out_dataset_nothing_is_proved():
    columns = ("id", "pair", "base", "group", "dataset", "instruction", "output", "split", "part")
    rows = pl.DataFrame([("i", "p", "b", "g", "blend", "a", "b", "train", "train")], schema=columns, orient="row")
    questions = pl.DataFrame({"base": ["b"], "question": ["q"]})
    near = pl.DataFrame(schema=duplicates.COLUMNS)
    assert len(leaks.audit(rows, questions, near, {"all": rows}).notes) == 1
    assert leaks.audit(rows, questions, near, {"without-epic": rows}).notes == ()


def test_only_training_against_dev_or_test_counts():
    sides = [(a, b) for a in ("train", "dev", "test") for b in ("train", "dev", "test")]
    table = pl.DataFrame(sides, schema=["part_a", "part_b"], orient="row")
    assert table.filter(leaks._train_and_held_out()).rows() == [
        ("train", "dev"), ("train", "test"), ("dev", "train"), ("test", "train"),
    ]  # fmt: skip
    assert duplicates.COLUMNS.keys() >= {"dataset_a", "dataset_b"}


def test_two_rows_may_share_one_of_many_templates():
    assert balance.p_of_equal([2] + [0] * 49) == pytest.approx(50 * (1 / 50) ** 2)
    assert balance.p_of_equal([30] + [0] * 49) < 1e-40
    assert balance.p_of_equal([60] + [0] * 49) < 1e-40, "chi-square"
    assert balance.p_of_equal([1] * 12) == 1.0
