"""A benchmark in a file outside of the package: what it may be called, how it is read, and what is wrong with it."""

import json
from pathlib import Path

import pytest
from build_excam40k import SEED, SHARES, script
from one_line_errors import line_of

from excam.core.exceptions import ConfigInvalid, SourceInvalid
from excam.error_reports import record_files
from excam.excam40k import datasets

MODULE = """
from dataclasses import dataclass
from pathlib import Path
import polars as pl
from excam.excam40k.datasets import base
from excam.excam40k.datasets._cells import identifier, with_wrong

SOURCE = base.Source(licence="CC0-1.0", files=("*/a.csv", "*/b.tsv"), title="Own", citation="Nobody 2026. Own")
TASK, ERRORS = "qa", "hard"


@dataclass
class Unused:
    field: int = 0


def read(folder: Path, *, least: int = 0) -> base.Reading:
    tables = [base.table(one, "own_set", ("key", "right", "other")) for one in base.find(folder, "own_set", SOURCE.files)]
    rows = pl.concat(tables, how="diagonal")
    rows = base.fields(rows, id=identifier("own_set", pl.col("key")), question=pl.lit("What is drunk?"),
        answer=pl.col("right"), options=pl.concat_list("right", "other"), language=pl.lit("English"),
        culture=pl.lit("Greece"), stratum=pl.lit("all"))
    return base.gather("own_set", TASK, with_wrong(rows))
"""


@pytest.fixture
def own(tmp_path, monkeypatch) -> Path:
    """A folder of work with a module in the file `ext/own_set.py`, and its source in `data/`."""
    monkeypatch.chdir(tmp_path)
    for folder in ("ext", "data/x", "data/y"):
        Path(folder).mkdir(parents=True)
    Path("ext/own_set.py").write_text(MODULE)
    Path("data/x/a.csv").write_text("key,right,other\n1,tea,cola\n2,ouzo,mate\n")
    Path("data/y/b.tsv").write_text("key\tright\tother\n3\traki\tsoju\n")
    Path("data/y/c.jsonl").write_text("{}")
    return tmp_path


def test_rows_and_errors_are_made_from_the_file(own, capsys):
    source = json.dumps({"folder": "data"})
    named = {"dataset": "own_set", "module": "ext/own_set.py"}
    script("fetch_source", **named, source=source, manifest="sources/own_set/manifest.json")
    made = {"bases": "bases.jsonl", "samples": "right.parquet"}
    drawing = {"cap": 12, "cap_stage": "after", "allocation": "equal", "shares": SHARES, "seed": SEED}
    script("build_samples", **named, **drawing, source="sources/own_set/manifest.json", **made, counts="counts.json")
    counts = json.loads(Path("counts.json").read_text())
    assert (counts["rows"], counts["pairs"], counts["files_not_read"]) == (3, 6, ["y/c.jsonl"])
    assert "own_set: files that look like rows and are not read: y/c.jsonl" in capsys.readouterr().err
    script("make_hard_errors", **named, **made, seed=SEED, errors="wrong.parquet", counts="wrong.json")
    rows = record_files.read_samples(Path("wrong.parquet"))
    assert {(row.dataset, row.licence) for row in rows} == {("own_set", "CC0-1.0")}
    assert not list(own.rglob("__pycache__"))


def test_an_edit_of_the_file_counts_at_once(own):
    assert datasets.load("own_set", "ext/own_set.py").MISTAKE == "fact"
    Path("ext/own_set.py").write_text(MODULE + "MISTAKE = 'opinion'\n")
    assert datasets.load("own_set", "ext/own_set.py").MISTAKE == "opinion"


UNKNOWN = "ext/own_set.py: SOURCE.licence: found"


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (("import polars as pl", "import polarz as pl"), "ext/own_set.py:4: cannot be run: ModuleNotFoundError: "),
        (("def read(", "def reads("), "ext/own_set.py: no function read; expected"),
        (("def read(", "def read(:"), "ext/own_set.py: cannot be run: SyntaxError: "),
        (('"qa", "hard"', '"quiz", "hard"'), "ext/own_set.py: TASK: found 'quiz'; expected one of qa, "),
        (("SOURCE = base", "SOURCES = base"), "ext/own_set.py: no SOURCE; expected a base.Source"),
        (('("*/a.csv", "*/b.tsv")', '"*/a.csv"'), "ext/own_set.py: SOURCE.files: found a text; expected patterns"),
        (('"CC0-1.0"', '"C-UDA-1.0", terms=("nc",)'), "ext/own_set.py: SOURCE.terms: found nc; expected some of"),
        (('"CC0-1.0"', '"C-UDA-1.0"'), f"{UNKNOWN} 'C-UDA-1.0', whose terms are not known; expected its `terms` as"),
        (('"CC0-1.0"', '"MIT License"'), f"{UNKNOWN} 'MIT License', whose terms are not known; expected an identifier"),
    ],
)
def test_what_is_wrong_with_the_file_is_one_line(own, change, line):
    path = Path("ext/own_set.py")
    path.write_text(path.read_text().replace(*change))
    assert line_of(ConfigInvalid, datasets.load, "own_set", "ext/own_set.py").startswith(line)


def test_another_name_than_that_of_the_entry_is_refused(own):
    line = line_of(SourceInvalid, datasets.read, "own-set", Path("data"), {}, "ext/own_set.py")
    assert line.startswith("ext/own_set.py: gather got own_set, qa; expected own-set, qa: the name of the entry")


def test_no_file_and_an_unknown_setting(own):
    assert "own_set.module: no.py: no such file" in line_of(ConfigInvalid, datasets.load, "own_set", "no.py")
    line = line_of(ConfigInvalid, datasets.read, "own_set", Path("data"), {"most": 1}, "ext/own_set.py")
    assert "datasets.own_set.reading.most: no such setting; known: least" in line
