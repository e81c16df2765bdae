"""Pairs in every file format give the same rows; an invalid pair is one line with its position."""

import gzip
import io
import json
import os
import sys
from threading import Thread

import polars as pl
import pytest
from one_line_errors import line_of

from excam.core.exceptions import InputInvalid
from excam.scoring import pairs, scored_file
from excam.scoring.defaults import STAND_IN_INSTRUCTION

ROWS = [
    {
        "id": "a",
        "instruction": "Ein Gericht?",
        "output": 'Knödel, "groß"\nund rund',
        "language": "German",
        "system": "m",
        "culture": "Austria",
    },
    {"id": "b", "instruction": "寿司は？", "output": "🍣", "language": "", "system": "", "culture": ""},
]


def outputs(path):
    return [one.output for one in pairs.read(path)]


def written(folder, kind, rows=ROWS):
    """The rows in a file of a kind."""
    path, frame = folder / f"rows{kind}", pl.DataFrame(rows)
    data = {
        ".jsonl": lambda: "".join(json.dumps(row) + "\n" for row in rows).encode(),
        ".csv": lambda: frame.write_csv().encode(),
        ".tsv": lambda: frame.write_csv(separator="\t").encode(),
    }
    plain = kind.removesuffix(".gz")
    if kind == ".parquet":
        frame.write_parquet(path)
    elif kind == "":
        from datasets import Dataset

        Dataset.from_list(rows).save_to_disk(path)
    else:
        path.write_bytes(gzip.compress(data[plain]()) if kind.endswith(".gz") else data[plain]())
    return path


@pytest.mark.parametrize("kind", [".jsonl", ".jsonl.gz", ".csv", ".csv.gz", ".tsv", ".parquet", ""])
def test_every_kind_of_file_gives_the_same_pairs(tmp_path, kind):
    found = list(pairs.read(written(tmp_path, kind)))
    assert found == [pairs.Pair(**row) for row in ROWS]


@pytest.mark.parametrize("kind", [".jsonl", ".csv", ".parquet"])
def test_columns_of_other_names(tmp_path, kind):
    rows = [{"prompt": "A dish?", "answer": "Sushi.", "lang": "Greek"}]
    columns = pairs.Columns(instruction="prompt", output="answer", language="lang")
    (found,) = pairs.read(written(tmp_path, kind, rows), columns)
    assert found == pairs.Pair("1", "A dish?", "Sushi.", "Greek")


def test_a_column_that_was_named_has_to_be_there(tmp_path):
    path = written(tmp_path, ".csv")
    line = line_of(InputInvalid, lambda: list(pairs.read(path, pairs.Columns(language="lang"))))
    assert (
        line
        == f"{path}:1: key lang: expected text; found NoneType (id, instruction, output, language, system, culture)"
    )


def test_what_is_not_told_stands_in(tmp_path):
    (found,) = pairs.read(written(tmp_path, ".csv", [{"output": "x", "instruction": ""}]))
    assert found == pairs.Pair("1", STAND_IN_INSTRUCTION, "x")


def test_parquet_is_read_in_parts(tmp_path, monkeypatch):
    monkeypatch.setattr(pairs, "ROWS", 3)
    path = written(tmp_path, ".parquet", [{"output": str(number)} for number in range(10)])
    assert [(one.id, one.output) for one in pairs.read(path)] == [(str(n + 1), str(n)) for n in range(10)]


def test_a_folder_of_several_files_is_numbered_through(tmp_path):
    for name in "ba":
        pl.DataFrame({"output": [name, name]}).write_parquet(tmp_path / f"{name}.parquet")
    assert [(one.id, one.output) for one in pairs.read(tmp_path)] == [("1", "a"), ("2", "a"), ("3", "b"), ("4", "b")]


def test_standard_input_can_be_read_twice(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"output": "x"}\n')))
    with pairs.spooled(pairs.Path("-")) as path:
        assert outputs(path) == outputs(path) == ["x"]


def test_ids_that_occur_twice():
    twice = [pairs.Pair("a", "", ""), pairs.Pair("b", "", ""), pairs.Pair("a", "", "")]
    assert (
        line_of(InputInvalid, lambda: list(pairs.distinct(twice))) == "id a: occurs twice; expected unique ids, or none"
    )
    assert list(pairs.distinct(twice[:2])) == twice[:2]


@pytest.mark.parametrize(
    ("name", "content", "part"),
    [
        ("a.csv", b"id,output\n1\n", ":1: 1 fields; expected 2"),
        ("a.csv", b'output\n"x\n', ": line 2: unexpected end of data"),
        ("a.csv", b"output\n\xff\n", ": not UTF-8"),
        ("a.csv", b"", ": 0 rows"),
        ("a.csv", b"id,output,output\n1,x,y\n", ": column output: occurs twice; expected each once"),
        ("a.tsv", b"note\toutput\tnote\n1\tx\ty\n", ": column note: occurs twice"),
        ("a.csv", b"text\nx\n", ":1: key output: expected text; found NoneType (text)"),
        ("a.parquet", b"PAR1", ": "),
        ("a.xlsx", b"", ": unknown kind .xlsx; expected"),
        ("a.jsonl.gz", b"no gzip", ": not a gzipped file"),
        ("a.arrow", b"", ": "),
    ],
)
def test_a_table_that_holds_no_pairs(tmp_path, name, content, part):
    path = tmp_path / name
    path.write_bytes(content)
    assert line_of(InputInvalid, outputs, path).startswith(f"{path}{part}")


def test_pairs_of_a_file(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes('{"output": "ş\\n寿"}\r\n\n  \n{"output": "", "id": 3, "more": []}'.encode())
    assert [(one.id, one.output) for one in pairs.read(path)] == [("1", "ş\n寿"), ("3", "")]


def test_a_byte_order_mark_is_no_text(tmp_path):
    """Windows editors write one."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"output": "x"}\n')
    assert outputs(path) == ["x"]


def test_white_space_of_other_alphabets_ends_no_line(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"output": "a\u2028b\x85c\x0b"}\n'.replace("\x0b", "\\u000b"), encoding="utf-8")
    assert outputs(path) == ["a\u2028b\x85c\x0b"]


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (b"", ": 0 rows; expected one JSON object a line"),
        (b"\n \n\t\n", ": 0 rows"),
        (b'{"output": "x"}\n\nnot json\n', ":3: not JSON; expected {"),
        (b'{"output": "x"}\n{"output": "y"', ":2: not JSON"),
        (b'{"output": "x"}\n{"instruction": "y"}\n', ":2: key output: expected text; found NoneType (instruction)"),
        (b'{"output": 5}\n', ":1: key output: expected text; found int"),
        (b'["output"]\n', ":1: found list; expected an object"),
        (b'{"output": "caf\xe9"}\n', ": not UTF-8 at byte 15; save it as UTF-8"),
        (b'{"output": "x", "id": ' + b"1" * 5000 + b"}\n", ":1: not JSON"),
        (b"[" * 200_000, ":1: not JSON"),
        (b'{"output": "x"}\n{"output": "x", "id": 1, "output": "y"}\n', ":2: key output: occurs twice; expected each"),
        (b'{"output": "x", "more": {"a": 1, "a": 2}}\n', ":1: key a: occurs twice"),
    ],
)
def test_a_file_that_holds_no_pairs(tmp_path, content, part):
    path = tmp_path / "a.jsonl"
    path.write_bytes(content)
    assert line_of(InputInvalid, outputs, path).startswith(f"{path}{part}")


def test_no_file(tmp_path):
    line = line_of(InputInvalid, outputs, tmp_path / "a.jsonl")
    assert line.startswith(f"{tmp_path}/a.jsonl: no such file or directory; expected JSON Lines")
    assert "is a directory without" in line_of(InputInvalid, outputs, tmp_path)


@pytest.mark.parametrize("name", ["rows.TSV", "rows.csv.tsv", "rows.tsv.old.tsv", "ROWS.TSV.GZ"])
def test_a_kind_is_known_by_its_last_suffix_in_any_case(tmp_path, name):
    kind = ".tsv.gz" if name.endswith(".GZ") else ".tsv"
    path = written(tmp_path, kind).rename(tmp_path / name)
    assert list(pairs.read(path)) == [pairs.Pair(**row) for row in ROWS]
    other = written(tmp_path, ".csv").rename(tmp_path / "rows.tsv.old.csv")
    assert list(pairs.read(other)) == [pairs.Pair(**row) for row in ROWS]


def test_a_packed_file_that_is_damaged(tmp_path):
    path = written(tmp_path, ".jsonl.gz", ROWS * 200)
    data = bytearray(path.read_bytes())
    for at in range(20, len(data), 7):
        damaged = bytes(data[:at]) + bytes([data[at] ^ 0xFF]) + bytes(data[at + 1 :])
        path.write_bytes(damaged)
        assert line_of(InputInvalid, lambda: list(pairs.read(path))).startswith(str(path))


def test_standard_input_is_called_by_its_name(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b'{"output": "x"}\n{"text": "y"}\n')))

    def read():
        with pairs.spooled(pairs.Path("-")) as path:
            return list(pairs.read(path))

    assert line_of(InputInvalid, read).startswith("stdin:2: key output: expected text")


def test_several_columns_without_a_name(tmp_path):
    """Spreadsheets write them behind the last column."""
    path = tmp_path / "a.csv"
    path.write_bytes(b"output,,\nx,,\n")
    assert outputs(path) == ["x"]


def test_a_pipe_can_be_read_twice(tmp_path):
    for name, data in (("pipe", b'{"output": "x"}\n{"text": "y"}\n'), ("pipe.csv.gz", gzip.compress(b"output\nx\n"))):
        path = tmp_path / name
        os.mkfifo(path)
        writer = Thread(target=path.write_bytes, args=(data,))
        writer.start()
        with pairs.spooled(path) as copy:
            found = list(pairs.rows(copy))
            assert found == list(pairs.rows(copy))
            assert found[0] == (1, {"output": "x"})
        writer.join()


def test_what_is_refused_of_a_pipe_is_called_by_its_name(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = Thread(target=path.write_bytes, args=(b"no json",))
    writer.start()

    def read():
        with pairs.spooled(path) as copy:
            outputs(copy)

    assert line_of(InputInvalid, read).startswith(f"{path}:1: not JSON")
    writer.join()


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/full"])
def test_a_device_is_no_input(monkeypatch, device):
    path = pairs.Path(device)
    line = f"{device}: is a device; expected a file, a pipe, or - for standard input"
    assert line_of(InputInvalid, pairs.spooled(path).__enter__) == line
    assert line_of(InputInvalid, outputs, path) == line
    assert line_of(InputInvalid, lambda: list(scored_file.read(path))) == line
    with path.open() as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        assert line_of(InputInvalid, pairs.spooled(pairs.Path("-")).__enter__).startswith("stdin: is a device")


def test_standard_input_that_is_closed(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    for name in ("-", "/dev/stdin"):
        line = line_of(InputInvalid, pairs.spooled(pairs.Path(name)).__enter__)
        assert line == "stdin: is closed; expected text on it"


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.jsonl", b'{"output": "x"}\n{"output": "' + b"x" * 2000),
        ("a.csv", b"id,output\n1," + b"x" * 2000),
        ("a.csv", b"id,output\n1,x\n2" + b',"\n"' * 700),
    ],
)
def test_a_row_longer_than_memory_may_be(tmp_path, monkeypatch, name, data):
    """A packed file of a few kilobytes holds one of gigabytes."""
    monkeypatch.setattr(pairs, "MAX_ROW", 1000)
    path = tmp_path / f"{name}.gz"
    path.write_bytes(gzip.compress(data))
    line = line_of(InputInvalid, outputs, path)
    assert line.startswith(f"{path}: line ")
    assert line.endswith(": a row of more than 1000 bytes; expected shorter ones")
    rows = b'{"output": "x"}\n' * 200 if "json" in name else b"output\n" + b"x\n" * 1000
    path.write_bytes(gzip.compress(rows))
    assert len(outputs(path)) >= 200, "of rows, not of the file"
