"""Error reports: places, edges of the readers, scores and agreement, by hand."""

import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from text_tables import table

from excam.core.exceptions import ArtifactBroken
from excam.error_reports import report_agreement
from excam.error_reports.evaluation import cells, leave_one_out, report_quality, verdicts
from excam.error_reports.evaluation.cells import System
from excam.error_reports.judges import prompted_report, report
from excam.error_reports.records import CulturalError, Report, Unreadable
from excam.error_reports.report_agreement import GoldRow, Match
from excam.inference import answer_text, json_answers


def error(span: str, start: int = -1, end: int = -1, where="output", weight="major", kind="t") -> CulturalError:
    return CulturalError(where, span, weight, kind, start, end)


def places(text: str, *spans: str) -> list[tuple[int, int]]:
    located_report = report.locate(Report(tuple(error(span) for span in spans)), "", text)
    return [(place.start, place.end) for place in located_report.errors]


@pytest.mark.parametrize(("text", "spans", "expected"), table(__file__, "places_of_spans"))
def test_places_of_spans(text, spans, expected):
    assert [list(place) for place in places(text, *spans)] == expected


def test_a_located_span_has_the_letters_of_the_text():
    marks = report.locate(Report((error("TEA"), error("tea", where="instruction"), error("gone"))), "a tea", "Tea")
    assert [(mark.where, mark.span, mark.start, mark.end) for mark in marks.errors] == [
        ("output", "Tea", 0, 3),
        ("instruction", "tea", 2, 5),
        ("output", "gone", -1, -1),
    ]


CLEAN = '{"errors": [], "explanation": ""}'


def test_edges_of_the_reader(monkeypatch):
    monkeypatch.setattr(report, "MAX_CHARS", len(CLEAN))
    assert report.read(CLEAN) == Report()
    assert report.read(CLEAN + " ") == Unreadable("too-long", CLEAN + " ")
    monkeypatch.undo()
    spaced = [CLEAN.replace(",", "," + " " * at) for at in range(4)]
    monkeypatch.setattr(json_answers, "MAX_OBJECTS", 3)
    assert report.read(" ".join(spaced[:3])) == Report()
    assert report.read(" ".join([*spaced[:3], spaced[2]])) == Report(), "the same writing is read once"
    assert report.read(" ".join(spaced)).reason == "too-long"
    monkeypatch.undo()
    spaced = [CLEAN.replace(",", "," + " " * at) for at in range(101)]
    assert report.read(" ".join(spaced[:100])) == Report()
    assert report.read(" ".join(spaced)).reason == "too-long"


def test_drafts_in_the_thinking(monkeypatch):
    monkeypatch.setattr(report, "MAX_DRAFTS", 2)
    assert not report._reasoning_splits_report(f"{CLEAN}, I think</think>")
    assert report._reasoning_splits_report(f"{CLEAN} {CLEAN}</think>")
    assert report._reasoning_splits_report('Then {"errors": [</think>')
    assert report._reasoning_splits_report('Then {"errors": [], "errors": []}</think>')
    assert not report._reasoning_splits_report('{"other": [</think>')
    monkeypatch.undo()
    assert [report._reasoning_splits_report(CLEAN * drafts + "</think>") for drafts in (99, 100)] == [False, True]


def test_the_text_ends_within_an_escape():
    escaped = '{"errors": [], "explanation": "\\u00e4"}'
    assert [report.read(escaped[:cut]).reason for cut in (31, 32, 34, 36)] == ["truncated"] * 4
    assert report.read('{"errors": [], "explanation": "\\uZZZZ"}').reason == "bad-json"
    assert report.read('{"errors": [] "explanation": ""}').reason == "bad-json"


def test_the_schema_that_a_server_gets():
    def text(longest: int) -> dict:
        return {"type": "string", "maxLength": longest}

    def fields(**named) -> dict:
        """The schema of an object with these keys and no other."""
        return {"type": "object", "properties": named, "required": list(named), "additionalProperties": False}

    error_schema = fields(
        where={"type": "string", "enum": ["instruction", "output"]},
        span=text(160),
        severity={"type": "string", "enum": ["minor", "major"]},
        type=text(60),
    )
    errors = {"type": "array", "items": error_schema, "maxItems": 5}
    assert prompted_report.schema() == fields(errors=errors, explanation=text(500))


# --- answers


@pytest.mark.parametrize(
    ("text", "split"),
    [
        ('say "x</think>y" b\nz', ("", 'say "x</think>y" b\nz')),
        ('say "x</think>y\nmore" z\nend', ("", None)),  # the string is not closed on the line of the tag
        ('a "b" "x</think>y\nz', ("", None)),
        ('a "b" "x</think>y', ("", None)),
        ('a "b" x</think>y', ('a "b" x', "y")),
        ('a "b\nx</think>y', ('a "b\nx', "y")),  # marks count per line
        ('"</think>"</think>y', ('"</think>"', "y")),
    ],
)
def test_the_end_of_the_reasoning(text, split):
    assert answer_text.split_reasoning(text) == split


# --- agreement of reports


@pytest.mark.parametrize(("gold", "predicted", "shares"), table(__file__, "shared_characters"))
def test_shared_characters(gold, predicted, shares):
    assert report_agreement.overlap(error("x", *gold), error("x", *predicted)) == tuple(shares)
    assert report_agreement.overlap(error("x", *gold), error("x", *predicted, where="instruction")) == (0, 0)


def test_each_error_is_matched_once():
    """The first could take either; the sum is greatest if it leaves the short one to the second."""
    gold = [error("x", 0, 10), error("x", 8, 12)]
    predicted = [error("x", 8, 12), error("x", 0, 6), error("x", 50, 60)]
    assert report_agreement.matches(gold, predicted) == [Match(0, 1, 0.6, 1.0), Match(1, 0, 1.0, 1.0)]
    counts = report_agreement.count_spans(gold, predicted)
    assert (counts.gold, counts.predicted, counts.exact, counts.of_gold, counts.of_predicted) == (2, 3, 1, 1.6, 2.0)
    lost = report_agreement.count_spans([error("x")], [error("x")])
    assert (lost.gold, lost.predicted, lost.exact, lost.of_gold) == (1, 1, 0, 0)
    assert report_agreement.count_spans([error("x", 0, 1)], [error("x", 0, 1)]).exact == 1
    assert Match(0, 0, 0.5, 1.0).f1 == pytest.approx(2 / 3)


@pytest.mark.parametrize(("text", "words", "spans"), table(__file__, "whole_words_are_found"))
def test_whole_words_are_found(text, words, spans):
    assert report_agreement.mentions(text, words) == list(map(tuple, spans))


def test_a_place_inside_longer_words_does_not_count():
    outside = report_agreement.mentions_outside
    assert not outside("October 5 is wrong", "October", ["October 5"])
    assert outside("October 5 is wrong, October is right", "October", ["October 5"])
    assert not outside("it is 5 October", "October", ["5 October"])
    assert outside("October is wrong", "October", ["October"]), "the same words are no longer ones"
    assert outside("October 5", "October 5", ["October"])
    assert outside("tea with milk tea", "tea with milk", ["milk tea"]), "only a part lies in the longer words"
    assert outside("iced tea with milk", "tea with milk", ["iced tea"])


def test_the_harmonic_mean_by_hand():
    """Credit and spans of both sides: all of 1; 1 of 2 and 1 of 1; half of 1; nothing where one side is empty; undefined."""
    sums = np.array([[1.0, 1, 0.5, 0, 0, 0], [1, 2, 1, 0, 1, 0], [1, 1, 0.5, 0, 0, 0], [1, 1, 1, 1, 0, 0]])
    assert report_agreement.f1(sums).tolist() == pytest.approx([1, 2 / 3, 1 / 2, 0, 0, math.nan], nan_ok=True)


def row(pair: str, gold: int, predicted: int | None, **changes) -> GoldRow:
    errors = Report((error("x", 0, 1),) * predicted) if predicted is not None else None
    made = GoldRow(pair, pair, "blend", "hard", "", "", (error("x", 0, 1),) * gold, "", -5 * gold, errors,
               None if predicted is None else -5.0 * predicted, None if predicted is not None else "no-json")  # fmt: skip
    return replace(made, **changes)


def test_counts_of_listed_errors():
    listed = [[error("x", 0, 1), error("y")], [], [error("", 3, 3, where="instruction"), error("", 0, 0)]]
    assert report_quality._count_errors(listed) == {"n": 4, "rows": 2, "in_instruction": 1, "not_found": 1, "empty": 2}
    assert report_quality._majority_share(["a", "b", "a", "a"]) == 0.75
    assert report_quality._majority_share([]) is None


def test_types_and_severities_that_agree():
    """Of four matched errors three have the severity, two the type; equally frequent types by name."""

    def judged(name: str, gold: tuple[str, str], predicted: tuple[str, str]) -> GoldRow:
        gold_error, other = (error("x", 0, 1, weight=weight, kind=kind) for weight, kind in (gold, predicted))
        return replace(row(name, 1, 1), gold=(gold_error,), report=Report((other,)))

    rows = [
        judged("a", ("major", "name"), ("major", "name")),
        judged("b", ("minor", "food"), ("minor", "Food")),
        judged("c", ("major", "date"), ("minor", "food")),
        judged("d", ("major", "name"), ("major", "date")),
        replace(row("e", 1, 1), gold=(error("x", 3, 4),)),
        row("f", 0, 1),
    ]
    told = report_quality._agreement(rows, 0)
    assert (told["place"]["value"], told["place"]["n"]) == (4 / 5, 5)
    severity, kind = told["severity"], told["type"]
    assert (severity["value"], severity["n"], severity["one_severity"]) == (3 / 4, 4, 3 / 4)
    assert severity["confusion"] == {"minor": {"minor": 1, "major": 0}, "major": {"minor": 1, "major": 2}}
    assert (kind["value"], kind["one_type"], kind["not_listed"]) == (2 / 4, 2 / 4, 0)
    common = [(entry["gold"], entry["predicted"], entry["n"]) for entry in kind["common"]]
    assert common == [("date", "food", 1), ("food", "food", 1), ("name", "date", 1), ("name", "name", 1)]
    many = [judged(f"{at}", ("major", f"{at:02d}"), ("major", "x")) for at in range(23)]
    kind = report_quality._agreement(many, 0)["type"]
    assert ([entry["gold"] for entry in kind["common"]], kind["not_listed"]) == ([f"{at:02d}" for at in range(20)], 3)


def explained(pair: str, explanation: str | None, instruction: str = "") -> GoldRow:
    """A row whose wrong word is "cola" and whose right answer is "tea"; None: nothing is found."""
    gold = (error("cola", 0, 4),)
    predicted = Report() if explanation is None else Report(gold, explanation)
    told = "It is tea." if pair != "f" else "No."
    changes = {"gold": gold, "answer": "tea", "gold_explanation": told, "report": predicted, "instruction": instruction}
    return replace(row(pair, 1, 1), **changes)


def test_what_explanations_hold():
    """Seven detected: three with tea alone, two with cola alone, one with both, one with neither."""
    rows = [explained(*words) for words in (("a", "Tea."), ("b", "Tea!", "Tea or cola?"), ("c", "It is tea."))]
    rows += [explained(*words) for words in (("d", "Cola."), ("e", "Cola.", "Tea?"), ("f", "Tea, no cola."), ("g", ""))]
    rows += [explained("h", None), row("i", 1, None, answer="tea")]
    told = report_quality._explanations(rows, 0)
    counts = ("n", "detected", "missed", "unreadable", "right_only", "right_and_wrong", "wrong_only", "neither")
    assert [told[name] for name in counts] == [9, 7, 1, 1, 3, 1, 2, 1]
    assert {name: (told[name]["value"], told[name]["n"]) for name in told if name not in counts} == {
        "held": (4 / 7, 7),
        "outside": (4 / 7, 7),
        "strict": (4 / 9, 9),
        "answer_shown": (1 / 2, 2),
        "answer_not_shown": (3 / 5, 5),
        "gold_held": (7 / 9, 9),
    }


# --- tables of cells


def test_correlations_need_two_gold_scores():
    def numbers(gold: list[float], scores: list[float]) -> list[float | None]:
        made = verdicts._correlation_numbers(pl.DataFrame({"gold_score": gold}), pl.Series(scores), seed=1, pairs=None)
        return [made["kendall_b"], made["tie_calibrated"], made["epsilon"]]

    assert numbers([0.0, -5.0], [0.5, -1.0]) == [1, 1, 0]
    assert numbers([0.0, -5.0], [0.0, 0.0]) == [None, 0, 0], "a constant orders nothing"
    assert numbers([-5.0, -5.0], [0.5, -1.0]) == numbers([0.0], [0.5]) == [None, None, None]


def test_a_cell_needs_its_rows_and_its_accuracy(tmp_path):
    path = tmp_path / "results/evaluation/m/all/report/blend/test.json"
    path.parent.mkdir(parents=True)
    path.write_text('{"n": 2, "accuracy": {}}')
    read = cells.read(path)
    assert (read.system, read.dataset, read.numbers["n"]) == (System("m", "all", "report"), "blend", 2)
    for broken in ('{"n": 2}', "[]", "{"):
        path.write_text(broken)
        with pytest.raises(ArtifactBroken, match="not the numbers of a cell"):
            cells.read(path)


def judged_rows(gold: list[bool], predicted: list[bool]) -> pl.DataFrame:
    """Judgements of rows of their own groups: an error costs 5 points."""
    return pl.DataFrame(
        {
            "id": [f"r{at}" for at in range(len(gold))],
            "group": [f"g{at}" for at in range(len(gold))],
            "dataset": "blend",
            "gold_error": gold,
            "errors_found": [int(verdict) for verdict in predicted],
            "score": [-5.0 * verdict for verdict in predicted],
            "certainty": [0.5] * len(gold),
            "failure": pl.Series([None] * len(gold), dtype=pl.String),
        }
    )


def test_failures_have_no_score():
    gold = [True, True, False]
    frame = judged_rows(gold, gold).with_columns(failure=pl.Series([None, "no-json", None]))
    assert verdicts.scores(frame, fallback=False) == [-5, None, 0]
    assert verdicts.scores(frame, fallback=True) == [-5, None, 0.5]


def test_one_dataset_less_by_hand():
    """On its own two rows one is lost: 1 to 0, p = 1 of one group that differs; on the three others none is."""
    left, other = [True, False], [True, False, True]
    complete = {"blend": judged_rows(left, left), "epic": judged_rows(other, other)}
    without = complete | {"blend": judged_rows(left, [True, True])}
    others, *single = changes = leave_one_out.changes(complete, {"blend": without}, 0)
    sizes = [(each.left_out, each.on, each.n, each.groups) for each in changes]
    assert sizes == [("blend", "others", 3, 3), ("blend", "blend", 2, 2), ("blend", "epic", 3, 3)]
    accuracies = [(each.complete, each.without, each.difference) for each in changes]
    assert accuracies == [(1, 1, 0), (1, 0, -1), (1, 1, 0)]
    assert [(each.p_value, each.p_holm) for each in changes] == [(1, 1)] * 3
    assert (single[0].low, single[0].high, others.low) == (None, None, None), "two and three groups are too few"


def test_better_than_every_other():
    tests = [
        {"a": "m/all/report", "b": "x/nothing/binary", "difference": 0.2, "p_value": 0.01},
        {"a": "y/nothing/binary", "b": "m/all/report", "difference": -0.1, "p_value": 0.03},
        {"a": "x/nothing/binary", "b": "y/nothing/binary", "difference": 0.1, "p_value": 0.5},
    ]
    assert cells.p_better("m/all/report", tests, lambda other: not other.tuned) == 0.03
    assert cells.p_better("m/all/report", tests, lambda other: other.tuned) is None
    assert cells.p_better("y/nothing/binary", tests[:2], lambda other: True) == 1.0
    assert cells.p_better("m/all/report", [{**tests[0], "difference": 0.0}], lambda other: True) == 1.0
    assert cells.holm_adjusted([0.01, None, 0.04]) == [0.02, None, 0.04]


def test_numbers_in_a_table():
    assert (cells.rounded_text(0.123456), cells.rounded_text(None)) == (0.1235, None)
    assert (cells.significant_digits(0.000123456), cells.significant_digits(None)) == (0.0001235, None)
    assert cells.value_at({"a": {"b": 3}}, "a.b") == 3
    assert cells.with_interval_text({"value": 0.5, "low": 0.25, "high": 0.75, "n": 9}) == "0.500 [0.250, 0.750] (n = 9)"
    assert cells.with_interval_text({"value": 0.5, "low": None, "high": None, "n": 9}) == "0.500 (n = 9)"
    assert cells.with_interval_text({"value": None, "n": 0}) == "– (n = 0)"
    assert [System("m", *rest).name for rest in (("all", "report"), ("all", "binary"), ("nothing", "report"))] == [
        "ExCAM (m)", "ExCAM (m, binary)", "m (report)",
    ]  # fmt: skip


def change(difference: float, p_holm: float, on="others", edges=(None, None), n=10) -> leave_one_out.Change:
    return leave_one_out.Change("blend", on, 0.5, 0.5 + difference, difference, *edges, p_holm, p_holm, n, 5)


def test_a_statement_about_left_out_datasets():
    changes = [change(0.1, 0.05, edges=(-0.2, 0.3)), change(-0.3, 0.051, n=1200), change(0.5, 0.04, on="blend")]
    assert leave_one_out.statement("m", changes) == (
        "m: one dataset less in training changes scaled accuracy on the test sets of the other datasets by -0.100 on "
        "average, from -0.300 to +0.100; 1 of 2 changes are significant (Holm, p ≤ 0.05); no 95 % interval reaches "
        "farther from 0 than 0.300 (n = 10 to 1,200 rows a test). On the test set of the left-out dataset itself it "
        "changes by +0.500, significantly (p ≤ 0.05) (n = 10)."
    )
    assert leave_one_out._summary_text([change(0.1, 0.06)]) == "+0.100, not significantly (p ≤ 0.05)"
