"""The curve of a reader: what it is weighed on, and what is measured."""

from __future__ import annotations

import numpy as np

from bench import reader_curve, reading
from bench.reading_rows import Row

PASSAGE = "Ann came in 1990. Bob left."
ROWS = [
    Row(f"{group}-{text}", str(2 * group), "English", "Who came?", text, (PASSAGE,), text == "Ann")
    for group in range(40)
    for text in ("Ann", "Bob")
]


def test_a_share_is_of_whole_paragraphs_and_what_is_measured_is_in_none():
    fit = [row for row in ROWS if reader_curve.is_fit(row)]
    quarter = reader_curve.part(fit, 0.25, 1)
    assert (len(fit), len(quarter), len({row.group for row in quarter})) == (40, 10, 5)
    assert {row.group for row in reader_curve.part(fit, 0.25, 2)} != {row.group for row in quarter}
    test = [row for row in ROWS if not reader_curve.is_fit(row)]
    numbers = {row.id: np.array([float(bool(row.right)), 0.0]) for row in ROWS}
    judged = {"judge": reader_curve.weighed(numbers, np.ones(2), quarter, test)}
    judged[reader_curve.FLOOR] = [reading.Judged(0.0) for _ in test]
    answers = {name: reading.Answers(test, own, fitted=True) for name, own in judged.items()}
    lines = {line["what"]: line for line in reader_curve.measured(answers)}
    assert lines["judge | AUC"]["value"] == 1
    assert lines[f"judge | AUC, minus {reader_curve.FLOOR}"]["value"] == 0.5


def test_an_answer_is_looked_for_where_it_stands():
    assert reader_curve.words_said(ROWS[1]) == (0, [(18, 21)])
    assert reader_curve.words_said(ROWS[0]) == (0, [(0, 3)])
