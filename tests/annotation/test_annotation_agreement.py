"""Agreement of raters about any form: numbers by hand, who counts, and what a leader reads."""

import json
from types import SimpleNamespace

import pytest
import yaml
from annotation_server_process import command, made, written

from excam.annotation import campaign, exchange, form, page
from excam.annotation.adjudication import in_words
from excam.annotation.agreement import _likeness, excerpt, study
from excam.annotation.answers import Answer
from excam.annotation.store import Store

FORM = form.parse(
    yaml.safe_load("""
        name: greetings
        version: "1"
        title: Greetings
        purpose: "-"
        submit: true
        skip: foreign
        shows: [{show: text, of: [greeting]}]
        steps:
        - title: Judge
          blocks:
          - {field: heard, kind: choice, label: "Heard?", values: {often: Often, never: Never}}
          - {field: polite, kind: scale, label: "How polite?", values: {1: rude, 2: cool, 3: so-so, 4: warm, 5: very}}
          - {field: is, kind: flags, label: "?", values: {old: Old, foreign: Skip}}
          - {field: words, kind: span, label: Odd words, of: greeting, values: {odd: Odd}, optional: true}
          - {field: age, kind: number, label: Age, optional: true}
          - {field: rank, kind: order, label: Best, values: {a: Clear, b: Short, c: Kind}, optional: true}
          - {field: why, kind: text, label: "?", optional: true}
    """),
    "greetings.yaml",
)
TEXTS = ("Good day to you", "السلام عليكم", "नमस्ते जी", "你好吗")
TASKS = [campaign.Task(f"{at:016x}", f"row-{at}", "", "", 2, {"greeting": text}, {}) for at, text in enumerate(TEXTS)]
CAMPAIGN = campaign.campaign("Greetings", FORM, TASKS)


def answer(at, rater, heard, polite, **values):
    """A submitted answer."""
    own = {**FORM.empty(), "heard": heard, "polite": polite, "submitted": True, **values}
    return Answer(f"{at:016x}", rater, own, 90, "2026-04-01T12:00:00.000Z")


TWO = [
    answer(0, "ada", "often", 5, words=[[0, 4, "odd"]], age=30, rank=["a", "b", "c"]),
    answer(0, "bo", "often", 4, words=[[0, 8, "odd"]], age=40, rank=["a", "c", "b"]),
    answer(1, "ada", "often", 5),
    answer(1, "bo", "often", 5),
    answer(2, "ada", "never", 1, old=True),
    answer(2, "bo", "often", 5, age=50),
    answer(3, "ada", "never", 2),
    answer(3, "bo", "never", 2),
]


def measured(answers):
    """Value, items and ratings by column and measure."""
    result = study(CAMPAIGN, answers, 0)
    return result, {(m.field, m.measure): (m.value, m.items, m.ratings) for m in result.measures}


def test_numbers_of_each_kind_of_field():
    result, by_name = measured(TWO)
    assert by_name["heard", "same answer"] == (0.75, 4, 8)
    assert by_name["heard", "kappa (Cohen)"] == (pytest.approx(0.5), 4, 8)  # .75 observed, .5 by chance
    assert by_name["polite", "same answer"] == (0.5, 4, 8)
    items, raters, rest = 11.375 / 3, 1.125, 7.375 / 3  # mean squares of 5 4, 5 5, 1 5, 2 2
    icc = (items - rest) / (items + rest + 2 * (raters - rest) / 4)
    assert by_name["polite", "ICC(2,1)"] == (pytest.approx(icc), 4, 8)
    assert by_name["old", "same answer"] == (0.75, 4, 8)
    assert by_name["words", "F1 of characters"] == (pytest.approx(2 * 4 / (4 + 8)), 4, 8)
    assert by_name["age", "same answer"] == (0, 1, 2)  # an empty number is no rating
    assert by_name["rank", "entries in the same order"] == (pytest.approx(2 / 3), 1, 2)
    assert by_name["why", ""] == (None, 0, 0)
    assert not [name for name, _ in by_name if name == "foreign"]  # the box that skips a task is no judgement
    assert (result.compared, len(result.items)) == (4, 2)


def test_raters_and_the_items_that_divide_them():
    result, _ = measured(TWO)
    assert [item.row for item in result.items] == ["row-2", "row-0"]
    assert result.items[0].differing == {
        "heard": {"ada": "never", "bo": "often"},
        "polite": {"ada": 1, "bo": 5},
        "old": {"ada": True, "bo": False},
    }
    assert result.items[0].value == pytest.approx((0 + 0 + 0 + 1) / 4)  # the words, which nobody marked, are alike
    assert result.items[0].text == TEXTS[2]
    rows = [
        1 + 3 / 4 + 1 + 2 / 3 + 0 + 2 / 3,
        4,
        1,
        4,
    ]  # of 6, 4, 4 and 4 comparisons; 4 is near 5 on a scale from 1 to 5
    assert result.items[1].value == pytest.approx(rows[0] / 6)
    assert [item.raters for item in result.items] == [2, 2]
    ada = result.raters[0]
    assert (ada.rater, ada.finished, ada.items, ada.comparisons) == ("ada", 4, 4, 18)
    assert ada.value == pytest.approx(sum(rows) / 18)
    third = [answer(at, "eve", "never", 1) for at in range(4)]
    agreeing = {rater.rater: rater.value for rater in study(CAMPAIGN, [*TWO, *third], 0).raters}
    assert agreeing["eve"] < agreeing["bo"]


def test_drafts_and_skipped_tasks_do_not_count_but_are_counted():
    draft = answer(0, "eve", "never", 1, submitted=False)
    skip = Answer(f"{1:016x}", "eve", {**FORM.empty(), "foreign": True, "submitted": True}, 5, draft.saved)
    result, by_name = measured([*TWO, draft, skip])
    assert by_name["heard", "same answer"] == (0.75, 4, 8)
    assert (result.answers, result.finished, result.skipped) == (10, 8, 1)
    eve = next(rater for rater in result.raters if rater.rater == "eve")
    assert (eve.finished, eve.skipped, eve.unfinished, eve.value) == (0, 1, 1, None)


def test_three_raters_of_unequal_items_get_fleiss_and_a_one_way_icc():
    third = [answer(at, "eve", "never", 1) for at in range(3)]
    _, by_name = measured([*TWO, *third])
    by_chance = (5 / 9) ** 2 + (4 / 9) ** 2  # two of three agree on each item
    assert by_name["heard", "kappa (Fleiss, 3 raters)"] == (pytest.approx((1 / 3 - by_chance) / (1 - by_chance)), 3, 9)
    assert by_name["polite", "ICC(1,1)"][1:] == (4, 11)
    assert by_name["heard", "alpha (nominal)"][1:] == (4, 11)
    _, by_name = measured([*TWO, *third[:2]])
    assert by_name["heard", "kappa (Fleiss, 3 raters)"][1:] == (2, 6), "of two usual numbers of raters the larger"


@pytest.mark.parametrize(
    ("kind", "first", "second", "alike"),
    [
        ("scale", 2, 4, 0.5),
        ("span", [[0, 4, "odd"]], [[2, 6, "odd"]], 0.5),
        ("span", [], [], 1),
        ("span", [[0, 4, "odd"]], [], 0),
        ("order", ["a"], ["a"], 1),
        ("order", ["a", "b", "c"], ["a", "c", "b"], 2 / 3),
    ],
)
def test_how_alike_two_answers_are(kind, first, second, alike):
    assert _likeness(SimpleNamespace(kind=kind), 4, first, second) == pytest.approx(alike)


def test_a_text_of_eighty_characters_is_shown_whole():
    for length, shown in ((80, "x" * 80), (81, "x" * 79 + "…")):
        task = campaign.Task("0" * 16, "row", "", "", 2, {"greeting": f" {'x' * length}\n"}, {})
        assert excerpt(FORM, task) == shown


def test_command_reads_a_store_or_exports_and_writes_everything(tmp_path):
    drawn = written(tmp_path / "campaign.json", CAMPAIGN)
    made(tmp_path / "answers.store", CAMPAIGN, ["ada", "bo"])
    with Store(tmp_path / "answers.store") as store:
        store.merge(TWO)
    files = []
    for name in ("ada", "bo"):
        files.append(tmp_path / f"{name}.json")
        files[-1].write_text(exchange.to_json(CAMPAIGN, [a for a in TWO if a.annotator == name]), encoding="utf-8")
    printed = command("agreement", tmp_path / "answers.store", "--items", 1).stdout
    assert printed == command("agreement", drawn, *files, "--items", 1).stdout
    assert "4 tasks, 8 answers: 8 finished, 0 skipped, 0 unfinished. Tasks with two raters or more: 4." in printed
    assert "row-2  agreement 0.25, 2 raters  नमस्ते जी" in printed
    assert "\n  polite: ada 1 rude; bo 5 very\n  old: ada yes; bo no\n" in printed, "answers in the words of the form"
    assert "row-0" not in printed
    marks = command("agreement", drawn, *files).stdout
    assert "\n  words: ada “Good” Odd; bo “Good day” Odd\n" in marks
    lines = [json.loads(line) for line in command("agreement", drawn, *files, "--json").stdout.splitlines()]
    assert [line["row"] for line in lines if line["about"] == "item"] == ["row-2", "row-0"]
    alone = command("agreement", drawn, files[0]).stdout
    assert alone.count("fewer than two raters") == 6


def test_raters_with_names_that_are_alike_stay_two(tmp_path):
    """Raters whose names differ in one character are different raters; a name with an @ is refused."""
    names = ["rater", "Rater", "rater.one", "rater-one"]
    made(tmp_path / "x.store", CAMPAIGN, names)
    rated = [answer(0, name, "often", polite) for polite, name in enumerate(names, 1)]
    (tmp_path / "x.json").write_text(exchange.to_json(CAMPAIGN, rated))
    assert "4 new, 0 newer" in command("import", tmp_path / "x.store", tmp_path / "x.json").stdout
    (item,) = study(CAMPAIGN, exchange.read(tmp_path / "x.json", CAMPAIGN), 0).items
    assert item.differing["polite"] == dict(zip(names, range(1, 5), strict=True))
    addresses = (tmp_path / "x.json").read_text().replace('"rater"', '"rater@one.example"')
    (tmp_path / "y.json").write_text(addresses)
    refused = command("import", tmp_path / "x.store", tmp_path / "y.json")
    assert (refused.exit_code, refused.stderr.count("\n")) == (2, 1)
    assert "annotator is 'rater@one.example'; expected letters, digits and . _ -" in refused.stderr


def test_an_answer_of_zero_is_no_absent_answer():
    item, number = TASKS[0], next(question for question in FORM.questions if question.kind == "number")
    assert [in_words(number, value, item) for value in (0, 2.5, None)] == ["0", "2.5", "no answer"]


def test_a_third_person_decides_what_two_differ_on(tmp_path):
    """A difference becomes a task with both answers, in words; names are the leader's; it can be shown and answered."""
    drawn, to = written(tmp_path / "campaign.json", CAMPAIGN), tmp_path / "disagreements.json"
    exported = tmp_path / "all.json"
    exported.write_text(exchange.to_json(CAMPAIGN, TWO), encoding="utf-8")
    done = command("adjudicate", drawn, exported, "--to", to)
    assert done.stderr.endswith("2 of 4 tasks have a difference\n"), done.stderr
    disputed = campaign.read(to)
    assert [task.row for task in disputed.tasks] == ["row-0", "row-2"]
    assert disputed.tasks[0].shown["answers_1"].splitlines() == [
        *("How polite? → 5 very", "Odd words → “Good” Odd", "Age → 30", "Best → Clear > Short > Kind")
    ]
    assert disputed.tasks[1].shown["answers_2"].splitlines() == ["Heard? → Often", "How polite? → 5 very", "Old → no"]
    assert disputed.tasks[0].hidden == {"rater_1": "ada", "rater_2": "bo"}
    assert disputed.form.instructions[0].title == "You decide"
    text = page.write(disputed)
    assert "rater_1" not in text
    decided = Answer(disputed.tasks[0].id, "eve", answer(0, "eve", "often", 4).values, 5, TWO[0].saved)
    row = exchange.to_csv(disputed, [decided], exchange.owner_columns(disputed)).splitlines()[1]
    assert ",ada,bo,row-0," in row
    two = [answer for answer in TWO if answer.task in (TWO[2].task, TWO[6].task)]
    exported.write_text(exchange.to_json(CAMPAIGN, two), encoding="utf-8")
    assert "no item on which two raters differ" in command("adjudicate", drawn, exported, "--to", to).stderr
    done = command("adjudicate", drawn, exported, "--all", "--to", to)
    assert done.stderr.endswith("2 of 4 tasks have an answer\n"), done.stderr
    second = campaign.read(to)
    assert second.tasks[0].shown["answers_1"].startswith("Heard? → ")
    assert "refine it" in second.form.instructions[0].points[0]
    eves = Answer(second.tasks[0].id, "eve", answer(0, "eve", "often", 4).values, 5, TWO[0].saved)
    exported.write_text(exchange.to_json(second, [eves]), encoding="utf-8")
    assert "shows answers already" in command("adjudicate", to, exported, "--all", "--to", to).stderr


def test_the_command_names_the_expected_input(tmp_path):
    drawn, store = written(tmp_path / "campaign.json", CAMPAIGN), tmp_path / "answers.store"
    made(store, CAMPAIGN, ["ada"])
    for words, line in (
        ((drawn,), "no answers; expected exported files behind the campaign, or a store"),
        ((store, drawn), "expected the store alone"),
    ):
        done = command("agreement", *words)
        assert (done.exit_code, done.stdout) == (2, "")
        assert line in done.stderr
