"""Which columns of a user's file are read as what, and what becomes of a row that cannot be scored."""

import json
import math

import polars as pl
import pytest
from one_line_errors import line_of

from excam.core.exceptions import InputInvalid
from excam.core.row_files import BadRow
from excam.scoring import joining, rows
from excam.scoring.defaults import STAND_IN_INSTRUCTION
from excam.scoring.metric import Row, available

EXCAM, RUBRIC, BLEU, CALMQA = (available()[name] for name in ("excam", "rubric", "bleu", "calmqa"))


def file(folder, *records, name="a.jsonl"):
    path = folder / name
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def read(path, metric=EXCAM, named=None, **more):
    return list(rows.RowFile(path, metric, named, **more))


def texts(entries):
    return [tuple(entry.values.get(name) for name in ("instruction", "output")) for entry in entries]


# --- columns


@pytest.mark.parametrize(
    ("names", "read_as"),
    [
        (("instruction", "output"), ()),
        (("output",), ()),
        (("prompt", "response"), ("prompt as instruction", "response as output")),
        (("question", "answer"), ("question as instruction", "answer as output")),
        (("input", "output"), ("input as instruction",)),
        (("instruction", "completion"), ("completion as output",)),
        (("Instruction", "Output"), ("Instruction as instruction", "Output as output")),
        (("Frage", "Antwort", "Sprache"), ("Frage as instruction", "Antwort as output", "Sprache as language")),
        (("uid", "user_prompt", "model_output"), ("user_prompt as instruction", "model_output as output", "uid as id")),
        (("質問", "回答"), ("質問 as instruction", "回答 as output")),
        (("instruction", "input", "output"), ()),
        (("question", "answer", "output"), ("question as instruction",)),
        (("Question Text", "answer", "ID"), ("Question Text as instruction", "answer as output", "ID as id")),
        (("output", "model", "lang"), ("lang as language", "model as system")),
    ],
)
def test_columns_are_found_by_their_usual_names(names, read_as):
    assert rows.columns_of(names, EXCAM, {}).renamed == read_as


def test_the_roles_are_those_of_the_metric():
    assert rows.columns_of(("instruction", "output"), RUBRIC, {}).renamed == (
        "instruction as prompt",
        "output as response",
    )
    columns = rows.columns_of(("prompt", "response", "lang"), CALMQA, {})
    assert columns.theirs == {"question": "prompt", "answer": "response", "language": "lang"}
    assert rows.columns_of(("Translation", "reference"), BLEU, {}).renamed == ("Translation as translation",)


@pytest.mark.parametrize(
    ("names", "metric", "named", "said"),
    [
        (("text",), EXCAM, {}, "column output: not found; found text; give --output NAME"),
        ((), EXCAM, {}, "column output: not found; found none; give --output NAME"),
        (("prompt", "answer", "response"), EXCAM, {},
         "column output: found answer, response; expected one; give --output answer or --output response"),
        (("prompt", "question", "output"), EXCAM, {},
         "column instruction: found prompt, question; expected one; give --instruction prompt or --instruction question"),
        (("prompt", "output"), EXCAM, {"output": "answer"}, "column answer: not found; found prompt, output"),
        (("a", "reference"), BLEU, {}, "column translation: not found; found a, reference; give --column translation=NAME"),
        (("translation", "reference"), BLEU, {"output": "translation"},
         "metric bleu has no column output; it reads translation, reference, target_language, id, language, system, "
         "culture"),
        (("prompt", "x"), RUBRIC, {}, "column response: not found; found prompt, x; give --output NAME"),
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
    said = rows.RowFile(path, EXCAM).said
    assert said == f"{path}: semicolons; read Frage as instruction, Antwort as output; not read: Bewertung"
    assert rows.RowFile(file(tmp_path, {"output": "x", "more": 1}), EXCAM).said == ""


# --- rows


@pytest.mark.parametrize(
    ("record", "failure"),
    [
        ({"output": None}, "missing-output"),
        ({"instruction": "a"}, "missing-output"),
        ({"output": math.nan}, "missing-output"),
        ({"output": 5}, "not-text-output"),
        ({"output": "x", "instruction": 1}, "not-text-instruction"),
        ({"output": ""}, "empty-output"),
        ({"output": " \n\t"}, "empty-output"),
        ({"output": "x", "language": ["en"]}, "not-text-language"),
        ({"output": "x", "id": True}, "no-id"),
        ({"output": "x", "id": float(2**53)}, "no-id"),  # it stands for several numbers
        ({"output": "x", "id": ["a"]}, "no-id"),
        (BadRow("not-json", ""), "not-json"),
    ],
)
def test_a_bad_row_is_a_failed_row_in_its_place(record, failure):
    columns = rows.columns_of(("instruction", "output"), EXCAM, {})
    row = rows.row(record, columns, EXCAM)
    assert (row.failure, row.id) == (failure, "")


@pytest.mark.parametrize(
    ("identifier", "text"),
    [
        *((1, "1"), (1.0, "1"), ("0001", "0001"), (None, ""), ("", "")),
        *((number, str(number)) for number in (1870000000000000001, 2**64 - 1, 10**30, -5)),
    ],
)
def test_ids_are_text(identifier, text):
    columns = rows.columns_of(("output",), EXCAM, {})
    assert rows.row({"output": "x", "id": identifier}, columns, EXCAM).id == text


def test_what_is_not_told_stands_in(tmp_path):
    path = file(tmp_path, {"output": "x", "instruction": ""}, {"output": "y", "language": math.nan, "system": None})
    assert texts(read(path)) == [(STAND_IN_INSTRUCTION, "x"), (STAND_IN_INSTRUCTION, "y")]
    assert [row.labels for row in read(path)] == [{}, {}]


def test_an_id_that_occurs_twice_is_a_failure_under_a_name_of_its_own(tmp_path):
    path = file(tmp_path, *({"output": str(n), "id": name} for n, name in enumerate(["a", "b", 1, "a", 1.0, "a#4"])))
    entries = read(path)
    assert [entry.id for entry in entries] == ["a", "b", "1", "a#4", "1#5", "a#4#6"]
    assert [entry.failure for entry in entries] == [None, None, None, "duplicate-id", "duplicate-id", "duplicate-id"]
    assert len({entry.id for entry in entries}) == len(entries), "results are joined by id"


def test_a_row_without_an_id_never_takes_that_of_another(tmp_path):
    absent = [{"output": "y"}, *({"output": "z", "id": none} for none in (None, math.nan, "", " "))]
    entries = read(file(tmp_path, *absent, {"output": "x", "id": 2}, {"output": "x", "id": "1"}))
    assert [(entry.id, entry.failure) for entry in entries] == [
        *((f"#{number}", None) for number in range(1, 6)),
        ("2", None),
        ("1", None),
    ]
    assert [entry.id for entry in read(file(tmp_path, *absent[:1], {"output": "x"}))] == ["1", "2"]


def test_a_table_that_excam_wrote_is_read_without_its_guards(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("id,score,output,signature\na,0.5,\"'- one\n'- two\",x|y\n")
    assert texts(read(path)) == [(STAND_IN_INSTRUCTION, "- one\n- two")]
    path.write_text("id,output\na,'- one\n")
    assert texts(read(path)) == [(STAND_IN_INSTRUCTION, "'- one")]


def test_columns_of_the_metric_s_own_names_come_before_turns(tmp_path):
    turns = [{"role": "user", "content": "Q?"}, {"role": "assistant", "content": "A."}]
    own = {"instruction": "I", "output": "O"}
    assert texts(read(file(tmp_path, {**own, "messages": turns}, own))) == [("I", "O")] * 2


@pytest.mark.parametrize(("name", "named"), [("output", {}), ("response", {}), ("said", {"output": "said"})])
@pytest.mark.parametrize("answer", [(), ({"role": "assistant", "content": "A."},)])
def test_turns_are_the_instruction_of_a_text_in_a_column(tmp_path, name, named, answer):
    row = {"messages": [{"role": "user", "content": "Q?"}, *answer], name: "O"}
    assert texts(read(file(tmp_path, row), EXCAM, named)) == [("Q?", "O")]


def test_parts_of_a_log_are_named_for_a_metric_without_a_pair(tmp_path):
    sample = {"doc_id": 0, "doc": {"question": "Q?"}, "target": "B.", "resps": [["A."]], "filtered_resps": ["A."]}
    rows = read(file(tmp_path, sample), BLEU, {"translation": "output", "reference": "target"})
    assert [row.values for row in rows] == [{"translation": "A.", "reference": "B.", "target_language": "English"}]


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("a.jsonl", "str"),
        ({"output": "x"}, "dict"),
        (5, "int"),
        (None, "NoneType"),
        (["x"], "str"),
        (pl.DataFrame({"output": ["x"]}), "DataFrame"),
    ],
)
def test_what_is_no_rows_is_named(value, kind):
    line = line_of(InputInvalid, rows.of_mappings, value, EXCAM)
    assert line.startswith(f"rows: found {kind}; expected dictionaries, one for each row")
    assert ("give table.to_dicts()" in line) == (kind == "DataFrame")


def test_a_program_is_told_of_keys_and_not_of_options():
    line = line_of(InputInvalid, rows.of_mappings, [{"text": "x"}], EXCAM)
    assert line == "rows: column output: not found; found text; rename the key"


def test_one_column_is_named_once():
    line = line_of(InputInvalid, rows.columns_of, ("a", "b"), RUBRIC, {"output": "a", "response": "b"})
    assert line == "rows: column response: found a and b; expected one of them"


def test_a_blank_text_has_a_score_where_the_metric_gives_it_one():
    columns = rows.columns_of(("translation", "reference"), BLEU, {})
    assert rows.row({"translation": "", "reference": "x"}, columns, BLEU).failure is None
    assert rows.row({"translation": None, "reference": "x"}, columns, BLEU).failure == "missing-translation"


def test_columns_may_hold_other_values_where_the_metric_says_so():
    metric = available()["acre-equivalent"]
    columns = rows.columns_of(("translation", "accepted"), metric, {})
    row = rows.row({"translation": "x", "accepted": ["y"]}, columns, metric)
    assert (row.failure, row.values["accepted"]) == (None, ["y"])


def test_a_survey_counts_rows_and_failures(tmp_path):
    path = file(tmp_path, {"output": "x"}, {"output": None}, {"output": ""}, {"output": None})
    survey = rows.RowFile(path, EXCAM).survey()
    assert (survey.rows, dict(survey.failures)) == (4, {"missing-output": 2, "empty-output": 1})
    assert survey.first == f"{path}: row 2 (2): missing-output"
    assert rows.RowFile(path, EXCAM, limit=2).survey().rows == 2


def test_a_file_without_rows_is_one_line(tmp_path):
    for text in ("", "\n \n"):
        path = tmp_path / "a.jsonl"
        path.write_text(text)
        assert line_of(InputInvalid, rows.RowFile, path, EXCAM).startswith(f"{path}: 0 rows; expected one JSON object")
    path.write_text("id,output\n")
    assert ": 0 rows" in line_of(InputInvalid, rows.RowFile, path.rename(tmp_path / "a.csv"), EXCAM)
    pl.DataFrame({"output": ["x"]}).head(0).write_parquet(tmp_path / "a.parquet")
    assert ": 0 rows" in line_of(InputInvalid, rows.RowFile, tmp_path / "a.parquet", EXCAM)


def test_a_file_of_bad_rows_alone_is_read_as_failures(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text("no json\n5\n")
    assert [row.failure for row in read(path)] == ["not-json", "not-an-object"]


# --- rows of programs


def test_rows_of_a_program_are_found_by_the_same_names():
    mappings = [{"prompt": "a", "response": "b", "id": 3}, {"prompt": "c", "response": None}, None]
    entries = list(rows.of_mappings(mappings, EXCAM))
    assert texts(entries)[:2] == [("a", "b"), ("c", None)]
    assert [entry.failure for entry in entries] == [None, "missing-output", "not-an-object"]
    own = [Row("x", {"output": "y"})]
    assert list(rows.of_mappings(own, EXCAM)) == own
    assert list(rows.of_mappings([], EXCAM)) == []


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
    assert texts(row_file) == [
        ("user: Name a dish.\n\nassistant: Tea.\n\nA Greek one.", "Sushi."),
        ("Name a dish.", "Tea."),
    ]
    assert [(row.id, row.labels) for row in row_file] == [("a", {"culture": "Greece"}), ("#2", {})]
    assert "earlier turns stand before the instruction (1 of the first 2 rows)" in row_file.said
    assert "turns of a system or a tool are not read (1 of the first 2 rows)" in row_file.said
    plain = rows.RowFile(file(tmp_path, {"messages": turns[1:3]}), EXCAM).said
    assert plain.endswith("messages: the last turn of a person as instruction, the last answer as output")


@pytest.mark.parametrize(
    "row",
    [
        {"conversations": [{"from": "human", "value": "A dish?"}, {"from": "gpt", "value": "Tea."}]},
        {"prompt": [{"role": "user", "content": "A dish?"}], "completion": [{"role": "assistant", "content": "Tea."}]},
        {"prompt": "A dish?", "completion": [{"role": "assistant", "content": "Tea."}]},
        {"id": 1, "input": "A dish?", "output": {"completion": "Tea."}},
        {"id": 1, "input": [{"role": "user", "content": "A dish?"}], "output": {"choices": [{"message": {"content": "Tea."}}]}},
        {"doc_id": 1, "doc": {"question": "A dish?"}, "resps": [["Tea."]], "filtered_resps": ["Tea."]},
        {"doc_id": 1, "doc": {}, "arguments": {"gen_args_0": {"arg_0": "A dish?", "arg_1": {}}}, "resps": [["Tea."]]},
        {"doc_id": 1, "doc": {}, "arguments": [["A dish?", {}]], "resps": [["Tea."]]},
        {"doc_id": 1, "doc": {}, "arguments": [['[{"role": "user", "content": "A dish?"}]', {}]], "resps": [["Tea."]]},
    ],
)  # fmt: skip
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
        ({"messages": [{"role": "user", "content": "A?"}, {"role": "assistant", "content": None}]}, "missing-output"),
    ],
)
def test_a_conversation_without_an_answer_is_a_failure(tmp_path, row, failure):
    whole = {"messages": [{"role": "user", "content": "A?"}, {"role": "assistant", "content": "B."}]}
    assert [entry.failure for entry in read(file(tmp_path, whole, row))] == [None, failure]


def test_samples_of_lm_eval_that_generated_nothing(tmp_path):
    text = {"doc_id": 0, "doc": {"question": "A?"}, "resps": [["x"]], "filtered_resps": ["x"], "filter": "none"}
    chosen = {"doc_id": 1, "doc": {}, "resps": [[["-1.5", "False"]], [["-0.5", "True"]]], "filtered_resps": [["-1.5", "False"], ["-0.5", "True"]]}  # fmt: skip
    entries = read(
        file(tmp_path, text, chosen, {**text, "filter": "strict"}, {**text, "doc_id": 2, "filtered_resps": [5]})
    )
    assert [entry.failure for entry in entries] == [None, "no-generated-text", None, "no-answer"]
    assert [entry.id for entry in entries] == ["0", "#2", "0/strict", "#4"]


def test_epochs_of_a_sample_are_rows_of_their_own(tmp_path):
    sample = {"id": "q", "epoch": 1, "input": "A?", "output": {"completion": "B.", "model": "m"}}
    entries = read(file(tmp_path, sample, {**sample, "epoch": 2}, {**sample, "id": "r", "output": {"choices": []}}))
    assert [(entry.id, entry.failure, entry.labels) for entry in entries] == [
        ("q", None, {"system": "m"}),
        ("q/2", None, {"system": "m"}),
        ("r", "empty-output", {}),
    ]


def test_naming_a_column_switches_the_recognition_off(tmp_path):
    row = {"messages": [{"role": "user", "content": "A?"}, {"role": "assistant", "content": "B."}], "reply": "C."}
    (entry,) = read(file(tmp_path, row), named={"output": "reply"})
    assert entry.values["output"] == "C."


def test_a_metric_without_a_pair_reads_no_conversations(tmp_path):
    row = {"messages": [{"role": "user", "content": "A?"}, {"role": "assistant", "content": "B."}]}
    assert "column translation: not found; found messages" in line_of(InputInvalid, read, file(tmp_path, row), BLEU)


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
