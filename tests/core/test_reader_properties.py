"""Rows of any text come back from every format, and each is in one count."""

import csv
import json
import tempfile
from collections import Counter
from pathlib import Path

import polars as pl
from hypothesis import given
from hypothesis import strategies as st
from text_strategies import ANSWERS, TEXTS

from excam.core import row_files, tables
from excam.core.exceptions import ModelInvalid
from excam.core.row_files import BadRow
from excam.scoring import joining, manifests

# A CSV file shows no difference between "" and nothing, and its reader takes no NUL
CELLS = TEXTS.filter(lambda text: text and "\0" not in text)
ROWS = st.lists(st.fixed_dictionaries({"id": CELLS, "text": CELLS, "other": CELLS}), min_size=1, max_size=5)


def as_json_lines(path, rows):
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8", newline="")


def as_csv(path, rows):
    with path.open("w", encoding="utf-8", newline="") as stream:
        table = csv.DictWriter(stream, list(rows[0]))
        table.writeheader()
        table.writerows(rows)


def as_parquet(path, rows):
    tables.write_frame(path, pl.DataFrame(rows))


@given(ROWS, st.sampled_from(((as_json_lines, ".jsonl"), (as_csv, ".csv"), (as_parquet, ".parquet"))))
def test_rows_come_back_from_every_format(rows, form):
    write, suffix = form
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"rows{suffix}")
        write(path, rows)
        assert [row for _, row in row_files.records(path)] == rows


@given(st.lists(ANSWERS, min_size=1, max_size=6))
def test_each_line_of_json_lines_is_a_row_or_a_bad_one(lines):
    rows = [line.replace("\n", " ").replace("\r", " ") or "x" for line in lines]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.jsonl")
        path.write_bytes("".join(f"{json.dumps({'a': 1})}\n{row}\n" for row in rows).encode("utf-8", "surrogatepass"))
        numbers = Counter(number for number, _ in row_files.records(path))
        sound = sum(not isinstance(record, BadRow) for _, record in row_files.records(path))
    assert max(numbers.values()) == 1
    assert sound >= len(rows)
    assert len(numbers) >= sum(2 if row.strip() else 1 for row in rows)


@given(st.lists(st.tuples(TEXTS, st.sampled_from(("", " ", ".0", "\u0301"))).map("".join), unique=True, max_size=8))
def test_ids_are_joined_one_to_one(names):
    ours, theirs = names[::2], names[1::2]
    for first, second in ((ours, theirs), (names, names[::-1])):
        joined = joining.join(first, second).theirs
        assert len(set(joined.values())) == len(joined)
        assert all(joining.plain_id(name) == joining.plain_id(other) for name, other in joined.items())
    assert joining.join(names, names[::-1]).theirs == {name: name for name in names}


@given(ANSWERS | st.dictionaries(st.sampled_from(("model", "base", "outputs", "trained_on")), TEXTS).map(json.dumps))
def test_a_manifest_of_others_is_read_or_refused_in_one_line(text):
    for kind in (manifests.AdapterManifest, manifests.BaseManifest):
        try:
            manifests.parse(text.encode("utf-8", "surrogatepass"), kind, "m.json")
        except ModelInvalid as problem:
            lines = str(problem).splitlines()
            assert len(lines) == 1
