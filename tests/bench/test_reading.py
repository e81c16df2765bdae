"""Judges with documents beside floors on equal rows: thresholds, differences, marks."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bench import reading
from bench.reading import Answers, Judged
from bench.reading_rows import Row, joined

ROWS = [
    Row(f"r{group}-{label}", f"g{group}", ("English", "German")[group % 2], "Who?", "Ann", ("Ann came.",), label)
    for group in range(40)
    for label in (True, False)
]


def numbers(name, answers):
    return {line["what"]: line for line in reading.numbers(name, answers[next(iter(answers))].rows, answers)}


def scored(good: int) -> list[Judged]:
    """Scores that are right but for every `good`-th row."""
    return [Judged(float((at % good == 0) != bool(row.right))) for at, row in enumerate(ROWS)]


def test_a_threshold_is_of_the_other_half_or_of_dev_rows():
    answers = Answers(ROWS, scored(1000), fitted=True)
    assert len(set(answers.thresholds())) <= 2
    assert (answers.verdicts == [row.right for row in ROWS]).mean() > 0.9
    dev = [replace(row, fit=row.group == "g0", right=row.right != (row.group == "g0")) for row in ROWS]
    assert set(Answers(dev, scored(1000), fitted=True).thresholds()) == {0.0}, (
        "from the dev rows, which are turned round"
    )


def test_a_judge_is_printed_minus_each_floor_on_the_same_rows():
    judge = Answers(ROWS, [Judged(1.0 if row.right else -1.0, row.right) for row in ROWS])
    floor = Answers(ROWS, scored(4), fitted=True)
    lines = numbers("xquad", {reading.FLOORS[0]: floor, reading.FLOORS[1]: floor, "judge": judge})
    above = lines[f"all | judge | scaled accuracy, minus {reading.FLOORS[0]}"]
    assert lines["all | judge | scaled accuracy"]["value"] == 1
    assert above["value"] == pytest.approx(1 - lines[f"all | {reading.FLOORS[0]} | scaled accuracy"]["value"])
    assert above["low"] < above["value"] < above["high"]
    assert {what.split(" |")[0] for what in lines} == {"all", "all but English", "English", "German"}


def test_at_equal_coverage_a_floor_keeps_its_most_certain_rows():
    judge = Answers(ROWS, [Judged(None, row.right if row.group < "g2" else None) for row in ROWS])
    certain = [Judged((9.0 if at % 4 else -9.0) if at < 8 else 1.0) for at in range(len(ROWS))]
    assert reading._most_certain(Answers(ROWS, certain).margins, 8).nonzero()[0].tolist() == list(range(8))
    lines = numbers("xquad", {name: Answers(ROWS, certain, fitted=True) for name in reading.FLOORS} | {"judge": judge})
    decided = sum(row.group < "g2" for row in ROWS)
    assert lines[f"all | judge | right at equal coverage, minus {reading.FLOORS[0]}"]["n"] == decided


def test_reported_sentences_are_counted_by_what_is_wrong_in_them():
    parts = [replace(ROWS[0], text="Ann came.", right=True), replace(ROWS[1], text="Bob left", right=False)]
    row = joined(parts, "Tell.", ["p"])
    assert (row.text, row.sentences, row.wrong, row.right) == (
        "Ann came. Bob left.",
        ((0, 9), (10, 19)),
        ((10, 19),),
        False,
    )
    assert reading._counts(row, Judged(None, False, ((0, 3), (12, 13)))) == (1, 2, 1)


def test_words_and_sentences_are_reported_that_passages_hold_in_no_form():
    claim = replace(ROWS[0], question="", text="Ann sings songs.", passages=("Ann sings.",), sentences=((0, 3),))
    [marked] = reading.in_any_form([claim])
    assert marked.marked == ((10, 15),)
    fours = []
    for at in range(20):
        said = [
            replace(claim, text=f"Ann sings {'well' if right else 'bad songs'}", right=right) for right in (True, False)
        ]
        fours.append(replace(joined(said, "Tell.", ["Ann sings well."]), group=f"g{at}"))
    assert {judged.marked for judged in reading.in_any_form(fours)} == {((16, 36),)}


def test_an_unknown_score_is_in_the_middle_of_the_auc():
    rows = [replace(ROWS[0], group=str(at), right=at < 10) for at in range(20)]
    known = Answers(rows, [Judged(1.0 if row.right else -1.0) for row in rows])
    nothing = Answers(rows, [Judged(None) for _ in rows])
    groups = [row.group for row in rows]
    assert [reading.auc(each, groups)["value"] for each in ([known], [nothing], [known, nothing])] == [1, 0.5, 0.5]
