"""Near misses, passages around a fact, and training rows of a judge that reads them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import get_args

import pytest
from base_samples import base as base_sample
from base_samples import wrapped

from excam.config import Evidence, Recipe, Wording
from excam.core.exceptions import InputInvalid
from excam.error_reports import adapter_card, stated
from excam.error_reports.records import BaseSample
from excam.excam40k import evidence, grounded
from excam.excam40k.construction import hard
from excam.excam40k.evidence import ORDERS
from excam.excam40k.near_misses import NearMisses

SEED = 3
PLACES = ("Greece", "Peru", "Kenya", "Japan", "Mali", "Chile")
THINGS = ("snack", "dessert", "soup", "sport", "song", "gift")


def answers(place: str, thing: str) -> str:
    return f"{place[:3].casefold()}o{thing[:3]}a"  # a word of its own for each fact


def facts() -> list[BaseSample]:
    return [
        base_sample(
            id=f"own/{place}/{thing}",
            dataset="own",
            question=f"What is the most popular {thing} in {place}?",
            answer=answers(place, thing),
            culture=place,
            stratum=place,
            options=(),
            wrong=tuple(answers(other, thing) for other in PLACES if other != place)[:3],
        )
        for place in PLACES
        for thing in THINGS
    ]


BASES = facts()
NEAR = NearMisses(BASES)


def samples() -> list:
    right = wrapped(BASES, licence="CC0-1.0", seed=SEED)
    wrong, _ = hard.hard_errors(right, {base.id: base for base in BASES}, SEED)
    return [*right, *wrong]


def rows(shares: Evidence = Evidence()) -> list[grounded.GroundedRow]:  # noqa: B008  # it is frozen
    return list(grounded.rows(samples(), {base.id: base for base in BASES}, shares, SEED))


def test_near_misses_are_the_same_question_elsewhere_and_another_one_at_home() -> None:
    base = BASES[0]
    elsewhere, at_home = NEAR.elsewhere(base, 3), NEAR.at_home(base, 3)
    assert {other.question.split()[5] for other in elsewhere} == {"snack"}
    assert len({other.culture for other in elsewhere} - {base.culture}) == 3
    assert {other.culture for other in at_home} == {base.culture}
    assert base not in at_home
    assert all(other.culture != base.culture for other in NEAR.unrelated(base, 2, SEED))


@pytest.mark.parametrize("wording", get_args(Wording))
def test_the_fact_is_in_one_of_five_passages_or_in_none(wording: evidence.Wording) -> None:
    for base in BASES[::7]:
        among = evidence.with_fact(base, wording, NEAR, SEED)
        assert len(among) == evidence.PASSAGES
        assert [base.answer in passage.text.casefold() for passage in among] == [
            passage.states == "fact" for passage in among
        ]
        assert sum(base.id in passage.sources for passage in among) == 1
        alone = evidence.without_fact(base, wording, NEAR, SEED)
        assert not any(base.answer in passage.text.casefold() or base.id in passage.sources for passage in alone)


def test_a_false_passage_states_the_wrong_answer_and_not_the_right_one() -> None:
    base = BASES[0]
    pair = evidence.contradicting(base, base.wrong[0], "prose", NEAR, SEED)
    stated = {passage.states: passage.text.casefold() for passage in pair}
    assert set(stated) == {"fact", "false"}
    assert base.answer in stated["fact"]
    assert base.wrong[0] in stated["false"]
    assert base.answer not in stated["false"]


@pytest.mark.parametrize("wording", get_args(Wording))
def test_a_planted_wrong_answer_is_said_of_another_culture_alone(wording: evidence.Wording) -> None:
    for base in BASES[::7]:
        wrong = base.wrong[0]
        passages = evidence.with_planted(base, wrong, wording, NEAR, SEED)
        assert len(passages) == evidence.PASSAGES
        assert sum(passage.states == "fact" and base.answer in passage.text.casefold() for passage in passages) == 1
        saying = [passage for passage in passages if wrong in passage.text.casefold()]
        assert saying
        assert all(base.culture not in passage.shown and not passage.states for passage in saying)


def test_a_question_moves_to_another_culture_with_all_its_names() -> None:
    base = base_sample(culture="United Kingdom", question="In the UK, what do British people in England eat?")
    assert evidence.moved(base, "Peru").question == "In Peru, what do Peruvian people in Peru eat?"
    assert evidence.moved(replace(base, question="the UK"), "United States").question == "the United States"


def test_without_another_culture_nothing_is_planted() -> None:
    alone = NearMisses([BASES[0]])
    with pytest.raises(InputInvalid, match="no fact of another culture"):
        evidence.with_planted(BASES[0], BASES[0].wrong[0], "qa", alone, SEED)


def test_planted_rows_decide_as_those_with_the_fact() -> None:
    made = rows(Evidence(fact=0, near=0, contradicting=0, unrelated=0, planted=1, stated=0))
    assert {row.kind for row in made} == {"planted"}
    assert all(row.target == {"right": "Yes", "wrong": "No"}[row.label] and len(row.cites) == 1 for row in made)


def test_rows_have_the_stated_shares_and_targets_that_follow_from_their_passages() -> None:
    made = rows()
    assert [row.id for row in made] == [sample.id for sample in samples()]
    assert {row.kind for row in made} == {"fact", "near", "contradicting", "unrelated"}
    assert Counter(row.kind for row in made).most_common(1)[0][0] == "fact"
    for row in made:
        states = [number for number, passage in enumerate(row.passages, 1) if passage.states]
        assert list(row.cites) == states
        if row.asked == "entail":
            expected = {"right": "Yes", "wrong": "No"}[row.label]
            assert row.target == (expected if row.kind == "fact" else "not stated")
            continue
        read = stated.read_stated(row.target, len(row.passages))
        assert read.cites == row.cites
        assert bool(read.answer) == (row.kind == "fact")
        if row.kind == "fact":
            assert read.answer in row.passages[states[0] - 1].text.casefold()


def test_the_texts_of_a_pair_have_the_same_passages_where_it_is_asked_whether_they_are_right() -> None:
    by_pair: dict[str, list[grounded.GroundedRow]] = {}
    for row in rows():
        by_pair.setdefault(row.pair, []).append(row)
    for first, second in by_pair.values():
        assert first.asked == second.asked
        if first.asked == "entail":
            assert (first.passages, first.question, first.kind) == (second.passages, second.question, second.kind)
            assert {first.label, second.label} == {"right", "wrong"}


def test_prompts_are_those_of_the_judge_and_an_order_in_a_passage_changes_no_target() -> None:
    plain, ordered = rows(Evidence(orders=0)), rows(Evidence(orders=1))
    assert [row.target for row in plain] == [row.target for row in ordered]
    assert all(any(order in row.messages[0].content for order in ORDERS) for row in ordered)
    state = next(row for row in plain if row.asked == "state")
    assert state.messages == stated.state_messages(state.question, [passage.shown for passage in state.passages])


def test_questions_are_paraphrased_in_the_stated_share() -> None:
    instructions = {sample.id: sample.instruction for sample in samples()}
    changed = sum(row.question != instructions[row.id] for row in rows())
    assert 0.3 < changed / len(instructions) < 0.7
    assert all(row.question == instructions[row.id] for row in rows(Evidence(paraphrased=0)))


def test_a_row_without_its_base_sample_and_shares_that_do_not_sum_to_one_are_refused() -> None:
    with pytest.raises(InputInvalid, match="no base sample for"):
        list(grounded.rows(samples(), {}, Evidence(), SEED))
    with pytest.raises(ValueError, match="expected 1"):
        Evidence(fact=0.9)
    with pytest.raises(ValueError, match="expected report: grounded"):
        Recipe(evidence=Evidence(orders=0))
    with pytest.raises(ValueError, match="expected labels: gold"):
        Recipe(report="grounded", labels="permuted")


@pytest.mark.parametrize(("order", "shown"), [("grounded", "answer that they"), ("errors-first", "an error report in")])
def test_the_card_of_an_adapter_says_what_it_was_trained_to_answer(order: str, shown: str) -> None:
    adapter = adapter_card.TrainedAdapter(
        model="tiny",
        source=None,
        licence="MIT",
        trained_on="all",
        by_dataset={"own": 2},
        mixture="0" * 64,
        recipe={"report": order},
        measured={},
    )
    page = adapter_card.text(adapter)
    assert shown in page
    assert ("Return an error report" in page) == (order == "errors-first")
    assert ("from the passages alone" in page) == (order == "grounded")
