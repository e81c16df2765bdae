"""Comparison, agreement, calibration, tables and files of results: edges and orders, by hand."""

import json
import math
from dataclasses import asdict, replace
from types import SimpleNamespace

import polars as pl
import pytest
from one_line_errors import line_of
from test_compare import MAJOR, compared, failed, judged

from excam.core import row_files
from excam.core.exceptions import InputInvalid
from excam.error_reports.records import CulturalError, Report
from excam.scoring import calibration, compare, files, metric, result_files, rows
from excam.scoring import report_numbers as numbers
from excam.scoring.agreement import agreement, agreement_is_sound

EXCAM = metric.load("excam")
MINOR = replace(MAJOR, severity="minor")

# --- compare


def test_the_rows_that_differ_most_come_first():
    """Differences -5, -5, 5, 0, -6 and -4: the widest first, equal ones by id, no more than asked for."""
    ours = [judged("4", MAJOR), judged("2", MAJOR), judged("3"), judged("1"), judged("5", MAJOR, MINOR)]
    theirs = [judged("4"), judged("2"), judged("3", MAJOR), judged("1", certainty=0.75), judged("5")]
    ours, theirs = [*ours, judged("6", MAJOR, MAJOR)], [*theirs, judged("6", MAJOR, MINOR)]
    assert [(a.id, b.id) for a, b in compared(ours, theirs).differing] == [(f"r{n}",) * 2 for n in (5, 2, 3, 4, 6)]
    assert [result.id for result, _ in compared(ours, theirs, rows=2).differing] == ["r5", "r2"]


@pytest.mark.parametrize(("rows", "has_interval"), [(7, False), (8, True)])
def test_the_interval_of_a_mean_needs_eight_clusters(rows, has_interval):
    a = [judged(n, *[MAJOR] * (n % 2)) for n in range(rows)]
    assert (compared(a, [judged(n) for n in range(rows)]).measures[0].low is not None) == has_interval
    line = numbers.line("all", a)
    assert (line.score_interval is not None) == has_interval
    for bounds, value in ((line.score_interval, line.score), (line.share_interval, line.share)):
        assert bounds is None or bounds[0] < value < bounds[1]
    assert line.share_interval


def test_the_smallest_p_value():
    """One of 10,000 random swaps and the files as they are; all alike in 2 ** 39 ways of 2 ** 40."""
    score = compared([judged(n) for n in range(40)], [judged(n, MAJOR) for n in range(40)]).measures[0]
    assert score.p_value == 1 / 10_001


def test_a_long_instruction_is_shortened():
    assert compare._short("x" * 60) == repr("x" * 60)
    assert compare._short("x" * 61) == repr("x" * 59 + "…")


def test_a_row_shares_its_base_sample_or_its_instruction():
    assert compare.cluster(judged(1, id="blend/7/0/right")) == ("base", "blend/7")
    assert compare.cluster(judged(1)) == ("instruction", "What is eaten on day 1?")
    row = judged(1, id="x", instruction=compare.STAND_IN_INSTRUCTION)
    assert compare.cluster(row) == compare.cluster(replace(row, id="y")) != compare.cluster(replace(row, texts={}))


# --- agreement


def test_judgements_against_the_majority():
    report = Report((CulturalError("output", "x", "major", "t", 0, 1),))
    told = agreement([(report, -5.0, None), (Report(), 0.5, None), (Report(), None, None), (None, None, "no-json")])
    assert (told.judgements, told.found, told.against) == (3, 1, 1)


@pytest.mark.parametrize(
    ("changes", "sound"),
    [
        ({}, True),
        ({"found": 1.5}, False),
        ({"spread": float("inf")}, False),
        ({"scores": (float("nan"),)}, False),
        ({"failures": (1,)}, False),
    ],
)
def test_what_an_edited_agreement_may_hold(changes, sound):
    assert agreement_is_sound(replace(agreement([(Report(), 0.5, None)]), **changes)) == sound


# --- calibration


def test_a_band_may_be_all_or_one_number():
    assert [calibration.checked_band(band) for band in ((0, 1), (0.5, 0.5))] == [(0, 1), (0.5, 0.5)]
    for band in ((-0.01, 0.5), (0.5, 1.01), (0.6, 0.5), (math.nan, 0.5)):
        line = line_of(InputInvalid, calibration.checked_band, band)
        assert line.startswith(f"band {band[0]:g} {band[1]:g}: expected two probabilities, the lower first")


def test_a_calibration_belongs_to_the_signature_without_version_and_calibration():
    assert calibration.judge_of("excam|model:m|cal:none|temp:0|v:1") == "excam|model:m|temp:0"


def scored(n: int):
    """Every second row with an error, every tenth of them judged wrongly."""
    return [judged(at, *[MAJOR] * (at % 2), certainty=0.5 + at / 100) for at in range(n)]


def test_numbers_beside_a_fit():
    """5 of 20 rows have an error: always naming 1/4 has a Brier score of 1/4 * 3/4."""
    made = calibration.fitted(scored(20), {f"r{at}": at % 4 == 1 for at in range(20)}, EXCAM)
    assert (made["calibration"]["n"], made["calibration"]["errors"]) == (20, 5)
    assert made["brier_of_the_share"] == 0.1875
    assert made["judged"] == "excam|model:m"
    assert asdict(calibration._calibration(made["calibration"])) == made["calibration"]
    for broken in ({"method": "isotonic"}, {"slope": None}, {"intercept": None}, {"n": "many"}):
        with pytest.raises((ValueError, TypeError)):
            calibration._calibration(made["calibration"] | broken)


# --- tables of a report


def test_edges_of_bands():
    scores = (-1e308, -20.5, -20, -11, -10, -6, -5, -3, -2, -1, -0.5, 0, 0.19, 0.2, 0.99, 1, 1e308)
    rows = [judged(n, score=float(score)) for n, score in enumerate(scores)]
    counted = numbers.counts([*rows, failed(99)], failed(99).metric)
    assert [count for _, count in counted] == [2, 2, 2, 2, 3, 2, 1, 0, 0, 3, 1]
    names = [name for name, _ in counted]
    assert names[:4] == ["below -20", "-20 to below -10", "-10 to below -5", "-5 to below -2"]
    assert names[4:7] == ["-2 to below 0", "p(R) 0.0 to 0.2", "p(R) 0.2 to 0.4"]


def test_kinds_in_order_of_frequency_then_name():
    kinds = numbers.kinds(["d", "b", "a", "a", "a", "b", "c"])
    assert kinds == [("a", 3), ("b", 2), ("c", 1), ("d", 1)]
    assert numbers.MOST == 200


def test_a_single_group_has_the_numbers_of_all_rows():
    rows = [judged(n, score=n / 7, language="Thai") for n in range(20)]
    whole = numbers.line("all", rows)
    assert numbers.lines(rows, "language", None, whole) == numbers.lines(rows, "language") != [whole]
    two = [*rows, judged(20, score=1.0)]
    of_each = numbers.lines(two, "language", None, numbers.line("all", two))
    assert [(line.name, line.n) for line in of_each] == [("Thai", 20), ("not given", 1)]


def test_tables_of_as_many_lines_as_there_may_be_and_of_more(monkeypatch):
    monkeypatch.setattr(numbers, "MOST", 2)
    two = [judged(0, culture="a"), judged(1, culture="b")]
    assert [line.name for line in numbers.lines(two, "culture")] == ["a", "b"]
    cut = numbers.lines([judged(n, culture=f"c{min(n, 5)}") for n in range(20)], "culture")
    assert [(line.name, line.n) for line in cut] == [("c5", 15), ("c0", 1), ("4 smaller ones", 4)]
    assert cut[0].score_interval is None, "all alike"


# --- rows of files and programs


def test_of_a_long_key_a_hundred_characters_are_shown(tmp_path):
    key = "k" * 101
    path = tmp_path / "a.jsonl"
    path.write_text(f'{{"{key}": 1, "{key}": 2}}')
    assert line_of(InputInvalid, list, row_files.rows(path)).startswith(f"{path}:1: key {'k' * 100}: occurs twice;")


def test_parquet_of_exactly_one_part(tmp_path, monkeypatch):
    monkeypatch.setattr(row_files, "CHUNK", 3)
    path = tmp_path / "a.parquet"
    for count in (2, 3, 4, 10):
        pl.DataFrame({"output": [str(n) for n in range(count)]}).write_parquet(path)
        assert list(row_files.rows(path)) == [(n + 1, {"output": str(n)}) for n in range(count)]


# --- files of results


def file_of(folder, count):
    """A file of so many rows, as the metric excam reads it."""
    (folder / "a.jsonl").write_bytes(b'{"instruction": "A?", "output": "x"}\n' * count)
    return rows.RowFile(folder / "a.jsonl", EXCAM)


class Judge:
    """Calls every text clean, and counts the rows that it is given."""

    metric, signature, identity = EXCAM, "excam|model:m", "excam|model:m|here"

    def __init__(self):
        self.given, self.stops_after = [], 1000

    def for_rows(self, items):
        return self

    def score(self, items, journal=None, progress=None):
        part = list(items)
        self.given.append(len(part))
        for row in part[: self.stops_after]:
            yield judged(1, id=row.id, **row.texts, signature=self.signature).of_row(row)
        if self.stops_after < len(part):
            raise KeyboardInterrupt


@pytest.mark.parametrize("name", ["v.jsonl", "v.parquet", "v.csv", "v.json", "v"])
def test_a_file_appears_when_it_is_complete(tmp_path, name):
    row_file, to, judge = file_of(tmp_path, 5), tmp_path / name, Judge()
    judge.stops_after = 3
    with pytest.raises(KeyboardInterrupt):
        list(files.results(judge, row_file, 5, to))
    assert [path.name for path in tmp_path.iterdir()] == ["a.jsonl"]
    judge.stops_after = 5
    results = list(files.results(judge, row_file, 5, to))
    assert [result.id for result in results] == ["1", "2", "3", "4", "5"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.jsonl", name]
    assert list(files.results(judge, row_file, 5)) == results == list(result_files.read(to))


def test_a_result_is_of_a_row_by_its_texts():
    row = rows.Row("a", {"instruction": "A?", "output": "x"})
    result = judged(1, id="b", **row.texts, signature=Judge.signature)
    assert result_files.is_of(result, row, Judge())
    assert not result_files.is_of(result, replace(row, failure="duplicate-id"), Judge())
    own = Judge()
    own.metric = type("Own", (metric.Metric,), {"__module__": "mine"})()
    assert not result_files.is_of(result, row, own), "it may read the id"


def test_a_finished_file_is_taken_as_it_is_and_grows_with_its_rows(tmp_path, capsys):
    path, to = tmp_path / "a.jsonl", tmp_path / "scored.csv"
    list(files.results(Judge(), file_of(tmp_path, 3), 3, to))
    written, nobody = to.read_bytes(), Judge()
    assert [result.id for result in files.results(nobody, file_of(tmp_path, 3), 3, to)] == ["1", "2", "3"]
    assert (nobody.given, to.read_bytes()) == ([], written)
    assert "has all 3 rows already; nothing is asked; delete it" in capsys.readouterr().err
    first, *others = result_files.read(to)
    lost = replace(first, score=None, certainty=None, report=None, failure="truncated")
    result_files.write(tmp_path / "b.jsonl", [lost, *others])
    list(files.results(nobody, file_of(tmp_path, 3), 3, tmp_path / "b.jsonl"))
    assert "asked; 1 failed rows are not asked again, but with --overwrite; delete it" in capsys.readouterr().err
    path.write_bytes(path.read_bytes() + b'{"instruction": "A?", "output": "y"}\n')
    more = Judge()
    assert [result.id for result in files.results(more, rows.RowFile(path, EXCAM), 4, to)] == ["1", "2", "3", "4"]
    assert more.given == [1]
    line = line_of(InputInvalid, list, files.results(more, file_of(tmp_path, 3), 3, to))
    assert line.startswith(f"{to}: has results of other rows, the first is 4; expected those of the input; name")
    path.write_bytes(b'{"instruction": "A?", "output": "z"}\n' * 4)
    nobody = Judge()
    line = line_of(InputInvalid, list, files.results(nobody, rows.RowFile(path, EXCAM), 4, to))
    assert line.startswith(f"{to}: has results of other rows, the first is 1; expected those of the input; name")
    assert nobody.given == []
    again = list(files.results(nobody, rows.RowFile(path, EXCAM), 4, to, overwrite=True))
    assert [result.output for result in again] == ["z"] * 4
    assert nobody.given == [4]


@pytest.mark.parametrize("name", ["scored.jsonl", "scored.csv", "scored.parquet"])
def test_another_column_of_ids_asks_for_nothing(tmp_path, name):
    path, to, first = tmp_path / "a.jsonl", tmp_path / name, Judge()
    records = [{"row_id": str(at), "key": f"k{at}", "score": at, "instruction": "A?", "output": "x"} for at in range(5)]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    list(files.results(first, rows.RowFile(path, EXCAM, {"id": "row_id"}), 5, to))
    for overwrite in (False, True):
        nobody, row_file = Judge(), rows.RowFile(path, EXCAM, {"id": "key"})
        again = list(files.results(nobody, row_file, 5, to, overwrite=overwrite))
        assert (nobody.given, again) == ([], list(result_files.read(to)))
        assert [(result.id, result.columns) for result in again] == [
            (record["key"], {"row_id": record["row_id"], "score": record["score"]}) for record in records
        ]
    if name == "scored.csv":
        (table,) = [record for number, record in row_files.rows(to) if number == 2]
        assert (table["row_id"], table["score"], json.loads(table["columns"])["score"]) == ("1", "0.5", 1), "its own"
    judge, own = Judge(), rows.RowFile(path, EXCAM, {"id": "key"})
    results = [row if at else replace(row, score=None, failure="empty", report=None) for at, row in enumerate(again)]
    result_files.write(to, results)
    assert list(files.results(judge, own, 5, to)) == results, "a failure of the judge is kept"
    list(files.results(judge, own, 5, to, overwrite=True))
    assert judge.given == [1], "but with --overwrite"


@pytest.mark.parametrize("name", ["scored.jsonl", "scored.csv", "scored.parquet"])
@pytest.mark.parametrize("content", [b"notes\n", b"", b"[1]", b'{"id": "1"}\n', b"PAR1"])
def test_another_file_is_never_overwritten(tmp_path, name, content):
    row_file, to, judge = file_of(tmp_path, 1), tmp_path / name, Judge()
    to.write_bytes(content)
    line = line_of(InputInvalid, list, files.results(judge, row_file, 1, to))
    assert line == f"{to}: is there, and is no file of results; expected one; name another file, or give --overwrite"
    assert (to.read_bytes(), judge.given) == (content, [])
    list(files.results(judge, row_file, 1, to, overwrite=True))
    assert judge.given == [1]


def test_results_of_another_signature_are_never_overwritten(tmp_path):
    row_file, to, other = file_of(tmp_path, 1), tmp_path / "scored.jsonl", Judge()
    list(files.results(Judge(), row_file, 1, to))
    other.signature = "excam|model:n"
    line = line_of(InputInvalid, list, files.results(other, row_file, 1, to))
    assert line.startswith(f"{to}: has results of excam|model:m; expected those of excam|model:n; name")


def test_a_verdict_is_said_of_a_probability_or_several_judgements():
    row = judged("1", verdict="clean")
    assert [numbers.verdict(each) for each in (row, replace(row, probability=0.1))] == ["", "clean"]


def test_a_workbook_ends_with_its_last_filled_line(monkeypatch):
    monkeypatch.setattr("excam.core.tables.read_sheet", lambda *_: [["", ""], ["a", "b"], ["1", "2"], ["", ""]])
    assert list(row_files._workbook("x.xlsx", SimpleNamespace(sheets=["s"]))) == [(1, {"a": "1", "b": "2"})]
