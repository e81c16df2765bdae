"""The text of an answer: its reasoning, its last stated value, its JSON objects. The judges' tests have the corpora."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from text_tables import table

from excam.error_reports.judges import report
from excam.inference import answer_text
from excam.inference.json_answers import (
    IGNORED,
    MAX_OBJECTS,
    MAX_STARTS,
    Rejected,
    answer_decoder,
    last_object,
    objects,
)

THINKING = Path(__file__).parents[1] / "fixtures/malformed/thinking.jsonl"
THINKING = [json.loads(line) for line in THINKING.read_text("utf-8").splitlines()]
DECODER = answer_decoder(twice="key-twice", not_finite="not-finite")


@pytest.mark.parametrize("row", THINKING, ids=lambda row: row["id"])
def test_the_reasoning_is_split_off(row):
    assert answer_text.split_reasoning(row["text"]) == (row["thinking"], row["rest"])


tags = st.sampled_from(("<think>", "</think>", "</thinking>", '"', "\\", "\n", "a", " "))


@given(st.lists(tags).map("".join))
def test_the_reasoning_and_the_answer_are_parts_of_the_text_in_order(text):
    thought, rest = answer_text.split_reasoning(text)
    assert thought in text
    if rest is None:
        assert "think" in text
        return
    assert text.endswith(rest)
    before = text[: len(text) - len(rest)]
    assert before == "" or before.endswith(("</think>", "</thinking>"))
    assert thought in before
    for tag in answer_text.ENDS.finditer(rest):  # the remaining ones are in quoted strings
        line = rest[: tag.start()].rpartition("\n")[2] if "\n" in rest[: tag.start()] else before + rest[: tag.start()]
        line = line.rpartition("\n")[2].replace("\\\\", "").replace('\\"', "")
        assert line.count('"') % 2 == 1


def test_more_closing_tags_than_are_examined_are_no_answer():
    assert answer_text.split_reasoning("</think>" * answer_text.MAX_ENDS + "b")[1] == "b"
    assert answer_text.split_reasoning("</think>" * (answer_text.MAX_ENDS + 1) + "b")[1] is None


@pytest.mark.parametrize(("text", "value"), table(__file__, "the_last_value_of_a_label"))
def test_the_last_value_of_a_label(text, value):
    assert answer_text.last_value("Score", text) == value


def objects_and_ignored(answer):
    ignored = set()
    return list(objects(answer, DECODER, ignored)), ignored


@pytest.mark.parametrize(
    ("answer", "values", "ignored"),
    [
        ('{"a": "b"}', [{"a": "b"}], set()),
        (' \n{"a": "b"}\n', [{"a": "b"}], set()),
        ('\ufeff```json\n{"a": "b"}\n```\n', [{"a": "b"}], {"byte-order-mark", "fence"}),
        ('Sure: {"a": "b"}', [{"a": "b"}], {"prose"}),
        ('{"a": "b"} {"a": "b"}', [{"a": "b"}], {"repeated"}),
        ('{"a": "b"} {"c": "d"}', [{"a": "b"}, {"c": "d"}], {"repeated"}),
        ('{"a": "b\n"}', [{"a": "b\n"}], {"control-character"}),
        ('{"a": 4e999, "b": true}', [{"a": None, "b": True}], set()),
    ],
)
def test_the_objects_of_an_answer(answer, values, ignored):
    assert objects_and_ignored(answer) == (values, ignored)
    assert ignored <= set(IGNORED) < set(report.RECOVERED)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("", "empty"),
        ("\ufeff \n```", "empty"),
        ("no", "no-json"),
        ("a } b {", "truncated"),
        ("{1}", "bad-json"),
        ('{"a": b}', "bad-json"),
        ('{"a": "b', "truncated"),
        ('{"a": "b", ', "truncated"),
        ('{"a": "\\u12', "truncated"),
        ('{"a": ' + "[" * 200_000, "too-deep"),
        ("".join(f'{{"a": "{number}"}}' for number in range(MAX_OBJECTS + 1)), "too-long"),
        ('{"a": "b"}", "c": []}', "in-pieces"),
        ('{"a": "b", "a": "c"}', "key-twice"),
        ('{"a": NaN}', "not-finite"),
    ],
)
def test_an_answer_without_usable_objects_is_rejected(answer, reason):
    with pytest.raises(Rejected, match=f"^{reason}$"):
        objects_and_ignored(answer)


OUT = re.compile(r"OUT: (?=\{)")


def test_the_last_object_after_a_mark():
    for text, value, rest in (
        ("none", None, "none"),
        ('OUT: {"a": "b"} and OUT: {"c": "OUT: {}"}.', {"c": "OUT: {}"}, "."),
        ('OUT: {"a": "b"} OUT: {"c" d} e', None, "d} e"),
    ):
        last, end = last_object(text, OUT, DECODER)
        assert (last, text[end:]) == (value, rest)


def test_a_cut_deep_or_endless_answer_has_no_last_object():
    cut, deep, endless = 'OUT: {"a": "b"} OUT: {"c": "d', 'OUT: {"a": ' + "[" * 200_000, "OUT: {} " * MAX_STARTS
    for text, reason in ((cut, "truncated"), (deep, "bad-json"), (endless, "bad-json")):
        with pytest.raises(Rejected, match=f"^{reason}$"):
            last_object(text, OUT, DECODER)


def test_reasoning_is_skipped_to_its_first_unquoted_end():
    for text, rest in (
        ("<think>plain</think>X", "X"),
        ('<think>a "</think>" b</think>X', "X"),  # the first tag is quoted
        ('<think>a "</think>\nb</think>X', "X"),  # a line end ends the quotation
        ('<think>a\n"</think>" "</think>"</think>X', "X"),
        ('<think>a "</think>', ""),
        ("no reasoning</think>X", "no reasoning</think>X"),
    ):
        assert text[answer_text.skip_reasoning(text, 0) :] == rest
