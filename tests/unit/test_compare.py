"""Two systems compared: rows joined by id and every one of them counted, tests that know nothing from something."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

from excam import cli
from excam.core.exceptions import InputInvalid
from excam.error_reports.records import CulturalError, Report
from excam.scoring import compare
from excam.scoring.defaults import STAND_IN_INSTRUCTION
from excam.scoring.scored import Scored
from excam.stats.permutation import paired_permutation
from excam.stats.sign_permutation import sign_permutation

AGREED = {"judgements": 2, "found": 1, "against": 1, "spread": None, "scores": [], "failures": [], "spans": []}
PLACED = {"where": "output", "span": "S", "severity": "major", "type": "t", "start": 0, "end": 1}
MAJOR = CulturalError("output", "Sushi", "major", "incorrect answer", 0, 5)


def judged(number, *errors, certainty=0.5, **changes):
    """A row without errors has its certainty as score."""
    score = float(sum({"minor": -1, "major": -5}[error.severity] for error in errors)) or certainty
    made = Scored(f"r{number}", f"What is eaten on day {number}?", "Sushi, of course.", score, certainty,
                  Report(errors, "Why." * bool(errors)), None, (), "", "excam|model:m")  # fmt: skip
    return replace(made, **changes)


def failed(number, **changes):
    return judged(number, score=None, certainty=None, report=None, failure="truncated", **changes)


def line_of(a, b):
    with pytest.raises(InputInvalid) as caught:
        compare.compare(a, b)
    line = str(caught.value)
    assert "\n" not in line
    assert len(line) < 500
    return line


def test_every_row_is_somewhere():
    a = [judged(1), judged(2, MAJOR), failed(3), judged(4), failed(5), judged(6), judged(7)]
    b = [judged(2), judged(1), judged(3), failed(4), failed(5), judged(8)]
    found = compare.compare(a, b)
    counts = found.counts
    assert counts == compare.Denominators(7, 6, 2, 2, 1, 1, 1, 1)
    not_judged = counts.not_judged_a + counts.not_judged_b + counts.not_judged_both
    assert counts.rows_a == counts.compared + counts.only_a + not_judged
    assert counts.rows_b == counts.compared + counts.only_b + not_judged
    score, wrong = found.measures
    assert (score.n, score.a_better, score.b_better, score.ties) == (2, 0, 1, 1)
    assert (score.a, score.b, score.difference) == (-2.25, 0.5, -2.75)
    assert (wrong.a, wrong.b, wrong.b_better) == (0.5, 0.0, 1)
    assert [a.id for a, _ in found.widest] == ["r2"], "rows that do not differ are not shown"


def test_what_is_not_comparable_is_refused_in_one_line():
    other = judged(1, instruction="Something else?")
    assert line_of([judged(1)], [other]).startswith("id r1: A asks 'What is eaten on day 1?', B asks 'Something else?'")
    line = line_of([judged(1)], [judged(1, signature="excam|model:n")])
    assert "A: excam|model:m B: excam|model:n" in line
    assert "unlike signatures" in line_of([judged(1), judged(2, signature="x")], [judged(1)]), "nor within a file"
    assert line_of([judged(1), judged(1)], [judged(1)]).startswith("A: id r1 occurs twice")
    assert "A has 1 rows, B 1, 0 with an id of the other" in line_of([judged(1)], [judged(2)])
    assert "1 with an id of the other, none of them judged" in line_of([judged(1)], [failed(1)])
    assert "A has 0 rows" in line_of([], [judged(1)])


def test_a_system_that_is_better_is_found_and_the_other_way_round_is_the_mirror():
    a = [judged(n, certainty=0.5 + n / 1000) for n in range(40)]
    b = [judged(n, *[MAJOR] * (n % 2)) for n in range(40)]
    ours, theirs = compare.compare(a, b).measures, compare.compare(b, a).measures
    assert [one.p_value < 0.001 for one in ours] == [True, True]
    for one, other in zip(ours, theirs, strict=True):
        assert (one.p_value, one.a_better, one.difference) == (other.p_value, other.b_better, -other.difference)
        assert one.low is not None
        assert one.low <= one.difference <= one.high
        assert one.low == pytest.approx(-other.high, abs=0.05)
    assert ours[1].difference == -0.5


def test_a_system_against_itself():
    rows = [judged(n, *[MAJOR] * (n % 3 == 0)) for n in range(30)]
    found = compare.compare(rows, rows)
    assert [(one.difference, one.p_value, one.ties, one.low) for one in found.measures] == [(0, 1, 30, None)] * 2
    assert found.widest == ()


def test_rows_that_share_content_are_one():
    assert compare.cluster(judged(1, id="blend/1/0/right")) == compare.cluster(judged(1, id="blend/1/2/wrong"))
    assert compare.cluster(judged(1)) == compare.cluster(judged(1, id="other"))
    free = judged(1, instruction=STAND_IN_INSTRUCTION)
    assert compare.cluster(free) != compare.cluster(replace(free, id="other")), "the neutral instruction says nothing"
    a = [judged(1, id=str(n)) for n in range(20)]
    b = [judged(1, MAJOR, id=str(n)) for n in range(20)]
    score = compare.compare(a, b).measures[0]
    assert (score.n, score.clusters, score.p_value, score.low) == (20, 1, 1.0, None), "one question proves nothing"


def test_parts_are_told_with_their_denominators_and_few_rows_have_no_interval():
    a = [judged(n, *[MAJOR] * (n % 5 == 0), language=("English", "Thai")[n < 3], culture="") for n in range(30)]
    b = [judged(n, *[MAJOR] * (n % 2), language=("English", "Thai")[n < 3]) for n in range(29)] + [failed(29)]
    b[29] = replace(b[29], language="Yoruba")  # the first file's language is used
    found = compare.compare(a, b)
    assert [(one.by, one.name, one.not_judged) for one in found.groups] == [
        ("language", "English", 1),
        ("language", "Thai", 0),
    ]
    english, thai = (one.measures[0] for one in found.groups)
    assert english.n + thai.n == found.counts.compared == 29
    assert english.low is not None
    assert thai.low is None
    assert {one.p_value for group in found.groups for one in group.measures} == {None}


def test_sign_permutation_agrees_with_the_exact_test_on_verdicts():
    generator = np.random.default_rng(3)
    a, b = generator.random((2, 40)) < [[0.3], [0.6]]
    clusters = [n // 2 for n in range(40)]
    exact = paired_permutation([False] * 40, list(a), list(b), clusters=clusters).p_value
    assert sign_permutation(b.astype(float) - a, clusters, draws=20_000) == pytest.approx(exact, abs=0.01)


def test_p_values_are_uniform_where_nothing_is_to_be_found():
    generator = np.random.default_rng(0)
    found = np.array([sign_permutation(generator.normal(size=30), draws=199) for _ in range(400)])
    assert abs((found <= 0.05).mean() - 0.05) < 0.03
    assert abs((found <= 0.5).mean() - 0.5) < 0.08


@pytest.mark.parametrize("unit", [1e308, 5e-324, 1e-3])
def test_sign_permutation_is_the_same_in_every_unit(unit):
    signs = np.array([1, 1, -1, 1, 1])
    assert sign_permutation(signs * unit) == sign_permutation(signs) > 0.3
    assert sign_permutation(np.zeros(5)) == 1


@pytest.mark.parametrize(("differences", "draws"), [([], 10), ([float("nan")], 10), ([1.0], 0)])
def test_what_cannot_be_permuted_is_refused(differences, draws):
    with pytest.raises(InputInvalid, match="expected finite numbers"):
        sign_permutation(differences, draws=draws)


# --- the command


def run(*words):
    result = CliRunner(charset="utf-8").invoke(cli.app, ["compare", *map(str, words)], env={"COLUMNS": "200"})
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def written(path, rows):
    path.write_text("".join(json.dumps(row.to_dict()) + "\n" for row in rows), encoding="utf-8")
    return path


def test_the_command_for_people_and_for_machines(tmp_path):
    a = [judged(n, language="English", culture="Peru\x1b[2J") for n in range(12)] + [failed(12)]
    b = [judged(n, *[MAJOR] * (n < 9), language="English") for n in range(14)]
    files = written(tmp_path / "a.jsonl", a), written(tmp_path / "b.jsonl", b)
    shown = run(*files, "--rows", "2").stdout
    assert "13 rows in A, 14 in B: 12 compared. Left out: 0 in A only, 1 in B only, 1 not judged (A 1, B 0" in shown
    assert "B · r0 · score -5.000" in shown
    assert "output: [Sushi], of course." in shown
    assert "r2" not in shown
    assert "\x1b" not in shown
    lines = [json.loads(line) for line in run(*files, "--jsonl", "--rows", "2").stdout.splitlines()]
    assert [line["kind"] for line in lines] == ["comparison", "group", "group", "group", "row", "row"]
    assert lines[0]["compared"] == 12
    assert lines[0]["measures"][0]["a_better"] == 9
    assert sum(line["measures"][0]["n"] for line in lines if line.get("by") == "language") == 12


def test_the_command_stops_in_one_line(tmp_path):
    good, other = (written(tmp_path / f"{name}.jsonl", [judged(1, signature=name)]) for name in "ab")
    for words in ((good, other), (good, tmp_path / "none.jsonl"), (tmp_path, good)):
        result = run(*words)
        assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)


@pytest.mark.parametrize(
    "changes",
    [
        {"score": "5"},
        {"score": float("nan")},
        {"score": None},
        {"failure": "truncated"},
        {"id": 5},
        {"culture": None},
        {"output": "short"[:3]},
        {"warnings": [1]},
        {"warnings": "abc"},
        {"recovered": "abc"},
        {"score": 10**400},
        {"score": 1e308},
        {"score": -1e308},
        {"certainty": -(10**400)},
        {"report": {"errors": [], "explanation": None}},
        {"report": {"errors": [PLACED | {"severity": "huge"}], "explanation": ""}},
        {"report": {"errors": [PLACED | {"where": "id"}], "explanation": ""}},
        {"report": {"errors": [PLACED | {"end": 999}], "explanation": ""}},
        {"report": {"errors": [PLACED | {"start": 5}], "explanation": ""}},
        {"report": {"errors": [PLACED | {"start": "0"}], "explanation": ""}},
        {"verdict": "perhaps"},
        {"probability": "high"},
        {"agreement": {"judgements": 2}},
        {"agreement": AGREED | {"found": "2"}},
        {"agreement": AGREED | {"scores": [math.nan]}},
        {"agreement": AGREED | {"spans": [{"where": "output", "start": 0, "end": 999, "share": 1.0, "major": 1.0}]}},
        {"agreement": AGREED | {"spans": [{"where": "id", "start": 0, "end": 1, "share": 1.0, "major": 1.0}]}},
    ],
)
def test_a_line_that_was_edited_is_refused(tmp_path, changes):
    good = judged(1, MAJOR).to_dict()
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(good) + "\n" + json.dumps(good | {"id": "x"} | changes) + "\n", encoding="utf-8")
    result = run(path, path)
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"{path}:2: no scored pair" in result.stderr
