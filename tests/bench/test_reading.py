"""Judges with documents beside floors on equal rows: thresholds, differences, marks, moved verdicts."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from bench import reading
from bench.reading import Answers, Judged
from bench.reading_rows import ADDED, Row, drawn, joined

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


def test_an_addition_that_moves_a_verdict_is_counted():
    rows = [replace(ROWS[0], id=name) for name in ("a", "a/greeting", "a/list")]
    judged = [Judged(None, True), Judged(None, None), Judged(None, True)]
    [line] = reading.moved("additions", {"judge": Answers(rows, judged)})
    assert (line["value"], line["n"]) == (0.5, 2)
    assert all(add("Aún came.") != "Aún came." for add in ADDED.values())


def test_answers_are_recorded_and_read(tmp_path):
    judged = [Judged(0.5, None, ((0, 3),)), *(Judged(None) for _ in ROWS[1:])]
    reading.record(tmp_path / "a.jsonl", "xquad", {"j": Answers(ROWS, judged), "f": Answers(ROWS, judged, fitted=True)})
    read = reading.recorded([tmp_path / "a.jsonl"], "xquad", ROWS)
    assert (read["j"].judged, read["j"].fitted, read["f"].fitted) == (judged, False, True)
    with pytest.raises(SystemExit, match="j says nothing of 1 rows of 'xquad', such as new"):
        reading.recorded([tmp_path / "a.jsonl"], "xquad", [*ROWS, replace(ROWS[0], id="new")])
    assert json.loads((tmp_path / "a.jsonl").read_text().splitlines()[0])["set"] == "xquad"


def test_a_limit_takes_whole_groups_of_each_part():
    kept = drawn(ROWS, 20)
    assert len(kept) == 20
    assert {row.part for row in kept} == {"English", "German"}
    assert all(sum(other.group == row.group for other in kept) == 2 for row in kept)


def test_an_unknown_score_is_in_the_middle_of_the_auc():
    rows = [replace(ROWS[0], group=str(at), right=at < 10) for at in range(20)]
    known = Answers(rows, [Judged(1.0 if row.right else -1.0) for row in rows])
    nothing = Answers(rows, [Judged(None) for _ in rows])
    groups = [row.group for row in rows]
    assert [reading.auc(each, groups)["value"] for each in ([known], [nothing], [known, nothing])] == [1, 0.5, 0.5]
