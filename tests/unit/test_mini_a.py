"""The mini benchmarks of BLEnD, CulturalBench, INCLUDE and GlobalOpinionQA keep their schemas, counts and traps."""

from __future__ import annotations

import ast
import csv
import json
import unicodedata
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

MINI = Path(__file__).resolve().parents[2] / "mini"
LETTERS = "ABCD"
REGION_NAMES = """
    Algeria Assam Azerbaijan China Ethiopia Greece Indonesia Iran Mexico North_Korea Northern_Nigeria South_Korea Spain
    UK US West_Java
"""
REGIONS = set(REGION_NAMES.split())
BENCHMARK_NAMES = "BLEnD CulturalBench INCLUDE GlobalOpinionQA Mango NativQA NormAd CaLMQA EPIC"
BLEND_COLUMNS = ["MCQID", "ID", "country", "prompt", "choices", "choice_countries", "answer_idx"]
CULTURALBENCH_COLUMNS = [
    "data_idx",
    "question_idx",
    "prompt_question",
    *(f"prompt_option_{letter}" for letter in "abcd"),
    "answer",
    "country",
]
BLEND_INSTRUCTION = (
    "Without any explanation, choose only one from the given alphabet choices(e.g., A, B, C). "
    'Provide as JSON format: {"answer_choice":""}'
)
INCLUDE_FIELDS = ["language", "country", "domain", "subject", "regional_feature", "level", "question"]
SPECIFIC = {"region explicit", "region implicit", "culture"}


def rows_of_csv(name: str) -> list[dict[str, str]]:
    with (MINI / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def include_files() -> dict[str, list[dict[str, Any]]]:
    return {
        path.parent.name: [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        for path in sorted((MINI / "include").glob("*/test.jsonl"))
    }


def include_options(row: dict[str, Any]) -> list[str]:
    return row["choices"] if "choices" in row else [row[f"option_{letter}"] for letter in "abcd"]


def pairs() -> list[tuple[str, str, list[str], list[float]]]:
    """(question, country, options, distribution), parsed as the official file has to be."""
    found = []
    for row in rows_of_csv("globalopinionqa/global_opinions.csv"):
        text = row["selections"]
        assert text.startswith("defaultdict(<class 'list'>, {")
        selections = ast.literal_eval(text[text.index("{") : text.rindex("}") + 1])
        options = ast.literal_eval(row["options"])
        found += [(row["question"], country, options, numbers) for country, numbers in selections.items()]
    return found


def is_tied(distribution: list[float]) -> bool:
    return distribution.count(max(distribution)) > 1


def lead(distribution: list[float]) -> float:
    first, second = sorted(distribution)[:-3:-1]
    return first - second


BLEND = rows_of_csv("blend/mc_questions.csv")
CULTURALBENCH = rows_of_csv("culturalbench/CulturalBench-Easy.csv")
INCLUDE = include_files()
SPECIFIC_ROWS = [row for rows in INCLUDE.values() for row in rows if row["regional_feature"] in SPECIFIC]
PAIRS = pairs()
LEAD = 0.1  # of the most frequent opinion, as GlobalOpinionQA's reader asks for
USABLE = [pair for pair in PAIRS if pair[0] and lead(pair[3]) >= LEAD - 1e-9]


def test_blend_has_46_unique_questions_in_the_official_columns():
    assert list(BLEND[0]) == BLEND_COLUMNS
    assert len(BLEND) == len({row["MCQID"] for row in BLEND}) == len({row["prompt"] for row in BLEND}) == 46
    assert all(row["MCQID"].startswith(row["ID"] + "_") for row in BLEND)
    assert {row["country"] for row in BLEND} == REGIONS


@pytest.mark.parametrize("row", BLEND, ids=lambda row: row["MCQID"])
def test_blend_row_is_whole(row: dict[str, str]):
    choices, countries = json.loads(row["choices"]), json.loads(row["choice_countries"])
    assert list(choices) == list(countries) == list(LETTERS)
    assert len(set(choices.values())) == 4
    assert countries[row["answer_idx"]] == row["country"]
    assert list(countries.values()).count(row["country"]) == 1
    assert set(countries.values()) <= REGIONS | {"dummy"}
    question, rest = row["prompt"].split(" " + BLEND_INSTRUCTION)
    assert question.endswith("?")
    assert rest == "\n\n" + "\n".join(f"{letter}. {text}" for letter, text in choices.items()) + "\n\nAnswer:"


def test_blend_letters_are_balanced_and_one_distractor_is_the_placeholder():
    counts = Counter(row["answer_idx"] for row in BLEND)
    assert set(counts) == set(LETTERS)
    assert max(counts.values()) - min(counts.values()) <= 1
    held = [row for row in BLEND if "not-applicable" in json.loads(row["choices"]).values()]
    assert len(held) == 1
    assert json.loads(held[0]["choices"])[held[0]["answer_idx"]] != "not-applicable"


def test_culturalbench_has_45_unique_questions_on_many_countries():
    assert list(CULTURALBENCH[0]) == CULTURALBENCH_COLUMNS
    assert len(CULTURALBENCH) == len({row["prompt_question"] for row in CULTURALBENCH}) == 45
    assert [int(row["data_idx"]) for row in CULTURALBENCH] == list(range(45))
    assert len({row["country"] for row in CULTURALBENCH}) >= 20
    counts = Counter(row["answer"] for row in CULTURALBENCH)
    assert counts == {"A": 18, "B": 11, "C": 10, "D": 6}


def test_culturalbench_options_differ_and_are_filled():
    for row in CULTURALBENCH:
        options = [row[f"prompt_option_{letter}"] for letter in "abcd"]
        assert all(options)
        assert len(set(options)) == 4


@pytest.mark.parametrize(
    ("country", "answer"),
    [("India", "Namaste"), ("Netherlands", "Orange"), ("Peru", "Ceviche"), ("Vietnam", "Áo dài"), ("Nigeria", "Gele")],
)
def test_culturalbench_keys_point_at_the_facts(country: str, answer: str):
    row = next(row for row in CULTURALBENCH if row["country"] == country)
    assert row[f"prompt_option_{row['answer'].lower()}"] == answer


def test_include_has_45_specific_questions_and_two_agnostic_ones():
    rows = [row for language in INCLUDE.values() for row in language]
    assert len(SPECIFIC_ROWS) == 45
    assert len(rows) == len({row["question"] for row in rows}) == 47
    assert Counter(row["regional_feature"] for row in rows)["agnostic"] == 2
    assert {row["regional_feature"] for row in SPECIFIC_ROWS} == SPECIFIC
    assert len(INCLUDE) >= 10
    assert len({row["country"] for row in SPECIFIC_ROWS}) >= 15


def test_include_rows_follow_the_schema_and_one_language_the_older_form():
    older = {language for language, rows in INCLUDE.items() if all("choices" in row for row in rows)}
    assert older == {"Polish"}
    for language, rows in INCLUDE.items():
        options = ["choices"] if language in older else [f"option_{letter}" for letter in "abcd"]
        for row in rows:
            assert list(row) == [*INCLUDE_FIELDS, *options, "answer"]
            assert row["language"] == language
            assert row["answer"] in range(4)
            assert len(set(include_options(row))) == len(include_options(row)) == 4


def test_include_answers_are_balanced():
    counts = Counter(row["answer"] for row in SPECIFIC_ROWS)
    assert set(counts) == {0, 1, 2, 3}
    assert max(counts.values()) - min(counts.values()) <= 1


def test_include_covers_many_scripts():
    scripts = {
        unicodedata.name(letter).split()[0] for row in SPECIFIC_ROWS for letter in row["question"] if letter.isalpha()
    }
    assert scripts >= {"ARABIC", "CJK", "CYRILLIC", "DEVANAGARI", "GEORGIAN", "GREEK", "HANGUL", "HEBREW", "LATIN"}


def test_globalopinionqa_has_64_usable_pairs_and_the_traps_on_top():
    rows = rows_of_csv("globalopinionqa/global_opinions.csv")
    assert list(rows[0]) == ["question", "selections", "options", "source"]
    assert {row["source"] for row in rows} == {"GAS", "WVS"}
    assert len(USABLE) == len({pair[:2] for pair in USABLE}) == 64
    assert len({country for _, country, _, _ in USABLE}) >= 15
    assert [country for question, country, _, numbers in PAIRS if question and is_tied(numbers)] == ["Canada"]
    assert sum(not row["question"] for row in rows) == 1
    small = [country for question, country, _, numbers in PAIRS if question and 0 < lead(numbers) < LEAD - 1e-9]
    assert small == ["Germany", "Netherlands", "Hungary"]
    assert len(PAIRS) == 69


def test_globalopinionqa_distributions_fit_their_options_and_are_opinions():
    for _, _, options, numbers in PAIRS:
        assert len(options) == len(set(options)) == len(numbers)
        assert sum(numbers) == pytest.approx(1)
    assert sum(max(numbers) < 0.6 for _, _, _, numbers in USABLE) > len(USABLE) / 3, "people of a country disagree"


def test_globalopinionqa_has_one_question_with_a_non_answer_which_is_never_the_mode():
    refused = [pair for pair in USABLE if "DK/Refused" in pair[2]]
    assert len({pair[0] for pair in refused}) == 1
    assert all(options[numbers.index(max(numbers))] != "DK/Refused" for _, _, options, numbers in refused)


def test_globalopinionqa_has_a_gap_to_fill_and_a_country_to_name():
    questions = {pair[0] for pair in PAIRS}
    assert sum("____" in question for question in questions) == 1
    assert sum("[your country]" in question for question in questions) == 1


def test_no_question_is_asked_in_two_benchmarks():
    asked = [row["prompt"].split(" " + BLEND_INSTRUCTION)[0] for row in BLEND]
    asked += [row["prompt_question"] for row in CULTURALBENCH]
    asked += [row["question"] for row in SPECIFIC_ROWS]
    asked += sorted({pair[0] for pair in USABLE})
    assert len(asked) == len({text.casefold() for text in asked}) == 148


def test_answers_are_short():
    answers = [json.loads(row["choices"])[row["answer_idx"]] for row in BLEND]
    answers += [row[f"prompt_option_{row['answer'].lower()}"] for row in CULTURALBENCH]
    answers += [include_options(row)[row["answer"]] for row in SPECIFIC_ROWS]
    answers += [options[numbers.index(max(numbers))] for _, _, options, numbers in USABLE]
    assert len(answers) == 200
    assert all(1 <= len(text.split()) <= 8 for text in answers)


def test_files_end_lines_with_line_feeds_only():
    folders = ("blend", "culturalbench", "include", "globalopinionqa")
    files = [path for folder in folders for path in (MINI / folder).rglob("*") if path.is_file()]
    assert len(files) == 18
    for path in files:
        content = path.read_bytes()
        assert content.endswith(b"\n")
        assert b"\r" not in content


def test_readme_says_what_the_files_are_not():
    text = " ".join((MINI / "README.md").read_text(encoding="utf-8").split())
    for phrase in ("not a substitute", "CC BY 4.0", "distributions are illustrative", "Only the modal answer is meant"):
        assert phrase in text
    for benchmark in BENCHMARK_NAMES.split():
        assert f"\n## {benchmark}\n" in (MINI / "README.md").read_text(encoding="utf-8")
    assert "https://creativecommons.org/licenses/by/4.0/" in (MINI / "LICENSE").read_text(encoding="utf-8")
