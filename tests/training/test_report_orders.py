"""Reports that state the expected answer first, and permuted labels."""

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


def test_permuted_labels_exchange_the_reports_of_half_of_the_pairs():
    samples = [replace(sample, id=f"{n}/{sample.id}", pair=f"b/{n}") for n in range(200) for sample in pair()]
    gold = [target for *_, target in report.training_examples(samples)]
    permuted = [target for *_, target in report.training_examples(samples, labels="permuted")]
    moved = [target != other for target, other in zip(gold, permuted, strict=True)]
    assert moved[::2] == moved[1::2], "both rows of a pair, or none"
    assert 70 < sum(moved[::2]) < 130
    assert sorted(gold) == sorted(permuted)
