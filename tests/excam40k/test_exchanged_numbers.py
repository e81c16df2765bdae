"""Years of long answers that are exchanged: each is wrong as often as it is right."""

from collections import Counter
from dataclasses import replace

import pytest

from excam.error_reports.records import Sample
from excam.excam40k.construction import figures, lexicon, soft
from tests.excam40k.test_lexicon import free


def rows(*answers, question="What is it?"):
    languages = ("German", "Hebrew", "Hindi", "English")
    return [
        replace(free(answer, languages[at % 4], pair=f"d/{at}/{severity}", question=question), base=f"d/{at}")
        for at, answer in enumerate(answers)
        for severity in ("minor", "major")
    ]


def corrupted(samples, seed=0):
    exchanges = figures.exchanges(samples, seed)
    own = [sample for sample in samples if sample.pair in exchanges]
    for sample in own:
        severity = sample.pair.rpartition("/")[2]
        said = lexicon.answer(sample, severity, seed, exchanges[sample.pair])
        made = soft.soft_error(sample, severity, said, "strict")
        assert isinstance(made, Sample)
        yield sample, made


def test_each_year_is_wrong_as_often_as_it_is_right():
    twice = "King since 1860, as the oldest letter in the archive says. The war of 1860."
    pairs = list(corrupted(rows("Verfassung von 1951.", "צבא 1957", "सन 1862 में युद्ध", twice)))
    assert len(pairs) == 8
    away = {"minor": set(), "major": set()}
    replaced, written = Counter(), Counter()
    for right, wrong in pairs:
        (old,), (new,) = (set(figures.NUMBER.findall(row.output)) for row in (right, wrong))
        replaced[old] += 1
        written[new] += 1
        away[right.pair.rpartition("/")[2]].add(abs(int(old) - int(new)))
        assert f"'{new}'" in wrong.report.explanation
        assert wrong.report.explanation.count(f"'{old}'") == 1
        assert {error.span for error in wrong.report.errors} == {new}
    assert replaced == written
    assert away["minor"] == {2, 6}
    assert min(away["major"]) > figures.NEAR_YEARS


@pytest.mark.parametrize(
    "answer",
    [
        "From 1951-1960.", "It costs €1951.", "1951 % of it", "On 7.11.1951.", "https://a.org/1951", "In the 1951s.",
        "Law №1951", "In 1800.", "In 2016.", "1951से", "1951 (Act of 1951)", "In the 1940's.", "Until 1951.",
        "about 1951", "In a paper (1951)", "برقم 1864",
    ],
)  # fmt: skip
def test_what_is_no_single_year_is_left(answer):
    assert not list(figures._years(rows(answer, question="What of the king?")[0]))


def test_a_year_counts_where_the_question_or_the_answer_is_about_history_or_a_custom():
    told = ("Von 1951.", "Von 1951. Eine Verfassung.", "Geboren 1943. Die Tradition seit 1951.")
    years = [[year.text for year in figures._years(rows(answer)[0])] for answer in told]
    assert years == [[], ["1951"], ["1951", "1943"]], "first that of a sentence about it"
    assert list(figures._years(rows(told[0], question="Wer war Kaiser?")[0]))


def test_a_number_of_the_question_or_of_the_other_answer_is_left():
    assert not figures.exchanges(rows("Gesetz 1951.", "צבא 1990", question="What was in 1951?"), 0)
    assert not figures.exchanges(rows("Gesetz 1951, nicht 1955.", "צבא 1955"), 0)
