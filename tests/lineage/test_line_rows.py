"""One line of a table of numbers leads to the ids of its rows, and what selected them is stated.

A rule that scores the same rows with two metrics, as the crossing has it; the records are Snakemake's own.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from excam import cli
from excam.core import tables

SNAKEFILE = """
rule all:
    input: "results/numbers.csv", "results/texts.html"
rule texts:
    output: "results/rows.parquet"
rule metric:
    input: "results/rows.parquet"
    output: "results/scores/{metric}.parquet"
rule notes:
    output: "results/notes.jsonl"
rule numbers:
    input: "results/rows.parquet", "results/scores/bleu.parquet", "results/scores/comet.parquet", "results/notes.jsonl"
    output: "results/numbers.csv"
rule page:
    input: "results/rows.parquet"
    output: "results/texts.html"
"""
ROWS = {"acre": ("a1", "a2", "a3"), "blend": ("b1", "b2"), "calmqa": ("c1",)}
SCORED = {"bleu": ("a1", "a2", "b1"), "comet": ("a1", "a2", "a3", "b1", "b2", "c1")}
LINES = [("bleu", "acre", 2), ("bleu", "all", 3), ("comet", "acre", 3), ("comet", "blend", 2), ("comet", "all", 6)]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The folder of a finished workflow."""
    folder = tmp_path_factory.mktemp("run")
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.chdir(folder)
        rows = [
            {"id": name, "set": group, "kinds": ["factual", "=style"], "level": 3}
            for group in ROWS
            for name in ROWS[group]
        ]
        Path("results/scores").mkdir(parents=True)
        tables.write_frame(Path("results/rows.parquet"), pl.DataFrame(rows))
        for metric, names in SCORED.items():
            tables.write_frame(Path(f"results/scores/{metric}.parquet"), pl.DataFrame({"id": names, "score": 0.5}))
        Path("results/notes.jsonl").write_text('{"id": "n1", "metric": 7}\n{"id": "n2"}\n')
        lines = [{"metric": metric, "set": group, "n": n, "level": 3} for metric, group, n in LINES]
        tables.write_lines(Path("results/numbers.csv"), ["metric", "set", "n", "level"], lines)
        Path("results/texts.html").write_text("<p>")
        Path("Snakefile").write_text(SNAKEFILE)
        touch = ["snakemake", "--touch", "--forceall", "--cores", "1", "--quiet", "all", "--", "all"]
        subprocess.run([sys.executable, "-m", *touch], check=True, capture_output=True)
    return folder


@pytest.fixture(autouse=True)
def here(run, monkeypatch):
    monkeypatch.chdir(run)


def excam(*words: str):
    return CliRunner().invoke(cli.app, ["rows", "results/numbers.csv", *words], env={"COLUMNS": "200"})


def selected(*where: str) -> dict[str, dict]:
    result = excam(*(word for condition in where for word in ("--where", condition)), "--json")
    assert result.exit_code == 0, result.stderr
    return {table["file"].removeprefix("results/"): table for table in map(json.loads, result.stdout.splitlines())}


@pytest.mark.parametrize(("metric", "group", "n"), LINES)
def test_a_line_has_as_many_rows_as_its_n(metric, group, n):
    behind = selected(f"metric={metric}", f"set={group}")
    wanted = [name for names in (ROWS.values() if group == "all" else [ROWS[group]]) for name in names]
    wanted = [name for name in wanted if name in SCORED[metric]]
    assert len(wanted) == n
    assert behind.keys() == {"rows.parquet", f"scores/{metric}.parquet", "notes.jsonl"}, "not of the other metric"
    assert behind["rows.parquet"]["ids"] == behind[f"scores/{metric}.parquet"]["ids"] == wanted


def test_what_selected_the_rows_is_stated():
    behind = selected("metric=bleu", "set=acre")
    assert behind["rows.parquet"]["selected_by"] == ["set=acre", "the ids of results/scores/bleu.parquet"]
    assert behind["scores/bleu.parquet"]["selected_by"] == [
        "metric=bleu of its path",
        "the ids of results/rows.parquet",
    ]
    assert behind["notes.jsonl"]["selected_by"] == []
    assert behind["notes.jsonl"]["not_used"] == ["metric=bleu (no row has it)", "set=acre (no such column)"]
    assert selected("metric=comet", "set=all")["rows.parquet"]["not_used"][0] == "set=all (no row has it)"
    named = selected("metric=comet", "set=blend", "level=3")["rows.parquet"]["selected_by"]
    assert named == ["set=blend", "level=3"], "a number selects where the user names it"


def test_the_reader_sees_ids_pages_and_tables_that_the_line_does_not_part():
    text = excam("--where", "metric=comet", "--where", "set=blend").stdout
    assert "rows.parquet: 2 of 6 rows, selected by set=blend" in text
    assert re.search(r"^  2 by `id`: b1, b2\n  to look at: results/texts.html$", text, re.M)
    assert "notes.jsonl: no value in common with the line: as far as is recorded, computed from all 2 rows" in text


@pytest.mark.parametrize("name", ["rows.csv", "rows.jsonl"])
def test_all_rows_are_written(tmp_path, name):
    file = tmp_path / name
    assert excam("--where", "metric=bleu", "--where", "set=acre", "--to", str(file)).exit_code == 0
    rows = tables.read_lines(file) if file.suffix == ".csv" else list(tables.read_jsonl(file))
    ids = {
        name: [row["id"] for row in rows if Path(row["row_table"]).stem == name] for name in ("rows", "bleu", "notes")
    }
    assert ids == {"rows": ["a1", "a2"], "bleu": ["a1", "a2"], "notes": ["n1", "n2"]}
    kinds = next(row["kinds"] for row in rows if row["row_table"] == "results/rows.parquet")
    assert (json.loads(kinds) if file.suffix == ".csv" else kinds) == ["factual", "=style"]
    again = excam("--where", "metric=bleu", "--where", "set=acre", "--to", str(file))
    assert "expected a new file" in again.stderr


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (
            ("--where", "metrics=bleu"),
            "expected COLUMN=VALUE; the columns of results/numbers.csv are metric, set, n, level",
        ),
        (("--where", "bleu"), "found bleu; expected COLUMN=VALUE"),
        (("--where", "metric=blue"), "found no line with metric=blue; expected one of bleu, comet"),
        (
            ("--where", "metric=bleu", "--where", "set=blend"),
            "with metric=bleu with set=blend; expected one of acre, all",
        ),
        (
            ("--where", "metric=bleu"),
            "found 2 lines with metric=bleu; expected one; add --where set=VALUE of acre, all",
        ),
        (("--where", "metric=bleu", "--wrong"), "no cell or outcome beside it"),
        (("--to", "rows.csv"), "expected --where"),
        (("--where", "n=6", "--to", "rows.txt"), "expected a name that ends in .csv or .jsonl"),
    ],
)
def test_a_wrong_line_is_one_line_with_what_is_there(words, part):
    result = excam(*words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert part in result.stderr
    assert len(result.stderr.splitlines()) == 1
