"""Facts as statements, questions in other words, and documents about one culture."""

from __future__ import annotations

from dataclasses import replace

import pytest
from text_tables import table

from excam.error_reports.records import BaseSample
from excam.excam40k.culture_documents import LEAST, MOST, prose, topic
from excam.excam40k.question_forms import form
from excam.excam40k.statements import paraphrase, paraphrases, stated_answer, statements

SEED = 7


def base(question: str, answer: str, culture: str = "Greece", **more: str) -> BaseSample:
    fields = {"id": f"own/{question}", "dataset": "own", "task": "qa", "language": "English", "stratum": culture}
    return BaseSample(**(fields | {"question": question, "answer": answer, "culture": culture} | more))  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("question", "answer", "expected"),
    table(__file__, "question_and_answer_become_one_of_the_statements"),
)
def test_question_and_answer_become_one_of_the_statements(question: str, answer: str, expected: str) -> None:
    made = statements(base(question, answer))
    assert len(set(made)) >= 6
    assert any(expected in text for text in made), made


def test_every_statement_holds_the_answer_and_ends() -> None:
    rows = [
        base("What is a common snack in Greece?", "Toast with honey."),
        base("Is it polite to shout in Greece?", "No"),
        base("In Greece, what do guests bring and why?", "Flowers; Sweets"),
        base("How should one greet an elder in Greece?", "Bow slightly and wait until they speak to you"),
    ]
    for row in rows:
        for text in statements(row):
            assert stated_answer(row).casefold() in text.casefold()
            assert text[-1] in '.?!”"', text


def test_what_no_rule_takes_is_quoted_and_other_languages_are_only_joined() -> None:
    question = "Being asked to sing, what is it that a Greek does and why?"
    assert form(question) is None
    assert question in statements(base(question, "sings"))[0]
    german = base("Was isst man an Ostern?", "Zopf", "Switzerland", language="German")
    assert statements(german)[0] == "Was isst man an Ostern? Zopf."
    assert paraphrases(german) == ("Was isst man an Ostern?",)


def test_a_norm_and_a_survey_say_what_the_row_says() -> None:
    story = "Ann kept her shoes on. Is what Ann did acceptable?"
    norm = base(story, "No, explanation: Shoes are taken off at the door.", "Tonga", task="impersonation")
    assert all("Shoes are taken off at the door." in text and "Tonga" in text for text in statements(norm))
    asked = "Please tell me if you have a very favorable, somewhat favorable or very unfavorable opinion of Peru?"
    survey = base(asked, "Very favorable", "Mali", task="impersonation")
    assert "In a survey, people in Mali most often said that they have a very favorable opinion of Peru." in statements(
        survey
    )
    assert "What do people in Mali mostly think of Peru?" in paraphrases(survey)


def test_a_paraphrase_asks_in_other_words_and_names_the_culture() -> None:
    row = base("In Greek culture, what is the most popular drink?", "coffee")
    made = {paraphrase(replace(row, id=str(number)), SEED) for number in range(40)}
    assert row.question not in made
    assert all("Greece" in text and "coffee" not in text for text in made)
    assert any("best-liked" in text or "most favoured" in text for text in made)
    assert len(made) > 6


def test_prose_states_each_fact() -> None:
    rows = [
        base(f"What is a common {thing} in Greece?", f"{thing} of the house") for thing in ("snack", "dish", "soup")
    ]
    document = prose("greece/food", rows, "CC0-1.0", SEED)
    assert document.sources == tuple(row.id for row in rows)
    assert LEAST <= len(document.text.split()) <= MOST
    assert all(row.answer in document.text.casefold() for row in rows)
    assert topic(rows[0]) == "Food and drink"
    assert topic(replace(rows[0], changes=({"rule": "dots"},))) == "Food and drink"
