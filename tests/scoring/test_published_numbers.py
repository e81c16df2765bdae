"""What people print: no number moves with the order of rows, with ids, with a unit, with a row that is there twice."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import test_compare
from typer.testing import CliRunner

from excam import cli
from excam.scoring import result_files
from excam.scoring.meta_rows import shortest

FAILED = {"score": None, "certainty": None, "report": None, "failure": "truncated"}
WORDS = ["rice", "tea", "bread", "soup", "fish", "beer"]


def scored(seed, system, n=24):
    """Two rows of each instruction, with few words, one of six with an error, one of eight failed."""
    dice = np.random.default_rng(seed)
    rows = []
    for at in range(n):
        text, kinds = " ".join(dice.choice(WORDS, 4)), {"instruction": f"What is eaten on day {at // 2}?"}
        errors = [test_compare.MAJOR] * (dice.random() < 0.4)
        row = test_compare.judged(at, *errors, output=f"Sushi, {text}", certainty=dice.random(), system=system, **kinds)
        rows.append(replace(row, **FAILED) if at % 8 == 7 else replace(row, verdict="error" if errors else "clean"))
    return rows


A, B = scored(1, "a"), [replace(row, signature="other|model:n") for row in scored(2, "b")]
DICE = np.random.default_rng(3)
GOLD = [{"id": row.id, "label": float(DICE.integers(1, 6)), "error": int(DICE.integers(0, 2))} for row in A]


def mixed(rows):
    return [rows[at] for at in np.random.default_rng(4).permutation(len(rows))]


def renamed(rows):
    return [
        row | {"id": f"x{row['id'][::-1]}"} if isinstance(row, dict) else replace(row, id=f"x{row.id[::-1]}")
        for row in rows
    ]


def doubled(rows):
    return [*rows, *renamed(rows)]


def other_failed_labels(rows):
    lost = {row.id for row in A if row.score is None}
    return [row | {"label": 6 - row["label"], "error": 1 - row["error"]} if row["id"] in lost else row for row in rows]


@pytest.fixture
def printed(tmp_path, monkeypatch):
    """What a command prints on stdout, of files of these rows: those of A, of B and of the labels."""
    monkeypatch.chdir(tmp_path)

    def run(a, b, gold, *words):
        result_files.write(tmp_path / "a.jsonl", a)
        result_files.write(tmp_path / "b.jsonl", b)
        (tmp_path / "gold.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in gold), encoding="utf-8")
        done = CliRunner().invoke(cli.app, list(words))
        assert done.exit_code == 0, done.stderr
        return done.stdout

    return run


def unit(rows):
    return [row | {"label": 0.1 * row["label"] + 7} for row in rows]


@pytest.mark.variants
@pytest.mark.parametrize(
    ("change", "of_labels"),
    [(mixed, mixed), (renamed, renamed), (doubled, doubled), (list, other_failed_labels), (list, unit)],
)
@pytest.mark.parametrize("label", ["label", "error"])
def test_meta(printed, change, of_labels, label):
    words = ("meta", "gold.jsonl", "a.jsonl", "b.jsonl", "--label", label)
    assert is_same(printed(A, B, GOLD, *words), printed(change(A), change(B), of_labels(GOLD), *words))


def is_same(text, other):
    """Whether the lines are equal but for the labels' range and what is said of rows that are there twice."""
    for said in (" 24 rows that repeat another under a new id are left out.", ", 24 repeated (3 failed)"):
        other = other.replace(said, "")
    other = other.replace(": 48 rows", ": 24 rows")
    lines, others = ([line for line in each.splitlines() if "scale: scores" not in line] for each in (text, other))
    assert lines == others
    return lines == others


@pytest.mark.parametrize("change", [mixed, doubled])
def test_calibrate(printed, change):
    words = ("calibrate", "a.jsonl", "--gold", "gold.jsonl", "--to", "calibration.json", "--overwrite")
    first, again = (json.loads(printed(each(A), B, each(GOLD), *words)) for each in (list, change))
    assert (first["clusters"], again.pop("repeated") - first.pop("repeated")) == (12, 24 * (change is doubled))
    brier = "brier_here"  # a mean, whose last digit depends on the order of rows
    assert first.pop(brier) == pytest.approx(again.pop(brier), abs=1e-12)
    assert {**first, "rows": "", "gold": ""} == {**again, "rows": "", "gold": ""}


def test_systems_of_one_file_and_their_own_ids(printed):
    rows = [
        replace(row, texts=row.texts | {"instruction": row.id}, id=row.id + row.system, signature="m") for row in A + B
    ]
    whole, other = (printed(each(rows), B, GOLD, "compare", "a.jsonl", "--json") for each in (list, mixed))
    assert whole == other
    (shown, *_) = [line for line in map(json.loads, whole.splitlines()) if line["kind"] == "row"]
    assert (shown["a"]["id"], shown["b"]["id"]) == (shown["id"], f"{shown['id'][:-1]}b")


def dictionaries(rows):
    return [row.to_dict() for row in rows]


TWICE = "a.jsonl:25: the scored row r0 is there twice, and would count twice; expected unique ids; keep one of the two"


@pytest.mark.parametrize("command", ["report a.jsonl --to a.html",
                                     "compare a.jsonl b.jsonl", "meta gold.jsonl a.jsonl",
                                     "calibrate a.jsonl --gold gold.jsonl --to c.json"])  # fmt: skip
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda rows: [*rows, rows[0]], TWICE),
        (lambda rows: [rows[0] | {"score": 3}, *rows[1:]], "score 3 of excam; expected -1e+09 to 1"),
        (lambda rows: [rows[0] | {"signature": "x"}, *rows[1:]], "excam|model:m"),
        (lambda rows: [rows[0] | {"metric": {}}, *rows[1:]], "rows of one signature with unlike "),
    ],
)
def test_what_would_count_wrongly_is_refused(printed, command, change, said):
    printed(A, A, GOLD, "explain", "b.jsonl")
    Path("a.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in change(dictionaries(A))), encoding="utf-8")
    done = CliRunner().invoke(cli.app, command.split())
    assert (done.exit_code, done.stdout) == (2, "")
    assert said in done.stderr.splitlines()[-1]


def numbers(page):
    return re.findall(r"<dt>.*</dd>", Path(page).read_text(encoding="utf-8"))


def test_repeated_rows_are_counted_and_left_out(printed):
    other = [replace(row, signature=A[0].signature) for row in B]
    words = ("compare", "a.jsonl", "b.jsonl", "--json")
    first, again = (json.loads(printed(each(A), each(other), GOLD, *words).split("\n")[0]) for each in (list, doubled))
    assert again == first | {"rows_a": 48, "rows_b": 48, "repeated": 24}
    printed(A, other, GOLD, "report", "a.jsonl", "--to", "page.html", "--overwrite")
    shown = numbers("page.html")
    printed(doubled(A), doubled(other), GOLD, "report", "a.jsonl", "--to", "page.html", "--overwrite")
    assert numbers("page.html") == shown
    assert "24 rows that repeat another under a new id are left out." in Path("page.html").read_text("utf-8")


def test_names_that_look_alike_are_one(printed):
    systems = ["A", "A ", "\u200bA", "Zoe\u0301", "Zo\u00e9"]
    rows = [replace(row, system=systems[at % 5]) for at, row in enumerate(A)]
    gold = [row | {"system": systems[at % 5]} for at, row in enumerate(GOLD)]
    printed(rows, B, gold, "report", "a.jsonl", "--to", "a.html")
    page = Path("a.html").read_text("utf-8")
    assert set(re.findall(r'<th scope="row"><bdi>(A.*|Z.*)</bdi>', page)) == {"A", "Zo\u00e9"}
    done = CliRunner().invoke(cli.app, ["meta", "gold.jsonl", "b.jsonl"])
    said = "3 names read without needless blanks and invisible characters, e.g. 'A ' as A"
    assert f"gold.jsonl: {said}" in done.stderr


@pytest.mark.parametrize("values", [(1, -1), (0.3, 0), (2, 0), (1, -5)])
@pytest.mark.parametrize("column", ["error", "wrong"])
def test_a_truth_is_yes_or_no_or_a_deduction(printed, values, column):
    printed(A, B, [{"id": row["id"], column: values[row["error"]]} for row in GOLD], "explain", "a.jsonl")
    words = ["calibrate", "a.jsonl", "--gold", "gold.jsonl", "--to", "c.json", "--label", column]
    done = CliRunner().invoke(cli.app, words)
    assert (done.exit_code, "expected true and false, 1 and 0, or scores of 0 or less" in done.stderr) == (2, True)


def test_rows_of_one_instruction_are_their_own_clusters(printed):
    rows = [
        replace(test_compare.judged(at, *errors, output=f"Dish {at}", certainty=0.9, instruction="What is eaten?"))
        for at in range(40)
        for errors in [[test_compare.MAJOR] * (at % 2)]
    ]
    rows = [replace(row, verdict="error" if row.report and row.report.errors else "clean") for row in rows]
    gold = [
        {"id": row.id, "label": 7 + 1e-7 * (row.verdict == "clean"), "error": row.verdict == "error"} for row in rows
    ]
    said = "better than guessing on 40 labelled rows of one instruction: right in 40"
    words = ("calibrate", "a.jsonl", "--gold", "gold.jsonl", "--to", "calibration.json", "--overwrite")
    assert json.loads(printed(rows, B, gold, *words))["measured"].startswith(said)
    assert said in printed(rows, B, gold, "meta", "gold.jsonl", "a.jsonl", "--label", "label")
    assert [shortest(number) for number in (7.0, 7 + 1e-7)] == ["7", "7.0000001"]
