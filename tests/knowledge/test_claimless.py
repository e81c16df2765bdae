"""Sentences that state nothing, by phrase and by form; what a short text that refuses is."""

import pytest

from excam.knowledge import claimless


def is_claimless(sentence, before="", after=""):
    text = f"{before}{sentence}{after}"
    return claimless.is_claimless(text, (len(before), len(before) + len(sentence)))


@pytest.mark.parametrize(
    "sentence",
    [
        "Hello!",
        "Hallo AstridDerPu,",
        "It’s not a stupid question at all!",
        "What a thought-provoking question!",
        "I hope that this helps.",
        "Let me know if you have any further questions.",
        "If you have any other questions, just ask.",
        "¡Si tienes más preguntas, no dudes en preguntar!",
        "Espero que esta información te sea útil.",
        "**Ich hoffe, das hilft dir weiter!**",
        "J'espère que cela vous aide.",
        "Umarım bu bilgiler yardımcı olur.",
        "Надеюсь, это объяснение помогло.",
        "希望以上信息能够解答您的疑问。",
        "如果您还有其他问题，请告诉我。",
        "少しでもお役に立てれば幸いです。",
        "도움이 되었기를 바랍니다.",
        "أتمنى أن يكون هذا مفيدًا!",
        "תודה על השאלה המעניינת.",
        "Here's the breakdown:",
        "**Historical and Cultural Factors:**",
        "**Summary**",
        "I'm sorry, but I cannot answer that.",
    ],
)
def test_a_greeting_a_closing_a_heading_and_a_refusal_state_nothing(sentence):
    assert is_claimless(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "Hello is said with the word gamarjoba.",
        "Good luck is brought by chimney sweeps.",
        "Of course, the oldest guest leads the toasts.",
        "**Christmas is on 25 December.**",
        "Thanks to the tamada, nobody drinks alone.",
        "Feel free to tip, since waiters in Canada expect it.",
        "There are three main reasons why the tamada leads all toasts at a feast:",
        "I hope this helps you to see that at a Georgian feast the tamada, whom the host chooses, leads the toasts and "
        "that guests drink wine and never beer.",
        "Everybody asks the question before the meal.",
        "当然不吃牛肉的人很多。",
    ],
)
def test_what_may_state_something_is_kept(sentence):
    assert not is_claimless(sentence)


def test_a_heading_is_one_by_the_line_it_stands_in():
    assert is_claimless("The Georgian feast and its toasts, as they were long ago in the west", "Text.\n## ")
    assert is_claimless("**Bread**", "Text.\n")
    assert not is_claimless("**Bread**", "They eat:\n- ")


@pytest.mark.parametrize(
    ("text", "refuses"),
    [
        ("I don't know.", True),
        ("As an AI, I cannot eat.", True),
        ("No lo sé.", True),
        ("我不知道。", True),
        ("I don't know, but probably lamb soup.", False),
        ("I don't know but soup", False),
        ("I'm sorry, but I cannot say. They eat soup.", False),
        ("None.", False),
        ("Sorrel soup", False),
    ],
)
def test_a_refusal_is_no_answer(text, refuses):
    assert claimless.is_refusal(text) == refuses
