"""Complete pairs of every form that the paper prints, from a row of mini/ to the report that models are trained on.

`expected/` holds them literally, so a changed rule is a visible diff (`python tests/golden/regenerate.py`). The other
tests of this file say what must hold in them whatever the wording: a slip cannot be regenerated away.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from difflib import unified_diff
from itertools import pairwise
from string import ascii_uppercase
from typing import Any

import pytest
from golden_pairs import CHINESE, EXAMPLES, EXPECTED, NAMES, Generated, content, pairs_of

from excam.error_reports.judges import report
from excam.error_reports.records import CulturalError, Report, Sample, sample_from_row
from excam.excam40k import datasets
from excam.excam40k.construction import soft

HELD = {name: json.loads((EXPECTED / f"{name}.json").read_text(encoding="utf-8")) for name in EXAMPLES}
FORMS = {  # what the paper's examples look like in Tables 8, 9 and 10
    "normad": ["impersonation", "impersonation"],
    "culturalbench": ["qa", "freeform"],
    "include": ["qa", "freeform"],
    "globalopinionqa": ["impersonation"],
    "nativqa": ["freeform", "freeform"],
    "blend": ["qa", "freeform"],
    "mango": ["generation", "generation"],
    "epic": ["impersonation"],
    "calmqa": ["freeform", "freeform"],
}

Row = dict[str, Any]


def pairs(*, task: str = "", errors: str = "") -> Iterator[tuple[Row, Row, Row]]:
    """Base sample, right row, wrong row of the golden pairs of a task, or with errors of a kind."""
    for name, example in EXAMPLES.items():
        for pair in HELD[name]["pairs"]:
            if pair["right"]["task"] == (task or pair["right"]["task"]) and errors in (
                "",
                datasets.load(example.dataset).ERRORS,
            ):
                yield HELD[name]["base"], pair["right"], pair["wrong"]


@pytest.mark.parametrize("name", NAMES)
def test_every_pair_is_the_one_that_was_agreed_on(name):
    held, made = (EXPECTED / f"{name}.json").read_text(encoding="utf-8"), content(name)
    changed = "\n".join(unified_diff(held.splitlines(), made.splitlines(), "agreed on", "made", n=0, lineterm=""))
    assert not changed, f"if a rule should change: python tests/golden/regenerate.py, then read the diff\n{changed}"


def test_there_is_an_example_of_every_benchmark_and_no_file_too_many():
    assert {path.stem for path in EXPECTED.glob("*")} == set(NAMES)
    assert {example.dataset for example in EXAMPLES.values()} == set(datasets.available())
    soft = {name for name in datasets.available() if datasets.load(name).ERRORS == "soft"}
    assert {example.dataset for example in EXAMPLES.values() if example.generated} == soft
    for name, example in ((name, example) for name, example in EXAMPLES.items() if example.dataset in FORMS):
        assert [pair["right"]["task"] for pair in HELD[name]["pairs"]] == FORMS[example.dataset]


def test_multiple_choice_quotes_the_question_and_letters_the_options():
    for base, right, wrong in pairs(task="qa"):
        shown = re.fullmatch(r"([^']*)'(.+)'([^']*?)((?: Option [A-Z]: .+?)+)", right["instruction"])
        assert shown[2] == base["question"]
        options = re.split(r";? Option [A-Z]: ", shown[4])[1:]
        assert sorted(options) == sorted(base["options"])
        assert shown[4].replace(";", "") == "".join(
            f" Option {a}: {b}" for a, b in zip(ascii_uppercase, options, strict=False)
        )
        for row, answer in ((right, base["answer"]), (wrong, wrong["report"]["errors"][0]["span"])):
            letter = ascii_uppercase[options.index(answer)]
            lead = row["output"].removesuffix(answer)
            assert re.search(rf"\b{letter}\b", lead), "the letter leads in the answer"
            assert not re.search(rf"\b[B-Z]\b(?<!{letter})", lead)


def test_the_freeform_twin_of_multiple_choice_has_no_options_and_the_same_mistake():
    for (base, _, with_options), (_, right, wrong) in pairwise(pairs(errors="hard")):
        if right["task"] != "freeform":
            continue
        assert with_options["base"] == right["base"]
        assert not re.search(r"\bOption|\b[B-Z]\b:", right["instruction"])
        assert not any(option in right["instruction"] + right["output"] for option in base["wrong"])
        assert right["output"].endswith(f": {base['answer']}")
        assert wrong["report"]["errors"][0]["span"] == with_options["report"]["errors"][0]["span"]


def test_freeform_quotes_the_question_and_leads_in_the_answer():
    for base, right, _ in pairs(task="freeform"):
        assert right["instruction"].count(f"'{base['question']}'") == 1
        assert re.fullmatch(r"[^:]+: ", right["output"].removesuffix(base["answer"]))


def test_a_role_ends_in_a_full_stop_and_context_and_task_are_quoted_after_it():
    for base, right, _ in pairs(task="impersonation"):
        said = [re.escape(base[name]) for name in ("role", "context", "question")]
        assert re.fullmatch(r"[^:]+: {}\.? [^:']+: '{}' [^:']+: '{}'".format(*said), right["instruction"])
        assert re.fullmatch(r"[^:]+: ", right["output"].removesuffix(base["answer"]))


def test_a_topic_is_quoted_and_its_assertion_stands_alone():
    for base, right, _ in pairs(task="generation"):
        assert f"'{base['question']}'" in right["instruction"]
        assert right["output"] == base["answer"]


def test_roles_and_tasks_are_worded_as_the_paper_words_them():
    assert HELD["normad"]["base"]["role"] == "Nation: Japan"
    assert HELD["normad"]["base"]["answer"].startswith("Yes, explanation: Lina took off her shoes")
    assert HELD["globalopinionqa"]["base"]["role"] == "Location (country): United States"
    assert HELD["globalopinionqa"]["base"]["context"] == "You are acting as a person from this country."
    assert HELD["epic"]["base"]["role"] == "Age= 34; Sex=Female; Ethn.=White; Nat.=United Kingdom; Lang.=English."
    assert HELD["epic"]["base"]["question"].startswith("Indicate whether this text is ironic or non-ironic: Wonderful.")
    assert (HELD["epic"]["base"]["answer"], *HELD["epic"]["base"]["wrong"]) == (
        "The text is ironic.",
        "The text is not ironic.",
    )
    assert HELD["mango"]["base"]["question"] == "tea ceremony in Japanese culture"


def test_a_right_row_has_an_empty_report():
    for _, right, _ in pairs():
        assert (right["report"], right["score"], right["origin"]) == ({"errors": [], "explanation": ""}, 0, "source")
        assert right["report as written"] == '{"errors": [], "explanation": ""}'


def test_a_hard_error_is_the_wrong_answer_one_major_error_that_names_the_right_one():
    for base, right, wrong in pairs(errors="hard"):
        (error,) = wrong["report"]["errors"]
        assert (error["where"], error["severity"], wrong["score"], wrong["origin"]) == ("output", "major", -5, "hard")
        assert error["span"] in base["wrong"]
        assert error["end"] == len(wrong["output"].removesuffix(")"))
        assert wrong["instruction"] == right["instruction"]
        assert base["answer"] in wrong["report"]["explanation"]


def test_all_errors_of_a_soft_row_have_its_severity_type_and_explanation():
    for (name, example), index in ((item, index) for item in EXAMPLES.items() for index in (0, 1)):
        if example.generated is None:
            continue
        wrong, said = HELD[name]["pairs"][index]["wrong"], example.generated[index]
        severity, weight = (("minor", -1), ("major", -5))[index]
        errors = wrong["report"]["errors"]
        assert errors
        assert {(error["severity"], error["type"]) for error in errors} == {(severity, said.type)}
        assert wrong["score"] == weight * len(errors)
        assert (wrong["origin"], wrong["report"]["explanation"]) == (f"soft-{severity}", said.explanation)
        assert wrong["stated_severity"] == (said.severity.lower() or severity)


def test_every_edit_is_one_span_and_a_deletion_points_at_the_word_before_it():
    major = {name: HELD[name]["pairs"][1]["wrong"] for name, example in EXAMPLES.items() if example.generated}
    spans = {name: [(e["where"], e["span"]) for e in wrong["report"]["errors"]] for name, wrong in major.items()}
    assert spans["normad"] == [
        ("instruction", "tokonoma"),
        ("instruction", "host"),  # "usually" is gone
        ("output", "No"),
        ("output", "rude"),
    ]
    assert spans["mango"] == [("output", "whisks"), ("output", "after")]  # "powdered" is gone
    assert spans["calmqa"] == [("instruction", "funeral"), ("output", "All"), ("output", "an insult to")]
    assert spans["calmqa-chinese-strict"] == [("instruction", "端午"), ("output", "方方"), ("output", "分离")]
    clause = "中国人为什么在端午节吃月饼"  # NLTK: a clause is a word
    assert spans["calmqa-chinese-paper"][0] == ("instruction", clause)
    assert len(spans["calmqa-chinese-paper"]) == 2


def test_spans_are_where_they_are_said_to_be_and_the_report_can_be_read_back():
    for _, right, wrong in pairs():
        for row in (right, wrong):
            sample = sampled(row)
            for error in sample.report.errors:
                assert getattr(sample, error.where)[error.start : error.end] == error.span
            read = report.read(row["report as written"])
            assert isinstance(read, Report)
            assert report.locate(read, sample.instruction, sample.output) == sample.report


def sampled(row: Row) -> Sample:
    flat = row | {"errors": json.dumps(row["report"]["errors"]), "explanation": row["report"]["explanation"]}
    return sample_from_row(flat)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"cultural": "No"}, "not-cultural"),
        ({"cultural": "No.", "severity": "minor"}, "not-cultural"),
        ({"output": ()}, "no-change"),
    ],
)
def test_what_is_no_cultural_error_is_dropped(changed, reason):
    right = pairs_of(EXAMPLES["calmqa-chinese-strict"])[0][0]
    made = soft.soft_error(right, "minor", replace(CHINESE[0], **changed).answer(right, "minor"), "strict")
    assert isinstance(made, soft.Dropped)
    assert made.reason == reason


def test_a_minor_error_the_size_of_a_major_one_scores_as_minor():
    right = pairs_of(EXAMPLES["mango"])[0][0]
    generated = Generated("stereotyping", "Not so.", output=[("the host", "every host"), ("each guest", "no guest")])
    made = soft.soft_error(right, "minor", generated.answer(right, "minor"), "strict")
    assert isinstance(made, Sample)
    assert made.score == -2
    assert made.report.errors[0] == CulturalError("output", "every", "minor", "stereotyping", 28, 33)
