"""Forms as data: what a form may say, what an answer to it may be, and that files keep every kind of value."""

import copy
import json
import random

import pytest
import yaml
from annotation_page_driver import unpacked
from annotation_server_process import command
from campaigns import WRITERS, changed_task
from form_campaigns import MADE, finished, task, values
from json_lines import write_rows
from one_line_errors import line_of

from excam.annotation import answers, campaign, exchange, form, page
from excam.core.exceptions import InputInvalid

SMALL = {
    "name": "small",
    "version": "1",
    "title": "Small",
    "purpose": "A try.",
    "facets": ["language"],
    "skip": "pass",
    "submit": True,
    "shows": [{"show": "text", "of": ["text"]}],
    "steps": [{"title": "All", "blocks": [{"field": "kind", "kind": "choice", "label": "Kind", "values": {"a": "A",
     "b": "B"}}, {"field": "grade", "kind": "scale", "label": "Grade", "values": {1: "bad", 2: "so", 3: "good"}},
     {"field": "other", "kind": "scale", "label": "Other", "values": {1: "bad", 2: "so", 3: "good"}}, {"field": "boxes",
     "kind": "flags", "label": "", "values": {"pass": "Pass", "odd": "Odd"}}, {"field": "why", "kind": "text",
     "label": "Why", "optional": True, "longest": 20}, {"field": "years", "kind": "number", "label": "Years", "low": 0,
     "high": 99, "decimals": 1}, {"field": "words", "kind": "span", "label": "Words", "of": "text",
     "values": {"x": "X"}, "optional": True}, {"field": "rank", "kind": "order", "label": "Rank", "values": {"1": "P",
     "2": "Q"}}, {"field": "gaps", "kind": "slots", "label": "Gaps", "of": "holes", "optional": True}]}],
    "rules": [{"say": "Odd needs a reason.", "when": {"odd": [True]}, "then": {"why": {"needed": True}}},
     {"say": "B is at most 2.", "when": {"kind": ["b"]}, "then": {"grade": {"most": 2}}}, {"say": "Near the other.",
     "then": {"grade": {"near": {"other": 1}, "by": 1}}}, {"say": "Of poems 2 at least.",
     "when": {"task.sort": ["poem"]}, "then": {"other": {"least": 2}}}, {"say": "No brackets, no two alike.",
     "then": {"gaps": {"without": ["["], "distinct": True}}}]
}  # fmt: skip
SHOWN = {"text": "שלום 👍 text", "holes": {"ONE": "first", "TWO": "second"}, "sort": "poem"}
FULL = {"kind": "a", "grade": 2, "other": 2, "pass": False, "odd": False, "why": "", "years": 2.5, "words": []}
FULL |= {"rank": ["2", "1"], "gaps": {}, "submitted": True}


def small(**changes):
    small_form = form.parse({**copy.deepcopy(SMALL), **changes}, "small.yaml")
    return campaign.campaign("Small", small_form, [task("small", 0, "Hebrew", "Israel", SHOWN)])


def row(small_campaign, **changes):
    return {
        "task": small_campaign.tasks[0].id, "annotator": "ann", **FULL, "seconds": 1,
        "saved": "2026-04-01T12:00:00.000Z", **changes,
    }  # fmt: skip


# --- forms


def block(**changes):
    return {"field": "kind", "kind": "choice", "label": "Kind", "values": {"a": "A"}, **changes}


def steps(*blocks):
    return [{"title": "One", "blocks": list(blocks)}]


def rule(then, **when):
    return [{"say": "So.", "when": when, "then": then}]


BAD_FORMS = {
    "unknown kind": ({"steps": steps(block(kind="slider"))},
     "my.yaml: step 1 'One', block 1 'kind', kind: found 'slider'; expected 'choice', 'scale', 'flags', 'text', "),
    "unknown kind in columns": ({"steps": steps({"columns": [[block()], [block(field="b"), block(field="c",
     kind="slider")]]})},
     "my.yaml: step 1 'One', block 1, column 2, block 2 'c', kind: found 'slider'; expected 'choice', "),
    "a block of nothing": ({"steps": steps({"text": "x"})},
     "my.yaml: step 1 'One', block 1: found {'text': 'x'}; expected a block with show or field, or columns of such blocks"),
    "a text for a list": ({"facets": "language"}, "my.yaml: facets: found 'language'; expected a list"),
    "a key like another": ({"clok": True}, "my.yaml: clok: unknown key; did you mean `clock`?"),
    "a bound like another": ({"rules": rule({"grade": {"mots": 2}})},
     "my.yaml: rule 1 'So.', then, grade, mots: unknown key; did you mean `most`?"),
    "a show that is none": ({"shows": [{"show": "txt", "of": ["text"]}]},
     "my.yaml: show 1 'txt', show: found 'txt'; expected 'text', 'quote', "),
    "a choice of no field": ({"shows": [{"show": "mean", "by": ["mood"]}]},
     "my.yaml: show mean: 'mood' is no field; expected one of kind, grade, other, pass, odd, why, years, words, "),
    "unknown key": ({"steps": steps(block(colour="red"))},
     "step 1 'One', block 1 'kind', colour: unknown key; known: field, kind, label, hint, "),
    "two fields of one name": ({"steps": steps(block(), block())}, "two fields named kind; expected each name once"),
    "a name that is taken": ({"steps": steps(block(field="saved"))}, "field 'saved': taken by the page"),
    "a name with capitals": ({"steps": steps(block(field="Kind"))}, "or not lower-case letters"),
    "no field": ({"steps": []}, "no field"),
    "choice without values": ({"steps": steps(block(values={}))}, "kind: a choice without values"),
    "a grade with a zero in front, whose number is never its value": ({"steps": steps(block(kind="scale",
     values={"01": "low", "2": "high"}))}, "values of a scale are whole numbers"),
    "a facet of the page": ({"facets": ["status"]}, "facet 'status': taken by the page"),
    "weights of nothing": ({"rules": rule({"grade": {"near": {"other": 0}}})}, "near: expected weights from 0 on"),
    "among on a choice": ({"rules": rule({"kind": {"among": "holes"}})}, "among are for slots"),
    "without an empty text": ({"rules": rule({"why": {"without": [""]}})}, "an empty text is in every text"),
    "a scale from 3 to 1": ({"steps": steps(block(kind="scale", values={3: "a", 1: "b"}))}, "come first and ascend"),
    "span of nothing": ({"steps": steps(block(kind="span"))}, "without `of`"),
    "low above high": ({"steps": steps(block(kind="number", low=3, high=2))}, "low 3 is above high 2"),
    "skip is no flag": ({"skip": "kind"}, "my.yaml: skip: 'kind' is no flag; expected one of pass, odd"),
    "a key twice": ({"steps": steps(block(field="f", kind="flags", values={"x": "X", "pass": "P"}, keys={"x": "z",
     "pass": "z"}))}, "key 'z'"),
    "first step revealed": ({"steps": [{**steps(block())[0], "reveal": "Go"}], "skip": "", "rules": []},
     "expected an open first"),
    "reveal behind a text": ({"steps": [*steps(block(kind="text")), {"title": "Two", "reveal": "Go",
     "blocks": [block(field="b")]}], "skip": "", "rules": []}, "reveal behind kind, which can be emptied again"),
    "rule of no field": ({"rules": rule({"grade": {"most": 2}}, mood=["a"])}, "'mood' is no field"),
    "rule that never holds": ({"rules": rule({"grade": {"most": 2}}, kind=["z"])},
     'never holds: kind is never one of \'z\'; expected one of a, b, "", "*"'),
    "rule with one value that never is": ({"rules": rule({"grade": {"most": 2}}, kind=["a", "z"])},
     "my.yaml: rule 'So.': kind is never 'z'; expected one of a, b, \"\", \"*\""),
    "rule that nothing fulfils": ({"rules": rule({"grade": {"most": 0}})}, "no value fulfils it"),
    "rule that all fulfil": ({"rules": rule({"grade": {"most": 3}})}, "never holds anything back"),
    "rule that asks nothing": ({"rules": rule({"grade": {}})}, "asks nothing"),
    "limit of a text": ({"rules": rule({"why": {"most": 3}})}, "limits are for scales and numbers"),
    "one of a scale": ({"rules": rule({"grade": {"one_of": ["1"]}})}, "one_of is for choices"),
    "pause of a text": ({"pauses": [{"say": "Rest.", "spread": "why", "above": 1}]}, "pauses: 'why' is no scale"),
    "a section that is none": ({"pauses": [{"say": "Rest.", "read": ["Anchors"]}]}, "'Anchors' is no section"),
    "sentences of a choice": ({"steps": steps(block(sentences=[1, 2]))}, "kind: sentences [1, 2]; expected a text"),
    "a scale that names": ({"rules": rule({"grade": {"names": "why"}})}, "names is for a text"),
    "show without a name": ({"shows": [{"show": "text"}]}, "show text: lacks what it shows"),
    "compare of no field": ({"compare": {"when": {}, "fields": ["mood"]}},
     "compare: 'mood' is no field; expected one of kind, grade, "),
    "no version": ({"version": None}, "version")
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_FORMS)
def test_a_form_that_is_none_is_one_line(name):
    changes, said = BAD_FORMS[name]
    line = line_of(InputInvalid, form.parse, {**copy.deepcopy(SMALL), **changes}, "my.yaml")
    assert said in line
    assert line.startswith("my.yaml: ")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- a\n- b\n", "found list; expected a mapping"),
        ("a: [", "no form (line 1, column 5: expected the node content, but found '<stream end>'; a text with"),
        ("a: {say: Is it polite?, by: 1}", "no form (line 1, column 22: expected ',' or '}', but got '?'; "),
        ("name: !!python/object/apply:os.system [ls]\n", "no form (line 1, column 7: could not determine a constr"),
        ("&a [*a]", "more than 50 levels"),
    ],
)
def test_an_invalid_form_file_is_refused(tmp_path, text, said):
    path = tmp_path / "my.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputInvalid, match=r"my.yaml: no form") as caught:
        form.load(str(path))
    assert said in str(caught.value)


def test_names_of_forms():
    assert set(form.names()) == {"soft_errors", *(name for name in MADE if name in form.names())}
    for name in form.names():
        assert form.load(name).name == name
    assert "form 'rubrik': unknown; expected one of culture_spans, " in line_of(InputInvalid, form.load, "rubrik")


# --- answers


GOOD_VALUES = (
    {},
    {"kind": "", "submitted": False},
    {"years": None, "submitted": False},
    {"years": 0},
    {"words": [[0, 4, "x"], [5, 6, "x"]]},
    {"gaps": {"ONE": "a", "TWO": "b"}},
    {"gaps": {"ONE": "a", "TWO": ""}, "submitted": False},
    {"rank": [], "submitted": False},
    {"why": "é" * 20},
    {"pass": True, "kind": "", "grade": None, "other": None, "years": None, "rank": []},
)
BAD_VALUES = {
    "scale as a text": ({"grade": "2"}, "grade is a str; expected int"),
    "scale as a decimal": ({"grade": 3.0}, "grade is a float; expected int"),
    "off the scale": ({"grade": 0}, "grade is 0; expected 1, 2, 3"),
    "beyond the scale": ({"grade": 6}, "grade is 6; expected 1, 2, 3"),
    "NaN": ({"grade": float("nan")}, "grade is a float"),
    "truth as a grade": ({"grade": True}, "grade is a bool"),
    "unknown choice": ({"kind": "c"}, "kind is 'c'; expected a, b"),
    "flag as a text": ({"odd": "true"}, "odd is a str; expected bool"),
    "long text": ({"why": "x" * 21}, "why has 21 characters; expected at most 20"),
    "no character": ({"why": "\0"}, "why holds characters that a file cannot"),
    "half a character": ({"why": "\ud800"}, "why holds characters that a file cannot"),
    "number out of range": ({"years": 100}, "years is 100; expected 0 to 99"),
    "number NaN": ({"years": float("nan")}, "years is nan; expected 0 to 99"),
    "number too exact": ({"years": 2.55}, "at most 1 decimals"),
    "number with a point": ({"years": 2.0}, "a whole number without a point"),
    "span beyond the text": ({"words": [[0, 12, "x"]]}, "words marks 0 to 12 of 11 characters"),
    "span backwards": ({"words": [[3, 3, "x"]]}, "words marks 3 to 3"),
    "span unknown": ({"words": [[0, 1, "y"]]}, "words has the label 'y'"),
    **{f"label {label}": ({"words": [[0, 1, label]]}, "words has the label") for label in (["x"], [], {}, None, 1)},
    "span unlike": ({"words": [{"start": 0}]}, "words holds"),
    "span twice": ({"words": [[0, 1, "x"], [0, 1, "x"]]}, "words has one mark twice"),
    "too many spans": ({"words": [[0, 1, "x"]] * 101}, "words has 101 marks"),
    **{f"order {order}": ({"rank": order}, "expected each of 1, 2 once") for order in (["1"], ["1", "1"], ["1", "2",
     "2"], [1, 2], ["1", 2], [["1"], "2"])},
    "other slots": ({"gaps": {"THREE": "x"}}, "gaps fills THREE; expected ONE, TWO"),
    "slot with a number": ({"gaps": {"ONE": 1, "TWO": "x"}}, "gaps: ONE is a int"),
    "a column too many": ({"mood": 1}, "mood is unknown"),
    "skipped and answered": ({"pass": True}, "is skipped and answered"),
    "another's name": ({"annotator": "../x"},
     "annotator is '../x'; expected letters, digits and . _ -, at most 40, no . _ - first"),
    "no task": ({"task": "1"}, "task is '1'; expected 16 hexadecimal digits"),
    "no time": ({"saved": "yesterday"},
     "saved is 'yesterday'; expected a time in UTC, such as 2026-04-01T12:00:00.000Z"),
    "a time in other digits": ({"saved": "٢٠٢٦-04-01T12:00:00.000Z"}, "saved is '٢٠٢٦-"),
    "truth as seconds": ({"seconds": True}, "seconds is a bool; expected int"),
    "seconds below 0": ({"seconds": -1}, "seconds is -1; expected 0 to"),
    "submitted and open": ({"kind": ""}, "is submitted, but: Not answered: Kind"),
    "submitted against a rule": ({"kind": "b", "grade": 3, "other": 3}, "submitted, but: B is at most 2."),
    "submitted without the reason": ({"odd": True}, "submitted, but: Odd needs a reason."),
    "submitted with a blank reason": ({"odd": True, "why": " \n"}, "submitted, but: Odd needs a reason."),
    "far from the other": ({"grade": 1, "other": 3}, "submitted, but: Near the other."),
    "a rule of the task": ({"grade": 1, "other": 1}, "submitted, but: Of poems 2 at least."),
    "brackets": ({"gaps": {"ONE": "[x]", "TWO": "y"}}, "submitted, but: No brackets"),
    "two alike": ({"gaps": {"ONE": "Y ", "TWO": "y"}}, "submitted, but: No brackets, no two alike."),
    "submitted as a text": ({"submitted": "yes"}, "submitted is a str")
}  # fmt: skip


@pytest.mark.parametrize("changes", GOOD_VALUES)
def test_what_an_answer_can_be(changes):
    small_campaign = small()
    assert answers.read(row(small_campaign, **changes), small_campaign).row() == row(small_campaign, **changes)


@pytest.mark.parametrize("name", BAD_VALUES)
def test_what_an_answer_cannot_be(name):
    small_campaign = small()
    changes, said = BAD_VALUES[name]
    assert said in line_of(InputInvalid, answers.read, row(small_campaign, **changes), small_campaign)


def test_of_several_open_points_the_first_is_named_and_all_are_counted():
    small_campaign = small()
    values = {**FULL, "kind": "", "rank": [], "odd": True}
    open_ = answers.open_points(small_campaign.form, small_campaign.tasks[0], values)
    assert open_ == ["Not answered: Kind", "Not answered: Rank", "Odd needs a reason."]
    with pytest.raises(InputInvalid, match=r"Not answered: Kind \(3 points\); expected none open"):
        answers.read(row(small_campaign, kind="", rank=[], odd=True), small_campaign)


def test_a_mean_is_rounded_half_up():
    weights = {"grade": 1, "other": 1}
    assert answers.weighted_mean(weights, {"grade": 2, "other": 3}) == 3
    assert answers.weighted_mean(weights, {"grade": 1, "other": 2}) == 2
    assert answers.weighted_mean({"grade": 0.35, "other": 0.65}, {"grade": 3, "other": 2}) == 2
    assert answers.weighted_mean(weights, {"grade": None, "other": 2}) is None


def test_a_task_is_for_those_it_is_assigned_to():
    small_campaign = small()
    (only_task,) = small_campaign.tasks
    assigned = changed_task(only_task, assigned=("eva", "li"))
    made = campaign.campaign("Small", small_campaign.form, [assigned])
    assert made.tasks_of("eva") == made.tasks
    assert made.tasks_of("ann") == ()
    with pytest.raises(InputInvalid, match="is not ann's; expected one that is assigned"):
        answers.read({**row(made), "task": made.tasks[0].id}, made)


# --- campaigns and files


@pytest.mark.parametrize("name", MADE)
def test_a_campaign_of_each_form_is_read_again(name):
    form_campaign = MADE[name]()
    assert campaign.parse_campaign(json.dumps(form_campaign.content), "c.json") == form_campaign


@pytest.mark.parametrize("name", MADE)
def test_files_keep_every_kind_of_value(name):
    form_campaign, chance = MADE[name](), random.Random(name)
    made = [
        answers.read(
            {
                "task": campaign_task.id,
                "annotator": who,
                **values(form_campaign, campaign_task, chance, odd=True),
                "seconds": 3,
                "saved": "2026-04-01T12:00:00.000Z",
            },
            form_campaign,
        )
        for campaign_task in form_campaign.tasks
        for who in campaign_task.assigned or ("ann", "bob")
    ]
    for write in WRITERS:
        text = write(form_campaign, made)
        kept = exchange.read(text.encode(), form_campaign)
        assert kept == exchange.in_campaign_order(form_campaign, made)
        assert write(form_campaign, kept) == text


@pytest.mark.parametrize("number", [10**9, -(10**9), 0, -1, 0.25, -0.5, 999_999_999.75, None])
def test_every_number_that_a_field_allows_comes_back_from_a_file(number):
    years = {"field": "years", "kind": "number", "label": "Years", "low": -(10**9), "decimals": 2}
    made = small(steps=steps(years), skip="", submit=False, rules=[])
    answer = answers.Answer(made.tasks[0].id, "ann", {"years": number}, saved="2026-04-01T12:00:00.000Z")
    for write in WRITERS:
        (again,) = exchange.read(write(made, [answer]).encode(), made)
        assert again == answer
        assert type(again["years"]) is type(number)


@pytest.mark.parametrize("name", MADE)
def test_each_form_can_be_finished(name):
    form_campaign, chance = MADE[name](), random.Random(name)
    for campaign_task in form_campaign.tasks:
        who = (*campaign_task.assigned, "ann")[0]
        made = finished(form_campaign, campaign_task, who, chance)
        assert answers.read(made.row(), form_campaign) == made
        assert answers.is_done(form_campaign.form, made.values)


@pytest.mark.parametrize(
    ("changes", "owner", "said"),
    [
        ({"text": ...}, [], "lacks text, which the form small shows"),
        ({"holes": ...}, [], "lacks holes, which the field gaps"),
        ({"text": None}, [], "text cannot be shown as text"),
        ({"text": "a\rb"}, [], "carriage return"),
        ({"holes": {"ONE": None}}, [], "lacks holes"),
        ({"gold": "a"}, ["gold"], "shows gold, which is its owner's"),
    ],
)
def test_what_a_task_cannot_show(changes, owner, said):
    small_form = form.parse({**copy.deepcopy(SMALL), "owner": owner}, "small.yaml")
    shown = {name: value for name, value in {**SHOWN, **changes}.items() if value is not ...}
    with pytest.raises(InputInvalid, match=said):
        campaign.campaign("Small", small_form, [task("small", 0, "Hebrew", "Israel", shown)])


def test_the_page_has_only_what_the_form_uses():
    small_form = form.parse(copy.deepcopy(SMALL), "small.yaml")
    only_task = task("small", 0, "Hebrew", "Israel", {**SHOWN, "model": "secret"}, assigned=("eva", "li"))
    made = campaign.campaign("Small", small_form, [only_task])
    for served in (None, page.Served("eva", "/a/x")):
        (data,) = unpacked(page.write(made, served))["tasks"]
        assert set(data["shown"]) == {"text", "holes", "sort"}
        assert data["assigned"] == ([] if served else ["eva", "li"])


def test_slots_without_a_word_are_empty():
    """A letter that was written and taken back leaves slots that hold nothing."""
    form_campaign = MADE["macaron_review"]()
    first_task = form_campaign.tasks[0]
    gaps = dict.fromkeys(first_task.shown["option_gaps"], "")
    values = {**form_campaign.form.empty(), "decision": "revise", "new_options_en": gaps}
    (point,) = answers.open_points(form_campaign.form, first_task, values)
    assert point == "Revise: nothing is revised yet; write at least one text."


def test_a_skipped_task_can_need_a_reason():
    form_campaign = MADE["macaron_author"]()
    values = {**form_campaign.form.empty(), "not_applicable": True}
    (point,) = answers.open_points(form_campaign.form, form_campaign.tasks[0], values)
    assert point == "Say why the template does not apply."
    assert not answers.open_points(form_campaign.form, form_campaign.tasks[0], {**values, "why": "No such feast."})


# --- the commands


def test_a_lead_makes_a_form_of_their_own(tmp_path):
    own, rows = tmp_path / "my.yaml", tmp_path / "rows.jsonl"
    own.write_text(yaml.safe_dump(SMALL), encoding="utf-8")
    write_rows(rows, [{"id": "r1", "language": "Hebrew", "assigned": ["eva"], "hidden": {"gold": "a"}, **SHOWN}])
    told = command("form", own)
    assert (told.exit_code, told.stdout.splitlines()[0]) == (0, "kind\tchoice\tneeded\ta, b")
    assert "small" not in command("form").stdout
    drawn = command("draw", rows, "--form", own, "--to", tmp_path / "c.json")
    assert drawn.exit_code == 0, drawn.output
    only_task = campaign.read(tmp_path / "c.json").tasks[0]
    assert (only_task.row, only_task.hidden, only_task.assigned) == ("r1", {"gold": "a"}, ("eva",))
    assert command("page", tmp_path / "c.json", "--to", tmp_path / "p.html").exit_code == 0
    created = command("create", tmp_path / "a.store", tmp_path / "c.json", "eva")
    assert created.stdout.startswith("eva\thttp://127.0.0.1:8123/a/")
    idle = command("create", tmp_path / "a.store", tmp_path / "c.json", "ewa")
    said = "excam: annotator ewa: no task is assigned to them; expected one of eva\n"
    assert (idle.exit_code, idle.stderr) == (2, said)
    assert (tmp_path / "p.html").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("", "no rows"),
        ("[1]\n", "found list; expected an object"),
        ('{"id": "", "text": "x"}\n', ":1: no `id`"),
        ('{"id": "a", "language": 3}\n', ":1: language is 3"),
        ('{"id": "a", "hidden": {"g": 1}}\n', ":1: hidden is"),
        ('{"id": "a", "assigned": "eva"}\n', ":1: assigned is"),
        ('{"id": "a", "language": "Hebrew"}\n', ":1: lacks text, which the form small shows; found id, language"),
        ('{"id": "a", "text": "x", "hole": {}}\n', ":1: lacks holes, which the field gaps of the form small is ab"),
    ],
)
def test_rows_that_make_no_tasks(tmp_path, rows, said):
    (tmp_path / "my.yaml").write_text(yaml.safe_dump(SMALL), encoding="utf-8")
    (tmp_path / "rows.jsonl").write_text(rows, encoding="utf-8")
    told = command("draw", tmp_path / "rows.jsonl", "--form", tmp_path / "my.yaml", "--to", tmp_path / "c.json")
    assert told.exit_code == 2
    assert said in told.stderr
    assert told.stderr.count("\n") == 1
    assert not (tmp_path / "c.json").exists()


def test_a_table_as_people_have_it_makes_a_blind_study(tmp_path):
    """Names in any case, another id, language and culture as usual; what the form does not show is in no page."""
    form_path, rows = tmp_path / "my.yaml", tmp_path / "study.csv"
    plain = {**SMALL, "steps": [{"title": "One", "blocks": SMALL["steps"][0]["blocks"][:1]}], "rules": [], "skip": ""}
    form_path.write_text(yaml.safe_dump({**plain, "owner": ["system", "gold", "judge", "arm"]}), encoding="utf-8")
    rows.write_text(
        'nr,Lang,Country,TEXT,model,notes,hidden\n7,Hebrew,Israel,x,gpt-9,n1,"{""gold"": ""a""}"\n', encoding="utf-8"
    )
    told = command("draw", rows, "--form", form_path, "--to", tmp_path / "c.json")
    assert told.exit_code == 0, told.output
    assert f"{rows}: read Lang as language, Country as culture, TEXT as text, model as system, nr as" in told.stderr
    assert "hidden from annotators: system, notes, gold" in told.stderr
    assert "no column for judge of the form's owner, which stays empty: --column judge=COLUMN" in told.stderr
    (task,) = campaign.read(tmp_path / "c.json").tasks
    assert (task.row, task.language, task.culture, task.shown) == ("7", "Hebrew", "Israel", {"text": "x"})
    assert task.hidden == {"system": "gpt-9", "notes": "n1", "gold": "a"}
    assert command("page", tmp_path / "c.json", "--to", tmp_path / "p.html").exit_code == 0
    assert "gpt-9" not in json.dumps(unpacked((tmp_path / "p.html").read_text()))
    call = ("draw", rows, "--form", form_path, "--to", tmp_path / "c.json", "--id")
    assert "no column nix; found nr, Lang" in command(*call, "nix").stderr
    assert command(*call, "notes", "--column", "text=model", "--column", "judge=nr").exit_code == 0
    (task,) = campaign.read(tmp_path / "c.json").tasks
    assert (task.row, task.shown, task.hidden["judge"]) == ("n1", {"text": "gpt-9"}, "7")
