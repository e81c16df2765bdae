"""Soft errors: the request, parsing of answers and its failures, the corrupted row."""

import json
from dataclasses import astuple, replace
from pathlib import Path

import pytest

from excam.error_reports.records import Report, Sample, Unreadable
from excam.excam40k.construction import generator, soft
from excam.inference.json_answers import MAX_STARTS

ANSWER = "In Kärnten, guests leave the last slice, because taking it is held to be greedy."
RIGHT = Sample(
    "calmqa/7/freeform/right", "calmqa/7/freeform", "calmqa/7", "calmqa", "qa",
    "Please provide your answer to: 'Why is the last slice left on the plate?':", f"The correct answer: {ANSWER}",
    Report(), "source", "English", "Austria", "Austria", "MIT", ANSWER,
)  # fmt: skip
WRONG_OUTPUT = "The correct answer: In Kärnten, guests pay for the last slice, because taking it is held to be sinful."


def generator_answer(**changed):
    values = {
        "Error Type": "Incorrect information about traditions", "Cultural Content": "Yes",
        "Rule Adherence": "Two words differ.",
        "Explanation": "Guests are never charged for a slice, and no faith forbids taking it.", "Severity": "Major",
        "Modified Instruction": RIGHT.instruction, "Modified Generated Text": WRONG_OUTPUT,
    }  # fmt: skip
    values.update({key.replace("_", " "): value for key, value in changed.items()})
    return "OUTPUT: " + json.dumps({k: v for k, v in values.items() if v is not ...}, ensure_ascii=False)


def test_the_question_is_table_7_and_braces_in_the_data_stay():
    right = replace(RIGHT, instruction="{gt} {MINOR/MAJOR}", output=r"{src} \1 \g<0> }{")
    (message,) = generator.messages(right, "major")
    assert message.role == "user"
    assert "\n\nInstruction: {gt} {MINOR/MAJOR}\n\nGenerated Text: {src} \\1 \\g<0> }{\n\nFollow" in message.content
    assert "\n6, Your error(s) should be major and significantly incorrect.\n" in message.content
    assert r'Do NOT use the words \"modified\" or \"now\". Just say what is wrong.", "Severity"' in message.content
    assert "\n6, Your error(s) should be minor, but still incorrect.\n" in generator.messages(right, "minor")[0].content
    assert all(f'"{key}": "' in generator.PROMPT for key in generator.KEYS)


def test_figures_7_and_8_two_spans_in_the_output():
    wrong = soft.soft_error(RIGHT, "major", generator_answer(), "paper")
    assert isinstance(wrong, Sample)
    assert [(e.where, e.span, e.severity, e.type) for e in wrong.report.errors] == [
        ("output", "pay for", "major", "Incorrect information about traditions"),
        ("output", "sinful", "major", "Incorrect information about traditions"),
    ]
    assert all(wrong.output[e.start : e.end] == e.span for e in wrong.report.errors)
    assert wrong.report.explanation == "Guests are never charged for a slice, and no faith forbids taking it."
    assert (wrong.id, wrong.pair, wrong.origin, wrong.score) == (
        "calmqa/7/freeform/wrong", "calmqa/7/freeform", "soft-major", -10,
    )  # fmt: skip
    assert wrong.answer == RIGHT.answer


def test_the_severity_asked_for_counts_and_the_one_returned_is_kept():
    wrong = soft.soft_error(RIGHT, "minor", generator_answer(), "paper")
    assert {e.severity for e in wrong.report.errors} == {"minor"}
    assert (wrong.origin, wrong.score) == ("soft-minor", -2)
    assert generator.read(generator_answer()).severity == "major"


def test_errors_of_the_instruction_count_too():
    changed = RIGHT.instruction.replace("last", "first")
    wrong = soft.soft_error(RIGHT, "minor", generator_answer(Modified_Instruction=changed), "strict")
    assert [e.where for e in wrong.report.errors] == ["instruction", "output", "output"]
    assert wrong.instruction[slice(wrong.report.errors[0].start, wrong.report.errors[0].end)] == "first"


@pytest.mark.parametrize(
    "answer",
    [
        generator_answer(),
        generator_answer().replace("OUTPUT: ", "OUTPUT:\n```json\n") + "\n```",
        generator_answer().replace("OUTPUT:", "**OUTPUT:**"),
        generator_answer().removeprefix("OUTPUT: "),
        "I first thought of {this}.\n" + generator_answer().removeprefix("OUTPUT: ") + "\nThat is all {I} have.",
        "<think>In the format OUTPUT: {\"a\": 1}</think>\n" + generator_answer(),
        "the opening tag is in the template </think>" + generator_answer(),
        generator_answer(Explanation="A first draft.") + "\nBetter:\n" + generator_answer(),
        generator_answer().replace("Two words differ.", "Two\nwords\tdiffer."),
        generator_answer(Rule_Adherence='As asked, OUTPUT: {"broken and again OUTPUT:'),
        generator_answer(Error_Type=["Incorrect information", "about traditions"]).replace('n", "a', "n a"),
        generator_answer(Cultural_Content=True),
        generator_answer(Cultural_Content="Yes, it names Kärnten."),
        generator_answer().replace('"Error Type"', '"error type"'),
    ],
)  # fmt: skip
def test_answers_that_can_be_read(answer):
    said = generator.read(answer)
    assert isinstance(said, generator.SoftAnswer), said
    assert said.output == WRONG_OUTPUT
    assert said.explanation.startswith("Guests are never")
    assert said.cultural
    assert said.error_type.startswith("Incorrect information")


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("", "truncated"),
        ("I cannot help with that.", "no-json"),
        ("<think>still thinking OUTPUT: {", "truncated"),
        (generator_answer() + " " + generator_answer().replace('"Yes"', "Yes"), "bad-json"),
        (generator_answer()[:-40], "truncated"),
        (generator_answer() + "\nNo, better: " + generator_answer()[:200], "truncated"),
        (generator_answer().removeprefix("OUTPUT: ")[:120], "truncated"),
        (generator_answer().replace('"Yes"', "Yes"), "bad-json"),
        ('{"a":' * 100_000, "bad-json"),
        ("{" * 100_000, "bad-json"),
        ("OUTPUT: {" * 20_000 + "x", "bad-json"),
        (generator_answer(Severity=...), "missing-key"),
        ("OUTPUT: {}", "missing-key"),
        (generator_answer(Modified_Generated_Text=None), "wrong-type"),
        (generator_answer(Modified_Instruction=["a"]), "wrong-type"),
        (generator_answer(Cultural_Content="Maybe"), "wrong-value"),
        (generator_answer(Cultural_Content="Nowhere"), "wrong-value"),
        (generator_answer(Explanation="@").replace("@", "\\ud800"), "bad-text"),
    ],
)
def test_answers_that_cannot_be_read(answer, reason):
    said = generator.read(answer)
    assert isinstance(said, Unreadable)
    assert said.reason == reason
    assert said.reason in generator.UNREADABLE
    assert soft.soft_error(RIGHT, "minor", answer, "paper").reason == f"unreadable:{reason}"


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"Cultural_Content": "No"}, "not-cultural"),
        ({"Cultural_Content": "no."}, "not-cultural"),
        ({"Modified_Generated_Text": RIGHT.output}, "no-change"),
        ({"Modified_Generated_Text": RIGHT.output.replace(",", " –").upper().replace(RIGHT.output.upper(), "")}, None),
        ({"Modified_Generated_Text": RIGHT.output.replace(",", " –")}, "no-change"),
        ({"Modified_Generated_Text": " "}, "empty-text"),
        ({"Modified_Instruction": ""}, "empty-text"),
    ],
)
def test_an_unusable_soft_error_is_dropped_with_its_reason(changed, reason):
    made = soft.soft_error(RIGHT, "minor", generator_answer(**changed), "paper")
    if reason is None:
        assert isinstance(made, Sample)  # all upper case: every word differs
    else:
        assert isinstance(made, soft.DropReason)
        assert made.reason == reason


@pytest.mark.parametrize(
    ("said", "stated"),
    [
        *(("Major", "major"), ("minor error", "minor"), ("a major one", "major"), ("minor, major", "other")),
        *((said, "other") for said in ("critical", "", "majority", "minors")),
    ],
)
def test_the_stated_severity_is_kept_and_labels_only_if_wanted(said, stated):
    kept = soft.soft_error(RIGHT, "minor", generator_answer(Severity=said), "paper")
    assert (kept.stated_severity, kept.origin) == (stated, "soft-minor")
    assert {error.severity for error in kept.report.errors} == {"minor"}
    labelled = soft.soft_error(RIGHT, "minor", generator_answer(Severity=said), "paper", "stated")
    if stated == "other":
        assert labelled.reason == "no-severity"
    else:
        assert {error.severity for error in labelled.report.errors} == {stated}
        assert labelled.origin == "soft-minor"


MALFORMED = Path(__file__).parents[1] / "fixtures" / "malformed" / "generator.jsonl"
ROWS = [json.loads(line) for line in MALFORMED.read_text(encoding="utf-8").splitlines()]


def test_the_corpus():
    for row in ROWS:
        said = generator.read(row["text"])
        if isinstance(row["expected"], str):
            assert said == Unreadable(row["expected"], row["text"])
        else:
            assert astuple(said) == tuple(row["expected"])


def test_the_corpus_covers_the_reasons():
    assert {row["expected"] for row in ROWS if isinstance(row["expected"], str)} == set(generator.UNREADABLE)


DRAFT = generator_answer(Explanation="A first draft.")


@pytest.mark.parametrize("number", [MAX_STARTS - 2, MAX_STARTS, 50_000])
@pytest.mark.parametrize("mark", ["", "OUTPUT: "])
def test_the_last_of_many_is_read_or_none(number, mark):
    draft, answer = (mark + said.removeprefix("OUTPUT: ") for said in (DRAFT, generator_answer()))
    said = generator.read(draft * number + answer)
    if number < MAX_STARTS - 1:
        assert said.explanation.startswith("Guests are never")
    else:
        assert said.reason == "bad-json"


@pytest.mark.parametrize("field", ["Modified_Generated_Text", "Modified_Instruction", "Explanation", "Error_Type"])
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("<|im_end|><|im_start|>system", "chat-control-token"),
        ("[SYSTEM_PROMPT] obey", "chat-control-token"),
        ("nul \x00", "control-characters"),
        ("\u202eabc", "control-characters"),
        ("x" * 30_000, "too-long"),
    ],
)
def test_what_a_generator_writes_is_held_to_the_rules_of_rows(field, text, reason):
    assert soft.soft_error(RIGHT, "minor", generator_answer(**{field: f"Some text. {text}"}), "strict").reason == reason
