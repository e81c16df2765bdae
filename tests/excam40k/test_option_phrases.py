"""Questions that speak of the options beside them, in every language of the benchmarks with options."""

import csv
import gzip
import random
import re
from pathlib import Path

import pytest
from base_samples import base
from text_tables import table

from excam.excam40k.construction import option_phrases, wrapping

EXAMS = Path(__file__).parents[3] / "shared/data/external/exams-humanities/exams_humanities_4opt.csv.gz"
ASKED = table(__file__, "ASKED")
ALONE = table(__file__, "ALONE")
TOLD = (  # in the words of the exams' own languages, "of the following" and "from the list"
    r"nào sau đây|sau đây,|aşağıda|seguent[ei] (?:afferma|stat)|\bnavedenih|\bnavedene|долунавед|наведених|изброените|"
    r"посочените|alábbi|mëposhtme|seguintes (?:afirm|altern)|مما يلي|folgenden|suivantes|siguientes|išvardyt|nurodyt"
)


@pytest.mark.parametrize("language", ASKED)
def test_of_the_following_in_every_language(language):
    question = ASKED[language]
    assert re.search(option_phrases.phrases()[language], question, re.I), "by its own language's phrases"
    assert option_phrases.question_needs_options(question)
    assert wrapping.variants(base(question=question), "hard") == ("options", "listed")


def test_every_language_of_the_list_is_tested():
    assert list(option_phrases.phrases()) == list(ASKED), "sorted, each once"
    assert sorted(ASKED) == list(ASKED)


@pytest.mark.parametrize("question", ALONE)
def test_a_question_that_needs_no_options_keeps_its_freeform_version(question):
    assert not option_phrases.question_needs_options(question)
    assert wrapping.variants(base(question=question, language="Spanish"), "hard") == ("options", "freeform")


@pytest.mark.parametrize("question", table(__file__, "other_questions_without_sense_alone"))
def test_other_questions_without_sense_alone(question):
    assert option_phrases.question_needs_options(question)


def test_real_exam_questions_do_not_slip_through():
    if not EXAMS.exists():
        pytest.skip("no exam questions beside the repository")
    with gzip.open(EXAMS, "rt", encoding="utf-8") as stream:
        questions = [row["question"] for row in csv.DictReader(stream)]
    drawn = random.Random(1).sample(questions, 1000)
    alone = [question for question in drawn if not option_phrases.question_needs_options(question)]
    assert 650 < len(alone) < 850
    assert not [question for question in alone if re.search(TOLD, question, re.I)]
