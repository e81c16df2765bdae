"""Rows judged by documents without a model: what is marked, what is not known, and the first page's report of it."""

import re
from pathlib import Path

import polars as pl
import pytest
from base_samples import SEED, base, wrapped

from excam.core import tables
from excam.error_reports import record_files
from excam.excam40k import by_documents, trivial_baselines
from excam.excam40k.construction.hard import hard_error
from excam.excam40k.publishing import result_words

TEXT = "Tea is drunk at breakfast in Turkey. Ayran is drunk with kebab, and raki in the evening."
QUESTION = {"question": "What is drunk at breakfast in Turkey?", "answer": "tea", "options": ("tea", "ayran", "salep")}


@pytest.fixture
def judged(tmp_path):
    """Right and wrong row of a question, asked with and without options, and their verdicts."""
    known = base(culture="Turkey", wrong=("ayran", "salep"), **QUESTION)
    right = wrapped([known])
    rows = [row for sample in right for row in (sample, hard_error(sample, known, "ayran", SEED))]
    rows.append(hard_error(right[0], known, "salep", SEED))
    (tmp_path / "drinks.md").write_text(TEXT)
    return rows, by_documents.judge(rows, {known.id: known}, [tmp_path / "drinks.md"], SEED)


def test_the_exchanged_words_are_marked_where_they_stand_in_the_whole_output(judged):
    for row, verdict in list(zip(*judged, strict=True))[:4]:
        marked = [(error.span, row.output[error.start : error.end]) for error in verdict.report.errors]
        assert marked == [(error.span, error.span) for error in row.report.errors], row.output
        assert "Tea is drunk at breakfast" in " ".join(verdict.parts["passages"])


def test_where_the_documents_decide_nothing_the_report_has_no_error_and_says_why(judged):
    verdict = judged[1][-1]
    assert (verdict.errors_found, verdict.score, verdict.certainty, verdict.failure) == (0, 0.0, 0.5, None)
    assert verdict.report.explanation.startswith("The documents do not decide: ")


def test_floors_read_the_same_passages(judged):
    assert [verdict.parts["floors"][trivial_baselines.WORDS_HELD] for verdict in judged[1]] == [1, 1, 1, 1, 0]
    assert [verdict.parts["floors"][trivial_baselines.QUESTION_HELD] > 0 for verdict in judged[1]][:2] == [True, False]


def test_the_first_page_shows_a_report_with_its_passage_and_how_often_it_is_right(judged, tmp_path):
    record_files.write_judgements(tmp_path / "test.parquet", *judged)
    lines = pl.read_parquet(tmp_path / "test.parquet").to_dicts()
    report = result_words.report(judged[0], lines)
    assert "<mark>ayran</mark>" in report
    assert "Tea is drunk at breakfast" in report.partition("It read: ")[2]
    elsewhere = tables.read_lines(Path(__file__).parents[2] / "docs/results/reading.csv")
    words = result_words.by_documents(lines, {"documents": "mine"}, [], elsewhere)
    assert "decides 4 of 5 rows, 4 rightly" in words
    assert re.search(r"where none gives it 0\.\d\d \[.+?\], minus such a floor 0\.\d\d \[", words)
    assert result_words.by_documents([], {}, [], elsewhere) == ""
