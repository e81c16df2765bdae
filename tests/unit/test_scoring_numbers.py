"""Comparison, agreement, calibration, tables and files of scored pairs: edges and orders, by hand."""

import gzip
from dataclasses import replace

import polars as pl
import pytest
from one_line_errors import line_of
from test_compare import MAJOR, failed, judged

from excam.core.exceptions import InputInvalid
from excam.error_reports.metric import probability
from excam.error_reports.records import CulturalError, Report
from excam.scoring import compare, files, pairs
from excam.scoring import report_numbers as numbers
from excam.scoring.agreement import Marked, agreement, agreement_is_sound, combined

# --- compare


def test_the_rows_that_differ_most_come_first():
    """Differences 0.25, -5.5, 0.25, 5.5, 0, -0.125: the widest first, equal ones by id, no more than asked for."""
    ours = [judged("5", certainty=0.75), judged("4", MAJOR), judged("2", certainty=0.75), judged("3"), judged("1"),
            judged("0", certainty=0.375)]  # fmt: skip
    theirs = [judged("5"), judged("4"), judged("2"), judged("3", MAJOR), judged("1"), judged("0")]
    found = compare.compare(ours, theirs)
    assert [(one.id, other.id) for one, other in found.widest] == [(f"r{n}",) * 2 for n in (3, 4, 2, 5, 0)]
    assert [one.id for one, _ in compare.compare(ours, theirs, rows=3).widest] == ["r3", "r4", "r2"]
    seven = [judged(n, certainty=n / 8) for n in range(7)]
    assert len(compare.compare(seven, [replace(one, score=1.0) for one in seven]).widest) == 5


def test_measures_by_hand():
    """Scores: a -5, -10, .5, .5; b .5, -5, .5, -5. Errors: a in two, b in two."""
    a = [judged(0, MAJOR), judged(1, MAJOR, MAJOR), judged(2), judged(3)]
    b = [judged(0), judged(1, MAJOR), judged(2), judged(3, MAJOR)]
    score, wrong = compare.compare(a, b).measures
    assert (score.name, score.a, score.b, score.difference) == ("score", -3.5, -2.25, -1.25)
    assert (score.a_better, score.b_better, score.ties, score.clusters) == (1, 2, 1, 4)
    assert (wrong.name, wrong.a, wrong.b, wrong.difference) == ("with errors", 0.5, 0.5, 0.0)
    assert (wrong.a_better, wrong.b_better, wrong.ties) == (1, 1, 2)


@pytest.mark.parametrize(("rows", "has_interval"), [(9, False), (10, True)])
def test_an_interval_needs_ten_clusters(rows, has_interval):
    a = [judged(n, *[MAJOR] * (n % 2)) for n in range(rows)]
    score = compare.compare(a, [judged(n) for n in range(rows)]).measures[0]
    assert (score.low is not None) == has_interval
    line = numbers.line("all", a)
    assert (line.score_interval is not None) == (line.share_interval is not None) == has_interval
    for (low, high), value in ((line.score_interval, -2.25), (line.share_interval, 0.5)) if has_interval else ():
        assert low < value < high


def test_the_smallest_p_value():
    """One of 10,000 random swaps and the files as they are; all alike in 2 ** 39 ways of 2 ** 40."""
    score = compare.compare([judged(n) for n in range(40)], [judged(n, MAJOR) for n in range(40)]).measures[0]
    assert score.p_value == 1 / 10_001


def test_a_long_instruction_is_shortened():
    assert compare._short("x" * 60) == repr("x" * 60)
    assert compare._short("x" * 61) == repr("x" * 59 + "…")


def test_a_row_shares_its_base_sample_or_its_instruction():
    assert compare.cluster(judged(1, id="blend/7/0/right")) == ("base", "blend/7")
    assert compare.cluster(judged(1)) == ("instruction", "What is eaten on day 1?")
    assert compare.cluster(judged(1, id="x", instruction=compare.STAND_IN_INSTRUCTION)) == ("id", "x")


def test_a_group_that_nobody_could_judge():
    a = [judged(0, language="Thai"), failed(1, language="Greek"), failed(2)]
    b = [judged(0), judged(1), failed(2, language="Greek")]
    found = compare.compare(a, b)
    assert [(one.name, one.not_judged, len(one.measures)) for one in found.groups] == [("Greek", 2, 0), ("Thai", 0, 2)]
    head, greek, thai = found.lines()
    assert (head["kind"], head["not_judged_a"], head["not_judged_both"]) == ("comparison", 1, 1)
    assert (greek["by"], greek["measures"], thai["measures"][1]["n"]) == ("language", (), 1)
    assert "widest" not in head


def test_signatures_of_two_files():
    a, b = {"1": judged(1, signature="x")}, {"1": judged(1, signature="y")}
    assert compare._signature(a, {}) == compare._signature({}, a) == "x"
    assert compare._signature({}, {}) == ""
    assert line_of(InputInvalid, compare._signature, a, b).startswith("unlike signatures, A: x B: y; expected one;")


# --- agreement


def test_scores_two_deviations_away_are_kept():
    """Mean 0, deviation 1 (of 4, -2 and 2 twice ... ): 8 zeros, 2 and -2 have deviation sqrt(.8); 2 is 2.236 away."""
    assert combined([0.0] * 8 + [2.0, -2.0, 0.0], "reciprocal-rank") == 0
    # 1, 0, 0, 0, 0: mean .2, deviation .4, and 1 is exactly two of them away: it stays, as the last of five
    weights = [1, 1 / 2, 1 / 3, 1 / 4, 1 / 5]
    assert combined([1.0, 0, 0, 0, 0], "reciprocal-rank") == pytest.approx(0.2 / sum(weights))
    # 1, 0 five times: mean 1/6, deviation sqrt(5)/6 = .3727; 1 is .8333 away, 2.236 of them
    assert combined([1.0, 0, 0, 0, 0, 0], "reciprocal-rank") == 0


def test_judgements_against_the_majority():
    report = Report((CulturalError("output", "x", "major", "t", 0, 1),))
    told = agreement([report, Report(), Report(), None], [-5.0, 0.5, None, None], [None, None, None, "no-json"])
    assert (told.judgements, told.found, told.against) == (3, 1, 1)
    assert told.spread == pytest.approx(5.5 / 2**0.5)
    assert agreement([report] * 3 + [Report()], [None] * 4, [None] * 4).against == 1
    assert agreement([report], [1.0], [None]).spread is None
    begins = CulturalError("output", "x", "minor", "t", 0, 2)
    gone = CulturalError("output", "x", "major", "t", -1, -1)
    assert agreement([Report((begins, gone))], [-1.0], [None]).spans == (Marked("output", 0, 2, 1.0, 0.0),)


@pytest.mark.parametrize(
    ("changes", "sound"),
    [
        ({}, True),
        ({"found": 1.5}, False),
        ({"spread": "1"}, False),
        ({"spread": float("inf")}, False),
        ({"scores": (float("nan"),)}, False),
        ({"failures": (1,)}, False),
        ({"spans": (Marked("output", 0, 4, 1.0, 0.0),)}, True),
        ({"spans": (Marked("output", 0, 5, 1.0, 0.0),)}, False),
        ({"spans": (Marked("output", 3, 4, 1.0, 0.0),)}, True),
        ({"spans": (Marked("output", 4, 4, 1.0, 0.0),)}, False),
        ({"spans": (Marked("output", -1, 2, 1.0, 0.0),)}, False),
        ({"spans": (Marked("output", 0.0, 2, 1.0, 0.0),)}, False),
        ({"spans": (Marked("output", 0, 2, "1", 0.0),)}, False),
        ({"spans": (Marked("elsewhere", 0, 2, 1.0, 0.0),)}, False),
        ({"spans": (Marked("instruction", 0, 2, 1.0, 0.0),)}, True),
    ],
)
def test_what_an_edited_agreement_may_hold(changes, sound):
    one = replace(agreement([Report()], [0.5], [None]), **changes)
    assert agreement_is_sound(one, {"instruction": "ab", "output": "abcd"}) == sound


# --- probability


def test_a_band_may_be_all_or_one_number():
    assert [probability.checked_band(band) for band in ((0, 1), (0.5, 0.5))] == [(0, 1), (0.5, 0.5)]
    for band in ((-0.01, 0.5), (0.5, 1.01), (0.6, 0.5)):
        line = line_of(InputInvalid, probability.checked_band, band)
        assert line.startswith(f"band {band[0]:g} {band[1]:g}: expected two probabilities, the lower first")


def test_what_a_calibration_hangs_on():
    assert probability.judge_of("excam|model:m|cal:none|temp:0|v:1") == "excam|model:m|temp:0"


def test_so_many_rows_are_few():
    assert probability.FEW == 100
    assert probability.FILE == "calibration.json"


def scored(n: int):
    """Every second row with an error, every tenth of them judged wrongly."""
    return [judged(at, *[MAJOR] * (at % 2), certainty=0.5 + at / 100) for at in range(n)]


@pytest.mark.parametrize("method", ["platt", "isotonic"])
def test_numbers_beside_a_fit(method):
    """5 of 20 rows have an error: always naming 1/4 has a Brier score of 1/4 * 3/4."""
    truth = {f"r{at}": at % 4 == 1 for at in range(20)}
    made = probability.fitted(scored(20), truth, method, "excam|model:m|cal:none")
    assert (made["calibration"]["n"], made["calibration"]["errors"]) == (20, 5)
    assert made["brier_of_the_share"] == 0.1875
    assert made["judged"] == "excam|model:m"
    read = probability._calibration(made["calibration"])
    assert read.method == method
    for broken in (
        {"probability": (*read.probability, 1.0)},
        {"method": "isotonic", "certainty": (), "probability": ()},
    ):
        with pytest.raises(ValueError, match="no map"):
            probability._calibration(made["calibration"] | broken)
    for name in ("slope", "intercept"):
        if method == "platt":
            with pytest.raises(ValueError, match="no map"):
                probability._calibration(made["calibration"] | {name: None})


# --- tables of a report


def test_a_line_by_hand():
    line = numbers.line("all", [judged(0, MAJOR), judged(1), judged(2), judged(3), failed(4)])
    assert (line.n, line.not_judged, line.with_errors, line.share, line.score) == (5, 1, 1, 0.25, -0.875)
    nobody = numbers.line("none", [failed(1)])
    assert (nobody.n, nobody.not_judged, nobody.share, nobody.score) == (1, 1, None, None)


def test_edges_of_bands():
    scores = (-20.5, -20, -11, -10, -6, -5, -3, -2, -1, -0.5, 0, 0.19, 0.2, 0.99, 1)
    found = numbers.bands([judged(n, score=float(score)) for n, score in enumerate(scores)] + [failed(99)])
    assert [count for _, count in found] == [1, 2, 2, 2, 3, 2, 1, 0, 0, 2, 1]
    assert [name for name, _ in found][4:6] == ["-2 to below 0", "p(R) 0.0 to 0.2"]


def test_groups_in_order_of_size_then_name():
    rows = [judged(n, culture=name) for n, name in enumerate(["b", "a", "c", "c", ""])]
    assert [one.name for one in numbers.lines(rows, "culture")] == ["c", "not given", "a", "b"]
    kinds = numbers.kinds([["d", "b", "a", "a"], ["a"], ["b", "c"]])
    assert [(one.name, one.times, one.rows) for one in kinds] == [("a", 3, 2), ("b", 2, 2), ("c", 1, 1), ("d", 1, 1)]
    assert numbers.MOST == 200


def test_tables_of_just_as_many_lines_as_there_may_be(monkeypatch):
    monkeypatch.setattr(numbers, "MOST", 2)
    assert [one.name for one in numbers.lines([judged(0, culture="a"), judged(1, culture="b")], "culture")] == [
        "a",
        "b",
    ]
    assert [one.name for one in numbers.kinds([["a"], ["b"]])] == ["a", "b"]
    assert [(one.name, one.n) for one in numbers.lines([judged(n, culture=f"{n}") for n in range(5)], "culture")] == [
        ("0", 1), ("1", 1), ("3 smaller ones", 3),
    ]  # fmt: skip


# --- files of pairs


def test_rows_are_counted_from_one():
    assert [one.id for one in pairs.given([{"output": "x"}, {"output": "y"}])] == ["1", "2"]
    assert pairs.pair(7, {"output": "x"}).id == "7"
    assert pairs.pair(7, {"output": "x", "id": 0}).id == "0", "a number is an id, none is not"
    assert pairs.pair(7, {"output": "x", "id": None}).id == "7"
    assert pairs.pair(7, {"output": "x", "id": ""}).id == "7"
    assert pairs.pair(7, {"output": ""}).output == "", "a text may be empty"


def test_what_is_no_text_is_refused_with_what_is_there():
    many = {f"key{number}": "" for number in range(30)}
    line = line_of(InputInvalid, pairs.pair, 3, many, "a.csv")
    assert line == f"a.csv:3: key output: expected text; found NoneType ({', '.join(many)[:100]})"
    assert line_of(InputInvalid, pairs.pair, 1, {}) == "row:1: key output: expected text; found NoneType (no keys)"
    assert "key language: expected text; found int" in line_of(
        InputInvalid, pairs.pair, 1, {"output": "x", "language": 5}
    )
    columns = pairs.Columns(id="key")
    assert "key key: expected text" in line_of(InputInvalid, pairs.pair, 1, {"output": "x"}, "row", columns)
    assert pairs.pair(1, {"output": "x", "key": None}, "row", columns).id == "1", "named, there, and empty"


def test_the_byte_that_is_not_utf8_is_counted_through_the_file(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"output": "x"}\n{"output": "\xff"}\n')
    assert line_of(InputInvalid, lambda: list(pairs.read(path))).startswith(f"{path}: not UTF-8 at byte 28;")
    path.write_bytes(b'{"output": "x"}\n\xef\xbb\xbf{"output": "y"}\n')
    assert line_of(InputInvalid, lambda: list(pairs.read(path))).startswith(f"{path}:2: not JSON"), "a mark inside"


def test_a_line_of_exactly_as_many_bytes_as_may_be(tmp_path, monkeypatch):
    assert pairs.MAX_ROW == 128 * 1024**2
    line = b'{"output": "xy"}\n'
    monkeypatch.setattr(pairs, "MAX_ROW", len(line))
    for name, data in (("a.jsonl", line * 3), ("b.jsonl.gz", gzip.compress(line * 3))):
        path = tmp_path / name
        path.write_bytes(data)
        assert len(list(pairs.read(path))) == 3
    monkeypatch.setattr(pairs, "MAX_ROW", len(line) - 1)
    said = line_of(InputInvalid, lambda: list(pairs.read(tmp_path / "a.jsonl")))
    assert said == f"{tmp_path}/a.jsonl: line 1: a row of more than 16 bytes; expected shorter ones"
    (tmp_path / "a.jsonl").write_bytes(b'{"output": "x"}\n' + line)
    assert " line 2: " in line_of(InputInvalid, lambda: list(pairs.read(tmp_path / "a.jsonl")))
    table = tmp_path / "a.csv"
    table.write_bytes(b"output\n" + b"x" * 8 + b"\n" + b"y" * 15 + b"\n" + b"z" * 15 + b"\n")
    assert [len(one.output) for one in pairs.read(table)] == [8, 15, 15]
    table.write_bytes(table.read_bytes() + b"z" * 16 + b"\n")
    assert " line 5: " in line_of(InputInvalid, lambda: list(pairs.read(table)))


def test_of_a_long_key_a_hundred_characters_are_shown(tmp_path):
    key = "k" * 101
    path = tmp_path / "a.jsonl"
    path.write_text(f'{{"{key}": 1, "{key}": 2}}')
    assert line_of(InputInvalid, lambda: list(pairs.rows(path))).startswith(f"{path}:1: key {'k' * 100}: occurs twice;")


def test_lines_of_a_table_are_numbered_from_its_head(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"id,output\n\n,x\n7,y\n")
    assert list(pairs.rows(path)) == [(2, {"id": "", "output": "x"}), (3, {"id": "7", "output": "y"})]
    path.write_bytes(b"id,output\n1,x\n1,x,y\n")
    assert line_of(InputInvalid, lambda: list(pairs.rows(path))).startswith(f"{path}:2: 3 fields; expected 2")


def test_parquet_of_exactly_one_part(tmp_path, monkeypatch):
    monkeypatch.setattr(pairs, "ROWS", 3)
    path = tmp_path / "a.parquet"
    for rows in (2, 3, 4):
        pl.DataFrame({"output": [str(n) for n in range(rows)]}).write_parquet(path)
        assert [number for number, _ in pairs.rows(path)] == list(range(1, rows + 1))


def test_rows_of_an_arrow_stream_are_counted_from_one(tmp_path):
    pl.DataFrame({"output": ["x", "y"]}).write_ipc_stream(tmp_path / "a.arrow")
    assert list(pairs.rows(tmp_path / "a.arrow")) == [(1, {"output": "x"}), (2, {"output": "y"})]


def test_numbers_go_through_the_files_of_a_folder(tmp_path):
    for name, rows in (("a", 2), ("b", 3), ("c", 1), ("an empty one", 0)):
        pl.DataFrame({"output": [name] * rows}).write_parquet(tmp_path / f"{name}.parquet")
    assert [number for number, _ in pairs.rows(tmp_path)] == [1, 2, 3, 4, 5, 6]


def test_rows_of_a_generator_come_one_at_a_time():
    def coming():
        yield {"output": "x"}
        raise AssertionError("asked for more than one")

    assert next(pairs.given(coming())).output == "x"
    with pytest.raises(InputInvalid):
        pairs.given([{"output": "x", "id": "a"}, {"output": "y", "id": "a"}])


class Judge:
    """Calls every text clean, and counts the rows of each batch."""

    signature = "excam|model:m"

    def __init__(self):
        self.batches = []

    def score(self, rows, journal=None, progress=None):
        part = list(rows)
        self.batches.append(len(part))
        for one in part:
            yield judged(1, id=one.id, instruction=one.instruction, output=one.output, signature=self.signature)


def test_a_file_grows_by_batches_and_goes_on_where_it_stood(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "BATCH", 2)
    path, to, judge = tmp_path / "a.jsonl", tmp_path / "scored.jsonl", Judge()
    path.write_bytes(b'{"output": "x"}\n' * 5)
    coming = files.results(judge, pairs.PairFile(path), to)
    assert [next(coming).id for _ in range(3)] == ["1", "2", "3"]
    coming.close()
    assert (judge.batches, to.exists()) == ([2, 2], False)
    again = Judge()
    assert [one.id for one in files.results(again, pairs.PairFile(path), to)] == ["1", "2", "3", "4", "5"]
    assert (again.batches, len(to.read_bytes().splitlines())) == ([1], 5)
    assert [one.id for one in files.results(Judge(), pairs.PairFile(path))] == ["1", "2", "3", "4", "5"]
