"""Near misses, and passages around a fact."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest
from base_samples import base as base_sample

from excam.core.exceptions import InputInvalid
from excam.error_reports.records import BaseSample
from excam.excam40k import evidence
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


def test_near_misses_are_the_same_question_elsewhere_and_another_one_at_home() -> None:
    base = BASES[0]
    elsewhere, at_home = NEAR.elsewhere(base, 3), NEAR.at_home(base, 3)
    assert {other.question.split()[5] for other in elsewhere} == {"snack"}
    assert len({other.culture for other in elsewhere} - {base.culture}) == 3
    assert {other.culture for other in at_home} == {base.culture}
    assert base not in at_home
    assert all(other.culture != base.culture for other in NEAR.unrelated(base, 2, SEED))


@pytest.mark.parametrize("wording", get_args(evidence.Wording))
def test_the_fact_is_in_one_of_five_passages_or_in_none(wording: evidence.Wording) -> None:
    for base in BASES[::7]:
        among = evidence.with_fact(base, wording, NEAR, SEED)
        assert len(among) == evidence.PASSAGES
        own = [base.id in passage.sources for passage in among]
        assert [base.answer in passage.text.casefold() for passage in among] == own
        assert sum(own) == 1
        alone = evidence.without_fact(base, wording, NEAR, SEED)
        assert not any(base.answer in passage.text.casefold() or base.id in passage.sources for passage in alone)


@pytest.mark.parametrize("wording", get_args(evidence.Wording))
def test_a_planted_wrong_answer_is_said_of_another_culture_alone(wording: evidence.Wording) -> None:
    for base in BASES[::7]:
        wrong = base.wrong[0]
        passages = evidence.with_planted(base, wrong, wording, NEAR, SEED)
        assert len(passages) == evidence.PASSAGES
        assert sum(base.answer in passage.text.casefold() for passage in passages if base.id in passage.sources) == 1
        saying = [passage for passage in passages if wrong in passage.text.casefold()]
        assert saying
        assert all(base.culture not in passage.shown and base.id not in passage.sources for passage in saying)


def test_a_question_moves_to_another_culture_with_all_its_names() -> None:
    base = base_sample(culture="United Kingdom", question="In the UK, what do British people in England eat?")
    assert evidence.moved(base, "Peru").question == "In Peru, what do Peruvian people in Peru eat?"
    assert evidence.moved(replace(base, question="the UK"), "United States").question == "the United States"


def test_without_another_culture_nothing_is_planted() -> None:
    alone = NearMisses([replace(BASES[0], changes=({"rule": "unescaped"},))])  # as readers change rows
    with pytest.raises(InputInvalid, match="no fact of another culture"):
        evidence.with_planted(BASES[0], BASES[0].wrong[0], "qa", alone, SEED)
