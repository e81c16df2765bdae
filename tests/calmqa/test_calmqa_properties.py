"""CaLMQA on any text: claims are of the text, prompts keep their frame, and an unreadable answer is never a value."""

from collections import Counter

from hypothesis import assume, example, given
from hypothesis import strategies as st
from text_strategies import ANSWERS, TEXTS

from excam.calmqa import asks, claims, numbers, surface
from excam.core.sentences import sentence_places, well_formed
from excam.core.text import CLUSTER
from excam.inference import Completion
from excam.knowledge.passages import paragraphs
from excam.knowledge.prose import read_plain

LANGUAGES = st.sampled_from(("root", "en", "de", "el", "hi", "ja", "th", "ar", "ru"))
OPTIONS = (("supported", "contradicted", "unsupported"), ("yes", "no"), asks.RATINGS)


def letters(texts):
    """The letters and digits of texts, in their order."""
    return [sign for text in texts for sign in text if sign.isalnum()]


@given(ANSWERS, LANGUAGES)
@example("\xa0\u0301a", "root")  # an accent on the space before
@example("- \u0301a b", "root")
def test_sentences_are_places_in_order_at_borders_of_characters(text, language):
    clean = well_formed(text)
    assert len(clean) == len(text)
    borders = {0, *(match.end() for match in CLUSTER.finditer(clean))}
    last = 0
    for start, end in sentence_places(text, language):
        assert last <= start < end <= len(text)
        assert any(map(str.isalpha, text[start:end]))
        assert {start, end} <= borders
        last = end


@given(TEXTS, LANGUAGES)
def test_no_letter_of_a_text_without_questions_and_lists_is_in_no_sentence(text, language):
    plain = "".join(sign for sign in text if sign not in "?？؟;か-*•·–#.)0123456789" and not sign.isnumeric())
    covered = letters(plain[start:end] for start, end in sentence_places(plain, language))
    assert covered == letters([plain])


@given(ANSWERS, LANGUAGES)
def test_claims_of_an_answer_are_its_sentences_once_each(text, language):
    made = claims.by_sentences("a/1", text, language)
    assert [claim.id for claim in made] == [f"a/1#{number}" for number in range(1, len(made) + 1)]
    assert len({claim.text for claim in made}) == len(made)
    assert {claim.text for claim in made} == {*claims.sentences(text, language)}
    assert [claim.text for claim in claims.by_sentences("a/1", text, language)] == [claim.text for claim in made]


@given(ANSWERS)
def test_passages_hold_every_letter_of_a_text_once(text):
    assert letters(paragraphs(text)) == letters([text.replace("\0", " ")])


@given(TEXTS.filter(lambda text: "\f" not in text))
def test_prose_holds_every_letter_of_a_page(text):
    """Titles repeat above each paragraph; a heading with nothing below it is a paragraph."""
    blocks = read_plain(text, "").blocks
    held = Counter(letters([block.text for block in blocks] + list({block.title for block in blocks})))
    assert not Counter(letters([text])) - held


@given(ANSWERS, st.sampled_from(OPTIONS), st.sampled_from(("VERDICT", "RATING", "KEEP")))
def test_a_line_is_one_of_the_options_or_a_failure(text, options, label):
    picked = asks.read_line(text, label, options)
    assert (picked.option is None) == bool(picked.failure)
    assert picked.option in (None, *options)
    assert picked.failure in ("", *asks.FAILURES)
    if picked.option:
        assert asks.read_line(f"{label}: {picked.option}", label, options) == picked
        other = next(option for option in options if option != picked.option)
        assert asks.read_line(f"{text}\n{label}: {other}", label, options).failure == "two-answers"


@given(ANSWERS)
def test_listed_claims_are_texts_or_a_failure(text):
    listed = asks.read_claims(text)
    assert listed == "no-claims-list" or all(claim.strip() == claim and claim for claim in listed)
    rows = asks.claim_rows("a", 1, listed, 4)
    assert len({row.id for row in rows}) == len(rows)
    assert all((row.text is None) == bool(row.failure) for row in rows)


@given(st.lists(TEXTS, min_size=5, max_size=5))
def test_no_text_ends_the_block_that_it_stands_in(texts):
    values = dict(zip(("text", "context", "sentence", "question", "answer"), texts, strict=True))
    for template in (asks.TRANSLATE, asks.EXTRACT, asks.RELEVANCE):
        prompt = asks._filled(template, values, ("1", "2"))
        assert prompt.count(asks.FENCE) == 2
        assert prompt.count(asks.DATA) >= 1
    assume("====" not in texts[0] and "\0" not in texts[0])
    assert f"{asks.FENCE}\n{texts[0]}\n{asks.FENCE}" in asks._filled(asks.TRANSLATE, values)


@given(ANSWERS, st.sampled_from(("stop", "length", "refused")))
def test_a_text_of_a_model_is_there_or_a_failure(text, finish):
    said = asks.read_text(Completion(text, None, None, finish, 1, 1))
    assert (said.text is None) == bool(said.failure)
    assert said.text is None or said.text.strip() == said.text != ""


@given(ANSWERS, st.integers(1, 5))
def test_repeats_grow_with_a_text(text, tokens):
    assert surface.most_repeats(text, tokens) >= surface.most_repeats(text, tokens + 1)
    looks = surface.check(text, "en")
    assert looks.value in (0, 1)
    assert looks.empty == (not letters([text]))


@st.composite
def judged(draw):
    count = draw(st.integers(0, 5))
    return numbers.AnswerFindings(
        answer=f"{draw(st.integers(0, 10**6))}",
        subject=draw(st.sampled_from("xy")),
        group=draw(st.sampled_from("gh")),
        language=draw(st.sampled_from(("en", "hi"))),
        type=draw(st.sampled_from(("specific", "agnostic"))),
        surface=draw(st.sampled_from((0, 1, None))),
        claims=count,
        supported=draw(st.integers(0, count)),
        relevance=draw(st.none() | st.floats(0, 1)),
        empty=draw(st.booleans()),
        failure=draw(st.sampled_from(("", "claims: refused", "verdicts: in-thought"))),
    )


@given(st.lists(judged(), min_size=1, max_size=12, unique_by=lambda row: row.answer), st.randoms())
def test_scores_are_shares_and_every_answer_is_in_one_count(rows, chance):
    scored = numbers.scores(rows)
    assert [row["answer"] for row in scored] == [row.answer for row in rows]
    assert all(row["s"] is None or 0 <= row["s"] <= 1 for row in scored)
    assert all(row["s"] is None for row in scored if row["failure"])
    lines = numbers.table(scored, 0)
    everything = [line for line in lines if line["language"] == line["type"] == "all"]
    assert sum(line["answers"] for line in everything) == len(rows)
    assert sum(line["scored"] for line in everything) == sum(row["s"] is not None for row in scored)
    chance.shuffle(rows)
    again = {row["answer"]: row for row in numbers.scores(rows)}
    assert all(again[row["answer"]] == row for row in scored)
