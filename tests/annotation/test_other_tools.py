"""Answers through the files of Label Studio and doccano: what they hold comes back, the rest is counted."""

import json
import xml.etree.ElementTree as ElementTree

import pytest
from annotation_server_process import command, made
from test_annotation_agreement import CAMPAIGN, FORM, TEXTS, TWO, answer

from excam.annotation.store import Store

ORDERS = sum(bool(each["rank"]) for each in TWO)


@pytest.fixture
def path(tmp_path):
    """A store with answers."""
    made(tmp_path / "answers.store", CAMPAIGN, ["ada", "bo"])
    with Store(tmp_path / "answers.store") as store:
        store.merge([*TWO[:-1], answer(3, "bo", "never", 2, words=[[0, 2, "odd"]], why="好\u2028 \n 👍")])
    return tmp_path / "answers.store"


def empty(tmp_path, name):
    made(tmp_path / name, CAMPAIGN, ["ada", "bo", "user-7"])
    return tmp_path / name


def test_label_studio_gives_back_all_but_orders(path, tmp_path):
    done = command("to-label-studio", path, "--to", tmp_path / "tasks.json")
    assert done.stdout.splitlines() == [
        *(f"{tmp_path}/tasks.json: 4 tasks, 8 answers", f"left out: {ORDERS} x rank, a field of kind order")
    ]
    other = empty(tmp_path, "other.store")
    assert "8 new, 0 newer, 0 older, 0 same" in command("from-label-studio", other, tmp_path / "tasks.json").stdout
    with Store(path) as sent, Store(other) as back:
        expected = [each.row() | {"rank": []} for each in sent.answers()]
        assert sorted(map(str, (each.row() for each in back.answers()))) == sorted(map(str, expected))
    view = ElementTree.parse(tmp_path / "tasks.xml").getroot()
    controls = {control.get("name"): control.tag for control in view if control.get("toName")}
    assert controls == {
        **{
            "heard": "Choices",
            "polite": "Number",
            "is": "Choices",
            "words": "Labels",
            "age": "Number",
            "why": "TextArea",
        }
    }
    results = [
        result
        for task in json.loads((tmp_path / "tasks.json").read_text())
        for each in task["annotations"]
        for result in each["result"]
    ]
    assert {result["from_name"] for result in results} <= set(controls)
    assert {result["to_name"] for result in results} == {"greeting"}


def test_an_export_of_label_studio_as_it_documents_it(tmp_path):
    """Its own ids, names and times; a rating for a scale; what the form does not know is counted, not lost in silence."""
    to = {"to_name": "greeting", "origin": "manual"}
    results = [
        {**to, "id": "a", "from_name": "heard", "type": "choices", "value": {"choices": ["often"]}},
        {**to, "id": "b", "from_name": "polite", "type": "rating", "value": {"rating": 4}},
        {**to, "from_name": "words", "type": "labels"}
        | {"value": {"start": 0, "end": 6, "text": TEXTS[1][:6], "labels": ["odd"]}},
        {
            **to,
            "from_name": "words",
            "type": "labels",
            "value": {"start": 1, "end": 3, "text": "xx", "labels": ["odd"]},
        },
        {**to, "from_name": "words", "type": "labels", "value": {"start": 1, "end": 3, "labels": ["rude"]}},
        {**to, "from_name": "mood", "type": "choices", "value": {"choices": ["good"]}},
        {**to, "from_name": "why", "type": "videorectangle", "value": {}},
    ]
    annotation = {"id": 1001, "completed_by": 7, "was_cancelled": False, "lead_time": 4.288, "result": results}
    annotation |= {"created_at": "2026-03-09T22:16:08.728353Z", "updated_at": "2026-03-09T23:16:08.728378+01:00"}
    cancelled = {"id": 1002, "completed_by": {"id": 9, "email": "bo@example.org"}, "was_cancelled": True, "result": []}
    file, store = tmp_path / "export.json", empty(tmp_path, "a.store")
    file.write_text(json.dumps([{"id": 12, "data": {"row": "row-1"}, "annotations": [annotation, cancelled]}]))
    assert command("from-label-studio", store, file).stdout.splitlines()[1:] == [
        "left out: 1 x cancelled annotation",
        "left out: 1 x result of mood, which is no field of the form",
        "left out: 1 x why: a result of type videorectangle",
        "left out: 1 x words: a mark of another text",
        "left out: 1 x words: rude, which is no label",
    ]
    with Store(store) as opened:
        (kept,) = opened.answers()
    assert (kept.annotator, kept.seconds, kept.saved) == ("user-7", 4, "2026-03-09T22:16:08.728Z")
    assert kept.values == {
        **FORM.empty(),
        **{"heard": "often", "polite": 4, "words": [[0, 6, "odd"]], "submitted": True},
    }


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[{", "not complete JSON"),
        ('[{"greeting": "x", "id": 1}]', "not JSON-MIN"),
        ('[{"data": {"row": "row-9"}}]', "task 1: neither `task` nor `row` is of campaign"),
        ('[{"data": {"row": "row-1"}, "annotations": [{"completed_by": 7, "result": '
         '[{"from_name": "words", "type": "labels", "value": {"labels": ["odd"]}}]}]}]', "task 1: a result of another shape"),
        ('[{"data": {"row": "row-1"}, "annotations": [{"completed_by": 7, "result": '
         '[{"from_name": "polite", "type": "rating", "value": {"rating": 9}}]}]}]', "polite is 9; expected 1, 2, 3, 4, 5"),
        ('[{"data": {"row": "row-1"}, "annotations": [{"completed_by": 8, "result": []}]}]', "no annotator 'user-8'"),
    ],
)  # fmt: skip
def test_an_invalid_export_is_refused_whole_in_one_line(tmp_path, content, said):
    (tmp_path / "export.json").write_text(content)
    store = empty(tmp_path, "a.store")
    done = command("from-label-studio", store, tmp_path / "export.json")
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert said in done.stderr
    with Store(store) as opened:
        assert opened.answers() == []


@pytest.mark.parametrize("field", ["words", "heard", "is", "why"])
def test_doccano_gives_back_its_one_field(path, tmp_path, field):
    done = command("to-doccano", path, "--field", field, "--to", tmp_path / "all.jsonl")
    assert f"left out: 8 x {'age'}, another field" in done.stdout
    lines = (tmp_path / "all.jsonl").read_text(encoding="utf-8").split("\n")
    own = [line for line in lines if line and json.loads(line)["annotator"] == "bo"]
    assert len(own) == 4
    (tmp_path / "bo.jsonl").write_text("\n".join(own), encoding="utf-8")
    other = empty(tmp_path, "other.store")
    back = command("from-doccano", other, tmp_path / "bo.jsonl", "--field", field, "--annotator", "bo")
    assert back.stdout == f"{tmp_path}/bo.jsonl: 4 new, 0 newer, 0 older, 0 same\n"
    columns = next(question for question in FORM.questions if question.field == field).columns
    with Store(path) as sent, Store(other) as kept:
        before = {each.task: [each[column] for column in columns] for each in sent.answers() if each.annotator == "bo"}
        assert {each.task: [each[column] for column in columns] for each in kept.answers()} == before


def test_doccano_has_no_orders_and_what_it_adds_is_counted(path, tmp_path):
    done = command("to-doccano", path, "--field", "rank", "--to", tmp_path / "x.jsonl")
    assert "expected one that doccano can hold: heard, is, words, why" in done.stderr
    line = {"id": 3, "text": TEXTS[0], "label": ["often", "never"], "row": "row-0", "Comments": ["why?"]}
    (tmp_path / "x.jsonl").write_text(json.dumps(line))
    store = empty(tmp_path, "a.store")
    back = command("from-doccano", store, tmp_path / "x.jsonl", "--field", "heard", "--annotator", "ada")
    assert back.stdout.splitlines()[1:] == [
        "left out: 1 x Comments, which the form does not have",
        "left out: 1 x heard: a second value",
    ]
