"""The benchmarks of examples/, which are outside of the package: they load, and read the real files where those are."""

import csv
from collections import Counter
from pathlib import Path

import pytest

from excam.core import licences, source_tables
from excam.excam40k import datasets

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples/benchmarks").glob("*.py"))
REAL = ROOT.parent / "shared/data/external"
FOLDERS = {"copal_id": "copal-id", "exams": "exams-humanities", "fork": "fork", "kobbq": "kobbq"}
DROPPED = {
    "copal_id": (1118, {}),
    "exams": (8851, {"general-subject": 3199, "no-country": 433, "empty": 1}),
    "fork": (184, {"unnamed-country": 31}),
    "kobbq": (2280, {}),
}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_keeps_the_contract(path):
    source = datasets.load(path.stem, str(path)).SOURCE
    assert licences.terms(source.licence) is not None
    assert source.title
    assert source.citation


@pytest.mark.skipif(not REAL.exists(), reason="the real files are not here")
@pytest.mark.parametrize("name", FOLDERS)
def test_an_example_reads_the_real_files(name):
    path = ROOT / f"examples/benchmarks/{name}.py"
    folder = REAL / FOLDERS[name]
    reading = datasets.read(name, folder, {}, str(path))
    rows, dropped = DROPPED[name]
    assert (reading.rows, reading.dropped) == (rows, Counter(dropped))
    assert reading.unknown == {}
    for base in reading.samples():
        assert base.answer in base.options
        assert base.wrong
        assert base.answer not in base.wrong
    known = source_tables.unread_files(folder, datasets.load(name, str(path)).SOURCE.files)
    assert known == (["KoBBQ_templates.tsv.gz"] if name == "kobbq" else [])


@pytest.mark.skipif(not REAL.exists(), reason="the real files are not here")
def test_the_right_choice_of_copal_id_is_the_one_at_its_label():
    """The column is called as a field of base samples is."""
    path = ROOT / "examples/benchmarks/copal_id.py"
    made = {sample.id: sample for sample in datasets.read("copal_id", REAL / "copal-id", {}, str(path)).samples()}
    with (REAL / "copal-id/test_copal.csv").open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            base = made[f"copal_id/standard:{row['idx']}"]
            assert base.answer == row[f"choice{int(row['label']) + 1}"].strip()
            assert base.label == ""
            assert base.group == made[f"copal_id/colloquial:{row['idx']}"].group


@pytest.mark.skipif(not REAL.exists(), reason="the real files are not here")
def test_the_unknown_answer_of_kobbq_is_right_as_often_as_it_may_be_wrong():
    path = ROOT / "examples/benchmarks/kobbq.py"
    made = datasets.read("kobbq", REAL / "kobbq", {}, str(path)).samples()
    unknown = "알 수 없음"
    assert sum(base.answer == unknown for base in made) == sum(unknown in base.wrong for base in made) == len(made) / 2
