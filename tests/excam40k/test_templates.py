"""The shipped paraphrases, and how they are filled."""

import re
from collections import Counter
from itertools import product

import pytest
from base_samples import SEED, base
from text_tables import table

from excam.core.exceptions import ConfigInvalid
from excam.excam40k.construction import templates, wrapping


def test_shipped_paraphrases_name_what_they_must_and_differ():
    """As many as in the paper, in English; two that differ in an article alone are the same."""
    for slot, code in product(templates.SLOTS, templates.languages()):
        required, optional = templates.SLOTS[slot]
        ids = templates.names(templates.in_language(slot, code))
        lines = [templates.paraphrase(name) for name in ids]
        fewer = 1 if slot == "generation/output" else 12
        assert len(lines) == (50 if code == "en" and slot not in templates.FEWER else fewer)
        for name, line in zip(ids, lines, strict=True):
            used = Counter(re.findall(r"\{(\w*)\}", line))
            assert required <= used.keys() <= required | optional, name
            assert set(used.values()) <= {1}, name
            assert line == line.strip() != "", name
            assert re.fullmatch(r"((Table|Figure) \d+)?", templates.printed_in_paper(name)), name
        words = [re.findall(r"\w+", re.sub(r"\{\w*\}", " ", line).casefold()) for line in lines]
        assert len({tuple(sorted({*own} - {"a", "an", "the", "please"})) for own in words}) == len(lines)


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
