"""Figure 1: which rows are shown, and how a report is compared with the gold one."""

from dataclasses import replace
from pathlib import Path

import pytest
from base_samples import acting, base, split_up

from excam.error_reports import record_files
from excam.error_reports.records import CulturalError, Report, Sample, Verdict
from excam.excam40k.publishing import example_reports
from scripts.figures import figure_1

pytestmark = pytest.mark.usefixtures("here")


def wrong(sample: Sample, word: str, **changes) -> Sample:
    """The corrupted version whose error is this word of the output."""
    at = sample.output.index(word)
    error = CulturalError("output", word, "major", "wrong drink", at, at + len(word))
    report = Report((error,), f"'{word}' is not what they drink.")
    return replace(sample, id=f"{sample.pair}/wrong", report=report, origin="hard", **changes)


def free_texts() -> list[Sample]:
    kept = {"task": "generation", "options": (), "wrong": ()}
    answers = ("They drink *tea* and talk for a long time.", "They drink tea.", "Tee.")
    languages = ("English", "English", "German")
    bases = [
        replace(base(at), answer=answer, language=language, **kept)
        for at, (answer, language) in enumerate(zip(answers, languages, strict=True))
    ]
    return [sample for sample in split_up(bases, "soft") if sample.pair.endswith("/minor")]


def roles() -> list[Sample]:
    short, opinion = split_up([acting(1), replace(acting(2), question="What do they drink in the evening, at home?")])
    return [wrong(short, "tea"), wrong(replace(opinion, dataset="globalopinionqa"), "tea")]


def test_rows_are_chosen_by_a_rule_and_not_by_what_was_answered():
    right = free_texts()
    errors = [wrong(sample, "tea" if "tea" in sample.output else "Tee") for sample in right]
    shown = example_reports.examples([*right, *errors, *roles()])
    assert {name: sample.id for name, sample in shown.items()} == {
        "A free text": errors[1].id,  # English before shorter, shorter before longer
        "An impersonation": roles()[1].id,  # GlobalOpinionQA's before a shorter one
    }
    assert example_reports.examples(right) == {}
    assert list(example_reports.examples(roles()[:1])) == ["An impersonation"]


def test_reports_stand_beside_the_gold_one():
    samples = [wrong(free_texts()[0], "tea"), roles()[1]]
    report = Report((CulturalError("output", "They", "minor", "a | b"), samples[0].report.errors[0]), "No *tea*.")
    verdicts = [Verdict(2, -6.0, 0.75, report=report), Verdict(None, None, failure="no-json")]
    clean = [Verdict(0, 0.0, 0.5, report=Report()), Verdict(0, 0.0, None, report=Report())]
    record_files.write_samples(Path("test.parquet"), samples)
    paths = []
    for name, own in (("one", verdicts), ("two", clean)):
        paths.append(f"results/judgements/{name}/all/report/blend/test.parquet")
        record_files.write_judgements(Path(paths[-1]), samples, own)
    figure_1(["--judgements", *paths, "--samples", "test.parquet", "--page", "f.md"])
    text = Path("f.md").read_text(encoding="utf-8")
    first, second = text.split("## An impersonation")
    assert "|  | gold | one/all/report | two/all/report |" in first
    marked, plain = r"They drink \*<strong>\[tea\]</strong>\* and", r"They drink \*tea\* and"
    assert f"| {marked}" in first.split("| output |")[1].split("\n")[0]
    assert first.count(marked) == 2, (
        "of the gold report, and of the one that found it; an error without a place is not marked"
    )
    assert first.count(plain) == 1
    assert "| output: tea (major, wrong drink) | output: They (minor, a &#124; b)<br>output: tea" in first
    assert "| score | -5 | -6 | 0 |" in first
    assert "| p(R) | – | 0.750 | 0.500 |" in first
    assert "| score | -5 | none: no-json | 0 |" in second
    assert "| p(R) | – | – | – |" in second
    assert r'{"errors": \[{"where": "output", "span": "tea"' in first
