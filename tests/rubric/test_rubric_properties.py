"""The rubric on any answer: a rating obeys the rules, which are settled once, and an unreadable answer has no score."""

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from text_strategies import ANSWERS, TEXTS

from excam.inference import Completion
from excam.rubric import asks, checks, manual, ratings, responses
from excam.rubric.manual import DIMENSIONS, FINDINGS, SCALE, SCORES
from excam.rubric.rules import Draft, Findings, settle, wrong_caps

RUBRIC = manual.load()
KNOWN = responses.read(responses.files(Path(__file__).parents[2] / "mini/rubric/responses.jsonl"))
VALUES = {name: TEXTS if values == ("",) else st.sampled_from(values) for name, values in FINDINGS.items()}
FINDING = st.builds(Findings, **VALUES)
SCORE = st.sampled_from(SCALE)
RULES = st.sampled_from(("", *RUBRIC.manual.rules))
DRAFT = st.builds(Draft, **dict.fromkeys(DIMENSIONS, SCORE), overall=SCORE | st.none(), sentence=TEXTS, edge_case=RULES)
FACTS = {name: st.sampled_from(values) for name, values in responses.VALUES.items()}
RESPONSE = st.builds(responses.Response, task_id=st.just("t"), prompt=st.just("p"), response=st.just("r"), **FACTS)


@given(DRAFT, FINDING, RESPONSE)
def test_settled_scores_are_on_the_scale_and_settled_once(draft, findings, response):
    settled = settle(draft, findings, response, RUBRIC)
    assert {*settled.scores} == {*SCORES}
    assert {*settled.scores.values()} <= {*SCALE}
    assert all(settled.scores[name] <= getattr(draft, name) for name in DIMENSIONS)
    again = Draft(**settled.scores, sentence=draft.sentence, edge_case=draft.edge_case, caps=settled.caps)
    twice = settle(again, findings, response, RUBRIC)
    assert (twice.scores, twice.base, twice.caps, twice.breaches) == (settled.scores, settled.base, settled.caps, ())
    by_rule = [cap for cap in settled.caps if cap.rule in RUBRIC.manual.rules]
    assert all(settled.scores[cap.dimension] <= cap.after < cap.before for cap in by_rule)


@given(DRAFT, FINDING)
def test_what_is_unknown_of_a_task_never_lowers_a_score(draft, findings):
    unknown = settle(draft, findings, responses.Response("t", "p", "r"), RUBRIC)
    for unsafe in (True, False):
        known = settle(draft, findings, responses.Response("t", "p", "r", unsafe=unsafe, complexity="high"), RUBRIC)
        assert all(known.scores[name] <= unknown.scores[name] for name in DIMENSIONS)
        assert known.undecidable == ()


def completion(text, finish="stop"):
    return Completion(text, None, None, finish, 1, 1)


@st.composite
def almost_answers(draw):
    """An answer as it was asked for, but for some values."""
    score = {"score": 2, "rationale": "So."}
    odd = TEXTS | st.sampled_from((None, 0, 1, 6, 3, -1, True, [], ["stereotype"], {}, score))
    values = {
        "findings": {name: draw(st.sampled_from(known)) for name, known in FINDINGS.items()}
        | draw(st.dictionaries(st.sampled_from([*FINDINGS, "more"]), odd, max_size=2)),
        **{name: {"rationale": draw(TEXTS), "score": draw(SCORE)} for name in SCORES},
        "edge_case": draw(RULES | TEXTS),
        "flags": draw(st.lists(st.sampled_from(RUBRIC.manual.flags) | TEXTS, max_size=3)),
        "confidence": draw(SCORE),
    }
    return json.dumps(values | draw(st.dictionaries(st.sampled_from([*values, "more"]), odd, max_size=1)))


@given(almost_answers() | ANSWERS, st.sampled_from(("stop", "length", "refused")), st.sampled_from(KNOWN))
def test_an_answer_is_a_rating_by_the_rules_or_a_failure(text, finish, response):
    rating = asks.read(completion(text, finish), response, RUBRIC, "m")
    assert (rating.scores is None) == (rating.failure is not None)
    row = ratings.to_row(rating)
    again, problems = checks.parse(json.loads(json.dumps(row)), {RUBRIC.signature: RUBRIC})
    assert (again, problems) == (rating, [])
    assert ratings.to_frame([rating]).height == 1
    if rating.scores:
        settled = settle(ratings.draft_of(rating), rating.findings, response, RUBRIC)
        assert (settled.scores, settled.breaches) == (rating.scores, ())
        assert not [*wrong_caps(rating.caps, rating.scores, "model", RUBRIC)]


@given(st.lists(st.tuples(TEXTS, st.sampled_from(("task_id", "prompt", "response", "model", "culture"))), max_size=4))
def test_a_prompt_holds_the_texts_as_data(changes):
    values = {"task_id": "t", "prompt": "p", "response": "r"} | {name: text for text, name in changes}
    response = responses.Response(**values)
    _, asked = asks._messages("s", response)
    shown = json.loads(asked.content)
    assert (shown["task"], shown["response"]) == (response.prompt, response.response)
    assert shown.get("culture") == response.culture
