"""Passages before rows of the data set: drawing, the file, the judge that reads them, its numbers and its audit."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from excam.config import Evidence, Judging
from excam.core.exceptions import InputInvalid
from excam.error_reports.records import BaseSample, Sample, Verdict
from excam.excam40k import evidence_numbers, shown_evidence
from excam.excam40k.audits import passages
from excam.excam40k.shown_evidence import Shown
from excam.inference import Answer, Completion, Request
from excam.inference.run import run
from tests.excam40k import test_grounded_rows as grounded_rows

SEED = grounded_rows.SEED
EVEN = Evidence(fact=0.4, near=0.2, contradicting=0.2, unrelated=0.2, paraphrased=0, wordings=["qa"])
JUDGING = Judging(evidence=EVEN, least=0.5)


@pytest.fixture(scope="module")
def bases() -> dict[str, BaseSample]:
    return {base.id: base for base in grounded_rows.facts()}


@pytest.fixture(scope="module")
def samples() -> list[Sample]:
    return grounded_rows.samples()


@pytest.fixture(scope="module")
def passages_of(samples: list[Sample], bases: dict[str, BaseSample]) -> dict[str, Shown]:
    return {row.id: row for row in shown_evidence.drawn(samples, bases, EVEN, SEED)}


def judged(samples: Sequence[Sample], shown: dict[str, Shown], answers: dict[str, str]) -> list[Verdict]:
    """Judge with a model that states what `answers` says of a question."""

    def ask(requests: Sequence[Request]) -> list[Answer]:
        said = (next(text for asked, text in answers.items() if asked in str(request)) for request in requests)
        return [Completion(text, -0.1, 1, "stop", 1, 1) for text in said]

    return run(shown_evidence.judging(shown, JUDGING), samples, ask)


def test_every_row_has_passages_and_the_file_holds_them(
    samples: list[Sample], passages_of: dict[str, Shown], tmp_path: Path
) -> None:
    assert list(passages_of) == [sample.id for sample in samples]
    assert {row.kind for row in passages_of.values()} == {"fact", "near", "contradicting", "unrelated"}
    shown_evidence.write(tmp_path / "test.parquet", passages_of.values())
    assert shown_evidence.read(tmp_path / "test.parquet") == passages_of


def test_a_right_statement_gives_right_verdicts_and_citations(
    samples: list[Sample], passages_of: dict[str, Shown]
) -> None:
    own = [sample for sample in samples if passages_of[sample.id].kind == "fact"]
    said = {
        passages_of[sample.id].question: f"{passages_of[sample.id].expected} [{passages_of[sample.id].cites[0]}]"
        for sample in own
    }
    verdicts = judged(own, passages_of, said)
    pairs = [(verdict.errors_found, sample.report.errors) for verdict, sample in zip(verdicts, own, strict=True)]
    assert all(number == 0 for number, errors in pairs if not errors)
    assert all(number != 0 for number, errors in pairs if errors), "another name is not known without a model"
    points = [
        evidence_numbers.point(
            passages_of[sample.id],
            sample,
            {"failure": verdict.failure, "errors_found": verdict.errors_found, "report": None},
            verdict.parts or {},
        )
        for sample, verdict in zip(own, verdicts, strict=True)
    ]
    line = next(evidence_numbers.lines("a/b/c", points, SEED, {}))
    assert (line["kind"], line["accuracy"], line["states_right"], line["cites_right"]) == ("fact", 1.0, 1.0, 1.0)


def test_not_stated_is_not_known(samples: list[Sample], passages_of: dict[str, Shown]) -> None:
    own = [sample for sample in samples if passages_of[sample.id].kind in ("near", "unrelated")]
    verdicts = judged(own, passages_of, {"": "not stated"})
    assert {verdict.failure for verdict in verdicts} == {"not-known"}


def test_a_row_without_passages_is_refused(samples: list[Sample], passages_of: dict[str, Shown]) -> None:
    with pytest.raises(InputInvalid, match="no passages; found those of"):
        judged([replace(samples[0], id="another")], passages_of, {"": "x"})


def test_the_audit_finds_a_fact_that_should_be_nowhere(
    passages_of: dict[str, Shown], bases: dict[str, BaseSample]
) -> None:
    rows = [*passages_of.values()]
    assert not [check for check in passages.audit({"blend/test": rows}, bases).checks if check.failed]
    at = next(at for at, row in enumerate(rows) if row.kind == "near" and len(_texts_of(rows, row)) > 1)
    leaking = replace(rows[at].passages[0], text="another text", sources=(rows[at].base,))
    rows[at] = replace(rows[at], passages=(leaking, *rows[at].passages[1:]))
    failed = [check.check for check in passages.audit({"blend/test": rows}, bases).checks if check.failed]
    assert failed == [
        "rows whose fact is nowhere, with a passage of their own source",
        "pairs whose texts have different passages",
    ]


def _texts_of(rows: Sequence[Shown], row: Shown) -> list[Shown]:
    return [other for other in rows if other.pair == row.pair]


def test_the_floor_is_fitted_on_other_rows(samples: list[Sample], passages_of: dict[str, Shown]) -> None:
    by_id = {sample.id: sample for sample in samples}
    own = [row for row in passages_of.values() if row.kind == "fact"]
    points = evidence_numbers.floor("share of words", own, by_id, own)
    right = sum(point.errors == bool(by_id[point.row.id].report.errors) for point in points)
    assert right > len(own) / 2, "each answer here is a word of its own, in the passage with the fact"


def test_a_system_is_compared_with_floors_on_its_rows(samples: list[Sample], passages_of: dict[str, Shown]) -> None:
    own = [sample for sample in samples if passages_of[sample.id].kind == "fact"][:24]
    right = [evidence_numbers.Point(passages_of[sample.id], sample, bool(sample.report.errors)) for sample in own]
    wrong = [replace(point, errors=not point.errors) for point in right[:12]]
    floors = {"share of words": [*wrong, *right[12:]], "question where the answer stands": right}
    line = next(evidence_numbers.lines("a/b/c", right, SEED, floors))
    assert [line[name] for name in evidence_numbers.MINUS] == [1.0, 0.0]
    assert line[f"{evidence_numbers.MINUS[0]}_low"] < 1.0
    alone = next(evidence_numbers.lines("share of words", wrong, SEED, floors))
    assert not set(evidence_numbers.MINUS) & alone.keys()


def test_parts_of_verdicts_are_kept_as_json(
    samples: list[Sample], passages_of: dict[str, Shown], tmp_path: Path
) -> None:
    from excam.core.tables import read_frame
    from excam.error_reports import record_files

    own = [sample for sample in samples if passages_of[sample.id].kind == "near"][:1]
    record_files.write_judgements(tmp_path / "j.parquet", own, judged(own, passages_of, {"": "not stated"}))
    assert json.loads(read_frame(tmp_path / "j.parquet")["parts"][0])["because"] == "not stated"


def test_numbers_of_verdicts_by_hand(samples: list[Sample], passages_of: dict[str, Shown]) -> None:
    """Of each four rows two are right, one is wrong and one without a verdict; 2 of 4 marked characters are right."""
    own = [sample for sample in samples if passages_of[sample.id].kind == "fact"][:24]
    points = []
    for at, sample in enumerate(own):
        wrong = bool(sample.report.errors)
        errors = (wrong, wrong, not wrong, None)[at % 4]
        points.append(evidence_numbers.Point(passages_of[sample.id], sample, errors, hit=2, marked=4, gold=6))
    line = next(evidence_numbers.lines("a/b/c", points, SEED, {}))
    assert len(own) == line["n"] == 24
    assert (line["scaled"], line["silent"], line["accuracy"]) == pytest.approx((0.25, 0.25, 2 / 3))
    assert line["span_f1"] == pytest.approx(0.4)
    assert line["low"] < line["scaled"] < line["high"] < 1
    assert line["silent_low"] < line["silent"] < line["silent_high"] < 1
