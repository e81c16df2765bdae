"""Results in data libraries, and the arguments of `excam.load` beside the options of the command."""

import inspect
import json
import re
from dataclasses import fields, replace

import polars as pl
import pytest
from one_line_errors import line_of
from test_scored_page import SIX, failed, judged

import excam
from excam.core import row_files
from excam.core.exceptions import InputInvalid
from excam.scoring import result_files
from excam.scoring.given_rows import rows_of
from excam.scoring.metric import Row, available
from excam.scoring.options import Options
from excam.scoring.scores import Results

EXCAM = available()["excam"]


def test_results_show_their_mean_and_their_failures():
    assert repr(Results(iter(SIX))) == "Results(n = 6, mean -2.77 of 4, 3 with errors, 2 failed)"
    many = Results([*(judged(n, "Sushi", *[(0, 5, "major", "t")] * (n % 4 == 0)) for n in range(40)), failed(40)])
    assert re.fullmatch(
        r"Results\(n = 41, mean -0\.88 \[-1\.\d\d, -?0\.\d\d\] of 40, 10 with errors, 1 failed\)", repr(many)
    )
    assert repr(Results([])) == "Results(n = 0, 0 failed)"
    assert (len(many[:3]), many[40].failure) == (3, "truncated")


COLUMNS = [
    "id", "score", "failure", "verdict", "instruction", "output", "explanation", "texts", "report", "parts",
    "certainty", "probability", "warnings", "recovered", "thinking", "answered_by", "language", "system", "culture",
    "columns", "agreement", "metric", "signature",
]  # fmt: skip


@pytest.mark.parametrize("suffix", ["jsonl", "parquet", "csv"])
def test_all_outputs_have_the_same_columns(tmp_path, suffix):
    """They are part of what people build on: a name that changes here breaks their programs."""
    scores, path = Results(replace(row, columns={"share": 0.5, "score": 3}) for row in SIX), tmp_path / f"a.{suffix}"
    scores.save(path)
    table = scores.to_polars()
    assert [name for name in table.columns if name != "share"] == COLUMNS
    assert (table["share"].mean(), table["score"].null_count()) == (0.5, 2)
    names = {name: None for _, row in row_files.rows(path) for name in row}
    of_rows = {"instruction", "output", "explanation", "share"}
    if suffix == "csv":
        assert list(names) == table.columns
    else:
        assert [*names] == sorted({*COLUMNS} - of_rows & {*names}, key=COLUMNS.index) or suffix == "jsonl"
        assert names.keys() <= {*COLUMNS} - of_rows
    assert list(result_files.read(path)) == list(scores)
    assert line_of(InputInvalid, scores.save, path).startswith(f"{path}: is there already; expected none")


def test_results_come_one_by_one_and_what_needs_all_waits():
    judged_rows = []
    coming = (judged_rows.append(row) or row for row in SIX)
    scores = Results(coming)
    assert (next(iter(scores)), len(judged_rows)) == (SIX[0], 1)
    assert (scores.mean, [row.id for row in scores]) == (pytest.approx(-2.77, abs=0.01), [row.id for row in SIX])
    passing = Results(iter(SIX), keeps=False)
    assert repr(passing).startswith("Results: iterate over them, once")
    assert sum(1 for _ in passing) == 6
    assert line_of(InputInvalid, len, passing).startswith("results: 6 were read and not kept")
    broken = Results(replace(row, score=1 / (row.score is not None)) for row in SIX)
    for _ in range(2):  # never the mean of those before
        with pytest.raises(ZeroDivisionError):
            broken.mean  # noqa: B018


# --- rows of programs

ROWS = [{"prompt": "a", "response": "b", "id": 3, "day": None}, {"prompt": "c", "response": None, "id": 4, "day": 1}]


def given(rows):
    return [(row.id, row.texts, row.failure, row.others) for row in rows_of(rows, EXCAM)[0]]


def of_pandas():
    return pytest.importorskip("pandas").DataFrame(ROWS)


@pytest.mark.parametrize(
    "table",
    [
        of_pandas,
        lambda: of_pandas().set_index("id"),
        lambda: of_pandas().convert_dtypes(),
        lambda: pl.DataFrame(ROWS),
        lambda: pl.DataFrame(ROWS).lazy(),
        lambda: pytest.importorskip("datasets").Dataset.from_list(ROWS),
        lambda: iter(ROWS),
    ],
)
def test_tables_are_rows_as_dictionaries_are(table):
    assert given(table()) == given(ROWS) == [("3", {"instruction": "a", "output": "b"}, None, {}),
                                             ("4", {"instruction": "c"}, "missing-output", {"day": 1})]  # fmt: skip


def test_files_and_data_sets_are_rows(tmp_path, capsys):
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    assert given(path) == given(str(path)) == given(ROWS)
    assert "read prompt as instruction" in capsys.readouterr().err
    datasets = pytest.importorskip("datasets")
    split = datasets.Dataset.from_list([{**ROWS[0], "language": 1}])
    split = split.cast_column("language", datasets.ClassLabel(names=["de", "el"]))
    (row,) = rows_of(split, EXCAM)[0]
    assert row.labels == {"language": "el"}
    line = line_of(InputInvalid, rows_of, datasets.DatasetDict(train=split, test=split), EXCAM)
    assert line.startswith("rows: found DatasetDict of train, test; expected dictionaries, such as")


def test_rows_of_a_program_may_be_none_or_rows():
    entries = list(rows_of([*ROWS, None], EXCAM)[0])
    assert [entry.failure for entry in entries] == [None, "missing-output", "not-an-object"]
    own = [Row("x", {"output": "y"})]
    assert list(rows_of(own, EXCAM)[0]) == own
    assert list(rows_of([], EXCAM)[0]) == []


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("none.jsonl", "none.jsonl: no such file"),
        ({"output": "x"}, "rows: found dict of output; expected dictionaries, such as"),
        (5, "rows: found int; expected dictionaries"),
        (None, "rows: found NoneType"),
        (["x"], "rows: found str"),
        ([{"output": "x"}], "rows: column instruction: not found; found output; rename the key, or open it with "
                            'without=["instruction"] if there is none'),
    ],
)  # fmt: skip
def test_what_is_no_rows_is_named(value, said):
    assert line_of(InputInvalid, rows_of, value, EXCAM).startswith(said)


def test_load_has_every_option_of_scoring():
    names = {"models": "model", "bases": "base"}
    assert {*inspect.signature(excam.load).parameters} == {names.get(item.name, item.name) for item in fields(Options)}
