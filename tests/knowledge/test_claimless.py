"""What of a sentence may state something, by phrase and by form; what a short text that refuses is."""

import pytest
from text_tables import table

from excam.knowledge import claimless


def stated(sentence, before=""):
    """What a sentence may state, "" if nothing."""
    place = claimless.stating_part(f"{before}{sentence}", (len(before), len(before) + len(sentence)))
    return f"{before}{sentence}"[slice(*place)] if place else ""


@pytest.mark.parametrize(
    "sentence",
    [
        "Hello!", "It’s not a stupid question at all!", "If you have any other questions, just ask.",
        "¡Si tienes más preguntas, no dudes en preguntar!", "**Ich hoffe, das hilft dir weiter!**", "希望以上信息能够解答您的疑问。",
        "如果您还有其他问题，请告诉我。", "أتمنى أن يكون هذا مفيدًا!", "תודה על השאלה המעניינת.",
        "I hope this helps, and if you have any further questions, just let me know.",
    ],
)  # fmt: skip
def test_a_greeting_and_a_closing_state_nothing(sentence):
    assert stated(sentence) == ""


@pytest.mark.parametrize(
    "sentence",
    [
        "Hello is said with the word gamarjoba.",
        "Thanks to the tamada, nobody drinks alone.",
        "Feel free to tip, since waiters in Canada expect it.",
        "Let me know if you have questions about how the oldest guest leads the toasts.",
        "I hope this helps you to see that at a Georgian feast the tamada, whom the host chooses, leads the toasts and "
        "that guests drink wine and never beer.",
        "豚肉を食べますが、他にご質問があればどうぞ。",
        "当然不吃牛肉的人很多。",
        *("I hope this dispels the myth.", "Of course not.", "**That is wrong**", "Sorry, I do not believe that."),
        *("Thank you for these lies.", "Your question is wrong.", "# False", "I don't know."),
    ],
)
def test_what_may_state_something_is_kept(sentence):
    assert stated(sentence) == sentence


@pytest.mark.parametrize(
    ("sentence", "part"),
    [
        ("I hope this helps, and guests drink beer.", "and guests drink beer."),
        ("I hope this helps but guests drink beer.", "but guests drink beer."),
        ("Of course, the oldest guest leads the toasts.", "the oldest guest leads the toasts."),
        ("Ich hoffe, dass es hilft, und die Gäste trinken Bier.", "und die Gäste trinken Bier."),
        ("希望以上信息对您有帮助，客人们都喝啤酒。", "客人们都喝啤酒。"),
    ],
)
def test_a_phrase_excuses_its_own_clause_only(sentence, part):
    assert stated(sentence) == part


def test_a_short_heading_is_one_by_the_line_it_stands_in():
    def is_heading(sentence, before):
        return claimless.is_heading(f"{before}{sentence}", (len(before), len(before) + len(sentence)))

    assert is_heading("The Georgian feast", "# ")
    assert is_heading("The Georgian feast", "Text.\n## ")
    assert is_heading("**Bread**", "Text.\n")
    assert not is_heading("**Bread**", "They eat:\n- ")
    assert not is_heading("The oldest guest leads the toasts", "Text.\n## ")


def test_questions_claim_nothing_by_themselves():
    assert claimless.claim_places("Who leads them? The tamada does it.", "en") == [(16, 35)]


@pytest.mark.parametrize(("text", "refuses"), table(__file__, "a_refusal_is_no_answer"))
def test_a_refusal_is_no_answer(text, refuses):
    assert claimless.is_refusal(text) == refuses
