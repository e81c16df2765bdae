"""Which of two answers is better: pairs of answers to one question, by a metric and by people."""

import json
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from late import stats
from one_line_errors import line_of
from typer.testing import CliRunner

from excam.cli import app
from excam.core.exceptions import InputInvalid
from excam.scoring import compare_pairs
from excam.scoring.metric import Description
from excam.scoring.results import Result
from excam.scoring.spans import Report
from excam.stats.sign_permutation import sign_permutation

QUESTIONS = 20


def result(question, system, score, /, **changes):
    about = Description(pair=("instruction", "output"), direction=changes.pop("direction", "higher"))
    texts = {"instruction": f"q{question}", "output": "x" * (question % 3 + ord(system) - 96)}
    fields = {"id": f"{question}/{system}", "texts": texts, "system": system, "language": ("de", "en")[question % 2]}
    failure = "no-json" if score is None else None
    report = None if score is None else Report()
    return Result(**fields | changes, score=score, failure=failure, report=report, metric=about, signature="mine|1")


def scores(question):
    """A is best but for every fifth question, where all are equal; c failed once."""
    if question % 5 == 0:
        return {"a": 1.0, "b": 1.0, "c": 1.0}
    return {"a": 3.0, "b": 2.0 + question % 2, "c": None if question == 7 else 1.0}


RESULTS = [result(n, system, score) for n in range(QUESTIONS) for system, score in scores(n).items()]
GOLD = [
    {"id": f"{n}/{system}", "stars": (n * 3 + at * at) % 4 + (system == "a")}
    for n in range(QUESTIONS)
    for at, system in enumerate("abc")
]


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def run(*arguments):
    return CliRunner().invoke(app, ["compare", *map(str, arguments), "--pairs"])


@pytest.fixture
def file(tmp_path):
    return write(tmp_path / "scored.jsonl", [answer.to_dict() for answer in RESULTS])


def test_preferences_are_counted_with_a_sign_test(file):
    comparison = compare_pairs.compare_pairs([("all", RESULTS)])
    counts = {
        (preference.a, preference.b): (
            preference.items,
            preference.failed,
            preference.a_preferred,
            preference.b_preferred,
            preference.ties,
        )
        for preference in comparison.preferences
    }
    assert counts["a", "b"] == (20, 0, 8, 0, 12), "equal in odd questions and in every fifth"
    assert counts["a", "c"] == (20, 1, 15, 0, 4)
    p_values = {(preference.a, preference.b): preference.p_value for preference in comparison.preferences}
    assert p_values["a", "c"] == pytest.approx(stats.binomtest(15, 15).pvalue)
    assert all(preference.p_value <= preference.p_holm <= 1 for preference in comparison.preferences)
    lines = [json.loads(line) for line in run(file, "--json").stdout.splitlines()]
    items = {record["item"]: record["preferred"] for record in lines if record["kind"] == "item"}
    assert (items["q1"], items["q2"], items["q5"], items["q7"]) == (["a", "b"], ["a"], ["a", "b", "c"], ["a", "b"])
    assert "Preferred to all others: a 8; several equal ones: 12." in run(file).stdout


def test_several_files_are_several_systems_joined_by_id_or_instruction(tmp_path):
    whole = compare_pairs.compare_pairs([("all", RESULTS)]).preferences
    files = [(name, [answer for answer in RESULTS if answer.system == name]) for name in "abc"]
    assert compare_pairs.compare_pairs(files).preferences == whole
    by_id = [
        (name, [result(n, name, scores(n)[name], id=f"{n}.0" if name == "a" else str(n)) for n in range(QUESTIONS)])
        for name in "abc"
    ]
    assert compare_pairs.compare_pairs(by_id).preferences == whole


def test_rows_without_errors_are_ties_whatever_their_certainty():
    answers = [
        replace(result(n, system, score), metric=Description(pair=("instruction", "output"), lists_errors=True))
        for n in range(8)
        for system, score in (("a", 0.9), ("b", 0.901))
    ]
    (preference,) = compare_pairs.compare_pairs([("all", answers)]).preferences
    assert (preference.a_preferred, preference.b_preferred, preference.ties, preference.p_value) == (0, 0, 8, 1.0)


def test_a_metric_whose_lower_scores_are_better_prefers_them():
    lower = [("all", [result(1, "a", 1.0, direction="lower"), result(1, "b", 2.0, direction="lower")])]
    (preference,) = compare_pairs.compare_pairs(lower).preferences
    assert (preference.a_preferred, preference.b_preferred) == (1, 0)


def test_people_and_baselines_on_the_pairs_that_count(file, tmp_path):
    """Shares, and what is left out, from a list of all pairs."""
    gold = write(tmp_path / "gold.jsonl", GOLD)
    lines = [json.loads(line) for line in run(file, "--gold", gold, "--label", "stars", "--json").stdout.splitlines()]
    people = lines[0]
    stars = {row["id"]: row["stars"] for row in GOLD}
    length = {answer.id: len(answer.output) for answer in RESULTS}
    score = {answer.id: answer.score for answer in RESULTS if answer.score is not None}
    pairs = [(f"{n}/{a}", f"{n}/{b}") for n in range(QUESTIONS) for a, b in combinations("abc", 2)]
    scored = [pair for pair in pairs if score.keys() >= {*pair}]
    counted = [pair for pair in scored if stars[pair[0]] != stars[pair[1]]]
    assert (people["pairs"], people["failed"]) == (60, 2)
    assert people["equal"] == len(scored) - len(counted) > 0
    orderings = {ordering["metric"]: ordering for ordering in people["orderings"]}
    for name, values in (("the metric", score), ("(length)", length), ("(constant)", dict.fromkeys(score, 0))):
        shares = [(1 + np.sign(stars[a] - stars[b]) * np.sign(values[a] - values[b])) / 2 for a, b in counted]
        assert (orderings[name]["pairs"], orderings[name]["ordered"]["value"]) == (
            len(counted),
            pytest.approx(np.mean(shares)),
        )
    assert orderings["the metric"]["difference"] is None
    gap = orderings["the metric"]["ordered"]["value"] - orderings["(length)"]["ordered"]["value"]
    assert orderings["(length)"]["difference"] == pytest.approx(gap)
    sums = [
        sum(
            np.sign(stars[a] - stars[b]) * np.sign(score[a] - score[b]) for a, b in counted if a.split("/")[0] == str(n)
        )
        for n in range(QUESTIONS)
    ]
    assert orderings["(constant)"]["p_value"] == sign_permutation(sums)
    assert list(orderings)[-2:] == ["(words)", "(system)"]
    shares = []
    for a, b in counted:
        mean = {s: np.mean([stars[f"{n}/{s}"] for n in range(QUESTIONS) if f"{n}" != a.split("/")[0]]) for s in "abc"}
        shares.append((1 + np.sign(stars[a] - stars[b]) * np.sign(mean[a[-1]] - mean[b[-1]])) / 2)
    assert orderings["(system)"]["ordered"]["value"] == pytest.approx(np.mean(shares)), (
        "learnt from the other questions"
    )
    said = run(file, "--gold", gold, "--label", "stars").stdout
    assert f"60 pairs of answers to one item; left out: {people['equal']} with equal labels, 2 with an answer" in said


def test_items_of_the_labels_take_precedence(tmp_path):
    texts = {"instruction": "Answer.", "output": "x"}
    results = [result(n, system, float(n), texts=texts) for n in range(3) for system in "ab"]
    assert "two answers of a to one item" in line_of(InputInvalid, compare_pairs.compare_pairs, [("all", results)])
    file = write(tmp_path / "s.jsonl", [answer.to_dict() for answer in results])
    gold = write(tmp_path / "g.jsonl", [row | {"question": row["id"][0]} for row in GOLD[:9]])
    command_result = run(file, "--gold", gold, "--label", "stars", "--item", "question", "--json")
    assert json.loads(command_result.stdout.splitlines()[0])["unscored"] == 3


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (
            [result(1, "a", 1.0), result(1, "b", 1.0, system="")],
            "id 1/b: no system; expected the label system in each row",
        ),
        ([result(1, "a", 1.0), result(2, "a", 1.0)], "2 answers, of a alone; expected two systems or more"),
        ([result(1, "a", 1.0), result(1, "a", 2.0, id="x")], "ids 1/a and x: two answers of a to one item"),
    ],
)
def test_what_has_no_pairs_is_refused_in_one_line(rows, said):
    assert said in line_of(InputInvalid, compare_pairs.compare_pairs, [("all", rows)])


def test_labels_that_order_nothing_are_refused(file, tmp_path):
    same = write(tmp_path / "same.jsonl", [row | {"stars": int(row["id"].split("/")[0])} for row in GOLD])
    command_result = run(file, "--gold", same, "--label", "stars")
    assert command_result.exit_code == 2
    assert (
        "60 of 60 labelled rows are in the files, 58 pairs of them are of one item, none with different"
        in command_result.stderr
    )
    alone = CliRunner().invoke(app, ["compare", str(file), "--gold", str(same)])
    assert "--gold: found no --pairs; expected both" in alone.stderr
