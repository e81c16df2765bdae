"""The mini benchmarks: official schemas, what their readers make of them, traps, and texts that are true to their form.

What the readers check of any file (answers among the options, shares for each option) is not checked here again.
"""

import ast
import csv
import json
import re
import unicodedata
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

import pytest

from excam.excam40k import datasets
from excam.excam40k.construction import norms

MINI = Path(__file__).parents[2] / "mini"
LETTERS = "ABCD"
REGION_NAMES = """
    Algeria Assam Azerbaijan China Ethiopia Greece Indonesia Iran Mexico North_Korea Northern_Nigeria South_Korea Spain
    UK US West_Java
"""
REGIONS = set(REGION_NAMES.split())
BLEND_INSTRUCTION = (
    "Without any explanation, choose only one from the given alphabet choices(e.g., A, B, C). "
    'Provide as JSON format: {"answer_choice":""}'
)
INCLUDE_FIELDS = ["language", "country", "domain", "subject", "regional_feature", "level", "question"]
UNSPACED = {"Chinese", "Japanese"}  # no blanks between words: length is counted in characters
SCRIPT = {  # start of the Unicode names of a script's letters
    "Arabic": "ARABIC",
    "Assamese": "BENGALI",
    "Bangla": "BENGALI",
    "Chinese": "CJK",
    "Hebrew": "HEBREW",
    "Hindi": "DEVANAGARI",
    "Japanese": "HIRAGANA",
    "Korean": "HANGUL",
    "Nepali": "DEVANAGARI",
    "Russian": "CYRILLIC",
}
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
READ = {  # rows, and usable ones: their questions, answers, languages and cultures; how many have how many wrong options
    "blend": (46, 46, 46, 46, 1, 16, {3: 45, 2: 1}, {}),
    "calmqa": (33, 30, 30, 30, 11, 11, {0: 30}, {"no-answer": 3}),
    "culturalbench": (45, 45, 45, 45, 1, 41, {3: 45}, {}),
    "epic": (60, 60, 24, 2, 1, 12, {1: 60}, {}),
    "globalopinionqa": (
        69,
        62,
        16,
        33,
        1,
        28,
        {2: 38, 1: 16, 3: 8},
        {"small-margin": 3, "tie": 1, "no-question": 1, "no-wrong-option": 2},
    ),
    "include": (47, 45, 45, 45, 15, 20, {3: 45}, {"culture-agnostic": 2}),
    "mango": (31, 30, 30, 30, 1, 30, {0: 30}, {"empty": 1}),
    "nativqa": (30, 30, 30, 30, 7, 5, {0: 30}, {}),
    "normad": (81, 78, 78, 78, 1, 48, {0: 78}, {"neutral": 3}),
}


def rows_of(name):
    path = MINI / name
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file)) if path.suffix == ".csv" else [json.loads(line) for line in file]


def has_script(text, language):
    """Whether most letters of `text` are of the language's script (one kana is enough for Japanese)."""
    names = [unicodedata.name(char, "") for char in text if char.isalpha()]
    start = SCRIPT.get(language, "LATIN")
    hits = sum(name.startswith(start) for name in names)
    return hits > 0 if language == "Japanese" else hits > len(names) / 2


def short(text, language="English"):
    return 20 <= len(text) <= 120 if language in UNSPACED else 12 <= len(text.split()) <= 45


@cache
def read(name):
    return datasets.load(name).read(MINI / name)


BLEND, CULTURALBENCH, OPINIONS, MANGO, NORMAD, CALMQA, EPIC = map(rows_of, COLUMNS)
NORMS = NORMAD[-48:]  # stories about four customs on which cultures differ
INCLUDE = {path.parent.name: rows_of(path) for path in sorted((MINI / "include").glob("*/test.jsonl"))}
INCLUDE_ROWS = [row for rows in INCLUDE.values() for row in rows if row["regional_feature"] != "agnostic"]
NATIVQA = [
    (file, row)
    for file in sorted((MINI / "nativqa").glob("*/*.json"))
    for row in json.loads(file.read_text(encoding="utf-8"))
]
SHARES = [  # question, country, options and their shares, parsed as the official file has to be
    (row["question"], country, ast.literal_eval(row["options"]), shares)
    for row in OPINIONS
    for country, shares in ast.literal_eval(row["selections"].removeprefix("defaultdict(<class 'list'>, ")[:-1]).items()
]


# --- all of them


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


def test_no_question_is_asked_in_two_benchmarks():
    names = ("blend", "culturalbench", "include")
    asked = [sample.question.casefold() for name in names for sample in read(name).samples()]
    asked += {row["question"].casefold() for row in OPINIONS if row["question"]}
    assert len(asked) == len(set(asked)) == 148


def test_answers_are_short():
    names = ("blend", "culturalbench", "include", "globalopinionqa")
    assert all(1 <= len(sample.answer.split()) <= 8 for name in names for sample in read(name).samples())


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


# --- one by one


def test_blend_regions_and_ids():
    assert {row["country"] for row in BLEND} == REGIONS
    assert all(row["MCQID"].startswith(row["ID"] + "_") for row in BLEND)


@pytest.mark.parametrize("row", BLEND, ids=lambda row: row["MCQID"])
def test_blend_row_is_whole(row):
    choices, countries = json.loads(row["choices"]), json.loads(row["choice_countries"])
    assert list(choices) == list(countries) == list(LETTERS)
    assert len(set(choices.values())) == 4
    assert countries[row["answer_idx"]] == row["country"]
    assert list(countries.values()).count(row["country"]) == 1
    assert set(countries.values()) <= REGIONS | {"dummy"}
    question, rest = row["prompt"].split(" " + BLEND_INSTRUCTION)
    assert question.endswith("?")
    assert rest == "\n\n" + "\n".join(f"{letter}. {text}" for letter, text in choices.items()) + "\n\nAnswer:"


def test_letters_are_as_often_right_as_the_readme_says():
    for rows, name in ((BLEND, "answer_idx"), (INCLUDE_ROWS, "answer")):
        counts = Counter(row[name] for row in rows)
        assert len(counts) == 4
        assert max(counts.values()) - min(counts.values()) <= 1
    assert Counter(row["answer"] for row in CULTURALBENCH) == {"A": 18, "B": 11, "C": 10, "D": 6}
    (held,) = [row for row in BLEND if "not-applicable" in json.loads(row["choices"]).values()]
    assert json.loads(held["choices"])[held["answer_idx"]] != "not-applicable"


@pytest.mark.parametrize(
    ("country", "answer"),
    [("India", "Namaste"), ("Netherlands", "Orange"), ("Peru", "Ceviche"), ("Vietnam", "Áo dài"), ("Nigeria", "Gele")],
)
def test_culturalbench_keys_point_at_the_facts(country, answer):
    row = next(row for row in CULTURALBENCH if row["country"] == country)
    assert row[f"prompt_option_{row['answer'].lower()}"] == answer
    assert [int(row["data_idx"]) for row in CULTURALBENCH] == list(range(45))


def test_include_rows_follow_the_schema_and_one_language_the_older_form():
    assert {language for language, rows in INCLUDE.items() if all("choices" in row for row in rows)} == {"Polish"}
    for language, rows in INCLUDE.items():
        options = ["choices"] if language == "Polish" else [f"option_{letter}" for letter in "abcd"]
        assert all(list(row) == [*INCLUDE_FIELDS, *options, "answer"] for row in rows)
        assert {row["language"] for row in rows} == {language}
    assert {row["regional_feature"] for row in INCLUDE_ROWS} == {"region explicit", "region implicit", "culture"}


def test_include_covers_many_scripts():
    scripts = {
        unicodedata.name(letter).split()[0] for row in INCLUDE_ROWS for letter in row["question"] if letter.isalpha()
    }
    assert scripts >= {"ARABIC", "CJK", "CYRILLIC", "DEVANAGARI", "GEORGIAN", "GREEK", "HANGUL", "HEBREW", "LATIN"}


def test_globalopinionqa_has_its_traps_and_opinions():
    assert {row["source"] for row in OPINIONS} == {"GAS", "WVS"}
    asked = [row["question"] for row in OPINIONS]
    assert [sum(trap in text for text in asked) for trap in ("____", "[your country]")] == [1, 1]
    assert sum("DK/Refused" in row["options"] for row in OPINIONS) == 1
    assert [country for text, country, _, shares in SHARES if text and shares.count(max(shares)) > 1] == ["Canada"]
    for _, _, options, shares in SHARES:
        assert len(options) == len(set(options))
        assert sum(shares) == pytest.approx(1)
    contested = sum(max(shares) < 0.6 for _, _, _, shares in SHARES)
    assert contested > len(SHARES) / 3, "people of a country disagree"


def test_mango_records_have_their_raw_assertions():
    kinds = {"id": str, "concept": str, "culture": str, "assertion": str, "freq": int}
    for record in MANGO:
        assert 1 <= len(record["cluster"]) <= 2
        assert record["freq"] == sum(raw["freq"] for raw in record["cluster"])
        for part in (record, *record["cluster"]):
            assert all(type(part[field]) is kind for field, kind in kinds.items())
        assert all(list(raw) == list(kinds) and raw["culture"] == record["culture"] for raw in record["cluster"])
    ids = [part["id"] for record in MANGO for part in (record, *record["cluster"])]
    assert len(ids) == len(set(ids))
    usable = [record for record in MANGO if record["assertion"]]
    assert len({record["concept"] for record in usable}) == len(usable)
    assert all(short(record["assertion"]) for record in usable)


def test_nativqa_files_are_named_as_officially():
    splits = defaultdict(set)
    for file, _ in NATIVQA:
        match = re.fullmatch(r"NativQA_[a-z]+_[A-Za-z]+_([a-z]{2})_(train|dev|test)\.json", file.name)
        assert match, file.name
        assert file.parent.name.endswith(f"_{match[1]}")
        splits[file.parent.name].add(match[2])
    assert {"turkish_tr", "bangla_bd", "hindi_in", "nepali_np", "arabic_qa", "english_qa"} <= set(splits)
    assert {"english_bd", "assamese_in"} <= set(splits)
    assert all(names == {"train", "dev", "test"} for names in splits.values())


def test_nativqa_rows_are_in_the_language_of_the_config():
    assert len({row["data_id"] for _, row in NATIVQA}) == len(NATIVQA)
    for file, row in NATIVQA:
        language = file.parent.name.split("_")[0].capitalize()
        assert list(row) == ["data_id", "question", "answer", "input_query"]
        assert all(has_script(row[field], language) for field in ("question", "answer", "input_query")), row
        assert short(row["answer"], language), row


def test_normad_texts_have_the_official_form():
    assert Counter(row["Gold Label"] for row in NORMAD) == {"yes": 39, "no": 39, "neutral": 3}
    assert all(re.fullmatch(r"[^\W\dA-Z]+", row["Country"]) for row in NORMAD)  # small letters and underscores
    for field in ("ID", "Background", "Story", "Explanation"):
        assert len({row[field] for row in NORMAD}) == len(NORMAD)
    for row in NORMAD:
        assert all(value.strip() for value in row.values())
        assert re.match(r"[A-Z][A-Za-z ]+- [A-Z]", row["Background"]), row["Background"]
        least = 1 if row in NORMS else 2
        assert least <= len(re.findall(r"\.(?: |$)", row["Background"])) <= 3
        asked = re.search(r" Is what (\w+|the host) did socially acceptable\?$", row["Story"])
        assert asked, row["Story"]
        assert (asked[1] in row["Explanation"]) != (row in NORMS), "of the story, or of anybody"
        assert short(row["Explanation"]) or (row in NORMS and 6 <= len(row["Explanation"].split()) < 12)
        assert short(row["Background"])


def test_normad_explanations_carry_a_norm_word_that_fits_the_label():
    negative = re.compile(r"\b(im|dis|un)(polite|respectful|acceptable)\b")
    positive = re.compile(r"\b(polite|respectful)\b")
    for row in (row for row in NORMAD if row not in NORMS):
        if row["Gold Label"] == "no":
            assert negative.search(row["Explanation"]), row["Explanation"]
        elif row["Gold Label"] == "yes":
            assert positive.search(row["Explanation"]), row["Explanation"]
            assert not negative.search(row["Explanation"]), row["Explanation"]


def test_normad_norms_leave_out_the_story_and_name_both_sides():
    """A story is acceptable or not by each of the norms that exclude one another: nothing in a norm tells which."""
    stated = defaultdict(set)
    for row in NORMS:
        answer = f"{row['Gold Label'].capitalize()}, explanation: {row['Explanation']}"
        (norm,) = (norm for norm in norms.norms() if norm.statement.search(answer.partition(": ")[2]))
        (followed,) = (
            candidate
            for candidate in norms.norms()
            if candidate.custom == norm.custom and candidate.story.search(row["Story"])
        )
        assert (followed == norm) == (row["Gold Label"] == "yes"), row
        stated[norm.custom].add((norm.norm, row["Gold Label"]))
    assert len(stated) == 4
    assert all(len({norm for norm, _ in pairs}) == 2 and len(pairs) == 4 for pairs in stated.values())


def test_calmqa_texts_are_in_their_language():
    assert len({row["question"] for row in CALMQA}) == len(CALMQA)
    for row in CALMQA:
        assert has_script(row["question"], row["language"]), row
        assert has_script(row["question_english"], "English")
        if row["answer"] is not None:
            assert has_script(row["answer"], row["language"]), row
            assert short(row["answer"], row["language"]), row


def test_calmqa_agnostic_question_recurs_under_one_id():
    rows = defaultdict(list)
    for row in CALMQA:
        rows[row["question_id"]].append(row)
    (group,) = [group for group in rows.values() if len(group) > 1]
    assert {row["language"] for row in group} == {"English", "German"}
    assert {row["question_type"] for row in group} == {"culturally agnostic"}
    assert len({row["question_english"] for row in group}) == 1
    assert all(row["question_type"] == "culturally specific" for row in CALMQA if row not in group)


def test_epic_counts():
    assert {row["label"] for row in EPIC} == {"iro", "not"}
    assert {row["source"] for row in EPIC} == {"reddit", "twitter"}
    assert {row["language_variety"] for row in EPIC} == {"au", "gb", "ie", "in", "us"}
    assert len({(row["user"], row["id_original"]) for row in EPIC}) == len(EPIC)
    assert all(value.strip() for row in EPIC for value in row.values())


def test_epic_pairs_have_two_or_three_annotators_and_four_dissenters():
    labels, texts = defaultdict(list), defaultdict(set)
    for row in EPIC:
        labels[row["id_original"]].append(row["label"])
        texts[row["id_original"]].add((row["text"], row["parent_id_original"], row["parent_text"], row["source"]))
    assert len(labels) == 24
    assert all(len(posts) == 1 for posts in texts.values())
    assert {len(votes) for votes in labels.values()} == {2, 3}
    dissent = [Counter(votes) for votes in labels.values() if len(set(votes)) > 1]
    assert sorted(tuple(sorted(counts.items())) for counts in dissent) == [
        (("iro", 1), ("not", 2)),
        *[(("iro", 2), ("not", 1))] * 3,
    ]
    assert Counter(Counter(votes).most_common(1)[0][0] for votes in labels.values()) == {"iro": 12, "not": 12}


def test_epic_annotators_are_consistent_and_one_of_them_withdrew_two_answers():
    attributes = defaultdict(set)
    for row in EPIC:
        attributes[row["user"]].add(tuple(row.values())[9:])
    assert all(re.fullmatch(r"mini\d\d", user) for user in attributes)
    assert all(len(profiles) == 1 for profiles in attributes.values())
    expired = [[column for column, value in row.items() if value == "DATA_EXPIRED"] for row in EPIC]
    assert [columns for columns in expired if columns] == [["Ethnicity simplified", "Employment status"]] * 3


@pytest.mark.parametrize("path", sorted(MINI.rglob("*.json*")), ids=lambda path: str(path.relative_to(MINI)))
def test_chinese_is_written_with_chinese_marks(path):
    text = re.sub(r'"[,:]', "", path.read_text(encoding="utf-8"))
    assert not re.findall(r"[\u4e00-\u9fff][,:;?!].{0,9}", text)


def test_no_number_is_right_in_most_scenarios_that_ask_how_many():
    rows = [
        json.loads(line) for path in (MINI / "macaron/exports").glob("*.jsonl") for line in path.open(encoding="utf-8")
    ]
    right = Counter(row["options"][0] for row in rows if sorted(row.get("options") or []) == ["1", "2", "3", "4"])
    assert right == {"1": 2, "2": 2, "3": 3, "4": 2}
