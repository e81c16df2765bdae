"""The mini benchmarks Mango, NativQA, NormAd, CaLMQA and EPIC: official schemas, thirty usable rows each, traps."""

from __future__ import annotations

import csv
import json
import re
import unicodedata
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

MINI = Path(__file__).parents[2] / "mini"
USABLE = 30
ANNOTATIONS = 60  # of EPIC
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
EPIC_COLUMNS = [
    *("user", "label", "id_original", "text", "parent_id_original", "parent_text", "source", "language_instance"),
    *("language_variety", "Age", "Sex", "Ethnicity simplified", "Country of birth", "Country of residence"),
    *("Nationality", "Student status", "Employment status", "Language_annotator"),
]


def json_lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (MINI / name).read_text(encoding="utf-8").splitlines()]


def csv_rows(name: str) -> list[dict[str, str]]:
    with (MINI / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def has_script(text: str, language: str) -> bool:
    """Whether most letters of `text` are of the language's script (one kana is enough for Japanese)."""
    names = [unicodedata.name(char, "") for char in text if char.isalpha()]
    start = SCRIPT.get(language, "LATIN")
    hits = sum(name.startswith(start) for name in names)
    return hits > 0 if language == "Japanese" else hits > len(names) / 2


def short(text: str, language: str = "English") -> bool:
    return 20 <= len(text) <= 120 if language in UNSPACED else 12 <= len(text.split()) <= 45


@pytest.fixture(scope="module")
def mango() -> list[dict[str, Any]]:
    return json_lines("mango/mango.jsonl")


@pytest.fixture(scope="module")
def nativqa() -> list[tuple[Path, dict[str, str]]]:
    files = sorted((MINI / "nativqa").glob("*/*.json"))
    return [(file, row) for file in files for row in json.loads(file.read_text(encoding="utf-8"))]


@pytest.fixture(scope="module")
def normad() -> list[dict[str, str]]:
    return csv_rows("normad/normad_etiquette_final_data.csv")


@pytest.fixture(scope="module")
def calmqa() -> list[dict[str, Any]]:
    return json_lines("calmqa/train.jsonl")


@pytest.fixture(scope="module")
def epic() -> list[dict[str, str]]:
    return csv_rows("epic/EPICorpus.csv")


def test_mango_records_have_the_five_fields_and_their_raw_assertions(mango: list[dict[str, Any]]) -> None:
    kinds = {"id": str, "concept": str, "culture": str, "assertion": str, "freq": int}
    for record in mango:
        assert list(record) == [*kinds, "cluster"]
        assert 1 <= len(record["cluster"]) <= 2
        assert record["freq"] == sum(raw["freq"] for raw in record["cluster"])
        for part in (record, *record["cluster"]):
            assert all(type(part[field]) is kind for field, kind in kinds.items())
        assert all(list(raw) == list(kinds) and raw["culture"] == record["culture"] for raw in record["cluster"])


def test_mango_has_thirty_cultures_and_one_empty_assertion(mango: list[dict[str, Any]]) -> None:
    usable = [record for record in mango if record["assertion"]]
    assert len(usable) == USABLE
    assert len(mango) == USABLE + 1
    for field in ("culture", "assertion", "concept"):
        assert len({record[field] for record in usable}) == USABLE
    ids = [part["id"] for record in mango for part in (record, *record["cluster"])]
    assert len(ids) == len(set(ids))
    assert all(short(record["assertion"]) for record in usable)


def test_nativqa_files_are_named_as_officially(nativqa: list[tuple[Path, dict[str, str]]]) -> None:
    splits: dict[str, set[str]] = defaultdict(set)
    for file, _ in nativqa:
        match = re.fullmatch(r"NativQA_[a-z]+_[A-Za-z]+_([a-z]{2})_(train|dev|test)\.json", file.name)
        assert match, file.name
        assert file.parent.name.endswith(f"_{match[1]}")
        splits[file.parent.name].add(match[2])
    assert {"turkish_tr", "bangla_bd", "hindi_in", "nepali_np", "arabic_qa", "english_qa"} <= set(splits)
    assert {"english_bd", "assamese_in"} <= set(splits)
    assert all(found == {"train", "dev", "test"} for found in splits.values())


def test_nativqa_rows_are_in_the_language_of_the_config(nativqa: list[tuple[Path, dict[str, str]]]) -> None:
    assert len(nativqa) == USABLE
    for field in ("data_id", "question", "answer"):
        assert len({row[field] for _, row in nativqa}) == USABLE
    for file, row in nativqa:
        language = file.parent.name.split("_")[0].capitalize()
        assert list(row) == ["data_id", "question", "answer", "input_query"]
        assert all(has_script(row[field], language) for field in ("question", "answer", "input_query")), row
        assert short(row["answer"], language), row


def test_normad_schema_and_balance(normad: list[dict[str, str]]) -> None:
    head = ["ID", "Country", "Background", "Axis", "Subaxis", "Value", "Rule-of-Thumb"]
    assert list(normad[0]) == [*head, "Story", "Explanation", "Gold Label"]
    assert Counter(row["Gold Label"] for row in normad) == {"yes": 15, "no": 15, "neutral": 3}
    assert len({row["Country"] for row in normad if row["Gold Label"] != "neutral"}) >= 20
    assert all(re.fullmatch(r"[^\W\dA-Z]+", row["Country"]) for row in normad)  # small letters and underscores
    for field in ("ID", "Background", "Story", "Explanation"):
        assert len({row[field] for row in normad}) == len(normad)


def test_normad_texts_have_the_official_form(normad: list[dict[str, str]]) -> None:
    for row in normad:
        assert all(value.strip() for value in row.values())
        assert re.match(r"[A-Z][A-Za-z ]+- [A-Z]", row["Background"]), row["Background"]
        assert 2 <= len(re.findall(r"\.(?: |$)", row["Background"])) <= 3
        asked = re.search(r" Is what (\w+) did socially acceptable\?$", row["Story"])
        assert asked, row["Story"]
        assert asked[1] in row["Explanation"]
        assert short(row["Explanation"])
        assert short(row["Background"])


def test_normad_explanations_carry_a_norm_word_that_fits_the_label(normad: list[dict[str, str]]) -> None:
    negative = re.compile(r"\b(im|dis|un)(polite|respectful|acceptable)\b")
    positive = re.compile(r"\b(polite|respectful)\b")
    for row in normad:
        if row["Gold Label"] == "no":
            assert negative.search(row["Explanation"]), row["Explanation"]
        elif row["Gold Label"] == "yes":
            assert positive.search(row["Explanation"]), row["Explanation"]
            assert not negative.search(row["Explanation"]), row["Explanation"]


def test_calmqa_schema_and_null_answers(calmqa: list[dict[str, Any]]) -> None:
    columns = ["language", "question_type", "question", "question_english", "answer", "question_id"]
    assert all(list(row) == columns for row in calmqa)
    assert {row["question_type"] for row in calmqa} == {"culturally specific", "culturally agnostic"}
    answered = [row for row in calmqa if row["answer"] is not None]
    assert len(answered) == USABLE
    assert len(calmqa) == USABLE + 3
    assert len({row["language"] for row in answered}) == 11
    assert len({row["question"] for row in calmqa}) == len(calmqa)
    assert len({row["answer"] for row in answered}) == USABLE


def test_calmqa_texts_are_in_their_language(calmqa: list[dict[str, Any]]) -> None:
    for row in calmqa:
        assert has_script(row["question"], row["language"]), row
        assert has_script(row["question_english"], "English")
        if row["answer"] is not None:
            assert has_script(row["answer"], row["language"]), row
            assert short(row["answer"], row["language"]), row


def test_calmqa_agnostic_question_recurs_under_one_id(calmqa: list[dict[str, Any]]) -> None:
    rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in calmqa:
        rows[row["question_id"]].append(row)
    twice = [group for group in rows.values() if len(group) > 1]
    assert len(twice) == 1
    (group,) = twice
    assert {row["language"] for row in group} == {"English", "German"}
    assert {row["question_type"] for row in group} == {"culturally agnostic"}
    assert len({row["question_english"] for row in group}) == 1
    assert all(row["question_type"] == "culturally specific" for row in calmqa if row not in group)


def test_epic_schema_and_counts(epic: list[dict[str, str]]) -> None:
    assert list(epic[0]) == EPIC_COLUMNS
    assert len(epic) == ANNOTATIONS
    assert {row["label"] for row in epic} == {"iro", "not"}
    assert {row["source"] for row in epic} == {"reddit", "twitter"}
    assert {row["language_variety"] for row in epic} == {"au", "gb", "ie", "in", "us"}
    assert len({row["Nationality"] for row in epic} - {"DATA_EXPIRED"}) >= 12
    assert len({(row["user"], row["id_original"]) for row in epic}) == ANNOTATIONS
    assert all(value.strip() for row in epic for value in row.values())


def test_epic_pairs_have_two_or_three_annotators_and_four_dissenters(epic: list[dict[str, str]]) -> None:
    labels: dict[str, list[str]] = defaultdict(list)
    texts: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    for row in epic:
        labels[row["id_original"]].append(row["label"])
        texts[row["id_original"]].add((row["text"], row["parent_id_original"], row["parent_text"], row["source"]))
    assert len(labels) == 24
    assert all(len(found) == 1 for found in texts.values())
    assert {len(found) for found in labels.values()} == {2, 3}
    dissent = [Counter(found) for found in labels.values() if len(set(found)) > 1]
    assert sorted(tuple(sorted(counts.items())) for counts in dissent) == [
        (("iro", 1), ("not", 2)),
        *[(("iro", 2), ("not", 1))] * 3,
    ]
    assert Counter(Counter(found).most_common(1)[0][0] for found in labels.values()) == {"iro": 12, "not": 12}


def test_epic_annotators_are_consistent_and_one_of_them_withdrew_two_answers(epic: list[dict[str, str]]) -> None:
    attributes: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    for row in epic:
        attributes[row["user"]].add(tuple(row[column] for column in EPIC_COLUMNS[9:]))
    assert all(re.fullmatch(r"mini\d\d", user) for user in attributes)
    assert all(len(found) == 1 for found in attributes.values())
    expired = [[column for column, value in row.items() if value == "DATA_EXPIRED"] for row in epic]
    assert [found for found in expired if found] == [["Ethnicity simplified", "Employment status"]] * 3


def test_files_are_plain_utf8_with_line_feeds() -> None:
    folders = ("mango", "nativqa", "normad", "calmqa", "epic")
    for file in (file for folder in folders for file in (MINI / folder).rglob("*") if file.is_file()):
        content = file.read_bytes()
        text = content.decode("utf-8")
        assert b"\r" not in content
        assert content.endswith(b"\n")
        assert not text.startswith("\ufeff")
        assert unicodedata.is_normalized("NFC", text)
