"""Construction: quotas, bounds, orders and places, each by hand."""

import json
from dataclasses import replace

import pytest
from base_samples import SEED, base, wrapped

from excam.core.hash_order import digest
from excam.error_reports.records import Sample
from excam.excam40k.construction import drawing, duplicates, generator, hard, soft, spans, splits, wrapping
from excam.excam40k.construction.spans import diff_spans

# --- drawing


@pytest.mark.parametrize(
    ("sizes", "limit", "quotas"),
    [
        ({"a": 5, "b": 5}, 7, [3, 4]),
        ({"a": 3, "b": 9, "c": 9}, 9, [3, 3, 3]),
        ({"a": 2, "b": 9, "c": 9}, 9, [2, 3, 4]),
        ({"a": 1, "b": 2, "c": 9, "d": 9}, 15, [1, 2, 6, 6]),
        ({"a": 4, "b": 9}, 100, [4, 9]),
        ({"a": 4, "b": 4}, 1, [0, 1]),
        ({"a": 4}, 0, [0]),
    ],
)
def test_equal_quotas(sizes, limit, quotas):
    """A stratum below the common level gives all it has; what does not divide goes to one after the other."""
    counts = drawing._equal(sizes, limit, SEED)
    assert sorted(counts.values()) == quotas
    assert counts.keys() == sizes.keys()
    assert all(counts[name] <= size for name, size in sizes.items())


@pytest.mark.parametrize(
    ("sizes", "limit", "quotas"),
    [
        ({"a": 10, "b": 30, "c": 60}, 10, {"a": 1, "b": 3, "c": 6}),
        ({"a": 14, "b": 33, "c": 53}, 10, {"a": 2, "b": 3, "c": 5}),  # 1.4, 3.3, 5.3: one more for the first
        ({"a": 17, "b": 36, "c": 47}, 10, {"a": 2, "b": 3, "c": 5}),  # 1.7, 3.6, 4.7: two more
        ({"a": 1, "b": 1}, 5, {"a": 1, "b": 1}),
    ],
)
def test_proportional_quotas(sizes, limit, quotas):
    assert drawing._proportional(sizes, limit, SEED) == quotas


# --- splits


def pairs(count: int, **changes) -> list[Sample]:
    bases = [base(number, **changes) for number in range(count)]
    right = wrapped(bases)
    return splits.pair_up(right, hard.hard_errors(right, {sample.id: sample for sample in bases}, SEED)[0])[0]


def test_a_subset_of_no_rows_and_of_one_pair():
    assert splits.balanced_subset(pairs(3), 0, SEED) == []
    assert len(splits.balanced_subset(pairs(3), 2, SEED)) == 2
    assert len({row.base for row in splits.balanced_subset(pairs(3), 6, SEED)}) == 3
    assert len(splits.balanced_subset(pairs(3), 8, SEED)) == 8


def test_units_are_drawn_by_room():
    """Strata a and b take turns; a unit that is larger than the room is skipped, a smaller one behind it is not."""
    strata = {"x": "a", "y": "a", "z": "b"}
    drawn = splits.draw([("x", "a", 2), ("y", "a", 2), ("z", "b", 2)], 4, SEED)
    assert sorted(strata[name] for name in drawn) == ["a", "b"]
    assert splits.draw([("x", "a", 5), ("z", "b", 2)], 4, SEED) == ["z"]
    assert splits.draw([("x", "a", 4)], 4, SEED) == ["x"]
    assert splits.draw([("x", "a", 4)], 3, SEED) == splits.draw([("x", "a", 4)], 0, SEED) == []
    assert splits.draw([("x", "a", 4)], -1, SEED) == []
    by_hash = sorted("abcdef", key=lambda name: digest(SEED, "draw", name))
    assert splits.draw([(name, "a", 1) for name in "abcdef"], 6, SEED) == by_hash
    heavy = [("big", "a", 6), ("one", "b", 2), ("two", "b", 2), ("three", "b", 2)]
    assert sorted(splits.draw(heavy, 12, SEED)) == ["big", "one", "three", "two"]


# --- spans


def test_how_much_difflib_may_be_given(monkeypatch):
    monkeypatch.setattr(spans, "MAX_TOKENS", 3)
    assert spans.feasible("abc", "abc", autojunk=False)
    assert not spans.feasible("abcd", "a", autojunk=False)
    assert not spans.feasible("a", "abcd", autojunk=False)
    monkeypatch.setattr(spans, "MAX_TOKENS", 10**6)
    monkeypatch.setattr(spans, "MAX_PAIRS", 6)
    assert spans.feasible("aaa", "aab", autojunk=False), "3 times 2"
    assert not spans.feasible("aaa", "aaa", autojunk=False)
    assert not spans.feasible("aaab", "aab", autojunk=False), "3 times 2, and 1"


def test_numbers_that_meet_are_two():
    assert spans._joints(["10", "30", "x", "1", "st", "2"]) == ["10", "\n30", "x", "1", "st", "2"]
    assert spans._joints(["a1", "2", "2a", "2"]) == ["a1", "\n2", "\n2a", "2"]
    assert diff_spans("at 10 30", "at 1030", "strict").count == 1
    assert spans.trim_equal_ends(["ice", "cream", "x"], ["icecream", "y"]) == (["x"], ["y"], 1)
    assert spans.trim_equal_ends(["a", "b"], ["a", "b"]) == ([], [], 2)
    assert spans.trim_equal_ends(["x", "ice", "cream"], ["y", "icecream"]) == (["x"], ["y"], 0)


def test_the_largest_texts_that_are_compared_word_by_word():
    """10,000 words on one side, 300,000 pairs of equal words; in the paper's mode, of 200 words on, those that are
    more often than 1 % + 1 do not count."""

    def feasible(before: int, after: int, words: int, autojunk: bool) -> bool:
        """So many times one word on either side; `words` of the other side in total."""
        return spans.feasible(["a"] * before, ["a"] * after + ["b"] * (words - after), autojunk)

    assert [feasible(1, 0, words, False) for words in (10_000, 10_001)] == [True, False]
    assert [feasible(*pairs, False) for pairs in ((600, 500, 500), (611, 491, 491))] == [True, False], "300,001"
    assert [feasible(9_000, 34, words, True) for words in (199, 200)] == [False, True]
    assert [feasible(before, 31, 3_000, True) for before in (9_677, 9_678)] == [True, False]
    assert [feasible(9_678, 32, 3_000, True), feasible(9_678, 31, 2_999, True)] == [True, True]


def test_equal_ends_are_only_trimmed_where_difflib_would_take_too_long(monkeypatch):
    """In the paper's mode a word that is popular in the whole text matches at the beginning only."""
    before, after = (["a"] * 150 + [word] + ["a"] * 100 for word in "xy")
    monkeypatch.setattr(spans, "MAX_PAIRS", 1000)
    assert spans.changes(before, after, "paper") == [("replace", 150, 251)]
    assert spans.changes(before[:190], after[:190], "paper") == [("replace", 150, 151)]


def test_punctuation_is_stripped_from_both_ends():
    assert [spans._strip(word) for word in ("«a-b».", "`x`", "...", "", "$5", "a")] == ["a-b", "x", "", "", "$5", "a"]


def test_looks():
    words = "cafe\u0301", "’tis", "don’t", "'", "a`b"
    assert [spans.looks(word) for word in words] == ["café", "tis", "don't", "'", "a'b"]


# --- duplicates


def test_exactly_the_limit_counts_as_alike():
    """Texts without a repeated shingle: 40 characters more share 36 of 45: .8; 35 of 45 are less."""
    common = "".join(chr(0x4E00 + at) for at in range(40))
    other = "".join(chr(0x6E00 + at) for at in range(20))
    text, two = common, common + other[:9]
    assert duplicates._jaccard(*duplicates._shingles([text, two])) == 36 / 45
    close_pairs = duplicates.near_duplicates({"": [text, two]})
    assert [(pair.first, pair.second, pair.similarity) for pair in close_pairs] == [(0, 1, 0.8)]
    assert duplicates.near_duplicates({"": [text, common + other[:10]]}) == []


def test_a_shingle_is_boilerplate_beyond_ten_texts_and_a_fifth():
    def shared(texts: int, total: int) -> bool:
        """Whether a shingle that so many of all texts hold still counts."""
        made = [f"stem{at:04d}" if at < texts else f"{chr(0x4E00 + at)}{at:07d}" for at in range(total)]
        return any("stem0" in shingles for shingles in duplicates._shingles(made))

    assert [shared(10, 10), shared(11, 11), shared(12, 60), shared(13, 60)] == [True, False, True, False]


def test_rows_of_the_list_of_near_duplicates():
    """The earlier split first; equal texts of one benchmark are one row of it, across benchmarks each is its own."""
    text, other, same = ("epic", "e" * 400), ("blend", "b" * 400), ("epic", "f" * 400)
    texts = {text: ["epic/1", "epic/2", "epic/gone"], other: ["blend/1"], same: ["epic/3"]}
    splits_of = {"epic/1": "test", "epic/2": "train", "blend/1": "dev", "epic/3": "train"}
    assert list(duplicates._table_rows(text, other, 0.9, texts, splits_of)) == [
        ("blend", "blend/1", "dev", "epic", "epic/1", "test", 0.9, True, "b" * 300, "e" * 300),
        ("epic", "epic/2", "train", "blend", "blend/1", "dev", 0.9, True, "e" * 300, "b" * 300),
    ]
    assert list(duplicates._table_rows(text, same, 0.8, texts, splits_of)) == [
        ("epic", "epic/3", "train", "epic", "epic/1", "test", 0.8, False, "f" * 300, "e" * 300)
    ]
    alike = dict.fromkeys(splits_of, "train")
    later = {text: ["epic/1"], ("blend", "z"): ["blend/1"]}
    (row,) = duplicates._table_rows(text, ("blend", "z"), 0.9, later, alike)
    assert (row[0], row[3]) == ("blend", "epic"), "of one split by data set, not by text"
    assert [row[7] for row in duplicates._table_rows(text, other, 0.9, texts, alike)] == [False, False]


# --- hard and soft errors, templates


def test_the_wrong_answer_is_the_closest_in_length():
    row = base(answer="four", wrong=("on", "seven77", "x" * 30), options=())
    assert hard.wrong_answers([row], SEED) == {"blend/0": "seven77"}, "7/4 is nearer to 1 than 1/2"
    assert hard.wrong_answers([replace(row, wrong=("Both A and B", "x" * 30))], SEED) == {"blend/0": "x" * 30}
    assert hard.wrong_answers([replace(row, wrong=("Both A and B",))], SEED) == {"blend/0": "Both A and B"}


def test_an_emptied_text_cannot_be_used():
    right = replace(wrapped([base()], "soft")[0], instruction="", output="We drink tea.")
    said = generator.SoftAnswer("t", True, "", "Why.", "major", "", "We drink cola.")
    assert soft._unusable(right, said) == ""
    assert soft._unusable(right, replace(said, output=" ")) == "empty-text"
    assert soft._unusable(replace(right, instruction="Say."), said) == "empty-text"


def test_a_dropped_answer_is_kept_up_to_300_characters():
    right, long = replace(wrapped([base()], "soft")[0], instruction="Say.", output="Tea."), "a" + "x" * 300 + "z"

    def detail(cultural: str, severity: str = "major", output: str = "Tea.") -> tuple[str, str]:
        texts = dict(zip(generator.KEYS, ("t", cultural, "r", long, severity, "Say.", output), strict=True))
        rejection = soft.soft_error(right, "major", "OUTPUT: " + json.dumps(texts), "paper", "stated")
        return rejection.reason, rejection.detail

    assert detail("No") == ("not-cultural", "a" + "x" * 299)
    assert detail("Yes") == ("no-change", "a" + "x" * 299)
    assert detail("Yes", long) == ("no-severity", "a" + "x" * 299)
    unread = soft.soft_error(right, "major", long, "paper")
    assert unread.detail == "x" * 299 + "z"


@pytest.mark.parametrize(
    ("task", "errors", "rows", "bases"),
    [
        ("qa", "hard", 8, 2),
        ("qa", "hard", 9, 3),
        ("impersonation", "hard", 8, 4),
        ("generation", "soft", 16, 5),
        ("qa", "soft", 32, 10),
        ("impersonation", "hard", 0, 0),
    ],
)
def test_base_samples_for_rows(task, errors, rows, bases):
    """Two rows a pair, two pairs of a question with options or of soft errors, and a quarter more of these."""
    assert wrapping.bases_for(rows, task, errors) == bases
