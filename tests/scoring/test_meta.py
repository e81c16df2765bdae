"""`excam meta`: any metrics against labels of the same rows."""

import json
import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from excam_commands import excam, succeed
from json_lines import write_rows as write
from one_line_errors import line_of

from excam.core.exceptions import InputInvalid
from excam.scoring import meta, meta_baselines, meta_numbers, meta_rows, result_files, worth
from excam.scoring.meta_rows import Column, Gold
from excam.scoring.metric import Description
from excam.scoring.results import Result
from excam.stats import correlation, icc21
from excam.stats.binary_gold import Estimate

GOLD = [
    {"id": f"{n}/{side}", "label": int(side == "right"), "question": f"q{n}", "error": kind * (side == "wrong")}
    for n, kind in enumerate(["omission", "factual"] * 12)
    for side in ("right", "wrong")
]


def scored(path, scores, signature="mine.metric|1", direction="higher"):
    about = Description(direction=direction)
    results = [
        Result(id=id_, score=score, failure="no-json" if score is None else None, metric=about, signature=signature)
        for id_, score in scores.items()
    ]
    return write(path, [result.to_dict() for result in results])


def sees_facts(row, at):
    """A metric that sees factual errors and no omission."""
    return -5.0 if row["error"] == "factual" else 1.0 - at / 100


@pytest.fixture(autouse=True)
def few_draws(monkeypatch):
    """Few draws are enough for what is tested here, and fast."""
    monkeypatch.setattr(meta_numbers, "DRAWS", 100)
    monkeypatch.setattr(meta, "DRAWS", 50)


@pytest.fixture
def gold(tmp_path):
    return write(tmp_path / "gold.jsonl", GOLD)


@pytest.fixture
def facts(tmp_path):
    return scored(tmp_path / "facts.jsonl", {row["id"]: sees_facts(row, at) for at, row in enumerate(GOLD)})


@pytest.fixture
def files(gold, facts, tmp_path):
    partly = {row["id"]: float(row["label"]) if at != 3 else None for at, row in enumerate(GOLD[:40])}
    return gold, facts, scored(tmp_path / "partly.jsonl", partly, "mine.other|1")


def run(*arguments):
    return excam("meta", *arguments)


def refused(*arguments):
    result = run(*arguments)
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    return result.stderr


def lines(*arguments):
    return [json.loads(line) for line in succeed("meta", *arguments, "--json").stdout.splitlines()]


def of_kind(kind, records, **fields):
    """The records of a kind with these values, in order."""
    return [record for record in records if record["kind"] == kind and record.items() >= fields.items()]


def test_own_and_common_rows_and_failures_are_counted(files):
    records = lines(*files, "--cluster", "question")
    assert records[0] == {
        "kind": "labels", "labelled": 48, "without_label": 0, "repeated": 0, "without_text": 39, "common": 39,
    }  # fmt: skip
    rows = {record["metric"]: record for record in of_kind("rows", records)}
    counts = ("rows", "scored", "failures", "missing", "unlabelled")
    assert [rows["partly"][name] for name in counts] == [40, 39, 1, 8, 0]
    agreements = {(record["metric"], record["on"]): record for record in of_kind("agreement", records)}
    assert agreements["partly", "own"]["auc"]["value"] == 1
    assert (agreements["facts", "own"]["n"], agreements["facts", "common"]["n"]) == (48, 39)
    assert agreements["(constant)", "own"]["auc"]["value"] == 0.5
    labels = [row["label"] for row in GOLD]
    scores = [sees_facts(row, at) for at, row in enumerate(GOLD)]
    assert agreements["facts", "own"]["kendall"]["value"] == pytest.approx(correlation.kendall(labels, scores))
    tie = correlation.tie_calibrated_accuracy(labels, scores).accuracy
    assert agreements["facts", "own"]["tie_calibrated"] == pytest.approx(tie)
    assert lines(*files, "--cluster", "question") == records, "same seed, same numbers"


def test_a_group_is_an_error_with_its_twins(files):
    own = of_kind("agreement", lines(*files, "--cluster", "question", "--group", "error"), metric="facts", on="own")
    auc = {record["group"]: (record["n"], record["auc"]["value"]) for record in own}
    assert auc["factual"] == (24, 1.0)
    assert auc["omission"][0] == 24
    assert 0.3 < auc["omission"][1] < 0.7, "a blind spot"


def test_a_row_with_several_errors_is_in_several_groups(gold, facts, tmp_path):
    kinds = [row | {"error": [row["error"], "literal"] if row["error"] == "factual" else row["error"]} for row in GOLD]
    records = lines(write(tmp_path / "several.jsonl", kinds), facts, "--group", "error", "--cluster", "question")
    numbers = {(record["group"], record["metric"]): record for record in of_kind("agreement", records, on="own")}
    assert {name for name, _ in numbers} == {"", "factual", "literal", "omission"}
    assert numbers["literal", "facts"] == numbers["factual", "facts"] | {"group": "literal"}
    assert numbers["factual", "facts"] in lines(gold, facts, "--group", "error", "--cluster", "question")


def test_a_metric_whose_lower_scores_are_better_is_turned_round(gold, facts, tmp_path):
    turned = {row["id"]: -sees_facts(row, at) for at, row in enumerate(GOLD)}
    lower = scored(tmp_path / "lower.jsonl", turned, "mine.lower|1", "lower")
    agreements = of_kind("agreement", lines(gold, facts, lower), on="own")
    assert agreements[0]["kendall"] == agreements[1]["kendall"]
    said = run(gold, facts, lower).stdout
    assert said.count("times -1") == 1
    assert "lower: lower scores are better; each number is of its scores times -1" in said


def test_tests_are_adjusted_and_only_of_metrics_that_order(files):
    (test,) = of_kind("test", lines(*files, "--cluster", "question"))
    assert (test["a"], test["b"], test["n"]) == ("facts", "partly", 39), "no texts, so no length; no constant"
    assert 0 < test["p_value"] <= test["p_holm"] <= 1


def test_icc_only_on_one_scale(tmp_path):
    gold = [Gold(f"{n}", 1.0 + n % 5, f"{n}", (), "", f"text {'x' * n}") for n in range(20)]
    close = Column("close", {row.id: min(5.0, row.label + (row.label > 3)) for row in gold}, "close|1")
    other = Column("other", {row.id: row.label * 20 for row in gold}, "other|1")
    columns = [close, other, *meta_baselines.baselines(gold, {"(last)": lambda row: len(row.text) % 3})]
    result = meta.evaluate(meta_rows.LabelledRows(gold, 0), columns)
    agreements = {agreement.metric: agreement for agreement in result.agreements if agreement.on == "own"}
    ratings = [(row.label, close.scores[row.id]) for row in gold]
    said = {counts.metric: counts.without_icc for counts in result.joined}
    assert said["close"] == ""
    assert said["other"] == "scores from 20 to 100 leave 1 to 5"
    assert agreements["close"].icc.value == pytest.approx(icc21(ratings).value)
    assert agreements["other"].icc.value is None
    assert agreements["close"].auc.value is None, "labels of more than two values"
    assert agreements["(length)"].kendall.value != 0
    assert list(agreements) == ["close", "other", "(constant)", "(length)", "(last)", "(words)"]
    assert agreements["(last)"].icc.value is None, "a baseline is no second rater, whatever its numbers"


def test_the_scale_of_an_icc_is_judged_by_the_rows_of_the_number():
    """A score off the scale is in the metric's own rows only; a lower metric may be on the scale when turned round."""
    gold = [Gold(f"{n}", -(n % 5), f"{n}", (), "", None) for n in range(20)]
    scores = {row.id: row.label for row in gold}
    lower = Column("lower", scores, "lower|1", "lower")
    off = Column("off", scores | {"7": 0.9}, "off|1")
    fails = Column("fails", scores | {"7": None}, "fails|1")
    result = meta.evaluate(meta_rows.LabelledRows(gold, 0), [lower, off, fails])
    agreements = {(agreement.metric, agreement.on): agreement for agreement in result.agreements}
    assert agreements["lower", "own"].icc.value == 1
    assert (agreements["off", "own"].icc.value, agreements["off", "common"].icc.value) == (None, 1)


def test_an_icc_needs_labels_of_three_values():
    for values, icc in ((3, 1.0), (2, None)):
        gold = [Gold(f"{n}", float(n % values), f"{n}", (), "", None) for n in range(12)]
        column = Column("same", {row.id: row.label for row in gold}, "same|1")
        agreement = meta_numbers.agreement(column, gold, (0.0, 2.0), 0)
        assert agreement.icc.value == icc
        assert (agreement.auc.value is None) == (values == 3)


def test_parts_are_metrics_of_their_own(gold, facts, tmp_path):
    rows = [json.loads(line) for line in facts.read_text().splitlines()]
    told = [row | {"parts": {"surface": -row["score"], "note": "x"}} for row in rows]
    told[0]["parts"] = {}
    records = lines(gold, write(tmp_path / "told.jsonl", told), "--part", "surface")
    own = {record["metric"]: record for record in of_kind("agreement", records, on="own")}
    assert list(own) == ["told", "told: surface", "(constant)"]
    assert (own["told: surface"]["n"], own["told: surface"]["failures"]) == (47, 1)
    assert own["told: surface"]["auc"]["value"] < 0.5 < own["told"]["auc"]["value"]
    assert "--part note: a number in no scored row" in refused(gold, facts, "--part", "note")


def test_missing_baselines_and_tests_are_named(gold, facts, tmp_path):
    texts = write(tmp_path / "texts.jsonl", [row | {"answer": "x" * (at + 1)} for at, row in enumerate(GOLD)])
    assert "No (length), (surface) and (words): 48 of 48 rows lack output; name the column" in run(texts, facts).stdout
    assert "(length)" in run(texts, facts, "--output", "answer").stdout
    even = scored(tmp_path / "even.jsonl", {row["id"]: 3.0 for row in GOLD}, "even|1")
    lost = scored(tmp_path / "lost.jsonl", {row["id"]: None for row in GOLD}, "lost|1")
    assert not of_kind("test", lines(gold, facts, even, lost))


def test_scores_from_elsewhere_need_three_fields(gold, facts, tmp_path):
    rows = [{"id": row["id"], "score": float(row["label"]), "signature": "comet|22"} for row in GOLD]
    rows[0] |= {"score": None, "failure": "too-long"}
    comet, *_ = of_kind("rows", lines(gold, write(tmp_path / "comet.jsonl", rows), facts))
    assert (comet["metric"], comet["scored"], comet["failures"]) == ("comet", 47, 1)
    del rows[1]["signature"]
    line = refused(gold, write(tmp_path / "comet.jsonl", rows), facts)
    assert "comet.jsonl:2: no scored row: no signature; expected a line that `excam score` wrote, or id, score" in line


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"score": None}, "no scored row: no failure, though the score is null; expected"),
        ({"report": {"errors": []}}, "no scored row: no explanation; expected"),
        ({"signature": "excam|model:m|cal:none|v:0.1"}, "no scored row: no metric; expected"),
        ({"report": "[]"}, "no scored row; expected"),
        ({"direction": "sideways"}, "no scored row; expected"),
        ({"direction": "lower"}, "rows of one signature with unlike direction of their metric; expected one"),
        ({"parts": {"s": float("nan")}}, ""),
        ({"id": 7}, ""),
    ],
)
def test_a_line_of_another_program_is_refused_with_the_field_that_it_lacks(tmp_path, change, said):
    row = {"id": "x", "score": 1.0, "signature": "m|1"} | change
    file = write(tmp_path / "m.jsonl", [row, {"id": "y", "score": 2, "signature": "m|1", "parts": {"s": 1}}])
    if said:
        with pytest.raises(InputInvalid, match=said):
            meta_rows.read_metrics({file: list(result_files.read(file))})
        return
    whole, part = meta_rows.read_metrics({file: list(result_files.read(file))}, ["s"])
    assert (whole.scores, whole.direction) == ({str(row["id"]): 1.0, "y": 2}, "higher")
    assert part.scores == {str(row["id"]): None, "y": 1.0}


def test_ids_that_differ_in_form_alone_are_one_row(files, tmp_path):
    gold = write(tmp_path / "numbers.jsonl", [row | {"id": at} for at, row in enumerate(GOLD)])
    facts = {f"{at}.0": sees_facts(row, at) for at, row in enumerate(GOLD)}
    said = run(gold, scored(tmp_path / "pandas.jsonl", facts)).stdout
    assert "pandas: 48 rows: 48 scored, 0 failed, 0 without a label, 0 labelled rows missing" in said
    assert "pandas: 48 ids joined although they differ in form ('0' as '0.0')" in said
    ours = lines(gold, scored(tmp_path / "plain.jsonl", {f"{at}": facts[f"{at}.0"] for at in range(48)}))
    theirs = lines(gold, tmp_path / "pandas.jsonl")
    kendalls = [[record["kendall"] for record in of_kind("agreement", records)] for records in (ours, theirs)]
    assert kendalls[0] == kendalls[1]
    twice = scored(tmp_path / "twice.jsonl", {**facts, "00": 1.0})
    assert "twice: ids differ in form ('0', '0.0') and are ambiguous" in refused(gold, twice)


@pytest.mark.parametrize("none", [None, "", "  ", math.nan])
@pytest.mark.parametrize("option", ["cluster", "item"])
def test_a_labelled_row_without_its_cluster_is_refused(files, tmp_path, option, none):
    """Rows without a value would all be one cluster: a test on two clusters instead of 21."""
    rows = [row | {"c": none if at > 3 else f"c{at}"} for at, row in enumerate(GOLD)]
    line = refused(write(tmp_path / "g.jsonl", rows), files[1], f"--{option}", "c")
    assert f"g.jsonl:5: no c; expected the {option} of every labelled row" in line
    some = [row | {"label": row["label"] if row["c"] == f"c{at}" else None} for at, row in enumerate(rows)]
    labels = meta_rows.read_gold(write(tmp_path / "g.jsonl", some), meta_rows.GoldColumns(label="label", cluster="c"))
    assert ([row.cluster for row in labels.rows], labels.without_label) == (["c0", "c1", "c2", "c3"], 44)
    assert "no column c; found error, id, label, question" in refused(*files[:2], f"--{option}", "c")


def test_a_missing_value_is_never_a_name(tmp_path):
    rows = [
        {"id": at, "label": label, "instruction": none, "group": [none, "x", False], "output": none}
        for at, (label, none) in enumerate([(1, None), (2.5, math.nan), (math.nan, None), ("N/A", ""), (" 0", "")])
    ]
    labels = meta_rows.read_gold(write(tmp_path / "g.jsonl", rows), meta_rows.GoldColumns(label="label", group="group"))
    assert (labels.without_label, labels.line) == (2, "3 values from 0 to 2.5, 1 with spaces around them")
    items = meta_rows.read_gold(
        write(tmp_path / "i.jsonl", [row | {"i": "s"} for row in rows]), meta_rows.GoldColumns(label="label", item="i")
    )
    assert {row.cluster for row in items.rows} == {"s"}, "rows of one item share content"
    assert [row.cluster for row in labels.rows] == ["0", "1", "4"], "rows without an instruction share nothing"
    texts = [(row.instruction, row.text, row.groups) for row in labels.rows]
    assert texts == [("", None, ("x",))] * 2 + [("", "", ("x",))]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"id": math.nan}, "1: no id; expected an object with id and label"),
        ({"id": " "}, "1: no id; expected an object with id and label"),
        ({"id": {"a": 1}}, "1: id: found dict; expected a name or a number"),
        ({"c": ["a"]}, "1: c: found list; expected a name or a number"),
        ({"g": [{"a": 1}]}, "1: g: found dict; expected a name or a number"),
        ({"label": 10**400}, "1: label is 1000"),
        ({"label": math.inf}, "1: label is inf; expected a number"),
        ({"label": [1]}, "1: label is [1]; expected a number"),
        ({"label": "good"}, "1: label is good; expected a number or true or false"),
        ({"label": "1_0"}, "1: label is 1_0; expected a number"),
        ({"label": "３"}, "1: label is ３; expected a number"),
    ],
)
def test_a_label_or_name_of_another_type_is_refused_in_one_line(tmp_path, change, said):
    gold = write(tmp_path / "g.jsonl", [GOLD[0] | {"c": "c", "g": "g"} | change])
    columns = meta_rows.GoldColumns(label="label", cluster="c", group="g")
    assert said in line_of(InputInvalid, meta_rows.read_gold, gold, columns)


def test_words_among_numbers_are_refused(tmp_path):
    gold = write(tmp_path / "g.jsonl", [{"id": "a", "label": 3}, {"id": "b", "label": True}])
    line = line_of(InputInvalid, meta_rows.read_gold, gold, meta_rows.GoldColumns(label="label"))
    assert line.startswith(f"{gold}:2: label is True, not of the kind of {gold}:1; expected numbers alone, or true and")


def test_texts_that_only_the_scored_rows_have_are_taken_from_there(tmp_path):
    rows = answers()
    whole = lines(write(tmp_path / "whole.jsonl", rows))
    about, names = Description(pair=("instruction", "output")), ("instruction", "output")
    results = [
        Result(id=row["id"], score=1.0, metric=about, signature="m|1", texts={name: row[name] for name in names})
        for row in rows
    ]
    bare = write(tmp_path / "bare.jsonl", [{name: row[name] for name in row if name not in names} for row in rows])
    m = write(tmp_path / "m.jsonl", [result.to_dict() for result in results])
    for baseline in ("(length)", "(words)"):
        of_two = [of_kind("agreement", records, metric=baseline, on="own") for records in (whole, lines(bare, m))]
        assert of_two[0] == of_two[1], "and rows of one instruction share content"


@pytest.mark.parametrize(
    ("labels", "verdicts", "said"),
    [
        ([1, 0] * 10, ["clean", "error"] * 10, "better than guessing on 20 labelled rows: right in 20"),
        ([1, 0] * 10, ["error", "clean"] * 10, "worse than guessing on 20 labelled rows: right in 0 (always the same"),
        ([1, 0, 1, 0] * 5, ["clean", "error", "error", "clean"] * 5, "not distinguishable from guessing"),
        ([1, 0], ["clean", "error"], "not distinguishable from guessing on 2 labelled rows: right in 2"),
        ([1, 0] * 10, ["clean"] * 20, "not distinguishable from guessing on 20 labelled rows: right in 10"),
        ([1, 2, 3], [""] * 3, "not distinguishable from guessing on 3 labelled rows: tau-b 0.30 [-0.10, 0.60]"),
    ],
)
def test_what_a_judge_is_worth_is_one_sentence(labels, verdicts, said):
    tau = Estimate(0.3, -0.1, 0.6)
    told = worth.in_words(labels, verdicts, range(len(labels)), tau, tau)
    assert told.startswith(said)
    assert told.endswith("clusters: 100 labelled rows or more, of as many instructions, are better") == (said[0] == "n")


def test_two_files_of_one_name_are_two_metrics(gold, facts, tmp_path):
    (tmp_path / "other").mkdir()
    other = scored(tmp_path / "other/facts.jsonl", {row["id"]: float(row["label"]) for row in GOLD}, "other|1")
    metrics = [record["metric"] for record in of_kind("rows", lines(gold, facts, other))]
    assert metrics == [f"{tmp_path.name}/facts", "other/facts", "(constant)"]


def test_the_table_states_its_denominators(files, tmp_path):
    rows = [row | {"label": row["label"] if at % 2 or at > 8 else None} for at, row in enumerate(GOLD)]
    result = run(write(tmp_path / "some.jsonl", rows), *files[1:], "--group", "error", "--cluster", "question")
    assert result.exit_code == 0
    assert result.stdout.startswith("facts: better than guessing on 43 labelled rows in 24 clusters: AUC 0.")
    assert "43 labelled rows, 34 of them scored by every metric. 5 rows without a label are left out." in result.stdout
    assert "facts: 48 rows: 43 scored, 0 failed, 5 without a label, 0 labelled rows missing" in result.stdout
    assert "partly: 40 rows: 34 scored, 1 failed, 5 without a label, 8 labelled rows missing" in result.stdout
    assert "p (Holm)" in result.stdout


def test_bad_input_is_one_line(gold, facts, tmp_path):
    assert "given twice" in refused(gold, facts, facts)
    again = tmp_path / "again.jsonl"
    again.write_bytes(facts.read_bytes())
    assert "the same metric twice, mine.metric|1" in refused(gold, facts, again)
    assert "no column stars; found error, id, label, question; name that of" in refused(gold, facts, "--label", "stars")
    empty = write(tmp_path / "unlabelled.jsonl", [row | {"label": None} for row in GOLD])
    assert "48 rows, none with a number in label; expected rows with id and label" in refused(empty, facts)
    assert "no column nope; found error, id, label, question" in refused(gold, facts, "--output", "nope")
    halves = [scored(tmp_path / f"{at}.jsonl", {row["id"]: 1.0 for row in GOLD[at::2]}, f"half|{at}") for at in (0, 1)]
    assert "0 and 1: 0 of the 48 labelled rows in common; expected scores of the same rows" in refused(gold, *halves)
    assert "no column kind; found error, id, label, question" in refused(gold, facts, "--group", "kind")
    others = scored(tmp_path / "others.jsonl", {"x": 1.0, "y": 2.0})
    assert "others: 0 of its 2 ids are among the 48 labelled ones, e.g. x" in refused(gold, others)
    assert "0 rows; expected rows with id and label" in refused(write(tmp_path / "empty.jsonl", []), facts)
    same = write(tmp_path / "same.jsonl", [row | {"label": 1} for row in GOLD])
    assert "48 rows, all 1; expected at least two different labels" in refused(same, facts)
    assert "id 0/right occurs twice" in refused(write(tmp_path / "twice.jsonl", [GOLD[0], GOLD[0]]), facts)


def answers(count=30):
    """Answers of three systems to questions in two languages: c is good in both, and b only in German."""
    quality = {"a": {"de": 1, "en": 1}, "b": {"de": 3, "en": 1}, "c": {"de": 4, "en": 3}}
    return [
        {
            "id": f"{n}/{system}",
            "label": quality[system][language] + (n * 7 + at) % 3,
            "instruction": f"q{n}",
            "output": f"{system} answers {'x' * (n % 5 + at)}",
            "system": system,
            "language": language,
        }
        for n in range(count)
        for language in (("de", "en")[n % 2],)
        for at, system in enumerate("abc")
    ]


@pytest.mark.parametrize("cells", [meta_baselines.CELLS, 6, 1], ids=["together", "two questions at once", "one by one"])
def test_the_place_of_a_system_is_of_the_other_questions_and_equal_within_it(monkeypatch, cells):
    monkeypatch.setattr(meta_baselines, "CELLS", cells)
    rows = [
        Gold(f"{system}{n}", label, f"q{n}", (), "", "", facets={"system": system})
        for system, labels in (("a", (1, 2, 9)), ("b", (3, 4, 3)), ("c", (2, 2, 2)))
        for n, label in enumerate(labels)
    ]
    places = dict(zip((row.id for row in rows), meta_baselines.places_of_systems(rows).tolist(), strict=True))
    assert [places[f"a{n}"] for n in range(3)] == [3, 3, 1], "without q2, a has the mean 1.5"
    assert [places[f"b{n}"] for n in range(3)] == [2, 2, 3]
    assert [places[f"c{n}"] for n in range(3)] == [1, 1, 2]
    rows.append(Gold("d0", 5, "q0", (), "", "", facets={"system": "d"}))
    places = dict(zip((row.id for row in rows), meta_baselines.places_of_systems(rows).tolist(), strict=True))
    assert [places[f"{system}0"] for system in "abcd"] == [4, 3, 1, 2], "elsewhere 5.5, 3.5, 2; d has the mean, 3.3"


@pytest.mark.parametrize(("systems", "are_systems"), [("abab", True), ("abcab", False), ("aaaa", False)])
def test_systems_are_two_names_and_each_comes_twice(systems, are_systems):
    rows = [Gold(str(n), n % 2, str(n), (), "", None, facets={"system": name}) for n, name in enumerate(systems)]
    assert meta_numbers.has_systems(rows) is are_systems
    listed = [column.name for column in meta_baselines.baselines(rows, {})]
    assert ("(system)" in listed) is (len(set(systems)) > 1)


def test_baselines_of_systems_words_and_surface_then_length():
    gold = [Gold(f"{n}", n % 3, f"{n}", (), "", "x" * (n % 4), facets={"system": "ab"[n % 2]}) for n in range(24)]
    columns = meta_baselines.baselines(gold, {"(surface)": lambda row: row.label > 0})
    scores = {column.name: column.scores for column in columns}
    assert list(scores) == ["(constant)", "(length)", "(surface)", "(surface, length)", "(words)", "(system)"]
    keys = [(row.label > 0, len(row.text)) for row in gold]
    order = [scores["(surface, length)"][row.id] for row in gold]
    assert sorted(range(24), key=lambda at: keys[at]) == sorted(range(24), key=lambda at: order[at])
    assert len(set(order)) == len(set(keys))
    nameless = [Gold(f"{n}", n % 3, f"{n}", (), "", None, facets={"system": "ab"[n % 2]}) for n in range(23)]
    nameless.append(Gold("23", 1, "23", (), "", None))
    assert [baseline.name for baseline in meta_baselines.baselines(nameless, {})] == ["(constant)"]


def test_pairs_within_a_language_and_within_an_item(tmp_path):
    """Every number of pairs is that of a list of pairs."""
    rows = answers()
    gold = write(tmp_path / "gold.jsonl", rows)
    scores = {row["id"]: float(len(row["output"]) + (row["language"] == "de") * 9) for row in rows}
    records = lines(gold, scored(tmp_path / "m.jsonl", scores), "--item", "instruction", "--within", "language")
    numbers = {record["within"]: record for record in of_kind("agreement", records, metric="m", on="own")}

    def signs(same):
        for i, j in combinations(rows, 2):
            if all(i[name] == j[name] for name in same):
                yield np.sign(i["label"] - j["label"]), np.sign(scores[i["id"]] - scores[j["id"]])

    pairs = list(signs(["language"]))
    tau = sum(a * b for a, b in pairs) / (sum(a != 0 for a, _ in pairs) * sum(b != 0 for _, b in pairs)) ** 0.5
    assert numbers["language"]["kendall"]["value"] == pytest.approx(tau)
    assert numbers["language"]["kendall"]["low"] < tau < numbers["language"]["kendall"]["high"]
    tau = correlation.kendall([row["label"] for row in rows], list(scores.values()))
    assert numbers[""]["kendall"]["value"] == pytest.approx(tau)
    ordered = [(1 + a * b) / 2 for a, b in signs(["instruction"]) if a]
    for record in numbers.values():
        assert (record["pairs"], record["ordered"]["value"]) == (len(ordered), pytest.approx(np.mean(ordered)))
    binary = [row | {"label": int(row["label"] > 3)} for row in rows]
    auc = lines(write(tmp_path / "b.jsonl", binary), tmp_path / "m.jsonl", "--within", "language")
    first, *_ = of_kind("agreement", auc, within="language")
    rows = binary
    assert first["auc"]["value"] == pytest.approx(np.mean([(1 + a * b) / 2 for a, b in signs(["language"]) if a]))


def test_systems_are_compared_where_scored_rows_name_them(tmp_path):
    rows = answers()
    names = ("id", "label", "instruction", "output")
    gold = write(tmp_path / "gold.jsonl", [{name: row[name] for name in names} for row in rows])
    facets = [{name: row[name] for name in ("id", "system", "language")} for row in rows]
    results = [Result(score=float(row["system"] == "c"), signature="m|1", **row) for row in facets]
    file = write(tmp_path / "m.jsonl", [result.to_dict() for result in results])
    assert [record["level"]["systems"] for record in of_kind("systems", lines(gold, file), metric="m")] == [3, 3]
    assert "soft accuracy" in run(gold, file).stdout


def test_baselines_need_no_scored_file(tmp_path):
    rows = answers()
    gold = write(tmp_path / "gold.jsonl", rows)
    alone = lines(gold)
    assert {record["metric"] for record in of_kind("rows", alone)} >= {"(constant)", "(length)", "(words)", "(system)"}
    assert not of_kind("test", alone)
    file = scored(tmp_path / "lm.jsonl", {row["id"]: float(row["label"]) for row in rows})
    assert "None is of tie-calibrated or ordered" in run(gold, file, "--item", "instruction").stdout


def test_rows_without_the_facet_of_an_option_are_refused(gold, facts, tmp_path):
    assert "48 of 48 labelled rows without language, e.g. id 0/right" in refused(gold, facts, "--within", "language")
    assert "no column country; found error, id, label, question" in refused(gold, facts, "--within", "country")
    some = write(tmp_path / "some.jsonl", [row | {"who": "x" * (at > 2)} for at, row in enumerate(GOLD)])
    assert "3 of 48 labelled rows without system" in refused(some, facts, "--system", "who")
    assert "No (system): it needs the system of every row" in run(gold, facts).stdout


@pytest.mark.parametrize("values", [(True, False), ("yes", "no"), (1, 0), (-5, 0)])
def test_of_the_truth_of_calibrate_more_is_worse(tmp_path, values):
    gold = write(tmp_path / "truth.jsonl", [{"id": row["id"], "error": values[row["label"]]} for row in GOLD])
    penalty = -float(abs(values[0])) if values[0] != "yes" else -1.0
    labels = meta_rows.read_gold(gold, meta_rows.GoldColumns(label="error"))
    assert [row.label for row in labels.rows] == [penalty * (1 - row["label"]) for row in GOLD]


def test_columns_of_any_name_and_which_labels_are_better_is_said(tmp_path):
    rows = [{"nr": row["id"], "wrong": 1 - row["label"], "output": "x"} for row in GOLD[:16]]
    gold = write(tmp_path / "mine.jsonl", rows)
    right = scored(tmp_path / "right.jsonl", {row["id"]: float(row["label"]) for row in GOLD[:16]})
    done = succeed("meta", gold, right, "--label", "wrong", "--id", "nr")
    assert "more of wrong is taken as better; marks of errors (1 = wrong) belong in a column error" in done.stderr
    assert "(words): it needs 20 instructions or more" in done.stdout
    assert "mine.jsonl: read nr as id" in run(gold, right, "--label", "wrong").stderr
    write(gold, [row | {"nr": 1} for row in rows])
    assert "name their columns with --id and --label" in run(gold, right, "--label", "wrong").stderr


def test_of_numbers_of_several_people_the_mean_is_taken(tmp_path):
    rows = [{"row": row["id"], "annotator": who, "label": row["label"] + (who == "b")} for row in GOLD for who in "ab"]
    gold = write(tmp_path / "answers.jsonl", rows)
    labels = meta_rows.read_gold(gold, meta_rows.GoldColumns(label="label"))
    assert {row.id: row.label for row in labels.rows} == {row["id"]: row["label"] + 0.5 for row in GOLD}
    right = scored(tmp_path / "right.jsonl", {row["id"]: float(row["label"]) for row in GOLD})
    assert "answers.jsonl: 48 ids with 2 labels each: the mean is taken" in run(gold, right).stderr
    write(gold, [row | {"output": row["annotator"]} for row in rows])
    assert "occurs twice; expected one label for each row" in refused(gold, right)


@pytest.mark.parametrize("suffix", ["jsonl", "csv"])
def test_labels_in_a_scored_file_need_no_second_file(tmp_path, gold, facts, suffix):
    """Also where systems share ids: then a row is known by both."""
    labels = {row["id"]: row for row in GOLD}
    results = [replace(row, columns=labels[row.id]) for row in result_files.read(facts)]
    whole = tmp_path / f"facts.{suffix}"
    result_files.write(whole, results)
    numbers = [line for line in lines(gold, facts) if line["kind"] == "agreement"]
    assert [line for line in lines(whole, "--label", "label") if line["kind"] == "agreement"] == numbers
    result_files.write(whole, [replace(row, id=row.id.split("/")[0], system=row.id.split("/")[1]) for row in results])
    (counts, *_) = (line for line in lines(whole) if line["kind"] == "rows")
    assert (counts["rows"], counts["scored"], counts["unlabelled"]) == (len(results), len(results), 0)
    by_both = [row | {"id": row["id"].split("/")[0], "system": row["id"].split("/")[1]} for row in GOLD]
    (counts, *_) = (line for line in lines(write(tmp_path / "both.jsonl", by_both), whole) if line["kind"] == "rows")
    assert (counts["scored"], counts["unlabelled"], counts["missing"]) == (len(results), 0, 0)


def test_what_labelled_rows_say_of_themselves_holds():
    gold = [Gold("a", 1, "a", (), "", "", facets={"language": "Greek", "system": ""})]
    column = Column("m", {"a": 1.0}, facets={"language": {"a": "English"}, "system": {"a": "s"}})
    (row,) = meta_rows.completed(gold, [column], is_clustered=False)
    assert (row.facets["language"], row.facets["system"]) == ("Greek", "s")


def test_a_label_of_0_in_a_column_of_another_name_is_an_error(tmp_path):
    labels = meta_rows.LabelledRows([Gold(name, value, name, (), "", None) for name, value in (("a", 1), ("b", 0))], 0)
    assert meta_rows.errors(labels, tmp_path / "l.csv", "right") == {"a": False, "b": True}
