"""Near-duplicates: found whatever the order, joined within a benchmark, listed and oriented across benchmarks."""

import random
from dataclasses import replace

import pytest
from base_samples import base

from excam.core import tables
from excam.core.exceptions import ArtifactBroken
from excam.excam40k.construction import duplicates

QUESTION = "In which month do families of the valley bring the new flour to the old stone mill for a blessing?"
CLOSE = QUESTION.replace("new flour", "white flour")
FAR = "Who pours the tea at a wedding when the eldest aunt of the bride has not yet arrived at the house?"


def shingles(text: str) -> set[str]:
    flat = " ".join(text.casefold().split())
    return {flat[at : at + 5] for at in range(len(flat) - 4)}


def test_what_is_close_is_found_and_what_is_not_is_not():
    pairs = duplicates.near_duplicates({"a": [QUESTION, FAR], "b": [CLOSE, f"  {QUESTION.upper()}\n"]})
    assert [(pair.first, pair.second) for pair in pairs] == [(0, 2), (0, 3), (2, 3)]
    exact = len(shingles(QUESTION) & shingles(CLOSE)) / len(shingles(QUESTION) | shingles(CLOSE))
    assert [pair.similarity for pair in pairs] == [exact, 1.0, exact]


def test_it_finds_what_a_comparison_of_all_with_all_finds():
    dice = random.Random(1)
    words = [f"w{number}ord" for number in range(400)]
    texts = [" ".join(dice.choices(words, k=14)) for _ in range(150)]
    for text in texts[:60]:
        part = text.split()
        part[dice.randrange(14)] = dice.choice(words)
        texts.append(" ".join(part))
    sets = [shingles(text) for text in texts]
    expected = {
        (i, j)
        for j in range(len(texts))
        for i in range(j)
        if len(sets[i] & sets[j]) / len(sets[i] | sets[j]) >= duplicates.ALIKE
    }
    pairs = {(pair.first, pair.second) for pair in duplicates.near_duplicates({"": texts})}
    assert pairs <= expected
    assert len(pairs) >= 0.98 * len(expected) > 20


def test_boilerplate_does_not_make_texts_alike():
    head = "Please read the following reply with care and then say whether you take it to be ironic or not ironic: "
    replies = [f"{head}{letter * 8}" for letter in "abcdefghijklmnopq"]
    assert duplicates.near_duplicates({"": replies}) == []
    assert len(duplicates.near_duplicates({"": replies[:2]})) == 1, "two texts are too few to find boilerplate"


def test_near_duplicates_share_a_group_with_all_they_are_connected_to():
    rows = [
        base(0, question=QUESTION, group="z"),
        base(1, question=FAR),
        base(2, question=CLOSE, group="y"),
        base(3, question="Something else altogether, asked in other words than the rest?", group="z"),
    ]
    joined = duplicates.in_one_group(rows)
    assert [row.group for row in joined] == ["y", "blend/1", "y", "y"]
    assert [replace(row, group="") for row in joined] == [replace(row, group="") for row in rows]
    backwards = duplicates.in_one_group(rows[::-1])
    assert {row.id: row.group for row in backwards} == {row.id: row.group for row in joined}


def test_the_same_fact_in_other_words_is_in_one_group_and_leaks_across_benchmarks():
    fact = base(0, question="What is the most popular hot drink in Algeria?", answer="Coffee", culture="Algeria")
    said = {"question": "Which hot drink do people in Algeria like most?", "answer": "a cup of coffee"}
    again = base(1, culture="Algeria", **said)
    others = [
        base(2, culture="Egypt", **said),
        base(3, culture="Algeria", question=said["question"], answer="Tea"),
        base(4, culture="Algeria", question="What was on the first ship from the west?", answer="Coffee"),
        replace(base(5, culture="Algeria", **said), label="yes/no"),
    ]
    alike = duplicates.same_facts([fact, again, *others])
    assert [(pair.first, pair.second) for pair in alike] == [(0, 1)]
    first, second = duplicates.in_one_group([fact, again])
    assert first.group == second.group
    elsewhere = replace(again, id="culturalbench/1", dataset="culturalbench")
    table = duplicates.near_duplicate_rows([fact, elsewhere], {fact.id: "train", elsewhere.id: "test"})
    assert table["leak"].to_list() == [True]


def test_a_topic_is_compared_with_its_text():
    topic = {"task": "generation", "question": "weddings in Georgian culture"}
    sample, other = base(0, answer=QUESTION, **topic), base(1, answer=FAR, **topic)
    assert len({row.group for row in duplicates.in_one_group([sample, other])}) == 2


def test_a_pair_across_benchmarks_leaks_from_the_earlier_split(tmp_path):
    rows = [base(0, question=QUESTION), base(1, question=CLOSE), base(0, "epic", question=QUESTION)]
    splits = {"blend/0": "test", "blend/1": "test", "epic/0": "train"}
    table = duplicates.near_duplicate_rows(rows, splits)
    pairs = sorted(table.select("base_a", "base_b", "leak").rows())
    across = [("epic/0", name, True) for name in ("blend/0", "blend/1")]
    assert pairs == [("blend/0", "blend/1", False), *across]
    assert not duplicates.near_duplicate_rows(rows, dict.fromkeys(splits, "train"))["leak"].any()
    path = tmp_path / "near-duplicates.csv"
    tables.write_csv(path, table)
    assert duplicates.read(path).equals(table)
    tables.write_csv(path, duplicates.near_duplicate_rows([], {}))
    assert duplicates.read(path).height == 0
    path.write_text("nonsense\n1,2\n")
    with pytest.raises(ArtifactBroken, match=r"near-duplicates.csv: not a table of dataset_a"):
        duplicates.read(path)


@pytest.mark.parametrize("texts", [[], [""], ["", "", "a"], ["\ud800", "\ud800x"]])
def test_empty_and_odd_texts(texts):
    assert all(pair.first < pair.second for pair in duplicates.near_duplicates({"": texts}))
    duplicates.in_one_group([base(n, question=text) for n, text in enumerate(texts)])


def test_a_row_that_was_lost_does_not_make_others_alike():
    """Eleven of fifty texts share a stem: boilerplate among fifty, and still among the forty-nine that are left."""
    stem = "At the feast of the valley the guests bring a gift for the host and it is usually wrapped in red paper: "
    rows = [base(n, question=f"{stem}{n}", answer=f"{n}") for n in range(11)]
    rows += [
        base(n, question=f"{n * 7919:020d} {n * 104729:020d} {n * 1299709:020d}", answer=f"{n}") for n in range(11, 50)
    ]
    assert len({row.group for row in duplicates.in_one_group(rows)}) == 50
    splits = {row.id: "train" for row in rows[:-1]}
    assert duplicates.near_duplicate_rows(rows, splits).height == 0
