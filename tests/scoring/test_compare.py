"""Systems compared: rows joined by id and every one of them counted, tests that know nothing from something."""

import json
import math
import re
from dataclasses import replace

import pytest
from one_line_errors import line_of
from typer.testing import CliRunner

from excam import cli
from excam.core.exceptions import InputInvalid
from excam.error_reports.records import CulturalError, Report
from excam.scoring import compare, metric
from excam.scoring.metric import Description
from excam.scoring.results import Result
from excam.stats.permutation import holm

AGREED = {"judgements": 2, "found": 1, "against": 1, "spread": None, "scores": [], "failures": []}
PLACED = {"where": "output", "span": "S", "severity": "major", "type": "t", "start": 0, "end": 1}
MAJOR = CulturalError("output", "Sushi", "major", "incorrect answer", 0, 5)


def judged(number, *errors, certainty=0.5, **changes):
    """A row of the metric excam; without errors it has its certainty as score. `changes` may name a text."""
    texts = {"instruction": f"What is eaten on day {number}?", "output": "Sushi, of course."}
    made = Result(
        id=f"r{number}",
        texts={name: changes.pop(name, text) for name, text in texts.items()},
        score=float(sum({"minor": -1, "major": -5}[error.severity] for error in errors)) or certainty,
        report=Report(errors, "Why." * bool(errors)),
        certainty=certainty,
        metric=metric.load("excam").description,
        signature="excam|model:m",
    )
    return replace(made, **changes)


def failed(number, **changes):
    return judged(number, score=None, certainty=None, report=None, failure="truncated", **changes)


def compared(a, b, rows=5):
    """The comparison of two systems, A and B."""
    (comparison,) = compare.compare([("A", a), ("B", b)], rows)
    return comparison


def test_every_row_is_somewhere():
    a = [judged(1), judged(2, MAJOR), failed(3), judged(4), failed(5), judged(6), judged(7)]
    comparison = compared(a, [judged(2), judged(1), judged(3), failed(4), failed(5), judged(8)])
    counts = comparison.counts
    assert counts == compare.Denominators(7, 6, 2, 2, 1, 1, 1, 1)
    not_judged = counts.not_judged_a + counts.not_judged_b + counts.not_judged_both
    assert counts.rows_a == counts.compared + counts.only_a + not_judged
    assert counts.rows_b == counts.compared + counts.only_b + not_judged
    wrong, severity = comparison.measures
    assert (severity.n, severity.a_better, severity.b_better, severity.ties) == (2, 0, 1, 1)
    assert (severity.a, severity.b, severity.difference) == (-2.5, 0.0, -2.5)
    assert (wrong.a, wrong.b, wrong.b_better) == (0.5, 0.0, 1)
    assert [a.id for a, _ in comparison.differing] == ["r2"], "rows that do not differ are not shown"


def test_other_instructions_are_not_compared():
    assert line_of(InputInvalid, compared, [judged(1)], [judged(1, instruction="Something else?")]).startswith(
        "id r1: A asks 'What is eaten on day 1?', B asks 'Something else?'"
    )
    assert line_of(InputInvalid, compared, [judged(1), judged(1)], [judged(1)]).startswith("A: id r1 occurs twice")
    assert "A has 1 rows, B 1, 0 with an id of the other" in line_of(InputInvalid, compared, [judged(1)], [judged(2)])
    assert "1 with an id of the other, none of them judged" in line_of(InputInvalid, compared, [judged(1)], [failed(1)])
    assert "A has 0 rows" in line_of(InputInvalid, compared, [], [judged(1)])


def test_a_system_that_is_better_is_found_and_the_other_way_round_is_the_mirror():
    a = [judged(n, certainty=0.5 + n / 1000) for n in range(40)]
    b = [judged(n, *[MAJOR] * (n % 2)) for n in range(40)]
    ours, theirs = compared(a, b).measures, compared(b, a).measures
    assert [measure.p_value < 0.001 for measure in ours] == [True, True]
    for there, back in zip(ours, theirs, strict=True):
        assert (there.p_value, there.a_better, there.difference) == (back.p_value, back.b_better, -back.difference)
        assert (there.low, there.high) == (-back.high, -back.low)
        assert there.low <= there.difference <= there.high
    assert ours[0].difference == -0.5


def test_rows_that_share_content_are_one():
    a = [judged(1, id=str(n)) for n in range(20)]
    b = [judged(1, MAJOR, id=str(n)) for n in range(20)]
    comparison = compared(a, b)
    score = comparison.measures[0]
    assert (comparison.counts.repeated, score.n, score.clusters, score.p_value, score.low) == (19, 1, 1, 1.0, None)
    b = [replace(row, texts=row.texts | {"output": f"Sushi {n}"}) for n, row in enumerate(b)]
    score = compared(a, b).measures[0]
    assert (score.n, score.clusters, score.p_value < 0.001) == (20, 20, True), "one instruction groups nothing"


def other_metric(number, score, **changes):
    """A row of a metric that lists no errors and whose lower scores are better."""
    about = Description(direction="lower", mean="mean distance, less is better")
    made = Result(id=f"r{number}", texts={"text": f"t{number}"}, score=score, metric=about, signature="distance|1")
    return replace(made, **changes)


def test_a_metric_that_lists_no_errors_has_one_measure_in_its_own_direction():
    comparison = compared([other_metric(n, 1.0) for n in range(12)], [other_metric(n, 2.0 + n) for n in range(12)])
    (score,) = comparison.measures
    assert (score.name, score.a_better, score.b_better) == ("score", 12, 0)
    assert score.difference < 0
    assert score.clusters == 12, "rows of a metric without an instruction share nothing"
    assert comparison.lines()[0]["measures"][0]["name"] == "score"


def test_p_values_are_adjusted_for_all_tests_of_all_systems():
    systems = [
        (name, [judged(n, *[MAJOR] * (n % step == 0), certainty=0.5 + n % 3 / 100) for n in range(30)])
        for name, step in (("A", 2), ("B", 3), ("C", 31))
    ]
    comparisons = compare.compare(systems)
    assert [(comparison.a, comparison.b) for comparison in comparisons] == [("A", "B"), ("A", "C"), ("B", "C")]
    measures = [measure for comparison in comparisons for measure in comparison.measures]
    assert [measure.p_holm for measure in measures] == pytest.approx(holm([measure.p_value for measure in measures]))
    assert all(measure.p_value <= measure.p_holm for measure in measures)
    assert any(measure.p_value < measure.p_holm for measure in measures)
    alone = compared(systems[0][1], systems[1][1])
    assert [measure.p_value for measure in alone.measures] == [measure.p_value for measure in comparisons[0].measures]


def test_certainty_is_no_preference():
    """Of rows without errors p(R) alone differs: nothing is better, and no row is shown as differing."""
    comparison = compared([judged(n, certainty=0.9) for n in range(12)], [judged(n, certainty=0.91) for n in range(12)])
    assert [(measure.a_better, measure.b_better, measure.ties) for measure in comparison.measures] == [(0, 0, 12)] * 2
    assert {measure.p_value for measure in comparison.measures} == {1.0}
    assert comparison.differing == ()


def test_equal_decimals_are_a_tie():
    (score,) = compared([other_metric(1, 0.1 + 0.2)], [other_metric(1, 0.3)]).measures
    assert (score.a_better, score.b_better, score.ties) == (0, 0, 1)


def test_systems_stand_by_their_errors_on_the_rows_that_all_scored():
    minor = replace(MAJOR, severity="minor")
    a = [judged(n, MAJOR) for n in range(12)]
    b = [failed(0), *(judged(n, minor, minor) for n in range(1, 12))]
    assert [
        (standing.system, standing.rows, standing.failed, standing.n, standing.mean, standing.with_errors)
        for standing in compare.standings([("A", a), ("B", b), ("C", [judged(n) for n in range(1, 13)])])
    ] == [("C", 12, 0, 11, 0.0, 0.0), ("B", 12, 1, 11, -2.0, 1.0), ("A", 12, 0, 11, -5.0, 1.0)]
    lower = [("A", [other_metric(1, 2.0)]), ("B", [other_metric(1, 1.0)])]
    assert [(standing.system, standing.with_errors, standing.low) for standing in compare.standings(lower)] == [
        ("B", None, None),
        ("A", None, None),
    ]


def test_systems_without_a_row_that_all_scored_have_no_mean():
    systems = [(name, [judged(n) for n in numbers]) for name, numbers in (("A", (1, 2)), ("B", (2, 3)), ("C", (3, 1)))]
    assert [(each.n, each.mean, each.low) for each in compare.standings(systems)] == [(0, None, None)] * 3
    assert [comparison.counts.compared for comparison in compare.compare(systems)] == [1, 1, 1]


def test_ids_that_differ_in_form_alone_are_one_row():
    a = [judged(n, id=f"{n}.0", instruction=f"Ça va, {n}?") for n in range(3)]
    b = [judged(n, id=f"00{n}", instruction=f"C\u0327a va, {n}? \r\n") for n in range(3)]
    comparison = compared(a, b)
    assert (comparison.counts.compared, comparison.counts.only_a, comparison.counts.only_b) == (3, 0, 0)
    assert comparison.joined == "3 ids joined although they differ in form ('0.0' as '000')"
    assert comparison.lines()[0]["joined"] == comparison.joined
    standings = compare.standings([("A", a), ("B", b), ("C", [replace(b[0], id="0")])])
    assert [(standing.n, standing.mean) for standing in standings] == [(1, 0.0)] * 3
    ambiguous = compared([*a, judged(0, id="0"), judged(9)], [*b, judged(9)])
    assert (ambiguous.counts.compared, ambiguous.counts.only_a) == (1, 4)
    assert "are ambiguous; only equal ones are joined" in ambiguous.joined


# --- the command


def run(*words):
    result = CliRunner(charset="utf-8").invoke(cli.app, ["compare", *map(str, words)], env={"COLUMNS": "200"})
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def write_results(path, rows):
    path.write_text("".join(json.dumps(row.to_dict()) + "\n" for row in rows), encoding="utf-8")
    return path


def test_the_command_for_people_and_for_machines(tmp_path):
    a = [judged(n, language="English", culture="Peru\x1b[2J") for n in range(12)] + [failed(12)]
    b = [judged(n, *[MAJOR] * (n < 9), language="English") for n in range(14)]
    files = write_results(tmp_path / "a.jsonl", a), write_results(tmp_path / "b.jsonl", b)
    shown = run(*files, "--rows", "2").stdout
    assert "13 rows in A, 14 in B: 12 compared. Left out: 0 in A only, 1 in B only, 1 not judged (A 1, B 0" in shown
    assert "B · r0 · score -5.000" in shown
    assert "output: [Sushi], of course." in shown
    assert "r2" not in shown
    assert "\x1b" not in shown
    lines = [json.loads(line) for line in run(*files, "--json", "--rows", "2").stdout.splitlines()]
    assert [line["kind"] for line in lines] == ["comparison", "row", "row"]
    assert lines[0]["compared"] == 12
    assert lines[0]["measures"][0]["a_better"] == 9


def test_the_command_compares_several_systems(tmp_path):
    rows = {
        "a": [judged(n, *[MAJOR] * (n < 6)) for n in range(12)],
        "b": [judged(n, *[MAJOR] * (n < 9)) for n in range(12)],
        "c": [judged(n) for n in range(11)] + [failed(11)],
    }
    files = [write_results(tmp_path / f"{name}.jsonl", results) for name, results in rows.items()]
    shown = run(*files).stdout
    assert re.search(r"c +12 +1 +11 +0\.00 +0\.00", shown)
    assert shown.index("c  ") < shown.index("a  ") < shown.index("b  "), "the best first"
    assert "p (Holm)" in shown
    lines = [json.loads(line) for line in run(*files, "--json").stdout.splitlines()]
    assert [line["system"] for line in lines if line["kind"] == "system"] == ["c", "a", "b"]
    pairs = [(line["a"], line["b"]) for line in lines if line["kind"] == "comparison"]
    assert pairs == [("a", "b"), ("a", "c"), ("b", "c")]
    assert all(len(line["measures"]) == 2 for line in lines if line["kind"] == "comparison")
    (tmp_path / "other").mkdir()
    same = write_results(tmp_path / "other/a.jsonl", rows["a"])
    assert f"A: {tmp_path.name}/a\nB: other/a\n" in run(files[0], same).stdout, "two files of one name"


def test_one_file_with_several_systems_is_compared_as_several_files(tmp_path):
    a = [judged(n, id=f"{n}a", system="a") for n in range(12)]
    b = [judged(n, *[MAJOR] * (n < 9), id=f"{n}b", system="b") for n in range(12)]
    whole = write_results(tmp_path / "all.jsonl", [*a, *b])
    files = [
        write_results(tmp_path / f"{rows[0].system}.jsonl", [replace(row, id=row.id[:-1]) for row in rows])
        for rows in (a, b)
    ]
    of_files = run(*files, "--json").stdout.splitlines()[0]
    assert run(whole, "--json").stdout.splitlines()[0] == of_files
    unlike = [replace(row, id=row.id[:-1], texts={"output": f"Sushi {row.id}"}) for row in (*a, *b)]
    shared = write_results(tmp_path / "shared.jsonl", unlike)
    assert json.loads(run(shared, "--json").stdout.splitlines()[0])["compared"] == 12, "joined by shared ids"
    renamed = [replace(row, system="", columns={"model": row.system}) for row in (*a, *b)]
    by_column = write_results(tmp_path / "renamed.jsonl", renamed)
    assert run(by_column, "--system", "model", "--json").stdout.splitlines()[0] == of_files
    refused = {
        (by_column,): "id 0a: no system; expected one for each row; name its column with --system",
        (by_column, "--system", "name"): "column name: not found; found model",
        (*files, "--system", "model"): "found 2 files, each a system",
        (files[0],): "12 answers, of a alone; expected two systems or more: name their column",
        (
            write_results(tmp_path / "twice.jsonl", [*a, *b, replace(a[0], id="x")]),
        ): "ids 0a and x: two answers of a to",
    }
    for words, said in refused.items():
        done = run(*words)
        assert (done.exit_code, done.stdout, said in done.stderr) == (2, "", True)


def test_the_command_stops_in_one_line(tmp_path):
    good, other = (write_results(tmp_path / f"{name}.jsonl", [judged(1, signature=name)]) for name in "ab")
    for words in ((good, other), (good, tmp_path / "none.jsonl"), (tmp_path, good), (good, good)):
        result = run(*words)
        assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)


@pytest.mark.parametrize(
    "changes",
    [
        {"score": "5"},
        {"score": float("nan")},
        {"score": None},
        {"failure": "truncated"},
        {"id": [5]},
        {"culture": None},
        {"texts": {"instruction": "What is eaten?", "output": "Sus"}},
        {"texts": ["output"]},
        {"parts": []},
        {"metric": None},
        {"metric": {"direction": "sideways"}},
        {"metric": {"lists_errors": "yes"}},
        {"metric": {"pair": ["output"]}},
        {"metric": {"weights": {"huge": -1}}},
        {"metric": {"weights": {"major": math.nan}}},
        {"metric": {"unknown": 1}},
        {"signature": ""},
        {"warnings": [1]},
        {"recovered": "abc"},
        {"score": 1e308},
        {"certainty": -(10**400)},
        {"report": {"errors": [], "explanation": None}},
        {"report": {"errors": [PLACED | {"severity": "huge"}], "explanation": ""}},
        {"report": {"errors": [PLACED | {"where": "id"}], "explanation": ""}},
        {"report": {"errors": [PLACED | {"end": 999}], "explanation": ""}},
        {"report": {"errors": [PLACED | {"start": 5}], "explanation": ""}},
        {"verdict": "perhaps"},
        {"probability": "high"},
        {"agreement": {"judgements": 2}},
        {"agreement": AGREED | {"found": "1"}},
    ],
)
def test_a_line_that_was_edited_is_refused(tmp_path, changes):
    good = judged(1, MAJOR).to_dict()
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(good) + "\n" + json.dumps(good | {"id": "x"} | changes) + "\n", encoding="utf-8")
    result = run(path, write_results(tmp_path / "b.jsonl", [judged(1)]))
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"{path}:2: no scored row" in result.stderr
