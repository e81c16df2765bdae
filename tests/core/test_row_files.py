"""Rows in every file format are the same rows; a row that cannot be read is counted, a file that has none is one line."""

import bz2
import gzip
import io
import json
import lzma
import os
import sys
from pathlib import Path
from threading import Thread

import polars as pl
import pytest
import typer
from one_line_errors import line_of

from excam.core import extras
from excam.core.command_input import spooled
from excam.core.exceptions import InputInvalid
from excam.core.extras import NotInstalled
from excam.core.row_files import EMPTY, NOT_UTF8, BadRow, log_status, records, rows
from excam.core.row_layouts import layout_of
from excam.core.terminal import stop

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ROWS = [
    {"id": "a", "instruction": "Ein Gericht?", "output": 'Knödel, "groß"\nund rund; ja', "language": "German"},
    {"id": "b", "instruction": "寿司は？", "output": "🍣", "language": ""},
]
PACKERS = {".gz": gzip.compress, ".zst": zstd.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


def read(path, encoding=None):
    return [record for _, record in records(path, encoding)]


def outputs(path):
    return [row["output"] for row in read(path)]


def in_format(kind):
    """The bytes of ROWS in a text format."""
    return TEXTS[kind]().encode()


def written(folder, kind):
    """The rows in a file of a kind."""
    path = folder / f"rows{kind}"
    if kind in COLUMNAR:
        COLUMNAR[kind](FRAME, path)
    elif kind == "":
        from datasets import Dataset

        Dataset.from_list(ROWS).save_to_disk(path)
    else:
        packer = PACKERS.get(path.suffix)
        path.write_bytes(packer(in_format(Path(path.stem).suffix)) if packer else in_format(kind))
    return path


FRAME = pl.DataFrame(ROWS)
COLUMNAR = {".parquet": pl.DataFrame.write_parquet, ".arrow": pl.DataFrame.write_ipc_stream}
COLUMNAR |= {".feather": pl.DataFrame.write_ipc}
TEXTS = {
    ".jsonl": lambda: "".join(json.dumps(row) + "\n" for row in ROWS),
    ".ndjson": lambda: "".join(json.dumps(row, ensure_ascii=False) + "\r\n" for row in ROWS),
    ".json": lambda: json.dumps(ROWS, indent=1),
    ".csv": FRAME.write_csv,
    ".tsv": lambda: FRAME.write_csv(separator="\t"),
}
PACKED = [f"{kind}{packed}" for kind in (".jsonl", ".csv", ".json") for packed in PACKERS]


@pytest.mark.parametrize("kind", [*TEXTS, *PACKED, *COLUMNAR, ""])
def test_every_kind_of_file_gives_the_same_rows(tmp_path, kind):
    assert read(written(tmp_path, kind)) == ROWS


@pytest.mark.parametrize("kind", TEXTS)
def test_a_kind_is_known_by_its_content_where_no_suffix_says_it(tmp_path, kind):
    for name in ("rows", "rows.txt", "rows.data"):
        for content in (in_format(kind), gzip.compress(in_format(kind))):
            (tmp_path / name).write_bytes(content)
            assert read(tmp_path / name) == ROWS


@pytest.mark.parametrize("kind", COLUMNAR)
def test_a_columnar_file_without_its_suffix(tmp_path, kind):
    assert read(written(tmp_path, kind).rename(tmp_path / "rows")) == ROWS


CSV = 'id,instruction,output\n1,"Nenne ein Gericht",Käse\n2,Frage,"Größe, mit Komma"\n'


@pytest.mark.parametrize(
    ("data", "notes"),
    [
        (CSV.encode(), ()),
        (b"\xef\xbb\xbf" + CSV.encode(), ()),
        (CSV.replace("\n", "\r\n").encode(), ()),
        (CSV.replace("\n", "\r").encode(), ()),
        (CSV.encode("utf-16"), ("utf-16",)),
        (CSV.encode("utf-16-le"), ("utf-16-le",)),
        (CSV.encode("utf-16-be"), ("utf-16-be",)),
        (CSV.replace(",", ";").replace("; mit", ", mit").encode(), ("semicolons",)),
        (("sep=;\n" + CSV.replace(",", ";").replace("; mit", ", mit")).encode(), ("semicolons",)),
        (('"sep=;"\r\n' + CSV.replace(",", ";").replace("; mit", ", mit")).encode(), ("semicolons",)),
        (CSV.replace(",", "\t").replace("\t mit", ", mit").encode(), ()),
        (CSV.replace(",", "|").replace("| mit", ", mit").encode("utf-16"), ("vertical bars", "utf-16")),
        (CSV.replace("id,instruction,output", "id, instruction, output").encode(), ()),
        (("\n\n" + CSV + "\n\n").encode(), ()),
    ],
)  # fmt: skip
def test_tables_as_spreadsheets_save_them(tmp_path, data, notes):
    path = tmp_path / "a.csv"
    path.write_bytes(data)
    expected = (("1", "Nenne ein Gericht", "Käse"), ("2", "Frage", "Größe, mit Komma"))
    assert read(path) == [dict(zip(("id", "instruction", "output"), row, strict=True)) for row in expected]
    assert layout_of(path).notes == notes


def test_blanks_after_separators_are_text_where_the_header_has_none(tmp_path):
    path = tmp_path / "a.csv"
    for header, output in ((b"id,output", " Sushi"), (b"id, output", "Sushi")):
        path.write_bytes(header + b"\n1, Sushi\n")
        assert outputs(path) == [output]


def test_columns_behind_the_last_one(tmp_path):
    """Spreadsheets write separators behind the last column, pandas an index without a name before the first."""
    path = tmp_path / "a.csv"
    for data in (b"output,,\nx,,\n", b"output\nx,\n", b",output\n0,x\n"):
        path.write_bytes(data)
        assert outputs(path) == ["x"]
    path.write_bytes(b"id,output,note\n1\n2,x,y\n")
    assert read(path)[0] == {"id": "1", "output": None, "note": None}
    path.write_bytes(b"id,output 1,x\n2,y\n3,z\n")
    line = f"{path}: each row has 2 fields or fewer; expected 3, as in its header; is a line end"
    assert line_of(InputInvalid, read, path).startswith(line)


@pytest.mark.parametrize("text", ["Łódź i żółw", "Ça va très bien", "Привет мир", "ΑΒΓ", "x\u00b3 y"])
def test_a_code_page_that_may_be_another_is_one_line(tmp_path, text):
    """Bytes of one code page are other letters in the next."""
    encoding = {"Ł": "cp1250", "П": "cp1251", "Α": "cp1253"}.get(text[0], "cp1252")
    path = tmp_path / "a.csv"
    path.write_bytes(f"id,output\n1,{text}\n".encode(encoding))
    line = line_of(InputInvalid, read, path)
    assert line.startswith(f"{path}: not UTF-8, maybe Latin-1 or Windows-1252 (byte 0x")
    expected = "UTF-8; save the file as UTF-8, or give its encoding, such as --encoding cp1252"
    assert line.endswith(f"in line 2); expected {expected}")
    assert [row["output"] for row in read(path, encoding)] == [text]
    assert "--encoding: found cp99; expected" in line_of(InputInvalid, read, path, "cp99")


def test_a_damaged_place_in_utf8_is_a_bad_row(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes("output\nKäse\n".encode() + b"caf\xe9 x\n" + "寿司\n".encode())
    assert read(path) == [{"output": "Käse"}, NOT_UTF8, {"output": "寿司"}]
    (path := tmp_path / "a.jsonl").write_bytes('{"output": "ö"}\n'.encode() + b'{"output": "\xe9"}\n')
    assert read(path) == [{"output": "ö"}, NOT_UTF8]


@pytest.mark.parametrize(
    ("line", "reason", "detail"),
    [
        ("not json", "not-json", "not JSON (Expecting value, column 1); expected an object"),
        ('{"output": "y"', "not-json", "not JSON (Expecting ',' delimiter"),
        ('["output"]', "not-an-object", "found list; expected an object"),
        ("null", "not-an-object", "found NoneType"),
        ('{"output": "x", "id": ' + "1" * 5000 + "}", "not-json", "not JSON that can be read"),
        ("[" * 200_000, "not-json", "not JSON that can be read"),
        ('{"output": "x", "id": 1, "output": "y"}', "duplicate-key", "key output: occurs twice; expected each once"),
        ('{"more": {"a": 1, "a": 2}}', "duplicate-key", "key a: occurs twice"),
    ],
)
def test_a_bad_line_is_counted_and_the_others_are_read(tmp_path, line, reason, detail):
    path = tmp_path / "a.jsonl"
    path.write_text(f'{{"output": "x"}}\n\n{line}\n{{"output": "z"}}\n')
    first, bad, last = records(path)
    assert (first, last) == ((1, {"output": "x"}), (4, {"output": "z"}))
    assert (bad[0], bad[1].reason) == (3, reason)
    assert bad[1].detail.startswith(detail)
    assert line_of(InputInvalid, list, rows(path)).startswith(f"{path}:3: {detail}")


X, Z = {"id": "1", "output": "x"}, {"id": "2", "output": "z"}


@pytest.mark.parametrize(
    ("body", "numbered_rows"),
    [
        ("1,x,y\n2,z\n", [(1, "other-width"), (2, Z)]),
        ('1,"x" y\n2,z\n', [(1, "not-csv (line 2)"), (2, Z)]),
        ('1,x\n2,"y\n3,z\n', [(1, X), (2, "not-csv (lines 3 to 4)")]),
        (",\n1,x\n\n,\n2,z\n,\n\n,\n", [(1, "empty-row"), (2, X), (3, "empty-row"), (4, Z)]),
    ],
)
def test_a_bad_line_of_a_table(tmp_path, body, numbered_rows):
    path = tmp_path / "a.csv"
    path.write_text(f"id,output\n{body}")
    assert [(number, row.reason if isinstance(row, BadRow) else row) for number, row in records(path)] == numbered_rows


ZIPPED = ": a zip archive; expected text; unpack it, name a workbook .xlsx, `inspect log dump` a .eval"


@pytest.mark.parametrize(
    ("name", "content", "part"),
    [
        ("a.csv", b"id,output,output\n1,x,y\n", ": column output: occurs twice; expected each once"),
        ("a.tsv", b"note\toutput\tnote\n1\tx\ty\n", ": column note: occurs twice"),
        ("a.parquet", b"PAR1", ": "),
        ("a.parquet", b"", ": "),
        ("a.arrow", b"", ": "),
        ("a.csv", b"PK\3\4", ZIPPED),
        ("a.tsv", b"\xd0\xcf\x11\xe0", ": an old Excel workbook; expected text; name it .xls"),
        ("a.xlsx", b"<html", ": an HTML page"),
        ("a.xlsx", b"id,output", ": no workbook, as its name says; expected one"),
        ("a.jsonl", b"<!DOCTYPE html>", ": an HTML page"),
        ("a.jsonl.gz", b"no gzip", ": is not packed, as its name says; expected gzip"),
        ("a.jsonl.zst", b"{}", ": is not packed, as its name says; expected zstd"),
        ("a.json", b'[{"output": "x"}', ": not JSON"),
        ("a.json", b'{\n"output": "x"', ": not JSON"),
        ("a.json", b'{\n"a": 1,\n"a": 2}', ": key a: occurs twice"),
    ],
)
def test_a_file_without_rows_to_read_is_one_line(tmp_path, name, content, part):
    path = tmp_path / name
    path.write_bytes(content)
    assert line_of(InputInvalid, read, path).startswith(f"{path}{part}")


def test_a_json_file_of_one_object_or_of_lines(tmp_path):
    path = tmp_path / "a.json"
    for text, entries in (
        ('{"output": "x"}', [{"output": "x"}]),
        ('{\n "output": "x"\n}', [{"output": "x"}]),
        ('{"output": "x"}\n{"output": "y"}', [{"output": "x"}, {"output": "y"}]),
        ('{"output": "x"\n{"output": "y"}', None),
        ("\ufeff[]", []),
        ('[{"output": "x"}, 5]', [{"output": "x"}, BadRow("not-an-object", "found int; expected an object")]),
    ):
        path.write_text(text)
        made = read(path)
        assert made == entries if entries is not None else [type(entry) for entry in made] == [BadRow, dict]


def test_lines_end_at_line_feeds_alone(tmp_path):
    """Not at the line separators of other alphabets, which are text in JSON; a byte order mark is no text."""
    path = tmp_path / "a.jsonl"
    path.write_text('\ufeff{"output": "a\u2028b\x85c"}\r\n\n  \n{"output": "\u0085"}', encoding="utf-8", newline="")
    assert outputs(path) == ["a\u2028b\x85c", "\x85"]


# --- folders


def test_a_folder_of_several_files_is_numbered_through(tmp_path):
    for name, count in (("c", 1), ("a", 2), ("b", 0)):
        pl.DataFrame({"output": [name] * count}).write_parquet(tmp_path / f"{name}.parquet")
    assert [(number, row["output"]) for number, row in records(tmp_path)] == [(1, "a"), (2, "a"), (3, "c")]
    assert layout_of(tmp_path).notes == ("3 files",)


def test_a_saved_data_set_is_read_without_what_map_left_beside_it(tmp_path):
    """`datasets` caches the rows that `map` returns in the folder of the data set, as Arrow files too."""
    from datasets import Dataset, load_from_disk

    Dataset.from_list([{"output": "Sushi."}, {"output": "Tea."}]).save_to_disk(tmp_path / "saved")
    load_from_disk(tmp_path / "saved").map(lambda row: {"output": row["output"].upper()})
    assert len(list((tmp_path / "saved").glob("*.arrow"))) == 2
    assert outputs(tmp_path / "saved") == ["Sushi.", "Tea."]


def test_splits_are_not_joined(tmp_path):
    from datasets import Dataset, DatasetDict

    parts = {name: Dataset.from_list([{"output": name}]) for name in ("train", "test")}
    DatasetDict(parts).save_to_disk(tmp_path / "both")
    line = line_of(InputInvalid, read, tmp_path / "both")
    assert line.startswith(f"{tmp_path}/both: 2 splits: train, test; expected one: {tmp_path}/both/train or")
    assert outputs(tmp_path / "both/test") == ["test"]
    DatasetDict({"test": parts["test"]}).save_to_disk(tmp_path / "one")
    assert outputs(tmp_path / "one") == ["test"]
    (tmp_path / "hub/data").mkdir(parents=True)
    for name in ("train-00000-of-00002", "train-00001-of-00002", "test-00000-of-00001"):
        pl.DataFrame({"output": [name]}).write_parquet(tmp_path / f"hub/data/{name}.parquet")
    assert "splits test, train; expected one of them" in line_of(InputInvalid, read, tmp_path / "hub")
    (tmp_path / "hub/data/test-00000-of-00001.parquet").unlink()
    assert len(outputs(tmp_path / "hub")) == 2


def test_the_numbers_of_a_class_label_are_its_names(tmp_path):
    from datasets import ClassLabel, Dataset, Features, Value

    features = Features({"language": ClassLabel(names=["Thai", "Lao"]), "output": Value("string")})
    made = Dataset.from_dict({"language": [1, 0, None], "output": ["a", "b", "c"]}, features)
    made.save_to_disk(tmp_path / "saved")
    made.to_parquet(tmp_path / "a.parquet")
    for place in ("saved", "a.parquet"):
        assert [row["language"] for row in read(tmp_path / place)] == ["Lao", "Thai", None]


def test_a_damaged_saved_data_set_is_one_line(tmp_path):
    from datasets import Dataset

    Dataset.from_list(ROWS).save_to_disk(tmp_path / "a")
    (file,) = (tmp_path / "a").glob("*.arrow")
    file.rename(tmp_path / "elsewhere")
    assert f"{file}: missing; expected the files that" in line_of(InputInvalid, read, tmp_path / "a")
    (tmp_path / "a/state.json").write_text("[]")
    assert "state.json: no _data_files" in line_of(InputInvalid, read, tmp_path / "a")
    (tmp_path / "empty").mkdir()
    assert "is a folder with no Parquet or Arrow files" in line_of(InputInvalid, read, tmp_path / "empty")


# --- logs of inspect_ai


def test_a_log_that_inspect_writes_itself(tmp_path):
    """As `inspect log dump` prints it too."""
    from inspect_ai.log import EvalLog, EvalSample, write_eval_log
    from inspect_ai.log._log import EvalConfig, EvalDataset, EvalSpec
    from inspect_ai.model import ModelOutput

    samples = [
        EvalSample(id=name, epoch=1, input="Name a dish.", target="", output=ModelOutput.from_content("m", text))
        for name, text in ((1, "Sushi."), (2, "Tea."))
    ]
    made = "2026-01-01T00:00:00+00:00"
    about = EvalSpec(created=made, task="t", dataset=EvalDataset(), model="m", config=EvalConfig())
    write_eval_log(EvalLog(eval=about, samples=samples), str(tmp_path / "log.json"))
    assert [row["output"]["completion"] for row in read(tmp_path / "log.json")] == ["Sushi.", "Tea."]


# --- streams and sizes


def test_standard_input_can_be_read_twice_and_is_called_by_its_name(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"output": "x"}\nno json\n')))

    def strictly():
        with spooled(Path("-")) as path:
            assert [read(path)[0] for _ in range(2)] == [{"output": "x"}] * 2
            return list(rows(path))

    assert line_of(InputInvalid, strictly).startswith("stdin:2: not JSON")


def test_a_pipe_can_be_read_twice(tmp_path):
    for name, data in (("pipe", b'{"output": "x"}\n{"text": "y"}\n'), ("pipe.csv.gz", gzip.compress(b"output\nx\n"))):
        path = tmp_path / name
        os.mkfifo(path)
        writer = Thread(target=path.write_bytes, args=(data,))
        writer.start()
        with spooled(path) as copy:
            numbered_rows = list(records(copy))
            assert numbered_rows == list(records(copy))
            assert numbered_rows[0] == (1, {"output": "x"})
        writer.join()


@pytest.mark.parametrize(
    ("address", "command"),
    [
        ("https://host/a.jsonl", "curl -L -O"),
        ("http://host/a b/", "curl -L -O"),
        ("https://huggingface.co/datasets/org/data.x/viewer", "hf download --repo-type dataset"),
        ("hf://datasets/org/data/a.csv", "hf download --repo-type dataset"),
    ],
)
def test_an_address_is_refused_with_the_command_that_fetches_it(address, command):
    line = line_of(InputInvalid, lambda: list(records(Path(address))))
    assert line.startswith(f"{address.rstrip('/')}: is an address; expected a file")
    assert line.endswith(f"; fetch it first, by {command}")


def workbook(path, lines):
    book = pytest.importorskip("xlsxwriter").Workbook(path)
    sheet = book.add_worksheet("answers")
    for at, line in enumerate(lines):
        for column, cell in enumerate(line):
            sheet.write(at, column, cell)
    book.add_worksheet("notes").write(0, 0, "x")
    book.close()
    return path


def test_a_workbook_is_read_as_texts_as_csv_is(tmp_path):
    pytest.importorskip("fastexcel")
    lines = [[None], ["id", "output", "mixed", None], [1, "a _x0041_", 5], [], [2, "0012", "text", "more"], [None]]
    path = workbook(tmp_path / "a.xlsx", lines)
    assert [row for _, row in records(path)] == [
        {"id": "1", "output": "a _x0041_", "mixed": "5", "Unnamed: 3": None},
        EMPTY,
        {"id": "2", "output": "0012", "mixed": "text", "Unnamed: 3": "more"},
    ]
    assert layout_of(path).notes == ("sheet answers; not read: notes",)
    assert list(records(workbook(tmp_path / "b.xlsx", []))) == []
    twice = workbook(tmp_path / "c.xlsx", [["a", "a"], [1, 2]])
    assert "column a: occurs twice" in line_of(InputInvalid, lambda: list(records(twice)))
    (tmp_path / "d.xlsx").write_bytes(b"PK\x03\x04 and no more")
    assert "expected a workbook; save it again" in line_of(InputInvalid, layout_of, tmp_path / "d.xlsx")


def test_a_workbook_without_its_library_names_the_command(tmp_path, monkeypatch):
    (tmp_path / "a.xlsx").write_bytes(b"PK\x03\x04")
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    line = line_of(NotInstalled, layout_of, tmp_path / "a.xlsx")
    assert "not installed; expected the extra excel: pip install 'excam[excel]', in a clone pip install" in line


def test_an_address_that_became_a_path_is_shown_as_it_was(capsys):
    with pytest.raises(typer.Exit):
        stop(f"{Path('https://host/a.parquet')}: no such file; see https://docs")
    assert capsys.readouterr().err == "excam: https://host/a.parquet: no such file; see https://docs\n"


def test_a_device_is_refused(monkeypatch):
    line = line_of(InputInvalid, read, Path("/dev/zero"))
    assert line == "/dev/zero: is a device; expected a file, a pipe, or - for standard input"
    with Path("/dev/zero").open() as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        assert line_of(InputInvalid, spooled(Path("-")).__enter__).startswith("stdin: is a device")


def test_standard_input_that_is_closed(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    for name in ("-", "/dev/stdin"):
        assert line_of(InputInvalid, spooled(Path(name)).__enter__) == "stdin: is closed; expected text on it"


def test_no_file(tmp_path):
    line = line_of(InputInvalid, read, tmp_path / "a.jsonl")
    assert line == f"{tmp_path}/a.jsonl: no such file or directory; expected a file of rows, such as JSON Lines or CSV"


@pytest.mark.parametrize("name", ["rows.TSV", "rows.csv.tsv", "rows.tsv.old.tsv", "ROWS.TSV.GZ"])
def test_a_kind_is_known_by_its_last_suffix_in_any_case(tmp_path, name):
    assert read(written(tmp_path, ".tsv.gz" if name.endswith(".GZ") else ".tsv").rename(tmp_path / name)) == ROWS


@pytest.mark.parametrize("kind", [".jsonl.gz", ".csv.xz", ".csv.bz2"])
def test_a_packed_file_that_is_damaged(tmp_path, kind):
    """These formats have checksums: what was changed is never read as rows."""
    path = written(tmp_path, kind)
    data = path.read_bytes()
    for at in range(10, len(data), 7):
        path.write_bytes(data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :])
        try:
            entries = read(path)
        except InputInvalid:
            assert line_of(InputInvalid, read, path).startswith(str(path))
        else:
            assert entries == ROWS, "a byte that says nothing, such as a time"


@pytest.mark.parametrize("kind", PACKED)
def test_a_packed_file_that_was_cut(tmp_path, kind):
    path = written(tmp_path, kind)
    path.write_bytes(path.read_bytes()[:-9])
    assert line_of(InputInvalid, read, path).startswith(f"{path}: ")


@pytest.mark.parametrize(
    ("log", "status"),
    [({"status": "error", "samples": []}, "error"), ({"status": None}, ""), ({}, ""), ([{"status": "error"}], "")],
)
def test_the_status_of_a_run_is_read_from_its_log(log, status, tmp_path):
    (tmp_path / "log.json").write_text(json.dumps(log))
    assert log_status(layout_of(tmp_path / "log.json")) == status
