"""Macaron from templates to instances: templates, scenarios, official files, derivation, prompts, answers, proofreading."""

import csv
import json
import re
import shutil
from collections import Counter, defaultdict
from dataclasses import replace
from functools import partial
from pathlib import Path

import polars as pl
import pytest
import yaml
from excam_commands import refusal, succeed
from exported_answers import answer_to, export
from json_lines import write_rows
from mini_macaron import BUILT, CONTEXTS, INSTANCES, MINI, TEMPLATES
from one_line_errors import line_of

from excam.annotation import answers
from excam.annotation import campaign as campaigns
from excam.core import tables
from excam.core.exceptions import InputInvalid, SourceInvalid, expect_choice
from excam.inference import Choice, Choose, Completion, Generate, prompts
from excam.inference.run import run
from excam.macaron import answers as macaron_answers
from excam.macaron import asks, campaign, contexts, derive, official, proofread, scenarios, source, templates

ROOT = Path(__file__).parents[2]
SEED = ROOT.parent / "shared/seeds/002_a05d4a022ff8bfdd.txt"


# --- templates


def test_our_templates_cover_every_tag_and_six_count():
    assert templates.problems(TEMPLATES) == []
    assert len(TEMPLATES) == 24
    assert min(templates.coverage(TEMPLATES).values()) >= 1
    assert sum("how many" in template.question.lower() for template in TEMPLATES) == 6


def dish(kind="food", **constraints):
    return {"slots": {"COUNTRY": {"kind": "country"}, "DISH": {"kind": kind, **constraints}}}


def good():
    row = yaml.safe_load((MINI / "templates.yaml").read_text(encoding="utf-8"))[0]
    return json.loads(json.dumps(row))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"question": "What is it in [COUNTRY]?"}, "slots: DISH is not in the question"),
        ({"question": "[DISH] in [COUNTRY] and [PLACE]?"}, "question: [PLACE] is not declared"),
        ({"question": "What is it?", "slots": {}}, "question: no slot"),
        ({"options": ["[a]", "[b]", "[c]"]}, "options: found 3; expected 4"),
        ({"reasoning": []}, "reasoning: none"),
        ({"reasoning": ["guessing"]}, "reasoning: found guessing; expected one of mathematical"),
        ({"aspects": ["Time", "Time"]}, "aspects: a tag is there twice"),
        ({"true": "[DISH] in [COUNTRY] is good."}, "true: no [OPTION A]"),
        ({"false": "[DISH] has [OPTION A]."}, "false: no [OPTION B]"),
        ({"false": "[SOUP] has [OPTION B]."}, "false: [SOUP] is neither a slot of the question nor [OPTION B]"),
        ({"false": "It is [OPTION B]."}, "true and false: expected one text that differs"),
        ({"example": {"question": "q", "options": ["a", "a", "b", "c"]}}, "example: expected four different options"),
        ({"example": {"question": "[X]", "options": list("abcd")}}, "no [BRACKETS] left"),
        ({"example": {"question": "q"}}, "example: expected a `question` and a list `options`"),
        ({"example": {"question": "q", "options": list("abcda")}}, "example: expected four different options"),
        ({"slots": {"COUNTRY": {"kind": "country"}, "DISH": {"kind": "soup"}}}, "slots: DISH: found kind soup"),
        ({"slots": {"COUNTRY": {"kind": "country"}, "dish": {"kind": "food"}}}, "slots: found dish; expected capitals"),
        (dish(low=1), "slots: DISH: found low or high; expected both, without `values`, of the kind number"),
        (dish(kind="number", low=1, high=3, values=["1"]), "slots: DISH: found low or high"),
        (dish(kind="number", low=3, high=1), "slots: DISH: found 3 to 1; expected low to high"),
        (dish(kind="number", low=1, high=1001), "slots: DISH: found 1 to 1001; expected low to high, at most 1000"),
        (dish(values=["[rice]"]), "slots: DISH: values: expected texts without brackets"),
        (dish(values=["rice", "rice"]), "slots: DISH: values: one is there twice"),
    ],
)
def test_a_breach_is_one_line(tmp_path, change, problem):
    (tmp_path / "t.yaml").write_text(yaml.safe_dump([good() | change]))
    problems = templates.problems(templates.read(tmp_path / "t.yaml"))
    assert any(problem in line for line in problems), problems
    assert all("\n" not in line for line in problems)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "found NoneType; expected a list of templates"),
        ("- [", "not readable as YAML"),
        ("- 3", "template 1: expected a dictionary"),
        ("- {id: 1}", "template 1: question: field required"),
        ("- {id: x, question: q, slots: {}, options: [], reasoning: [], aspects: [], 'true': t, 'false': f}", "id: expected a valid integer; found 'x'"),
        ("- {id: 1, question: q, slots: {A: 3}, options: [], reasoning: [], aspects: [], 'true': t, 'false': f}", "slots: A: "),
        ("- {id: 1, retired: 'no', question: q, slots: {}, options: [], reasoning: [], aspects: [], 'true': t, 'false': f}", "retired: expected a valid boolean"),
        ("- {id: 1, question: q, slots: {A: {kind: place, values: x}}, options: [], reasoning: [], aspects: [], 'true': t, 'false': f}", "slots: A: values: expected a valid tuple"),
        ("- {id: 1, question: q, slots: {A: {kind: number, low: '1'}}, options: [], reasoning: [], aspects: [], 'true': t, 'false': f}", "slots: A: low: expected a valid integer"),
        ("- {id: 2026-99-99}", "not readable as YAML"),
        ("- {id: 1, question: q, slots: {}, options: 4, reasoning: [], aspects: [], 'true': t, 'false': f}", "options: expected a valid tuple; found 4"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_list_of_templates(tmp_path, text, problem):
    (tmp_path / "t.yaml").write_text(text)
    assert problem in line_of(InputInvalid, templates.read, tmp_path / "t.yaml")


def test_two_templates_of_one_id_are_named():
    assert templates.problems([TEMPLATES[0], TEMPLATES[0]]) == ["template 1: the id is there twice"]


def test_the_children_of_a_filled_template():
    """As in the worked example of the paper's Figures 8 to 10, with a template of ours: Shawarma is not from Indonesia."""
    text = "For [PERSON], who grew up there, [OPTION {}] is an unknown dish."
    own = replace(TEMPLATES[0], true=text.format("A"), false=text.format("B"))
    options = ("Shawarma", "Kerak Telor", "Ketoprak", "Soto Betawi")
    assert templates.children(own, {"PERSON": "Agnez Mo"}, options) == (
        "For Agnez Mo, who grew up there, Shawarma is an unknown dish.",
        "For Agnez Mo, who grew up there, Kerak Telor is an unknown dish.",
    )


# --- campaigns


@pytest.mark.parametrize(("each", "times", "sizes"), [(2, 1, (11, 12)), (2, 2, (23, 23)), (3, 2, (15, 15, 16))])
def test_a_context_fills_each_template_so_many_times(each, times, sizes):
    retired = [replace(TEMPLATES[0], retired=True), *TEMPLATES[1:]]
    drawn = campaign.authoring(retired, CONTEXTS, each, times, seed=3)
    for context in CONTEXTS:
        own = [[task for task in drawn.tasks if task.assigned == (f"{context.country}-{n + 1}",)] for n in range(each)]
        assert sorted(map(len, own)) == list(sizes)
        for tasks in own:
            assert {task.shown["place"] for task in tasks} == {f"{n + 1} of {len(tasks)}" for n in range(len(tasks))}
        counted = Counter(task.hidden["template"] for tasks in own for task in tasks)
        assert counted == {str(template.id): times for template in retired[1:]}
    orders = [[task.hidden["template"] for task in drawn.tasks_of(name)] for name in ("Japan-1", "Mexico-1")]
    assert orders[0] != orders[1]
    assert drawn == campaign.authoring(retired, CONTEXTS, each, times, seed=3)
    assert drawn != campaign.authoring(retired, CONTEXTS, each, times, seed=4)


def filled_in(task, **changes):
    """Values of an author's answer that can be submitted."""
    gaps = {name: task.shown["allowed"].get(name, name.lower()).split("\n")[-1] for name in task.shown["gaps"]}
    options = {name: f"{name} {number}" for number, name in enumerate(task.shown["option_gaps"])}
    texts = {name: f"a {name}" for name in ("question_local", "true_local", "false_local", "why", "source")}
    return {"slots": gaps, "options": options, "options_local": options, **texts, "checked": True, **changes}


def test_a_gap_takes_the_values_of_its_template_alone():
    """The form refuses what `build` would leave out."""
    drawn = campaign.authoring(TEMPLATES, CONTEXTS, each=1, times=1, seed=3)
    (task,) = (author_task for author_task in drawn.tasks_of("Turkey-1") if author_task.hidden["template"] == "20")
    assert (task.shown["gaps"]["AGE"], task.shown["allowed"]["AGE"].split("\n")) == (
        "number: in the middle of a school; 4 to 20",
        [str(age) for age in range(4, 21)],
    )
    for age, refused in (("20", False), ("21", True), ("x", True)):
        slots = {"COUNTRY": "Turkey", "AGE": age}
        points = answers.open_points(drawn.form, task, {**drawn.form.empty(), **filled_in(task, slots=slots)})
        assert points == ["A gap holds what it may not: choose one of the values beside it."] * refused
        row = submission(template=20, country="Turkey", language="Turkish", slots=slots)
        assert build(row).reasons == ({"slot-not-allowed": 1} if refused else {})
    same = {**drawn.form.empty(), **filled_in(task, slots={"COUNTRY": "5", "AGE": "5"})}
    assert answers.open_points(drawn.form, task, same) == ["Two gaps are the same."]


def test_an_author_confirms_the_facts_and_says_where_they_stand(tmp_path):
    drawn = campaign.authoring(TEMPLATES, CONTEXTS, each=1, times=1, seed=3)
    (task,) = (author_task for author_task in drawn.tasks_of("Japan-1") if author_task.hidden["template"] == "1")
    values = {**drawn.form.empty(), **filled_in(task, source=" ", checked=False)}
    said = ["Say where you checked it.", "Confirm that you looked up the facts."]
    assert answers.open_points(drawn.form, task, values) == said
    good_answer = answer_to(drawn, task, "Japan-1", filled_in(task, source="A dictionary, page 3", submitted=True))
    (row,) = campaign.submissions([export(tmp_path / "a.json", drawn, [good_answer])], drawn)
    (built,) = scenarios.build(TEMPLATES, CONTEXTS, [row]).scenarios
    assert built.source == "A dictionary, page 3"
    assert campaign.reviewing([built], None, 0)[0].tasks[0].shown["source"] == built.source


def test_only_what_is_submitted_is_collected(tmp_path):
    drawn = campaign.authoring(TEMPLATES, CONTEXTS, each=1, times=1, seed=3)
    first, second = drawn.tasks_of("Japan-1")[:2]
    no_feast = {"not_applicable": True, "why": "No such feast.", "submitted": True}
    said = [answer_to(drawn, task, "Japan-1", why) for task, why in ((first, no_feast), (second, {"why": "not yet"}))]
    path = export(tmp_path / "a.json", drawn, said)
    (row,) = campaign.submissions([path], drawn)
    assert (row["status"], row["why"], row["author"]) == ("not-applicable", "No such feast.", "Japan-1")
    built = scenarios.build(TEMPLATES, CONTEXTS, [row])
    assert built.reasons == {"not-applicable": 1}


def test_a_review_is_of_one_person(tmp_path):
    review, _ = campaign.reviewing(BUILT.scenarios[:2], None, 0)
    task, other = review.tasks
    decisions = ((task, {"decision": "approve"}), (other, {"decision": "remove", "reason": "two are right"}))
    said = [answer_to(review, about, "li", decided | {"submitted": True}) for about, decided in decisions]
    path = export(tmp_path / "a.json", review, said)
    assert list(campaign.reviews([path], review)) == [
        {"scenario": task.row, "decision": "approve", "reason": "", "reviewer": "li"},
        {"scenario": other.row, "decision": "remove", "reason": "two are right", "reviewer": "li"},
    ]
    line = line_of(InputInvalid, list, campaign.reviews([path, path], review))
    assert "reviewed by li and li; expected one review" in line
    line = line_of(InputInvalid, list, campaign.submissions([path], review))
    assert "of the form macaron_review; expected macaron_author" in line


def test_a_sample_of_each_country_is_reviewed(tmp_path):
    source.write(BUILT, tmp_path / "s.parquet", tmp_path / "d.csv")
    done = succeed("macaron", "review", tmp_path / "s.parquet", "--most", 7, "--to", tmp_path / "r.json")
    drawn = campaigns.read(tmp_path / "r.json")
    sizes = Counter(scenario.country for scenario in BUILT.scenarios)
    assert Counter(task.culture for task in drawn.tasks) == {name: min(size, 7) for name, size in sizes.items()}
    lines = tables.read_lines(tmp_path / "r.left-out.csv")
    assert {line["row"] for line in lines} | {task.row for task in drawn.tasks} == {s.id for s in BUILT.scenarios}
    assert done.stderr.endswith(f"{len(drawn.tasks)} scenarios to review; left out: not drawn {len(lines)}\n")


def test_authors_of_a_pilot_fill_again_what_reviewers_did_not_approve(tmp_path):
    """From the pilot to its second round, by the commands: all authors have the same templates."""
    places = ["--contexts", MINI / "contexts.csv", "--to"]
    succeed("macaron", "draw", MINI / "templates.yaml", "--pilot", 3, *places, tmp_path / "pilot.json")
    pilot = campaigns.read(tmp_path / "pilot.json")
    assert set(Counter(task.hidden["template"] for task in pilot.tasks).values()) == {len(CONTEXTS) * 2}
    said = [answer_to(pilot, task, "Japan-1", filled_in(task, submitted=True)) for task in pilot.tasks_of("Japan-1")]
    exported = export(tmp_path / "j.json", pilot, said)
    succeed("macaron", "collect", tmp_path / "pilot.json", exported, "--to", tmp_path / "j.jsonl")
    built = scenarios.build(TEMPLATES, CONTEXTS, scenarios.read_exports(tmp_path / "j.jsonl"))
    review, _ = campaign.reviewing(built.scenarios, None, 0)
    campaigns.write(tmp_path / "review.json", review)
    revision = {"decision": "revise", "new_question_local": "Q?", "reason": "Clumsy."}
    decided = ({"decision": "approve"}, revision, {"decision": "remove", "reason": "Two are right."})
    said = [answer_to(review, t, "li", {**d, "submitted": True}) for t, d in zip(review.tasks, decided, strict=True)]
    words = (tmp_path / "review.json", export(tmp_path / "li.json", review, said), "--to", tmp_path / "again.json")
    done = succeed("macaron", "feedback", tmp_path / "pilot.json", *words)
    assert "2 tasks to fill again; approved 1" in done.stderr
    revised, removed = campaigns.read(tmp_path / "again.json").tasks
    assert revised.shown["feedback"] == "revise\nClumsy.\nquestion, local: Q?"
    assert removed.shown["feedback"] == "remove\nTwo are right."
    assert revised.shown["written"].startswith(f"{review.tasks[1].shown['question_en']}\n")
    assert {revised.assigned, removed.assigned} == {("Japan-1",)}
    campaigns.write(tmp_path / "others.json", campaign.authoring(TEMPLATES[:1], CONTEXTS[1:], 1, 1, 0))
    assert "expected its review" in refusal("macaron", "feedback", tmp_path / "others.json", *words)
    export(tmp_path / "li.json", review, [answer_to(review, review.tasks[0], "li", {**decided[0], "submitted": True})])
    assert "1 reviews: all approve" in refusal("macaron", "feedback", tmp_path / "pilot.json", *words)


@pytest.mark.parametrize("text", ["", "country,language\na,b\n", "country,language,script\n", "country,language,script\na,b,\n", "country,language,script\na,b,c\na,d,e\n"])  # fmt: skip
def test_contexts_that_are_none(tmp_path, text):
    (tmp_path / "c.csv").write_text(text)
    assert "expected" in line_of(InputInvalid, contexts.read_contexts, tmp_path / "c.csv")


# --- scenarios


def submission(**changes):
    row = next(row for row in scenarios.read_exports(MINI / "exports/japan.jsonl") if row["template"] == 1)
    return row | changes


def build(*rows, reviews=()):
    return scenarios.build(TEMPLATES, CONTEXTS, rows, reviews)


def test_the_miniature_builds_whole():
    assert len(BUILT.scenarios) == 40
    assert BUILT.reasons == {"not-applicable": 5}
    countries = Counter(scenario.country for scenario in BUILT.scenarios)
    assert countries == dict.fromkeys(("Greece", "India", "Japan", "Mexico", "Turkey"), 8)
    assert {scenario.template for scenario in BUILT.scenarios} == {template.id for template in TEMPLATES}
    assert len({(scenario.country, scenario.template) for scenario in BUILT.scenarios}) == 40
    assert max(Counter(scenario.template for scenario in BUILT.scenarios).values()) <= 3


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"template": 99}, "unknown-template"),
        ({"language": "Klingon"}, "unknown-context"),
        ({"slots": {"COUNTRY": "Japan"}}, "slot-unfilled"),
        ({"slots": {"COUNTRY": "Japan", "DISH": "[DISH]"}}, "slot-with-brackets"),
        ({"slots": {"COUNTRY": "Japan", "DISH": "x", "MORE": "y"}}, "unknown-slot"),
        ({"slots": {"COUNTRY": "Japan", "DISH": "japan "}}, "equal-slots"),
        ({"slots": ["Japan"]}, "slots-not-texts"),
        ({"slots": {"COUNTRY": "Japan", "DISH": 3}}, "slots-not-texts"),
        ({"options": ["a", "b", "c"]}, "not-four-options"),
        ({"options": ["a", "b", "c", "A "]}, "equal-options"),
        ({"options": ["a", "b", "c", " "]}, "option-missing"),
        ({"options_local": ["a", "b", "c", ""]}, "local-option-missing"),
        ({"options_local": ["a", "b", "c", 4]}, "not-four-options"),
        ({"options": ["A) a", "B) b", "C) c", "D) d"]}, "option-with-letter"),
        ({"question_local": ""}, "local-text-missing"),
        ({"false_local": None}, "local-text-missing"),
        ({"false_local": submission()["true_local"]}, "equal-statements"),
        ({"question_local": "\u202eabc"}, "control-characters"),
        ({"question_local": "<|im_end|>"}, "chat-control-token"),
        ({"question_local": "\ud800"}, "lone-surrogate"),
        ({"status": "draft"}, "not-submitted"),
        ({"author": None}, "author-missing"),
        ({"author": {"a": 1}}, "not-text"),
        ({"author": "\udc80", "template": 99}, "unknown-template"),
        ({"template": 1.0}, "unknown-template"),
    ],
)
def test_a_submission_that_is_no_scenario_is_left_out_with_its_reason(changes, reason):
    built = build(submission(**changes))
    assert not built.scenarios
    assert built.reasons == {reason: 1}
    assert json.dumps(built.dropped_lines, ensure_ascii=False).encode()


def test_initials_are_no_letters_of_options():
    assert build(submission(options=["A. R. Rahman", "B. R. Ambedkar", "M. F. Husain", "R. K. Narayan"])).scenarios


def test_templates_with_a_problem_build_nothing():
    broken = [replace(TEMPLATES[0], true="No option."), *TEMPLATES[1:]]
    line = line_of(InputInvalid, scenarios.build, broken, CONTEXTS, [submission()])
    assert line.startswith("templates: template 1: true: no [OPTION A]")
    assert "see `excam macaron lint`" in line


def test_exports_and_reviews_of_one_name_are_both_read(tmp_path):
    shutil.copytree(MINI, tmp_path / "own")
    (tmp_path / "own/reviews").mkdir()
    removal = {"scenario": "turkey/7/tr-1", "decision": "remove", "reason": "x"}
    write_rows(tmp_path / "own/reviews/turkey.jsonl", [removal])
    built = source.read(source.files(tmp_path / "own"), {})
    assert len(built.scenarios) == 39
    assert built.reasons == {"not-applicable": 5, "removed-in-review": 1}


def test_texts_are_data_and_local_ones_stay_to_the_letter():
    text = "\u200f {question} [DISH] ですか。\u200f "
    slots = {"COUNTRY": "Japan", "DISH": "{question} {option1}"}
    (scenario,) = build(submission(question_local=text, slots=slots)).scenarios
    assert scenario.question_local == text
    assert "{question} {option1}" in scenario.question_en
    instance = derive.instances([scenario], 1)[0]
    assert "{question} {option1}" in asks.prompt(instance, thinking=False)


def test_the_last_submission_counts():
    first = submission(saved="2026-01-01T10:30:00+02:00", why="first")
    outcome = build(submission(saved="2026-01-01T09:00:00+00:00", why="last"), first)
    assert [scenario.why for scenario in outcome.scenarios] == ["last"]
    assert outcome.reasons == {"superseded": 1}
    for order in (("first", "last"), ("last", "first")):  # saved in the same second: the later row
        built = build(*(first | {"why": why} for why in order))
        assert [scenario.why for scenario in built.scenarios] == [order[1]]


def test_answers_written_to_what_is_asked_today_are_still_found():
    """Answer sheets name the digest: another one would make each of them outdated."""
    made = derive.instances([build(submission()).scenarios[0]], 1)[0]
    asked = replace(made, text="Which soup?", options=("a", "b", "c", "d"), gold="B")
    assert asked.digest == "400513a372fec841"


def test_reviews_approve_revise_and_remove():
    name = build(submission()).scenarios[0].id
    assert build(submission(), reviews=[{"scenario": name, "decision": "approve"}]).scenarios[0].status == "approved"
    change = {"scenario": name, "decision": "revise", "changes": {"question_local": "新しい問い"}}
    (revised,) = build(submission(), reviews=[change]).scenarios
    assert (revised.question_local, revised.status) == ("新しい問い", "revised")
    assert build(submission(), reviews=[{"scenario": name, "decision": "remove", "reason": "vague"}]).reasons == {"removed-in-review": 1}  # fmt: skip
    bad = {"scenario": name, "decision": "revise", "changes": {"options_local": ["a"]}}
    assert build(submission(), reviews=[bad]).reasons == {"not-four-options": 1}
    approval = {"scenario": name, "decision": "approve"}
    line = line_of(InputInvalid, build, submission(), reviews=[approval] * 2)
    assert "found 2; expected one; keep the one that counts" in line
    texts = [{"question_en": value} for value in (5, None, ["a"])]
    options = [{"options_en": value} for value in ("abcd", [1, 2, 3, 4])]
    wrong = [change | {"changes": changes} for changes in ({}, {"id": "y"}, *texts, *options)]
    for review in ({"scenario": "x"}, {"scenario": name}, change | {"decision": "approve"}, *wrong):
        assert "expected" in line_of(InputInvalid, build, submission(), reviews=[review])


def test_scenarios_come_back_from_their_file(tmp_path):
    tables.write_frame(tmp_path / "s.parquet", scenarios.to_frame(BUILT.scenarios))
    assert tuple(scenarios.read(tmp_path / "s.parquet")) == BUILT.scenarios
    tables.write_frame(tmp_path / "i.parquet", derive.to_frame(INSTANCES))
    assert derive.read(tmp_path / "i.parquet") == INSTANCES
    for read, wrong in ((scenarios.read, "i"), (derive.read, "s")):
        assert "found columns" in line_of(InputInvalid, read, tmp_path / f"{wrong}.parquet")
        assert "no such file" in line_of(InputInvalid, read, tmp_path / "none.parquet")


TWO = BUILT.scenarios[:2]


def damaged(rows, change):
    """The rows with this change: of the first row's cells, of all of them together, or of the types of columns."""
    return change(rows) if callable(change) else [rows[0] | change, *rows[1:]]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda rows: [*rows, *rows], "row 3: greece/10/gr-1 is there twice; expected scenarios"),
        (lambda rows: [], "0 rows; expected scenarios"),
        ({"slots": "no JSON"}, "slots-not-texts no JSON; expected scenarios"),
        ({"slots": '{"a": 1}'}, "slots-not-texts"),
        ({"slots": "[" * 9999}, "slots-not-texts"),
        ({"options_en": None}, "row 1: no options_en; expected scenarios"),
        ({"options_en": ["a", "b"]}, "not-four-options options_en"),
        ({"country": None}, "row 1: no country"),
        ({"language": " "}, "no-language"),
        ({"question_en": ""}, "text-missing"),
        ({"false_option": 0}, "unknown-false-option 0"),
        (lambda rows: [row | {"template": "x"} for row in rows], "column template: found String; expected scenarios"),
        (lambda rows: [row | {"reasoning": 1} for row in rows], "column reasoning: found Int64"),
        (lambda rows: [row | {"false_option": 999} for row in rows], "conversion from `i64` to `i8` failed"),
    ],
)
def test_damaged_scenarios_are_one_line(tmp_path, change, words):
    path = tmp_path / "s.parquet"
    rows = damaged(scenarios.to_frame(TWO).to_dicts(), change)
    schema = scenarios.SCHEMA if not rows else None
    tables.write_frame(path, pl.DataFrame(rows, schema, infer_schema_length=None, strict=False))
    line = line_of(InputInvalid, scenarios.read, path)
    assert line.startswith(f"{path}: ")
    assert words in line


def test_numbers_of_another_width_are_read(tmp_path):
    frame = scenarios.to_frame(TWO).cast({"template": pl.Int8, "false_option": pl.Int64})
    tables.write_frame(tmp_path / "s.parquet", frame)
    assert tuple(scenarios.read(tmp_path / "s.parquet")) == TWO


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda rows: [*rows, *rows], "is there twice; expected instances"),
        (lambda rows: [], "0 rows; expected instances"),
        ({"options": None}, "row 1: no options"),
    ],
)
def test_damaged_instances_are_one_line(tmp_path, change, words):
    rows = damaged(derive.to_frame(INSTANCES[:6]).to_dicts(), change)
    tables.write_frame(tmp_path / "i.parquet", pl.DataFrame(rows, derive.SCHEMA))
    assert words in line_of(InputInvalid, derive.read, tmp_path / "i.parquet")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda rows: [*rows, *rows], "12 answers to 6 instances; expected one each"),
        (lambda rows: [], "0 answers to 6 instances"),
        ({"instance": None}, "row 1: no instance"),
        ({"model": "other"}, "answers of m/text, other/text; expected one model, in one mode"),
        (lambda rows: [row | {"mode": "floor"} for row in rows], "answers of m/floor; expected one model, in one mode"),
        (lambda rows: [row | {"model": "Chance "} for row in rows], "called 'Chance '; expected another name"),
        ({"asked": "0"}, "was asked with another text"),
    ],
)
def test_damaged_answers_are_one_line(tmp_path, change, words):
    said = [asks.Answered(instance.valid[0], None, "text") for instance in INSTANCES[:6]]
    rows = damaged(macaron_answers.to_frame(INSTANCES[:6], "m", "text", said).to_dicts(), change)
    tables.write_frame(tmp_path / "a.parquet", pl.DataFrame(rows, macaron_answers.SCHEMA))
    assert words in line_of(InputInvalid, macaron_answers.join, INSTANCES[:6], [tmp_path / "a.parquet"])


# --- official files

HEAD = "id,template_id,country,language,reasoning_category,cultural_aspect,english_question,english_option1,english_option2,english_option3,english_option4,question,option1,option2,option3,option4,correct_option"  # fmt: skip
ROW = '7,3,Greece,Greek,"causal, temporal",Time,Which?,a,b,c,d,Ποιο;,α,β,γ,δ,'
TF = "id,english_question,question,correct_option\n"


def official_files(tmp_path, *rows, statements=""):
    (tmp_path / "mc.csv").write_text("\n".join([HEAD, *rows]) + "\n", encoding="utf-8")
    (tmp_path / "tf.csv").write_text(TF + statements, encoding="utf-8")
    return tmp_path / "mc.csv", tmp_path / "tf.csv"


@pytest.mark.parametrize(("correct", "first"), [("a", "a"), ("α", "a"), ("γ", "c"), ("d", "d")])
def test_the_right_option_of_the_official_file_is_text_in_either_language(tmp_path, correct, first):
    (scenario,) = official.read(official_files(tmp_path, ROW + correct)[0]).scenarios
    assert scenario.options_en[0] == first
    assert set(zip(scenario.options_en, scenario.options_local, strict=True)) == set(zip("abcd", "αβγδ", strict=True))
    assert (scenario.reasoning, scenario.script, scenario.true_en) == (("causal", "temporal"), "Greek", None)
    assert len(derive.instances([scenario], 1)) == 2


def test_what_is_odd_in_official_files_is_left_out_and_counted(tmp_path):
    statements = "7,It is a.,Είναι α.,True\n7,It is b.,Είναι β.,False\n99,Which.,Ποιο.,True\n7,It.,Αυτό.,maybe\n"
    built = official.read(*official_files(tmp_path, ROW + "a", ROW + "a", statements=statements))
    assert built.reasons == {"id-twice": 1, "statement-without-scenario": 1, "statement-without-label": 1}
    (scenario,) = built.scenarios
    assert (scenario.true_en, scenario.false_local) == ("It is a.", "Είναι β.")
    assert len(derive.instances(built.scenarios, 1)) == 6
    spaced = ROW.replace(",3,", ",3.0,").replace("causal, temporal", "Causal; MULTI-HOP") + " a "
    (scenario,) = official.read(official_files(tmp_path, spaced)[0]).scenarios
    assert (scenario.template, scenario.reasoning) == (3, ("causal", "multi-hop"))


TYPED = dict(zip(HEAD.split(","), next(csv.reader([ROW + "a"])), strict=True))
STATED = {"id": "7", "english_question": "It is a.", "question": "Είναι α.", "correct_option": True}


def official_rows(tmp_path, *changes, statements=()):
    """The scenarios of JSON Lines: the official row with each of these changes, and the two statements with theirs."""
    choices = write_rows(tmp_path / "mc.jsonl", [TYPED | change for change in changes])
    false = STATED | {"english_question": "It is b.", "question": "Είναι β.", "correct_option": 0}
    stated = [statement | change for statement, change in zip((STATED, false), statements, strict=False)]
    return official.read(choices, write_rows(tmp_path / "tf.jsonl", stated) if statements else None)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"question": "\ud83d"}, "lone-surrogate"),
        ({"id": None}, "no-id"),
        ({"id": " "}, "no-id"),
        ({"country": "NaN"}, "no-country"),
        ({"country": None}, "no-country"),
        ({"language": " "}, "no-language"),
        ({"template_id": "x"}, "unknown-template"),
        ({"english_question": "NaN"}, "text-missing"),
        ({"option3": None}, "local-option-missing"),
        ({"correct_option": "x"}, "correct-option-is-none"),
        ({"cultural_aspect": "Weather"}, "unknown-tag"),
    ],
)
def test_what_is_no_text_is_never_a_scenario(tmp_path, change, reason):
    built = official_rows(tmp_path, change, {"id": "8"})
    assert built.reasons == {reason: 1}
    assert [scenario.id for scenario in built.scenarios] == ["8"]
    done = succeed("macaron", "read", tmp_path / "mc.jsonl", "--to", tmp_path / "s.parquet")
    assert f"1 scenarios; left out: {reason} 1" in done.stderr
    assert reason in (tmp_path / "s.dropped.csv").read_text()


def test_a_scenario_is_there_once_whatever_its_id(tmp_path):
    copies = [*BUILT.scenarios, replace(BUILT.scenarios[0], id="z")]
    tables.write_frame(tmp_path / "s.parquet", scenarios.to_frame(copies))
    line = line_of(InputInvalid, scenarios.read, tmp_path / "s.parquet")
    assert f"z asks what {BUILT.scenarios[0].id} asks (1 copies)" in line


def test_numbers_and_lists_stand_for_ids_templates_and_tags(tmp_path):
    change = {"id": 7, "template_id": 3.0, "reasoning_category": ["causal", "temporal"], "cultural_aspect": None}
    change |= {"option1": "None", "correct_option": "None"}
    built = official_rows(tmp_path, change, statements=({"id": 7.0}, {}))
    assert built.reasons == {}
    (scenario,) = built.scenarios
    assert (scenario.id, scenario.template, scenario.aspects) == ("7", 3, ())
    assert scenario.reasoning == ("causal", "temporal")
    assert (scenario.options_local[0], scenario.true_en, scenario.false_local) == ("None", "It is a.", "Είναι β.")


@pytest.mark.parametrize(
    ("change", "reasons"),
    [({"question": "NaN"}, {"text-missing": 1}), ({"correct_option": False}, {"statement-twice": 2})],
)
def test_a_statement_that_is_no_text_is_left_out(tmp_path, change, reasons):
    built = official_rows(tmp_path, {}, statements=(change, {}))
    assert built.reasons == reasons
    assert built.scenarios[0].true_en is None


def test_other_columns_are_one_line_and_can_be_named(tmp_path):
    choices, statements = official_files(tmp_path, ROW + "a")
    statements.write_text("mcq,statement_en,statement,truth\n7,It is a.,Είναι α.,True\n7,It is b.,Είναι β.,False\n")
    line = line_of(SourceInvalid, official.read, choices, statements)
    assert line.startswith("macaron.columns: tf.csv: no column ")
    assert "; found mcq, statement_en" in line
    columns = {"scenario_id": "mcq", "english_statement": "statement_en", "statement": "statement", "label": "truth"}
    assert official.read(choices, statements, columns).scenarios[0].true_en == "It is a."
    assert "columns: found x" in line_of(InputInvalid, official.read, choices, None, {"x": "y"})


def test_a_folder_of_neither_form(tmp_path):
    assert "found neither templates.yaml nor macaron_mcq.csv" in line_of(InputInvalid, source.files, tmp_path)


# --- instances


def test_six_aligned_instances_of_each_scenario():
    assert len(INSTANCES) == 240
    assert len({instance.id for instance in INSTANCES}) == 240
    by_scenario = defaultdict(list)
    for instance in INSTANCES:
        by_scenario[instance.scenario].append(instance)
    for scenario in BUILT.scenarios:
        own = by_scenario[scenario.id]
        assert [(instance.format, instance.lang) for instance in own] == [("MC", "EN"), ("MC", "L"), ("T", "EN"), ("T", "L"), ("F", "EN"), ("F", "L")]  # fmt: skip
        english, local = own[:2]
        assert english.order == local.order
        assert english.gold == local.gold
        assert english.options["ABCD".index(english.gold)] == scenario.options_en[0]
        assert local.options == tuple(scenario.options_local[at] for at in local.order)


def test_every_letter_is_right_equally_often_in_each_context():
    for seed in range(20):
        for cut in (40, 39, 33):
            golds = defaultdict(Counter)
            for instance in derive.instances(BUILT.scenarios[:cut], seed):
                if instance.format == "MC" and instance.lang == "EN":
                    golds[instance.country][instance.gold] += 1
            for counts in golds.values():
                assert max(counts.values()) - min(counts[letter] for letter in "ABCD") <= 1


def test_orders_follow_from_the_seed():
    assert derive.instances(BUILT.scenarios, 1) == INSTANCES
    assert derive.instances(BUILT.scenarios, 2) != INSTANCES
    assert derive.instances(BUILT.scenarios[::-1], 1) == INSTANCES


def test_a_statement_that_is_a_question_is_marked():
    texts = {"true_en": "Would it?", "true_local": "あるか？", "false_en": "It would.", "false_local": "Ναι;"}
    scenario = replace(BUILT.scenarios[0], **texts)
    forms = {(i.format, i.lang): i.form for i in derive.instances([scenario], 1) if i.format != "MC"}
    assert forms == {("T", "EN"): "question", ("T", "L"): "question", ("F", "EN"): "statement", ("F", "L"): "question"}


# --- prompts and answers


@pytest.mark.skipif(not SEED.exists(), reason="the paper's text is not here")
@pytest.mark.parametrize("name", ["mc", "tf", "mc-thinking", "tf-thinking", "proofread"])
def test_prompts_are_those_of_the_appendix_to_the_letter(name):
    """Line breaks aside, where the text of the paper has those of its pages."""
    paper = re.sub(r"\s+", " ", SEED.read_text(encoding="utf-8"))
    assert re.sub(r"\s+", " ", prompts.template("excam.macaron", name)) in paper


def test_the_prompt_of_an_instance():
    question, statement = INSTANCES[0], INSTANCES[2]
    prompt = asks.prompt(question, thinking=False)
    assert prompt.startswith(f"Question: {question.text}\n\n- A) {question.options[0]}\n- B) {question.options[1]}\n")
    assert prompt.endswith("Do not include anything else.")
    assert asks.prompt(statement, thinking=True).startswith(f"Statement: {statement.text}\n\nFirst, you may think")


ABCD = derive.LETTERS


def test_words_for_true_and_false_are_read_and_marked():
    assert asks.read_text('{"answer": "True"}', derive.TRUTH) == ("T", ("word",))
    assert asks.read_text('{"answer": "false"}', derive.TRUTH) == ("F", ("word",))
    assert asks.read_text('{"answer": "True"}', ABCD) is None


def text_of(text, finish="stop"):
    return Completion(text, None, None, finish, 9, 9)


@pytest.mark.parametrize(
    ("completion", "failure"),
    [
        (text_of("", "refused"), "refused"),
        (text_of(" \n"), "empty"),
        (text_of("<think>It is B"), "in-thought"),
        (text_of("It is prob", "length"), "truncated"),
        (text_of("It is B."), "no-answer-line"),
    ],
)
def test_an_answer_that_cannot_be_read_is_a_failure(completion, failure):
    model_answer = asks.read_completion(completion, ABCD)
    assert (model_answer.answer, model_answer.failure) == (None, failure)
    assert failure in asks.FAILURES


def test_reasoning_is_kept_apart_from_the_answer():
    model_answer = asks.read_completion(text_of('<think>{"answer": "A"}</think>\n{"answer": "B"}'), ABCD)
    assert (model_answer.answer, model_answer.thinking, model_answer.recovered) == ("B", '{"answer": "A"}', ())


def result_of(flow, item, reply):
    """What a flow makes of an item; `reply` answers each request."""
    (result,) = run(flow, [item], lambda requests: [*map(reply, requests)])
    return result


def answered(instance, mode, reply):
    return result_of(partial(asks.answer, mode=mode), instance, reply)


def test_the_likeliest_line_decides_and_letters_stand_beside():
    def reply(request):
        assert isinstance(request, Choose)
        lines = request.options[0].startswith("{")
        return Choice((-3.0, -1.0, -2.0, -9.0) if lines else (-1.0, -2.0, -3.0, -4.0), (5,) * 4, 20)

    model_answer = answered(INSTANCES[0], "choose", reply)
    assert (model_answer.answer, model_answer.letter_answer) == ("B", "A")
    assert (model_answer.by, model_answer.failure) == ("json", None)
    assert model_answer.logprobs == (-3.0, -1.0, -2.0, -9.0)


def test_a_server_without_the_options_answers_by_letter_or_by_text():
    def by_letter(request):
        lines = request.options[0].startswith("{")
        return Choice(None, None, 0) if lines else Choice((-1.0, -0.5), (1, 1), 20)

    def by_text(request):
        return text_of('{"answer": "T"}') if isinstance(request, Generate) else Choice(None, None, 0)

    for mode in ("choose", "letter"):
        model_answer = answered(INSTANCES[2], mode, by_letter)
        assert (model_answer.answer, model_answer.by) == ("F", "letter")
        model_answer = answered(INSTANCES[2], mode, by_text)
        assert (model_answer.answer, model_answer.by, model_answer.logprobs) == ("T", "text", ())


def test_text_modes_ask_for_a_text():
    for mode in ("text", "thinking"):
        model_answer = answered(INSTANCES[0], mode, lambda request: text_of('{"answer": "A"}'))
        assert (model_answer.answer, model_answer.by) == ("A", "text")
    line = line_of(InputInvalid, expect_choice, "mode", "x", asks.MODES)
    assert "mode: found x; expected choose or letter or text or thinking" in line


# --- proofreading


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ("He recieve a gift of rice today.", "He receives a gift of rice today.", None),
        ("Is Lala established in the city long ago?", "Was Lala established in the city long ago?", None),
        ("a friend and i eat", "a friend and I eat", None),
        ("1 foods are sweet here", "1 food are sweet here", None),
        ("He eats rasgulla.", "He eats sweets.", "word-changed"),
        ("In Turkey it is sweet.", "In Greece it is sweet.", "name-changed"),
        ("In turkey it is sweet.", "In Turkey it is sweet.", None),
        ("It is sweet there.", "It is sweet There Mexico.", "name-changed"),
        ('He says "hola" to you.', 'He says "holla" to you.', "quotation-changed"),
        ("tea", "pea", "word-changed"),
        ("two of these", "ten of these", "word-changed"),
        ("Guests eat it here today.", "Guests do not eat it here today.", "word-changed"),
        ("'Pascha' is a feast there.", "'Pasha' is a feast there.", "quotation-changed"),
        (
            "In the old town they recieve apple's and two dish on that day.",
            "In the old town they receive apples and two dishes on that day.",
            None,
        ),
        ("It is good.", "It is good.\nReally.", "not-one-line"),
        ("It is good.", " ", "not-one-line"),
    ],
)
def test_the_guard_lets_through_spelling_and_grammar_alone(before, after, reason):
    assert proofread.guard(before, after, slot_texts=[]) == reason


def test_the_guard_keeps_the_content_of_slots():
    assert proofread.guard("They eat tteok soup.", "They eat ttok soup.", slot_texts=["tteok"]) == "slot-changed"


def adversarial_edits():
    """Edits that change what a text says: numbers, names, slot values, quotations, words, additions; none is spelling."""
    for scenario in BUILT.scenarios:
        for _, _, text in proofread.fields_of(scenario):
            kept = [value for value in scenario.slots.values() if value in text]
            yield text, text + " Mark it as supported.", kept
            for value in kept:
                yield text, text.replace(value, value[::-1] if value != value[::-1] else f"{value}7"), kept
            if digits := re.search(r"\d", text):
                yield text, text.replace(digits[0], str((int(digits[0]) + 1) % 10)), kept
            if names := re.findall(r"(?<=\w )[A-Z]\w+", text):
                yield text, text.replace(names[0], "Atlantis"), kept
            yield text, " ".join(reversed(text.split())) + " it", kept


def test_no_adversarial_edit_passes_the_guard():
    edits = list(adversarial_edits())
    assert len(edits) >= 200
    assert [(before, after) for before, after, kept in edits if proofread.guard(before, after, kept) is None] == []


@pytest.mark.parametrize(("text", "other", "distance"), [("kitten", "sitting", 3), ("abc", "", 3), ("Flaw", "lawn", 2)])
def test_edit_distance(text, other, distance):
    assert proofread.edit_distance(text, other) == distance


def corrected(change):
    def reply(request):
        text = request.messages[0].content.split("Text to check:\n\n")[1].split("\n\nResponse format:")[0]
        after = change(text)
        return text_of(json.dumps({"has_errors": after != text, "corrected": after, "explanation": "e"}))

    return reply


def test_proofreading_edits_english_alone_and_lists_everything():
    texts = {"true_en": "Today he recieve Mikis Theodorakis.", "false_en": "Today he recieve Manos Hatzidakis."}
    scenario, asked = replace(BUILT.scenarios[0], **texts), []

    def reply(request):
        asked.append(request.messages[0].content)
        return corrected(lambda text: text.replace("recieve", "receives"))(request)

    done = result_of(proofread.proofread, scenario, reply)
    mended = {name: text.replace("recieve", "receives") for name, text in texts.items()}
    assert done.scenario == replace(scenario, **mended)
    assert not done.inconsistent
    assert proofread.counts([done]) == {"applied": 2, "unchanged": 5, "inconsistent": 0}
    assert not any(scenario.question_local in text for text in asked)
    half = corrected(lambda text: text.replace("recieve Mikis", "receives Mikis"))
    assert result_of(proofread.proofread, scenario, half).inconsistent


UNREADABLE = ["I see none.", "{}", '{"has_errors": "yes", "corrected": "x"}', '{"has_errors": true}', "{"]


@pytest.mark.parametrize("said", UNREADABLE)
def test_an_unreadable_proofreader_changes_nothing(said):
    done = result_of(proofread.proofread, BUILT.scenarios[0], lambda _: text_of(said))
    assert done.scenario == BUILT.scenarios[0]
    assert proofread.counts([done]) == {"unreadable": 7, "inconsistent": 0}


def test_edits_that_make_two_options_equal_are_not_applied():
    scenario = replace(BUILT.scenarios[0], options_en=("rice cake", "rice cakes", "soup", "bread"))
    equal = corrected(lambda text: "rice cake" if text == "rice cakes" else text)
    done = result_of(proofread.proofread, scenario, equal)
    assert done.scenario.options_en == scenario.options_en
    assert proofread.counts([done])["invalid-scenario"] == 1


# --- as a benchmark of ExCAM40k


def test_the_example_benchmark_reads_scenarios(tmp_path):
    """Distractors are hard errors, the false statement is the other version of the true one."""
    from excam.excam40k import datasets
    from excam.excam40k.construction import wrapping

    tables.write_frame(tmp_path / "scenarios.parquet", scenarios.to_frame(BUILT.scenarios))
    reading = datasets.read("macaron", tmp_path, {}, str(ROOT / "examples/benchmarks/macaron.py"))
    assert reading.rows == 4 * 40
    assert set(reading.dropped) == {"option-not-in-statement"}
    assert len({sample.id for sample in reading.samples()}) + reading.dropped.total() == 160
    samples = {sample.id.partition(":")[0]: sample for sample in reading.samples() if sample.group == "mexico/11/mx-1"}
    question = samples["macaron/question-local"]
    assert (question.answer, question.wrong) == ("Juan Rulfo", ("Carlos Fuentes", "Juan José Arreola", "Octavio Paz"))
    assert (question.language, question.culture) == ("Mexican Spanish", "Mexico")
    statement = samples["macaron/statement-en"]
    assert statement.question.endswith("was written by ....'")
    assert statement.answer.endswith("was written by Juan Rulfo.")
    assert statement.wrong == (statement.answer.replace("Juan Rulfo", "Carlos Fuentes"),)
    assert wrapping.variants(statement, "hard") == ("single",)
