"""The mini benchmarks: official schemas, and what their readers make of them.

Their texts change with the golden record of the stages alone, where people see it.
"""

import csv
import json
import unicodedata
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

import pytest

from excam.excam40k import datasets
from excam.excam40k.construction import norms

MINI = Path(__file__).parents[2] / "mini"
COLUMNS = {
    "blend/mc_questions.csv": "MCQID,ID,country,prompt,choices,choice_countries,answer_idx",
    "culturalbench/CulturalBench-Easy.csv": (
        "data_idx,question_idx,prompt_question,prompt_option_a,prompt_option_b,prompt_option_c,prompt_option_d,answer,country"
    ),
    "globalopinionqa/global_opinions.csv": "question,selections,options,source",
    "mango/mango.jsonl": "id,concept,culture,assertion,freq,cluster",
    "normad/normad_etiquette_final_data.csv": (
        "ID,Country,Background,Axis,Subaxis,Value,Rule-of-Thumb,Story,Explanation,Gold Label"
    ),
    "calmqa/train.jsonl": "language,question_type,question,question_english,answer,question_id",
    "epic/EPICorpus.csv": (
        "user,label,id_original,text,parent_id_original,parent_text,source,language_instance,language_variety,Age,Sex,"
        "Ethnicity simplified,Country of birth,Country of residence,Nationality,Student status,Employment status,"
        "Language_annotator"
    ),
}
NO_OPINIONS = {"no-exchange": 18, "tie": 1, "no-question": 1}
READ = {  # rows, and usable ones: their questions, answers, languages and cultures; how many have how many wrong options
    "blend": (46, 46, 46, 46, 1, 16, {3: 45, 2: 1}, {}),
    "calmqa": (33, 30, 30, 30, 11, 11, {0: 30}, {"no-answer": 3}),
    "culturalbench": (45, 44, 44, 44, 1, 40, {3: 44}, {"asks-what-is-not": 1}),
    "epic": (60, 54, 23, 2, 1, 12, {1: 54}, {"contested": 6}),
    "globalopinionqa": (69, 49, 11, 30, 1, 25, {1: 49}, NO_OPINIONS),
    "include": (47, 45, 45, 45, 15, 20, {3: 45}, {"culture-agnostic": 2}),
    "mango": (31, 30, 30, 30, 1, 30, {0: 30}, {"empty": 1}),
    "nativqa": (30, 30, 30, 30, 7, 5, {0: 30}, {}),
    "normad": (81, 78, 78, 78, 1, 48, {0: 78}, {"neutral": 3}),
}


def rows_of(name):
    path = MINI / name
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file)) if path.suffix == ".csv" else [json.loads(line) for line in file]


@cache
def read(name):
    return datasets.load(name).read(MINI / name)


NORMS = rows_of("normad/normad_etiquette_final_data.csv")[-48:]  # stories about four customs on which cultures differ


@pytest.mark.parametrize("name", COLUMNS)
def test_every_row_has_the_official_columns(name):
    assert {",".join(row) for row in rows_of(name)} == {COLUMNS[name]}


@pytest.mark.parametrize("name", READ)
def test_what_a_reader_makes_of_a_mini_benchmark(name):
    samples = read(name).samples()
    fields = ("question", "answer", "language", "culture")
    distinct = (len({getattr(sample, field) for sample in samples}) for field in fields)
    wrong = Counter(len(sample.wrong) for sample in samples)
    assert (read(name).rows, len(samples), *distinct, wrong, read(name).dropped) == READ[name]
    assert read(name).rows == len(samples) + read(name).dropped.total(), "every row is kept or counted"


@pytest.mark.parametrize("name", READ)
def test_files_are_plain_utf8_with_line_feeds(name):
    for file in (file for file in (MINI / name).rglob("*") if file.is_file()):
        content = file.read_bytes()
        text = content.decode("utf-8")
        assert b"\r" not in content
        assert content.endswith(b"\n")
        assert not text.startswith("\ufeff")
        assert unicodedata.is_normalized("NFC", text)


def test_readme_says_what_the_files_are_not():
    text = (MINI / "README.md").read_text(encoding="utf-8")
    for phrase in ("not a substitute", "CC BY 4.0", "distributions are illustrative", "Only the modal answer is meant"):
        assert phrase in " ".join(text.split())
    for name in READ:
        assert f"\n## {datasets.load(name).SOURCE.title or name}\n" in text
    assert "https://creativecommons.org/licenses/by/4.0/" in (MINI / "LICENSE").read_text(encoding="utf-8")


def test_normad_norms_leave_out_the_story_and_name_both_sides():
    """A story is acceptable or not by each of the norms that exclude one another: nothing in a norm tells which."""
    stated = defaultdict(set)
    for row in NORMS:
        answer = f"{row['Gold Label'].capitalize()}, explanation: {row['Explanation']}"
        (norm,) = (norm for norm in norms.norms() if norm.statement.search(answer.partition(": ")[2]))
        alternatives = [other for other in norms.norms() if other.custom == norm.custom]
        (followed,) = (other for other in alternatives if other.story.search(row["Story"]))
        assert (followed == norm) == (row["Gold Label"] == "yes"), row
        stated[norm.custom].add((norm.norm, row["Gold Label"]))
    assert len(stated) == 4
    assert all(len({norm for norm, _ in pairs}) == 2 and len(pairs) == 4 for pairs in stated.values())
