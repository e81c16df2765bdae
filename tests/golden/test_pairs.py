"""Complete pairs of every form that the paper prints, from a row of mini/ to the report that models are trained on.

`expected/` holds them literally, so a changed rule is a visible diff (`python tests/golden/regenerate.py`).
"""

import json
from collections.abc import Iterator
from difflib import unified_diff
from typing import Any

import pytest
from golden_pairs import EXAMPLES, EXPECTED, NAMES, Generated, content, pairs_of

from excam.error_reports.judges import report
from excam.error_reports.records import CulturalError, Report, Sample, sample_from_row
from excam.excam40k import datasets
from excam.excam40k.construction import soft

HELD = {name: json.loads((EXPECTED / f"{name}.json").read_text(encoding="utf-8")) for name in EXAMPLES}
FORMS = {  # what the paper's examples look like in Tables 8, 9 and 10
    "normad": ["impersonation", "impersonation"],
    "culturalbench": ["qa", "freeform"],
    "include": ["qa", "freeform"],
    "globalopinionqa": ["impersonation"],
    "nativqa": ["freeform", "freeform"],
    "blend": ["qa", "freeform"],
    "mango": ["generation", "generation"],
    "epic": ["impersonation"],
    "calmqa": ["freeform", "freeform"],
}

Row = dict[str, Any]


def pairs() -> Iterator[tuple[Row, Row]]:
    """Right row, wrong row of the golden pairs."""
    return ((pair["right"], pair["wrong"]) for name in EXAMPLES for pair in HELD[name]["pairs"])


@pytest.mark.parametrize("name", NAMES)
def test_every_pair_is_the_one_that_was_agreed_on(name):
    held, made = (EXPECTED / f"{name}.json").read_text(encoding="utf-8"), content(name)
    changed = "\n".join(unified_diff(held.splitlines(), made.splitlines(), "agreed on", "made", n=0, lineterm=""))
    assert not changed, f"if a rule should change: python tests/golden/regenerate.py, then read the diff\n{changed}"


def test_there_is_an_example_of_every_benchmark_and_no_file_too_many():
    assert {path.stem for path in EXPECTED.glob("*")} == set(NAMES)
    assert {example.dataset for example in EXAMPLES.values()} == set(datasets.available())
    soft = {name for name in datasets.available() if datasets.load(name).ERRORS == "soft"}
    assert {example.dataset for example in EXAMPLES.values() if example.generated} == soft
    for name, example in ((name, example) for name, example in EXAMPLES.items() if example.dataset in FORMS):
        assert [pair["right"]["task"] for pair in HELD[name]["pairs"]] == FORMS[example.dataset]


def test_spans_are_where_they_are_said_to_be_and_the_report_can_be_read_back():
    for pair in pairs():
        for row in pair:
            sample = sampled(row)
            for error in sample.report.errors:
                assert getattr(sample, error.where)[error.start : error.end] == error.span
            read = report.read(row["report as written"])
            assert isinstance(read, Report)
            assert report.locate(read, sample.instruction, sample.output) == sample.report


def sampled(row: Row) -> Sample:
    flat = row | {"errors": json.dumps(row["report"]["errors"]), "explanation": row["report"]["explanation"]}
    return sample_from_row(flat)


def test_a_minor_error_the_size_of_a_major_one_scores_as_minor():
    right = pairs_of(EXAMPLES["mango"])[0][0]
    generated = Generated("stereotyping", "Not so.", output=[("the host", "every host"), ("each guest", "no guest")])
    made = soft.soft_error(right, "minor", generated.answer(right, "minor"), "strict")
    assert isinstance(made, Sample)
    assert made.score == -2
    assert made.report.errors[0] == CulturalError("output", "every", "minor", "stereotyping", 28, 33)
