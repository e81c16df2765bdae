"""Judges with documents beside floors on equal rows: thresholds and differences."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace

import pytest

from bench import reading
from bench.reading import Answers, Judged, Row

ROWS = [
    Row(
        id=f"r{group}-{label}",
        group=f"g{group}",
        language=("English", "German")[group % 2],
        question="Who?",
        text="Ann",
        passages=("Ann came.",),
        right=label,
        fit=group >= 36,
    )
    for group in range(40)
    for label in (True, False)
]


def numbers(name, answers):
    return {line["what"]: line for line in reading.numbers(name, answers[next(iter(answers))].rows, answers)}


def scored(good: int) -> list[Judged]:
    """Scores that are right but for every `good`-th row."""
    return [Judged(float((at % good == 0) != bool(row.right))) for at, row in enumerate(ROWS)]


def test_a_threshold_is_that_of_dev_rows():
    answers = Answers(ROWS, scored(1000), fitted=True)
    assert (answers.verdicts == [row.right for row in ROWS]).mean() > 0.9
    turned = [replace(row, right=row.right != row.fit) for row in ROWS]
    assert set(Answers(turned, scored(1000), fitted=True).verdicts) == {1.0}


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


def test_an_unknown_score_is_in_the_middle_of_the_auc():
    rows = [replace(ROWS[0], group=str(at), right=at < 10) for at in range(20)]
    known = Answers(rows, [Judged(1.0 if row.right else -1.0) for row in rows])
    nothing = Answers(rows, [Judged(None) for _ in rows])
    groups = [row.group for row in rows]
    assert [reading.auc(each, groups)["value"] for each in ([known], [nothing], [known, nothing])] == [1, 0.5, 0.5]


def test_claims_are_ranked_beside_the_floors_they_have(tmp_path):
    claims = [
        {"meta": {"id": f"c{at}"}, "claim": "Ann came.", "evidence": ["Ann came."] if at % 2 else ["Bo left."]}
        | {"label": "supported" if at % 2 else "partially_supported"}
        for at in range(20)
    ]
    with gzip.open(tmp_path / "wice.dev.jsonl.gz", "wt", encoding="utf-8") as stream:
        stream.writelines(f"{json.dumps(claim)}\n" for claim in claims)
    rows = reading.wice(tmp_path)
    lines = numbers("wice", {name: reading.asked(name, rows) for name in (reading.FLOORS[0], "words")})
    ranked = {what: line["value"] for what, line in lines.items() if "AUC" in what}
    assert list(ranked.values()) == [1, 0.5, -0.5], "`words` judges no sentence"
