"""The curve of a reader: what it is weighed on, and what is measured."""

import numpy as np

from bench import reader_curve, reading
from bench.reading_rows import Row


def test_a_share_is_of_whole_paragraphs_and_no_row_of_a_trained_one_is_measured():
    rows = [Row(f"{at}-{is_right}", str(2 * at), "English", "Who?", "Ann", ("Ann.",), is_right)
            for at in range(40) for is_right in (True, False)]  # fmt: skip
    fit, test = ([row for row in rows if reader_curve.is_fit(row) == wanted] for wanted in (True, False))
    quarter = reader_curve.part(fit, 0.25, 1)
    assert (len(fit), len(quarter), len({row.group for row in quarter})) == (40, 10, 5)
    said = {row.id: (np.array([float(bool(row.right))]), np.zeros(2)) for row in rows}
    judged = {"judge": reader_curve.weighed(said, quarter, test)}
    judged[reader_curve.FLOOR] = [reading.Judged(0.0) for _ in test]
    answers = {name: reading.Answers(test, own, fitted=True) for name, own in judged.items()}
    lines = {line["what"]: line["value"] for line in reader_curve.measured(answers)}
    assert (lines["judge | AUC"], lines[f"judge | AUC, minus {reader_curve.FLOOR}"]) == (1, 0.5)
