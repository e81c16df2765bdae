"""The shipped paraphrases, and the linter that checks them."""

from collections import Counter

import pytest
from base_samples import SEED, base
from text_tables import table

from excam.core.exceptions import ConfigInvalid
from excam.excam40k.construction import templates, wrapping


def test_shipped_templates_pass_the_linter_and_are_as_many_as_in_the_paper():
    assert templates.lint() == []
    for name in templates.SLOTS:
        lines = templates.paraphrases(name)
        expected = 1 if name == "generation/output" else 12 if name.startswith("hard/") else 50
        assert (name, len(lines)) == (name, expected)


def test_what_the_paper_prints_is_marked():
    """Tables 1, 8, 9 and 10 and Figure 7: every frame of an instruction or an output, once."""
    printed = [name for slot in templates.SLOTS for name in templates.names(slot) if templates.printed_in_paper(name)]
    count = Counter(name.rpartition("/")[0] for name in printed)
    assert count == {
        "qa/instruction": 3, "qa/options": 4, "qa/output": 4, "freeform/instruction": 4, "freeform/output": 4,
        "generation/instruction": 1, "impersonation/role": 2, "impersonation/context": 1, "impersonation/instruction": 1,
        "impersonation/output": 3,
    }  # fmt: skip
    assert templates.printed_in_paper("qa/output/01") == "Table 8"
    assert templates.paraphrase("qa/output/01") == "Select option {letter}, which is {answer}"


@pytest.mark.parametrize(
    ("template", "value", "filled"),
    table(__file__, "a_value_with_its_own_mark_gets_no_second_one"),
)
def test_a_value_with_its_own_mark_gets_no_second_one(template, value, filled):
    assert templates.fill(template, {"v": value}) == filled


def test_the_linter_names_each_problem(monkeypatch):
    monkeypatch.setattr(templates, "languages", lambda: {"en": None})
    lines = ("The answer: {answer}", "Answer: {answer}\tTab", "Answer is {letter}", " {answer} and {answer}", "")
    monkeypatch.setattr(templates, "SLOTS", {"freeform/output": (frozenset({"answer"}), frozenset())})
    monkeypatch.setattr(templates, "_lines", lambda slot: lines)
    assert templates.lint() == [
        "freeform/output: 5 lines; expected 50",
        "freeform/output:2: 'Tab' behind the tab; expected a table or figure of the paper",
        "freeform/output:2: the same words as line 1", "freeform/output:3: lacks {answer}",
        "freeform/output:3: unknown {letter}", "freeform/output:4: {answer} 2 times",
        "freeform/output:4: empty, or spaces at an end", "freeform/output:5: lacks {answer}",
        "freeform/output:5: empty, or spaces at an end",
    ]  # fmt: skip


def test_answer_is_the_last_value_of_an_output_so_that_its_place_is_known():
    for name in templates.SLOTS:
        if name.endswith("/output"):
            lines = templates.paraphrases(name)
            assert all("{" not in line.partition("{answer}")[2] for line in lines)


def test_unknown_slot_and_template_are_named():
    with pytest.raises(ConfigInvalid, match="no such slot"):
        templates.paraphrases("../records")
    for name in (
        "qa/output/00", "qa/output/51", "qa/output/x", "qa/output/-1", "output/01", "a/qa/output/01", "07", "",
    ):  # fmt: skip
        with pytest.raises(ConfigInvalid, match="no such template"):
            wrapping.render(base(), "tea", "options", (name,), SEED)


def test_an_id_is_that_of_a_line():
    lines = templates.paraphrases("qa/output")
    assert templates.names("qa/output")[:2] == ["qa/output/01", "qa/output/02"]
    assert [templates.paraphrase(f"qa/output/{number}") for number in ("01", "2", "50")] == [*lines[:2], lines[49]]
