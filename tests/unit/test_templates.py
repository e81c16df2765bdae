"""The shipped paraphrases, and the linter that keeps them whole."""

import pytest
from base_samples import SEED, base

from excam.construction import templates, wrapping
from excam.exceptions import ConfigInvalid


def test_shipped_templates_pass_the_linter_and_are_as_many_as_in_the_paper():
    assert templates.lint() == []
    for name in templates.SLOTS:
        lines = templates.paraphrases(*name.split("/"))
        expected = 1 if name == "generation/output" else 12 if name.startswith("hard/") else 50
        assert (name, len(lines)) == (name, expected)


def test_linter_names_what_is_wrong(monkeypatch):
    lines = ("The answer: {answer}", "Answer: {answer}", "Answer is {letter}", " {answer} and {answer}", "")
    monkeypatch.setattr(templates, "SLOTS", {"freeform/output": (frozenset({"answer"}), frozenset())})
    monkeypatch.setattr(templates, "paraphrases", lambda task, slot: lines)
    assert templates.lint() == [
        "freeform/output: 5 lines; expected 50",
        "freeform/output:2: the same words as line 1",
        "freeform/output:3: lacks {answer}",
        "freeform/output:3: unknown {letter}",
        "freeform/output:4: {answer} 2 times",
        "freeform/output:4: empty, or spaces at an end",
        "freeform/output:5: lacks {answer}",
        "freeform/output:5: empty, or spaces at an end",
    ]


def test_paraphrases_that_share_most_words_are_listed(monkeypatch):
    lines = (
        "Now name the one right answer: {answer}",
        "Name the one right answer now, please: {answer}",
        "So: {answer}",
    )
    monkeypatch.setattr(templates, "SLOTS", {"freeform/output": (frozenset({"answer"}), frozenset())})
    monkeypatch.setattr(templates, "paraphrases", lambda task, slot: lines)
    assert templates.alike() == [("freeform/output", 1, 2, 1.0)]


def test_answer_is_the_last_value_of_an_output_so_that_its_place_is_known():
    for name in templates.SLOTS:
        if name.endswith("/output"):
            lines = templates.paraphrases(*name.split("/"))
            assert all("{" not in line.partition("{answer}")[2] for line in lines)


def test_unknown_slot_and_template_are_named():
    with pytest.raises(ConfigInvalid, match="no such slot"):
        templates.paraphrases("..", "records")
    for name in ("qa/output/51", "qa/output/00", "qa/output/x", "07", ""):
        with pytest.raises(ConfigInvalid, match="no such template"):
            wrapping.render(base(), "tea", "options", (name,), SEED)
