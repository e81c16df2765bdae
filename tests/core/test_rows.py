"""Which columns of a user's file are read as what, and what becomes of a row that cannot be scored."""

import json
import math
from datetime import date

import polars as pl
import pytest
from one_line_errors import line_of
from text_tables import table

from excam.core.exceptions import InputInvalid
from excam.core.row_files import BadRow
from excam.scoring import joining, rows
from excam.scoring.given_rows import rows_of
from excam.scoring.metric import available

EXCAM, RUBRIC, BLEU, CALMQA, CHRF = (available()[name] for name in ("excam", "rubric", "bleu", "calmqa", "chrf"))
STANDING = EXCAM.lacking(["instruction"])
GIVEN = {"instruction": "A?", "output": "x"}
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}


def chat(question, answer):
    return {"messages": [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]}


def file(folder, *records, name="a.jsonl"):
    path = folder / name
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def read(path, metric=EXCAM, named=None, **more):
    return list(rows.RowFile(path, metric, named, **more))


def texts(entries):
    return [tuple(entry.values.get(name) for name in ("instruction", "output")) for entry in entries]


# --- columns


@pytest.mark.parametrize(("names", "read_as"), table(__file__, "columns_are_found_by_their_usual_names"))
def test_columns_are_found_by_their_usual_names(names, read_as):
    assert rows.columns_of(names, EXCAM, {}).renamed == tuple(read_as)


def test_the_roles_are_those_of_the_metric():
    read_as = ("instruction as prompt", "output as response")
    assert rows.columns_of(("instruction", "output"), RUBRIC, {}).renamed == read_as
    columns = rows.columns_of(("prompt", "response", "lang"), CALMQA, {})
    assert columns.theirs == {"question": "prompt", "answer": "response", "language": "lang"}
    read_as = ("Translation as translation", "language as target_language")
    assert rows.columns_of(("Translation", "reference", "language"), BLEU, {}).renamed == read_as


@pytest.mark.parametrize(
    ("names", "metric", "named", "said"),
    [
        (("text",), EXCAM, {}, "column instruction, output: not found; found text; give --instruction NAME --output NAME, "
         "or --without instruction if there is none"),
        ((), EXCAM, {}, "column instruction, output: not found; found none; give --instruction NAME --output NAME"),
        (("output", "remarks"), EXCAM, {}, "column instruction: not found; found output, remarks; give --instruction NAME"),
        (("prompt", "reference_answer"), EXCAM, {}, "column output: not found; found prompt, reference_answer; give --output"),
        (("question_en", "question_de", "output"), EXCAM, {}, "column instruction: found question_en, question_de; expected"),
        (("question_id", "output"), EXCAM, {}, "column instruction: not found; found question_id, output;"),
        (("a", "output"), STANDING, {"instruction": "a"},
         "column instruction: found a and --without instruction; expected one of them"),
        (("prompt", "answer", "response"), EXCAM, {},
         "column output: found answer, response; expected one; give --output answer or --output response"),
        (("prompt", "question", "output"), EXCAM, {},
         "column instruction: found prompt, question; expected one; give --instruction prompt or --instruction question"),
        (("prompt", "output"), EXCAM, {"output": "answer"}, "column answer: not found; found prompt, output"),
        (("a", "reference"), BLEU, {}, "column translation, target_language: not found; found a, reference; give --column "
         "translation=NAME --column target_language=NAME, or --without target_language if there is none"),
        (("translation", "reference"), BLEU, {"output": "translation"},
         "metric bleu has no column output; it reads translation, reference, target_language, id, language, system, "
         "culture"),
        (("prompt", "x"), RUBRIC, {}, "column response: not found; found prompt, x; give --output NAME"),
        (("a", "b"), RUBRIC, {"output": "a", "response": "b"}, "column response: found a and b; expected one of them"),
    ],
)  # fmt: skip
def test_a_column_that_is_not_there_is_one_line_that_says_what_to_type(names, metric, named, said):
    assert line_of(InputInvalid, rows.columns_of, names, metric, named, "a.csv").startswith(f"a.csv: {said}")


def test_a_column_that_is_named_is_the_one_that_is_read(tmp_path):
    path = file(tmp_path, {"prompt": "a", "answer": "b", "response": "c", "lang": "Greek"})
    (row,) = read(path, named={"output": "response", "language": "lang"})
    assert (row.values, row.labels) == ({"instruction": "a", "output": "c"}, {"language": "Greek"})
    (row,) = read(path, RUBRIC, {"instruction": "prompt", "response": "answer"})
    assert row.values["response"] == "b"


def test_what_is_read_as_what_is_one_line(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes("\ufeffFrage;Antwort;Bewertung\r\nWas?;Das.;3,5\r\n".encode())
    read_as = "read Frage as instruction, Antwort as output; not read, kept in `columns`: Bewertung"
    assert rows.RowFile(path, EXCAM).said == f"{path}: semicolons; {read_as}"
    path = file(tmp_path, {**GIVEN, "more": 1})
    assert rows.RowFile(path, EXCAM).said == ""
    file(tmp_path, {**GIVEN, "input": "Guten Tag"})
    assert rows.RowFile(path, EXCAM).said == f"{path}: not read, kept in `columns`: input", "it may be of the task"


ID_NAMES = ("question_id", "qid", "rowId", "uuid", "key", "Nr.", "item no")


@pytest.mark.parametrize(
    ("name", "values", "ids"),
    [
        *((name, ["q-07", 9], ["q-07", "9"]) for name in ID_NAMES),
        *(("question_id", values, ["1", "2"]) for values in (["a", "a"], ["a", None], ["a", " "], ["a", True])),
        *((name, ["a", "b"], ["1", "2"]) for name in ("marks", "valid text")),
    ],
)
def test_a_column_is_the_id_if_its_name_says_so_and_it_is_complete_and_unique(tmp_path, name, values, ids):
    path = file(tmp_path, *({name: value, "remarks": "x", **GIVEN} for value in values))
    row_file = rows.RowFile(path, EXCAM)
    assert [row.id for row in row_file] == ids
    assert [row.others for row in row_file] == [
        {"remarks": "x"} | ({name: value} if name not in row_file.columns.theirs.values() and value is not None else {})
        for value in values
    ]
    if ids == ["1", "2"] and name == "question_id":
        assert row_file.said.startswith(f"{path}: question_id: not the id, as some rows lack it or share one; rows are")
    assert [row.id for row in rows_of([json.loads(line) for line in path.open()], EXCAM)[0]] == ids


def test_of_several_ids_the_first_is_taken_and_the_others_are_named(tmp_path):
    path = file(tmp_path, *({"row_id": at, "question_id": -at, **GIVEN} for at in (1, 2)))
    row_file = rows.RowFile(path, EXCAM)
    assert [row.id for row in row_file] == ["1", "2"]
    assert row_file.said.startswith(f"{path}: question_id may be the id too: --id NAME; read row_id as id; not read")
    assert [row.id for row in read(path, named={"id": "question_id"})] == ["-1", "-2"]


# --- rows


@pytest.mark.parametrize(
    ("record", "failure"),
    [
        ({"output": None}, "missing-output"),
        ({"instruction": ""}, "empty-instruction"),
        ({"instruction": None}, "missing-instruction"),
        ({"output": math.nan}, "missing-output"),
        ({"output": 5}, "not-text-output"),
        ({"instruction": 1}, "not-text-instruction"),
        ({"output": ""}, "empty-output"),
        ({"output": " \n\t"}, "empty-output"),
        ({"output": "<think>A dish?</think>\n"}, "empty-output"),
        ({"language": ["en"]}, "not-text-language"),
        ({"id": True}, "no-id"),
        ({"id": float(2**53)}, "no-id"),  # it stands for several numbers
        ({"id": ["a"]}, "no-id"),
        (BadRow("not-json", ""), "not-json"),
    ],
)
def test_a_bad_row_is_a_failed_row_in_its_place(record, failure):
    columns = rows.columns_of(("instruction", "output"), EXCAM, {})
    row = rows.row(record if isinstance(record, BadRow) else GIVEN | record, columns, EXCAM)
    assert (row.failure, row.id) == (failure, "")


def test_ids_are_text():
    columns = rows.columns_of(("instruction", "output"), EXCAM, {})
    same = (1, "0001", "", 1870000000000000001, 2**64 - 1, 10**30, -5)
    for identifier, text in (*((same_id, str(same_id)) for same_id in same), (1.0, "1"), (None, "")):
        assert rows.row({**GIVEN, "id": identifier}, columns, EXCAM).id == text


def test_a_text_stands_in_for_a_column_only_where_that_is_asked_for(tmp_path):
    path = file(tmp_path, {"output": "x", "remarks": "a"}, {"output": "y", "language": math.nan, "system": None})
    entries = read(path, STANDING)
    assert texts(entries) == [("Generate a culturally correct text", output) for output in ("x", "y")]
    assert [row.others for row in entries] == [{"remarks": "a"}, {}]
    assert [(row.labels, row.notes) for row in entries] == [({}, ["stand-in"])] * 2
    assert "--without: found output; expected instruction" in line_of(InputInvalid, EXCAM.lacking, ["output"])


@pytest.mark.parametrize(
    ("text", "read_as", "notes"),
    [
        ("<think>A cat?</think>\n\nA dog.", "A dog.", ["reasoning"]),
        ("[THINK]A cat?[/THINK]A dog.", "A dog.", ["reasoning"]),
        ("<think>A cat?", "<think>A cat?", ["reasoning-unclosed"]),
        ("A cat?</think>A dog.", "A cat?</think>A dog.", ["reasoning-unclosed"]),
        ("Analysis of a dog.", "Analysis of a dog.", []),
    ],
)
def test_reasoning_before_a_text_is_left_out_and_said(text, read_as, notes):
    for metric, name in ((EXCAM, "output"), (CALMQA, "answer"), (available()["chrf"], "translation")):
        record = {**dict.fromkeys(metric.columns, text), name: text}
        row = rows.row(record, rows.columns_of(list(record), metric, {}), metric)
        assert (row.values[name], list(row.notes)) == (read_as, notes)
        assert {value for column, value in row.values.items() if column != name} == {text}, "of no other column"


def test_other_columns_are_kept_as_json_holds_them(tmp_path):
    day, odd = date(2024, 5, 1), {"nested": [1.5, None]}
    pl.DataFrame({**GIVEN, "day": day, "odd": [odd], "raw": b"xyz", "none": None}).write_parquet(tmp_path / "a.parquet")
    (entry,) = read(tmp_path / "a.parquet")
    assert entry.others == {"day": "2024-05-01", "odd": odd, "raw": "3 bytes"}
    (entry,) = rows_of([{**GIVEN, "share": math.nan, "nested": {1: math.inf}}], EXCAM)[0]
    assert entry.others == {"nested": {"1": None}}


def test_an_id_that_occurs_twice_is_a_failure_under_a_name_of_its_own(tmp_path):
    path = file(tmp_path, *({**GIVEN, "id": name} for n, name in enumerate(["a", "b", 1, "a", 1.0, "a#4"])))
    entries = read(path)
    assert [entry.id for entry in entries] == ["a", "b", "1", "a#4", "1#5", "a#4#6"], "results are joined by id"
    assert [entry.failure for entry in entries] == [*[None] * 3, *["duplicate-id"] * 3]


def test_a_row_without_an_id_never_takes_that_of_another(tmp_path):
    absent = [GIVEN, *({**GIVEN, "id": none} for none in (None, math.nan, "", " "))]
    entries = read(file(tmp_path, *absent, {**GIVEN, "id": 2}, {**GIVEN, "id": "1"}))
    assert [entry.id for entry in entries] == ["#1", "#2", "#3", "#4", "#5", "2", "1"]
    assert {entry.failure for entry in entries} == {None}
    assert [entry.id for entry in read(file(tmp_path, GIVEN, GIVEN))] == ["1", "2"]


def test_a_table_that_excam_wrote_is_read_without_its_guards(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("id,score,instruction,output,remarks,signature\na,0.5,A?,\"'- one\n'- two\",b,x|y\n")
    (entry,) = read(path)
    assert (entry.values["output"], entry.others) == ("- one\n- two", {"remarks": "b"})
    path.write_text("id,instruction,output\na,A?,'- one\n")
    assert texts(read(path)) == [("A?", "'- one")]


def test_columns_of_the_metric_s_own_names_come_before_turns(tmp_path):
    own = {"instruction": "I", "output": "O"}
    assert texts(read(file(tmp_path, {**own, **chat("Q?", "A.")}, own))) == [("I", "O")] * 2


@pytest.mark.parametrize(("name", "named"), [("output", {}), ("response", {}), ("said", {"output": "said"})])
@pytest.mark.parametrize("answer", [(), ({"role": "assistant", "content": "A."},)])
def test_turns_are_the_instruction_of_a_text_in_a_column(tmp_path, name, named, answer):
    row = {"messages": [{"role": "user", "content": "Q?"}, *answer], name: "O"}
    assert texts(read(file(tmp_path, row), EXCAM, named)) == [("Q?", "O")]


def test_parts_of_a_log_are_named_for_a_metric_without_a_pair(tmp_path):
    sample = {"doc_id": 0, "doc": {"question": "Q?"}, "target": "B.", "resps": [["A."]], "filtered_resps": ["A."]}
    rows = read(file(tmp_path, sample), CHRF, {"translation": "output", "reference": "target"})
    assert [row.values for row in rows] == [{"translation": "A.", "reference": "B."}]


def test_a_blank_text_has_a_score_where_the_metric_gives_it_one():
    columns = rows.columns_of(("translation", "reference"), CHRF, {})
    assert rows.row({"translation": "", "reference": "x"}, columns, CHRF).failure is None
    assert rows.row({"translation": None, "reference": "x"}, columns, CHRF).failure == "missing-translation"


def test_columns_may_hold_other_values_where_the_metric_says_so():
    metric = available()["acre-equivalent"]
    columns = rows.columns_of(("translation", "accepted"), metric, {})
    row = rows.row({"translation": "x", "accepted": ["y"]}, columns, metric)
    assert (row.failure, row.values["accepted"]) == (None, ["y"])


def test_a_survey_counts_rows_and_failures(tmp_path):
    path = file(tmp_path, *({**GIVEN, "output": text} for text in ("x", None, "", None)))
    survey = rows.RowFile(path, EXCAM).survey()
    assert (survey.rows, dict(survey.failures)) == (4, {"missing-output": 2, "empty-output": 1})
    assert survey.first == f"{path}: row 2 (2): missing-output"
    assert rows.RowFile(path, EXCAM, limit=2).survey().rows == 2


def test_a_file_without_rows_is_one_line(tmp_path):
    pl.DataFrame({"output": ["x"]}).head(0).write_parquet(tmp_path / "a.parquet")
    for name, text in (
        ("a.jsonl", ""),
        ("b.jsonl", "\n \n"),
        ("a.csv", "id,instruction,output\n"),
        ("a.parquet", None),
    ):
        path = tmp_path / name
        if text is not None:
            path.write_text(text)
        line = f"{path}: 0 rows{'; expected one JSON object' if path.suffix == '.jsonl' else ''}"
        assert line_of(InputInvalid, rows.RowFile, path, EXCAM).startswith(line)


def test_a_file_of_bad_rows_alone_is_read_as_failures(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text("no json\n5\n")
    assert [row.failure for row in read(path)] == ["not-json", "not-an-object"]


# --- systems


def answers(path, **more):
    return [(row.id, row.labels["system"], row.values.get("output"), row.failure) for row in read(path, **more)]


def test_an_id_is_unique_within_a_system(tmp_path):
    long = [{"qid": f"q{at}", "model": model, **GIVEN} for at in (1, 2) for model in ("a", "b")]
    ids = [(entry["qid"], entry["model"], "x", None) for entry in long]
    assert answers(file(tmp_path, *long)) == ids
    again = file(tmp_path, *({**entry, "id": entry["qid"]} for entry in (*long, long[0])), name="b.jsonl")
    assert answers(again) == [*ids, ("q1#5", "a", "x", "duplicate-id")]


# --- conversations and logs


def test_the_last_turns_of_a_conversation_are_read(tmp_path):
    turns = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Name a dish."},
        {"role": "assistant", "content": "Tea."},
        {"role": "user", "content": [{"type": "text", "text": "A Greek "}, {"type": "text", "text": "one."}]},
        {"role": "assistant", "content": "Sushi."},
    ]
    path = file(tmp_path, {"id": "a", "messages": turns, "culture": "Greece"}, {"messages": turns[1:3]})
    row_file = rows.RowFile(path, EXCAM)
    whole = "user: Name a dish.\n\nassistant: Tea.\n\nA Greek one."
    assert texts(row_file) == [(whole, "Sushi."), ("Name a dish.", "Tea.")]
    assert [(row.id, row.labels) for row in row_file] == [("a", {"culture": "Greece"}), ("#2", {})]
    read_as = "earlier turns and the last one of a person as instruction, the last answer as output"
    assert f": messages: {read_as}; not what a system or a tool says" in row_file.said


@pytest.mark.parametrize("row", table(__file__, "rows_of_other_programs"))
def test_rows_of_other_programs(tmp_path, row):
    assert texts(read(file(tmp_path, row))) == [("A dish?", "Tea.")]
    entries = read(file(tmp_path, row), RUBRIC)
    assert [(entry.values["prompt"], entry.values["response"]) for entry in entries] == [("A dish?", "Tea.")]


@pytest.mark.parametrize(
    ("row", "failure"),
    [
        ({"messages": [{"role": "user", "content": "A dish?"}]}, "no-answer"),
        ({"messages": []}, "no-answer"),
        ({"messages": "x"}, "no-answer"),
        (chat("A?", None), "missing-output"),
        (chat([IMAGE], "B."), "not-text"),
        (chat([{"type": "text", "text": "What is this?"}, IMAGE], "B."), "not-text"),
        (chat("A?", [IMAGE]), "not-text"),
        (chat("A?", [{"type": "tool_use", "name": "search"}]), "not-text"),
        (chat([{"type": "tool_result", "content": "x"}], "B."), "not-text"),
        (chat("", "B."), "not-text"),
        ({"messages": [*chat("A?", "B.")["messages"], *chat([IMAGE], "C.")["messages"]]}, "not-text"),
        ({"messages": [*chat([IMAGE], "B.")["messages"], *chat("A?", "C.")["messages"]]}, "not-text"),
        ({"messages": [*chat("A?", "B.")["messages"][:1], {"role": "assistant", "tool_calls": [1]}]}, "not-text"),
    ],
)
def test_a_conversation_without_a_text_is_a_failure(tmp_path, row, failure):
    entries = read(file(tmp_path, chat("A?", "B."), row, {"instruction": "C?", "output": "D."}))
    assert [entry.failure for entry in entries] == [None, failure, None], "whatever the form of other rows"
    if failure != "missing-output":
        assert [entry.failure for entry in read(file(tmp_path, row))] == [failure]


def test_answers_of_lm_eval_are_those_that_the_model_wrote_and_each_once(tmp_path):
    text = {"doc_id": 0, "doc": {"question": "A?"}, "resps": [["x"]], "filtered_resps": ["[invalid]"], "filter": "none"}
    chosen = {"doc_id": 1, "doc": {}, "resps": [[["-1.5", "False"]], [["-0.5", "True"]]]}
    repeated, other = {**text, "doc_id": 2, "resps": [["x", "y"]]}, {**text, "doc_id": 3, "resps": [[5]]}
    row_file = rows.RowFile(file(tmp_path, text, chosen, {**text, "filter": "strict"}, repeated, other), EXCAM)
    assert [(entry.id, entry.failure, entry.values.get("output")) for entry in row_file] == [
        ("0", None, "x"),
        ("#2", "no-generated-text", None),
        ("2", None, "x"),
        ("2/2", None, "y"),
        ("#5", "no-answer", None),
    ]
    assert "; left out, with the same answers behind another filter: 1" in row_file.said


def test_epochs_of_a_sample_are_rows_of_their_own(tmp_path):
    sample = {"id": "q", "epoch": 1, "input": "A?", "output": {"completion": "B.", "model": "m"}}
    entries = read(file(tmp_path, sample, {**sample, "epoch": 2}, {**sample, "id": "r", "output": {"choices": []}}))
    assert [(entry.id, entry.failure, entry.labels) for entry in entries] == [
        ("q", None, {"system": "m"}),
        ("q/2", None, {"system": "m"}),
        ("r", "empty-output", {}),
    ]


def test_naming_a_column_switches_the_recognition_off(tmp_path):
    (entry,) = read(file(tmp_path, {**chat("A?", "B."), "reply": "C."}), named={"output": "reply"})
    assert entry.values["output"] == "C."


def test_a_metric_without_a_pair_reads_no_conversations(tmp_path):
    path = file(tmp_path, chat("A?", "B."))
    assert "column translation, reference: not found; found messages" in line_of(InputInvalid, read, path, CHRF)


# --- joining


@pytest.mark.parametrize("form", ["{}.0", "{:04d}", "{} ", " {}", "{}"])
def test_ids_that_differ_in_form_alone_are_joined(form):
    ours, theirs = [form.format(n) for n in range(1, 9)], [str(n) for n in range(1, 9)]
    pairing = joining.join(ours, theirs)
    assert pairing.theirs == dict(zip(ours, theirs, strict=True))
    assert bool(pairing.note) == (form != "{}")
    assert not pairing.ambiguous


def test_accents_that_are_composed_are_one_text():
    pairing = joining.join(["cafe\u0301"], ["caf\u00e9"])
    assert pairing.theirs == {"cafe\u0301": "caf\u00e9"}
    assert joining.same_text("e\u0301\r\nx ") == joining.same_text("\u00e9\nx")


def test_ids_of_which_several_are_alike_are_not_joined():
    pairing = joining.join(["1", "01", "2"], ["1", "2.0"])
    assert (pairing.theirs, pairing.ambiguous) == ({"1": "1"}, True)
    assert "ambiguous" in pairing.note
    assert joining.join(["1", "a"], ["1", "b"]).theirs == {"1": "1"}
