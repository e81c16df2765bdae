"""Whether a passage is about what a question asks."""

from __future__ import annotations

import pytest

from excam.error_reports import relevance, stated

ASKED = "Which sport do most people in Greece play after school?"
GREEK = "Sports in Greece: After school, most people there play basketball."


@pytest.mark.parametrize(
    ("passage", "why"),
    [
        (GREEK, ""),
        ("After school most people play basketball, the sport of the town.", ""),  # no culture is named: about any
        ("Sports in Peru: Most people play football.", "asked about greece, and the passage is about peru"),
        ("Food in Greece: People like soup in winter.", "the passage holds "),
    ],
)
def test_a_passage_is_about_a_question_or_says_why_not(passage: str, why: str) -> None:
    assert relevance.unrelated(ASKED, [passage]).startswith(why)
    assert bool(relevance.unrelated(ASKED, [passage])) == bool(why)


def test_one_passage_of_several_is_enough() -> None:
    assert not relevance.unrelated(ASKED, ["Food in Peru: soup.", GREEK])


@pytest.mark.parametrize(
    ("text", "cultures"),
    [
        ("the Greek feast", {"greece"}),
        ("North Korean and South Korean schools", {"north korea", "south korea"}),
        ("the United States of America", {"united states"}),
        ("a village without a name", set()),
    ],
)
def test_cultures_are_named_by_country_or_adjective(text: str, cultures: set[str]) -> None:
    assert relevance.named(text) == cultures


@pytest.mark.parametrize(
    ("question", "passage", "language"),
    [
        ("Was isst man in Deutschland zu Ostern?", "Zu Ostern isst man dort Lammbraten.", "German"),
        ("日本では正月に何を食べますか。", "正月の料理：日本では正月に家族で雑煮を食べます。", "Japanese"),
    ],
)
def test_other_languages_count_words_in_any_form(question: str, passage: str, language: str) -> None:
    assert relevance.share_held(question, passage, language) >= relevance.SHARE


def test_what_holds_an_answer_is_the_passage_with_its_words() -> None:
    assert relevance.held_shares("basketball", ["Food in Peru: soup.", GREEK]) == [0, 1]


@pytest.mark.parametrize(("cites", "places"), [((), [1]), ((1,), [1]), ((2,), [1]), ((1, 2), [1])])
def test_a_statement_follows_from_a_passage_that_holds_it(cites: tuple[int, ...], places: list[int]) -> None:
    assert stated.cited_places(stated.StatedAnswer("basketball", cites), ["Food in Peru: soup.", GREEK], "") == places


@pytest.mark.parametrize(
    ("question", "core"),
    [
        ("Reply to 'What is eaten in Spain's south?' by selecting an option.", "What is eaten in Spain's south?"),
        ("Context: 'You are from here.' Task: \"Do you like it?\"", "Do you like it?"),
        ("What is eaten there?", "What is eaten there?"),
    ],
)
def test_the_core_of_a_question_is_between_its_quotation_marks(question: str, core: str) -> None:
    assert relevance.core(question) == core


def test_options_and_frames_are_not_in_the_core_of_a_question() -> None:
    asked = "Work on this question and return an answer: 'Which sport do people in Greece play?' Pick from these: "
    options = "Option A: Korean archery; Option B: basketball; Option C: sumo; Option D: fencing"
    assert not relevance.unrelated(asked + options, ["Sports in Greece: After school, people play basketball."])
    assert relevance.unrelated(asked + options, ["Sports in South Korea: People play Korean archery."])
