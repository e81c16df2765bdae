"""Hard errors: pairs that differ in the answer only, exact spans, explanations that name the right answer."""

import re
from collections import Counter
from dataclasses import replace

import pytest
from base_samples import HOSTILE, SEED, acting, base, split_up, wrapped
from one_line_errors import line_of
from text_tables import table

from excam.core.exceptions import InputInvalid
from excam.error_reports.records import BaseSample, Sample
from excam.excam40k.construction import hard, wrapping
from excam.excam40k.datasets.base import Mistake


def pairs_of(bases: list[BaseSample], seed: int = SEED, mistake: Mistake = "fact") -> list[tuple[Sample, Sample]]:
    right = split_up(bases, seed=seed)
    wrong, dropped = hard.hard_errors(right, {base.id: base for base in bases}, seed, mistake)
    assert not dropped
    return list(zip(right, wrong, strict=True))


def irony(number: int = 0) -> BaseSample:
    return acting(number, answer="The text is ironic.", wrong=("The text is not ironic.",))


ALL = [base(number) for number in range(60)] + [acting(number) for number in range(60)]


def test_twins_differ_in_the_answer_only():
    for right, wrong in pairs_of(ALL):
        assert (right.id, wrong.id) == (f"{right.pair}/right", f"{right.pair}/wrong")
        same = ("pair", "base", "instruction", "templates", "group", "stratum", "task", "answer", "licence")
        assert all(getattr(right, name) == getattr(wrong, name) for name in same)
        assert right.output != wrong.output
        assert (wrong.origin, wrong.score, len(wrong.report.errors)) == ("hard", -5, 1)


def test_the_span_is_the_wrong_answer_at_its_place():
    for right, wrong in pairs_of(ALL):
        (error,) = wrong.report.errors
        assert (error.where, error.severity, error.span) == ("output", "major", wrong.output[error.start : error.end])
        assert error.span in ("cola", "beer", "milk")
        assert right.output[error.start :].startswith("tea") or right.task == "qa"


def test_the_letter_of_the_output_belongs_to_its_answer():
    for pair in pairs_of(ALL):
        for sample, answer in zip(pair, ("tea", pair[1].report.errors[0].span), strict=True):
            if sample.task == "qa":
                letter = re.search(rf"Option ([A-D]): {answer}", sample.instruction)[1]
                assert re.search(
                    rf"\b{letter}\b", sample.output.replace("A", " A ") if letter == "A" else sample.output
                )


def test_both_pairs_of_a_base_sample_have_the_same_wrong_answer():
    spans = {}
    for _, wrong in pairs_of(ALL):
        assert spans.setdefault(wrong.base, wrong.report.errors[0].span) == wrong.report.errors[0].span
    assert set(spans.values()) == {"cola", "beer", "milk"}


def test_neither_letters_nor_templates_nor_options_tell_the_label():
    bases = [base(number) for number in range(1200)]
    letters = {"right": Counter(), "wrong": Counter()}
    taken = hard.wrong_answers(bases, SEED)
    for row in bases:
        order = wrapping.shuffled_options(row, SEED)
        letters["right"][order.index(row.answer)] += 1
        letters["wrong"][order.index(taken[row.id])] += 1
    assert all(250 <= counts[place] <= 350 for counts in letters.values() for place in range(4))
    assert Counter(taken.values()) == {"cola": 400, "beer": 400, "milk": 400}
    pairs = pairs_of(bases[:100])
    assert Counter(right.templates for right, _ in pairs) == Counter(wrong.templates for _, wrong in pairs)


@pytest.mark.parametrize(
    ("row", "mistake", "kind"),
    [
        (base(), "fact", "incorrect answer"),
        (acting(), "fact", "incorrect answer"),
        (acting(), "opinion", "misrepresented opinion"),
        (irony(), "irony", "misread irony"),
    ],
)
def test_the_type_follows_what_the_benchmark_says(row, mistake, kind):
    assert {wrong.report.errors[0].type for _, wrong in pairs_of([row], mistake=mistake)} == {kind}


def test_an_error_is_major_unless_the_benchmark_says_minor():
    for row, severity in ((base(wrong=("cola",)), "major"), (base(wrong=("cola",), minor=("cola", "beer")), "minor")):
        assert {wrong.report.errors[0].severity for _, wrong in pairs_of([row])} == {severity}


def test_explanations_name_the_right_answer_in_many_phrasings():
    opinions, labels = [acting(n) for n in range(160)], [irony(n) for n in range(160)]
    for bases, mistake in (([base(n) for n in range(80)], "fact"), (opinions, "opinion"), (labels, "irony")):
        explanations = {wrong.report.explanation for _, wrong in pairs_of(bases, mistake=mistake)}
        assert all(bases[0].answer in explanation for explanation in explanations)
        assert len(explanations) >= 12


SPEAKS_OF_CULTURE = re.compile(r"\b[Cc]ultur|the facts|China")
SPEAKS_OF_MOST = re.compile(
    r"(?i)\b(majority|minority|predominant|prevailing|typical|half|most (?!often|common|frequent)\w+)"
)


def explanations_of(changed: BaseSample, mistake: Mistake) -> set[str]:
    rows = [replace(changed, id=f"{changed.dataset}/{number}", wrong=("cola",)) for number in range(300)]
    pairs = pairs_of(rows, mistake=mistake)
    return {wrong.report.explanation for _, wrong in pairs}


@pytest.mark.parametrize(("changes", "named"), table(__file__, "a_culture_is_claimed_only_where_the_question_names_it"))
def test_a_culture_is_claimed_only_where_the_question_names_it(changes, named):
    row = base(**changes)
    assert hard.names_culture(row) == named
    explanations = explanations_of(row, "fact")
    assert len(explanations) == (24 if named else 12)
    assert any(SPEAKS_OF_CULTURE.search(text) for text in explanations) == named


def test_no_explanation_claims_a_majority():
    explanations = explanations_of(acting(agreement=0.9, role="Nation: China"), "opinion")
    assert len(explanations) == 12
    assert not any(SPEAKS_OF_MOST.search(text) for text in explanations)


def test_explanations_without_a_culture_do_not_speak_of_one():
    for _, wrong in pairs_of([base(number, culture="") for number in range(100)]):
        assert "  " not in wrong.report.explanation
        assert not re.search(r"(about|to|For|from|in) ?[:,.]", wrong.report.explanation)


@pytest.mark.parametrize("value", HOSTILE)
def test_hostile_values_stay_data(value):
    texts = {"question": value, "answer": f"{value}+", "options": (f"{value}+", value, "{answer}"), "wrong": (value,)}
    rows = [base(number, **texts) for number in range(60)]
    for _, wrong in pairs_of(rows):
        (error,) = wrong.report.errors
        assert error.span == value == wrong.output[error.start : error.end]
        assert f"{value}+" in wrong.report.explanation


def test_an_answer_that_contains_the_frame_is_found_at_its_place():
    rows = [base(number, wrong=("A",), options=("tea", "A", "Option A: A")) for number in range(60)]
    for right, wrong in pairs_of(rows):
        (error,) = wrong.report.errors
        assert wrong.output[error.start : error.end] == "A"
        if right.task == "freeform":
            assert right.output == wrong.output[: error.start] + "tea" + wrong.output[error.end :]


def test_rows_without_a_wrong_answer_are_counted_and_impossible_ones_refused():
    right = wrapped([base()])
    assert hard.hard_errors(right, {"blend/0": base(wrong=())}, SEED) == ([], Counter({"no-wrong-answer": 2}))
    assert hard.hard_errors(right, {}, SEED) == ([], Counter({"no-base-sample": 2}))
    for wrong in ((), ("tea",), ("cola", " ")):
        message = f"blend/0: {len(wrong)} wrong answers; expected one or more, none empty"
        with pytest.raises(InputInvalid, match=message):
            hard.wrong_answers([base(wrong=wrong)], SEED)


def test_a_row_of_another_base_sample_or_seed_is_refused():
    right = wrapped([base()])[0]
    assert "not made from" in line_of(InputInvalid, hard.hard_error, right, base(1), "cola", SEED)
    assert "not made from" in line_of(InputInvalid, hard.hard_error, right, base(question="What else?"), "cola", SEED)


def test_same_seed_same_rows_in_any_order():
    wrong = {wrong.id: wrong for _, wrong in pairs_of(ALL)}
    assert wrong == {wrong.id: wrong for _, wrong in pairs_of(ALL[::-1])}
    assert wrong != {wrong.id: wrong for _, wrong in pairs_of(ALL, SEED + 1)}


def test_a_wording_that_is_often_right_is_as_often_wrong():
    """ "Yes" is right in two of three rows; drawn blindly among the other answers it would be wrong in one of six."""
    answers = [("Yes", "No") if n % 3 else ("No", "Yes") for n in range(300)]
    rows = [base(n, answer=right, wrong=(other, "Maybe"), options=()) for n, (right, other) in enumerate(answers)]
    drawn = Counter(hard.wrong_answers(rows, SEED).values())
    assert drawn["Yes"] == 100, "as often as it can be wrong"
    assert drawn["No"] >= 100, "at least as often as it is right"
    assert drawn["Maybe"] <= 100, "it is never right"
