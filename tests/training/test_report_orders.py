"""Reports that state the expected answer first."""

from dataclasses import replace

from excam.error_reports.judges import report
from excam.error_reports.records import CulturalError, Report, Sample


def pair():
    right = Sample(
        **{"id": "b/1/right", "pair": "b/1", "base": "b/1", "dataset": "blend", "task": "qa", "origin": "source"},
        **{"instruction": "A dish?", "output": "Moussaka.", "report": Report(), "language": "English"},
        **{"culture": "Greece", "stratum": "", "licence": "MIT", "answer": "Moussaka"},
    )
    error = CulturalError("output", "Sushi", "major", "incorrect answer", 0, 5)
    wrong = replace(right, id="b/1/wrong", output="Sushi.", origin="hard", report=Report((error,), "Not Greek."))
    return [right, wrong]


def test_explanation_first_states_the_expected_answer_in_both_rows_of_a_pair():
    right, wrong = (target for *_, target in report.training_examples(pair(), "explanation-first"))
    assert right == '{"explanation": "Expected: Moussaka.", "errors": []}'
    assert wrong.startswith('{"explanation": "Expected: Moussaka. Not Greek.", "errors": [{"where": "output", "span"')
    assert report.read(right) == Report((), "Expected: Moussaka.")
    assert report.read(wrong).errors[0].span == "Sushi"
    unchanged = [target for *_, target in report.training_examples(pair())]
    assert unchanged == [report.write(sample.report) for sample in pair()], "today's order is the default"
