"""Values that look like those of a field and are none: of another type inside, or too large for a file."""

import pytest

from excam.annotation import answers, campaign, exchange, form
from excam.core.exceptions import InputInvalid

FORM = {
    "name": "values",
    "version": "1",
    "title": "Values",
    "purpose": "For tests.",
    "facets": [],
    "steps": [
        {
            "title": "All",
            "blocks": [
                {"field": "years", "kind": "number", "label": "Years", "low": -(10**9), "decimals": 2},
                {"field": "words", "kind": "span", "label": "Words", "of": "text", "values": {"x": "X", "y": "Y"}},
                {"field": "rank", "kind": "order", "label": "Rank", "values": {"1": "one", "2": "two"}},
            ],
        }
    ],
}
TASK = campaign.Task("0" * 16, "row", "English", "Wales", 1, {"text": "some words"})


def campaign_and_answer(**values):
    """The campaign, and an answer with these values."""
    form_campaign = campaign.campaign("Values", form.parse(FORM, "values"), [TASK])
    return form_campaign, answers.Answer(
        TASK.id, "b", {**form_campaign.form.empty(), **values}, saved="2026-04-01T12:00:00.000Z"
    )


@pytest.mark.parametrize("label", [["x"], [], {}, None, 1])
def test_the_label_of_a_mark_is_a_text(label):
    """Anything else that JSON can hold is refused in a line, not failed on."""
    form_campaign, answer = campaign_and_answer(words=[[0, 1, label]])
    with pytest.raises(InputInvalid, match="words has the label"):
        answers.read(answer.row(), form_campaign)


@pytest.mark.parametrize("order", [[1, 2], ["1", 2], [["1"], "2"], ["1", "1"], ["1", "2", "2"]])
def test_an_order_is_of_the_values_themselves(order):
    form_campaign, answer = campaign_and_answer(rank=order)
    with pytest.raises(InputInvalid, match="expected each of 1, 2 once"):
        answers.read(answer.row(), form_campaign)


@pytest.mark.parametrize("number", [10**9, -(10**9), 0, -1, 0.25, -0.5, 999_999_999.75, None])
def test_every_number_that_a_field_allows_comes_back_from_a_file(number):
    form_campaign, answer = campaign_and_answer(years=number)
    assert answers.read(answer.row(), form_campaign) == answer
    for write in (exchange.to_csv, exchange.to_json):
        (again,) = exchange.read(write(form_campaign, [answer]).encode(), form_campaign)
        assert again == answer
        assert type(again["years"]) is type(number)


def test_a_grade_with_a_zero_in_front_is_refused():
    """Its number would never be its value."""
    scale = {"field": "grade", "kind": "scale", "label": "Grade", "values": {"01": "low", "2": "high"}}
    with pytest.raises(InputInvalid, match="grade: the values of a scale are whole numbers"):
        form.parse({**FORM, "steps": [{"title": "One", "blocks": [scale]}]}, "values")
