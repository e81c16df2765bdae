"""Reports against gold reports: worked out by hand, against brute force, and through the scripts on small files."""

import csv
import itertools
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from base_samples import split_up

from excam.core import tables
from excam.core.exceptions import InputInvalid
from excam.error_reports import record_files, report_agreement
from excam.error_reports.evaluation import report_quality
from excam.error_reports.judges.report import locate
from excam.error_reports.records import BaseSample, CulturalError, Report, Sample, Verdict
from excam.excam40k.construction import hard
from excam.stats import accuracy, bootstrap
from scripts.reports import evaluate_reports, table_reports

ROOT = Path(__file__).parents[2]


def error(start, end, where="output", severity="major", kind="incorrect answer"):
    return CulturalError(where, "x" * max(end - start, 0), severity, kind, start, end)


LOST = CulturalError("output", "nowhere", "major", "t")


# --- bootstrap


def test_interval_is_the_plain_cluster_bootstrap():
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 9, 60)
    clusters = np.repeat(np.arange(60), sizes)
    below = rng.integers(0, 4, len(clusters))
    above = rng.binomial(below, np.repeat(rng.random(60), sizes))
    plain = []
    for _ in range(1500):
        items = np.concatenate([np.flatnonzero(clusters == c) for c in rng.integers(0, 60, 60)])
        plain.append(above[items].sum() / below[items].sum())
    interval = bootstrap.ratio_interval(above, below, [f"g{c}" for c in clusters], draws=3000)
    assert np.allclose(interval, np.quantile(plain, [0.025, 0.975]), atol=0.015)
    rows = bootstrap.ratio_interval(above, below)
    assert interval[1] - interval[0] > 1.2 * (rows[1] - rows[0]), "rows of one cluster are not independent"


def test_interval_of_a_mean_is_the_one_of_scaled_accuracy():
    rng = np.random.default_rng(1)
    right, clusters = rng.random(300) < 0.7, rng.integers(0, 90, 300).tolist()
    low, high = bootstrap.ratio_interval(right, np.ones(300), clusters, seed=5)
    expected = accuracy.accuracy_interval(np.ones(300, bool), right, clusters, seed=5)
    assert (2 * low - 1, 2 * high - 1) == pytest.approx(expected)


def test_interval_covers():
    """A ratio whose clusters differ in size and in rate, as reports of one and of many errors do (.93 to .97)."""
    rng, covered = np.random.default_rng(2), 0
    for _ in range(400):
        sizes, rates = rng.integers(1, 6, 150), rng.beta(2, 3, 150)  # mean rate .4, independent of the size
        low, high = bootstrap.ratio_interval(rng.binomial(sizes, rates), sizes, draws=400)
        covered += low <= 0.4 <= high
    assert 0.92 <= covered / 400 <= 0.975


def test_same_seed_same_interval_in_any_order():
    rng = np.random.default_rng(3)
    above, below, clusters = rng.integers(0, 3, 99), np.full(99, 3), rng.integers(0, 30, 99)
    order = rng.permutation(99)
    assert bootstrap.ratio_interval(above, below, clusters.tolist()) == bootstrap.ratio_interval(
        above[order], below[order], clusters[order].tolist()
    )


def test_draws_that_tell_nothing_are_no_interval():
    assert bootstrap.ratio_interval([1, 2], [0, 0]) is None, "nothing to divide by"
    assert bootstrap.ratio_interval([1, 2, 0], [3, 4, 0], ["a", "a", "b"]) is None, "one cluster holds everything"
    assert bootstrap.ratio_interval([0] * 50, [1] * 50) is None, "all alike: 0 of 50 is not certainly 0"
    assert bootstrap.ratio_interval([0.1] * 50, [0.3] * 50) is None
    assert bootstrap.ratio_interval([0, 1], [1, 1]) == (0, 1)


@pytest.mark.parametrize(
    "arguments",
    [([1], [1, 2]), ([np.nan], [1]), ([1, 1], [1, 1], ["a"]), ([1], [1], None, 1.0), ([1], [1], None, 0.9, 0)],
)
def test_what_cannot_be_drawn_is_refused(arguments):
    with pytest.raises(InputInvalid):
        bootstrap.ratio_interval(*arguments)


# --- spans


def test_credit_of_one_pair_is_the_share_of_common_characters():
    for gold, predicted in itertools.product([(0, 5), (3, 4), (4, 12), (7, 9)], repeat=2):
        common = set(range(*gold)) & set(range(*predicted))
        shares = report_agreement.overlap(error(*gold), error(*predicted))
        assert shares == pytest.approx((len(common) / (gold[1] - gold[0]), len(common) / (predicted[1] - predicted[0])))


def test_other_text_and_nowhere_never_match():
    assert report_agreement.overlap(error(0, 5), error(0, 5, where="instruction")) == (0, 0)
    counts = report_agreement.count_spans([error(0, 5), LOST], [error(0, 5, where="instruction"), LOST])
    assert (counts.gold, counts.predicted, counts.exact, counts.of_gold, counts.of_predicted) == (2, 2, 0, 0, 0)


def test_an_empty_span_is_the_same_position_or_nothing():
    """A deletion that marks a position; ours mark the word beside it."""
    assert report_agreement.overlap(error(4, 4), error(4, 4)) == (1, 1)
    for other in (error(5, 5), error(0, 9), error(4, 9), error(0, 4)):
        assert report_agreement.overlap(error(4, 4), other) == report_agreement.overlap(other, error(4, 4)) == (0, 0)
    assert report_agreement.count_spans([error(4, 4)], [error(4, 4)]) == report_agreement.SpanCounts(1, 1, 1, 1.0, 1.0)


def test_each_span_is_used_once():
    assert report_agreement.count_spans([error(0, 4)], [error(0, 4), error(0, 4)]) == report_agreement.SpanCounts(
        1, 2, 1, 1.0, 1.0
    )
    counts = report_agreement.count_spans([error(0, 10)], [error(0, 4), error(4, 10)])  # the longer part is matched
    assert (counts.exact, counts.of_gold, counts.of_predicted) == (0, pytest.approx(0.6), 1.0)
    whole = report_agreement.count_spans([error(0, 4), error(6, 10)], [error(0, 10)])
    assert (whole.of_gold, whole.of_predicted) == (1.0, pytest.approx(0.4))


def test_greedy_is_not_best():
    """The first prediction overlaps the first gold span most, and the second overlaps no other."""
    gold, predicted = [error(0, 10), error(10, 20)], [error(2, 19), error(0, 3)]
    assert [(m.gold, m.predicted) for m in report_agreement.matches(gold, predicted)] == [(0, 1), (1, 0)]


def test_assignment_is_the_best_of_all():
    rng = np.random.default_rng(4)

    def some():
        starts = rng.integers(-1, 20, rng.integers(1, 5))
        wheres = rng.choice(["instruction", "output"], len(starts))
        return [error(s, s if s < 0 else s + rng.integers(0, 9), where=w) for s, w in zip(starts, wheres, strict=True)]

    def f1(span, other):
        if span.where != other.where or min(span.start, other.start) < 0:
            return 0
        if span.start == span.end or other.start == other.end:
            return float((span.start, span.end) == (other.start, other.end))
        common = len(set(range(span.start, span.end)) & set(range(other.start, other.end)))
        return 2 * common / (span.end - span.start + other.end - other.start)

    for _ in range(300):
        gold, predicted = some(), some()
        few, many = sorted((gold, predicted), key=len)
        best = max(sum(map(f1, few, order)) for order in itertools.permutations(many, len(few)))
        matches = report_agreement.matches(gold, predicted)
        assert sum(match.f1 for match in matches) == pytest.approx(best)
        assert len({m.gold for m in matches}) == len({m.predicted for m in matches}) == len(matches)


def test_f1_is_the_harmonic_mean():
    sums = np.array([[2.0], [5.0], [3.0], [4.0]])
    precision, recall = 2 / 5, 3 / 4
    assert report_agreement.f1(sums)[0] == pytest.approx(2 * precision * recall / (precision + recall))
    assert report_agreement.f1(np.array([[0.0], [5.0], [0.0], [0.0]]))[0] == 0
    assert report_agreement.f1(np.array([[0.0], [0.0], [0.0], [3.0]]))[0] == 0
    assert np.isnan(report_agreement.f1(np.zeros((4, 1)))[0])


# --- explanations


@pytest.mark.parametrize(
    ("text", "answer", "held"),
    [
        ("'gayageum' is wrong, 'Angklung' is right.", "angklung", True),
        ("It should say “St. Patrick’s  Day”.", "St. Patrick's Day.", True),
        ("ＡＮＧＫＬＵＮＧ", "angklung", True),  # NFKC
        ("Die STRASSE", "straße", True),  # case folding, not lower case
        ("red\u00ad\u200bwine", "redwine", True),  # nothing invisible
        ("a steak", "tea", False),
        ("tea-house", "tea", True),
        ("15", "5", False),
        ("1.5 litres", "5", False),
        ("It is 5.", "5", True),
        ("50% off", "50%", True),
        ("50 of them", "50%", False),  # the sign says something
        ("正确的是红色，不是白色", "红色", True),  # no spaces are set
        ("用iPhone拍照", "iPhone", True),
        ("दशैंमा", "दशैं", False),  # a suffix makes it another word; its vowel signs are no boundary
        ("दशैं", "दशै", False),
        ("The text is not ironic.", "The text is ironic.", False),
        ("The text is ironic because", "The text is ironic.", True),  # outer punctuation
        ("anything", "", False),
        ("so ... what", "...", True),
        ("(a|b)* is", "(a|b)*", True),  # no pattern
        ("", "tea", False),
    ],
)
def test_the_right_answer_word_for_word(text, answer, held):
    assert bool(report_agreement.mentions(text, answer)) is held


def test_the_wrong_answer_does_not_hold_the_right_one():
    explanation = report_agreement.explanation(
        "'October 5' is wrong.", "October", ["October 5"], "When? October or October 5?"
    )
    assert explanation == report_agreement.Explanation(held=True, right=False, wrong=True, shown=True)
    explanation = report_agreement.explanation("Not 'October 5' but October.", "October", ["October 5"], "When?")
    assert explanation == report_agreement.Explanation(held=True, right=True, wrong=True, shown=False)
    explanation = report_agreement.explanation("It is 'October 5'.", "October 5", ["October"], "When?")
    assert explanation == report_agreement.Explanation(held=True, right=True, wrong=False, shown=False)


def test_the_same_words_are_no_longer_text():
    """Right and wrong answer that differ in what is normalised away: the place is the right one's too."""
    assert report_agreement.mentions_outside("It is tea.", "tea", ["Tea!"])


def test_gold_explanations_of_hard_errors_hold_the_answer():
    """What the templates write is found whatever the answer looks like, so the ceiling is 1."""
    answers = ["tea", "Tea (green)", "5", "红色", "St. Patrick’s Day!", "दशैं", "25%", "The text is ironic.", "'quoted'"]
    made = [
        BaseSample(
            f"blend/{n}", "blend", "qa", f"What of {n}?", answer, "English", "China", "s", (answer, "no"), ("no",)
        )
        for n, answer in enumerate(answers)
    ]
    wrong = hard.hard_errors(split_up(made), {base.id: base for base in made}, 7)[0]
    assert len(wrong) >= len(answers)
    assert all(report_agreement.mentions(sample.report.explanation, sample.answer) for sample in wrong)


# --- contrastive pairs


def test_independent_guessing_by_simulation():
    rng = np.random.default_rng(5)
    sizes = rng.integers(1, 4, 20_000)
    units = [[(bool(a), bool(b)) for a, b in zip(rng.random(k) < 0.8, rng.random(k) < 0.6, strict=True)] for k in sizes]
    observed = np.mean([all(map(all, unit)) for unit in units])
    assert report_agreement.expected_if_independent(units) == pytest.approx(observed, abs=0.01)


def test_strata_have_their_own_rates():
    """Good on one dataset and always silent on the other: together that looks like consistency."""
    units = [[(True, True)]] * 10 + [[(True, False)]] * 10
    assert report_agreement.expected_if_independent(units) == 0.5
    assert report_agreement.expected_if_independent(units, ["a"] * 10 + ["b"] * 10) == 0.5
    units = [[(True, False)]] * 10 + [[(False, True)]] * 10
    assert report_agreement.expected_if_independent(units) == 0.25
    assert report_agreement.expected_if_independent(units, ["a"] * 10 + ["b"] * 10) == 0
    assert report_agreement.expected_if_independent([]) is None


# --- a cell by hand

BASES = {"a": ("tea", "cola"), "b": ("tea", "cola"), "c": ("rice", "rice cake"), "d": ("milk", "cola")}


def samples_of(dataset="blend") -> list[Sample]:
    """Right and wrong rows of four base samples, the last with a soft error of two spans."""
    rows = []
    for base, (answer, wrong) in BASES.items():
        for label in ("right", "wrong"):
            output = f"They drink {answer if label == 'right' else wrong} there."
            gold = (CulturalError("output", wrong, "major", "incorrect answer", 11, 11 + len(wrong)),)
            origin = "source" if label == "right" else "hard"
            if base == "d" and label == "wrong":
                gold = (replace(gold[0], severity="minor"), CulturalError("output", "there", "minor", "place", 16, 21))
                origin = "soft-minor"
            report = Report(gold, f"Not '{wrong}', but '{answer}'.") if label == "wrong" else Report()
            rows.append(
                Sample(
                    **{"id": f"{dataset}/{base}/0/{label}", "pair": f"{dataset}/{base}/0", "base": f"{dataset}/{base}"},
                    **{"dataset": dataset, "task": "qa", "instruction": "What? cola or tea", "output": output},
                    **{"report": report, "origin": origin, "language": "English", "culture": "China", "stratum": "s"},
                    **{"licence": "x", "answer": answer, "group": f"{dataset}/{base}", "split": "test"},
                )
            )
    return rows


def verdict_with(sample: Sample, explanation: str, *spans: tuple[str, str, str]) -> Verdict:
    errors = tuple(CulturalError("output", span, severity, kind) for span, severity, kind in spans)
    report = locate(Report(errors, explanation), sample.instruction, sample.output)
    return Verdict(len(errors), float(sum({"major": -5, "minor": -1}[e.severity] for e in errors)), report=report)


def verdicts_of(samples: list[Sample]) -> list[Verdict]:
    failed = Verdict(None, None, failure="no-json")
    answers = {
        "a/0/right": [""],  # right
        "a/0/wrong": ["It is tea.", ("cola", "major", "Incorrect  answer")],  # exact, explained
        "b/0/right": ["no", ("tea", "major", "x"), ("nowhere", "minor", "x")],  # a false alarm, one span lost
        "b/0/wrong": ["", ("drink cola", "minor", "other")],  # 4 of 10 characters; severity and type are others
        "c/0/right": [""],
        "c/0/wrong": ["'rice cake' is wrong", ("They", "major", "x")],  # elsewhere; names the wrong answer alone
        "d/0/wrong": ["so", ("cola", "major", "incorrect answer"), ("there", "minor", "place")],
    }
    keyed = {sample.id.split("/", 1)[1]: sample for sample in samples}
    return [verdict_with(sample, *answers[key]) if key in answers else failed for key, sample in keyed.items()]


@pytest.fixture
def cell(tmp_path) -> dict[str, Path]:
    return write(tmp_path, "blend")


def write(folder: Path, dataset: str) -> dict[str, Path]:
    samples = samples_of(dataset)
    paths = {name: folder / f"{name}-{dataset}.parquet" for name in ("judgements", "samples")}
    record_files.write_samples(paths["samples"], samples)
    record_files.write_judgements(paths["judgements"], samples, verdicts_of(samples))
    return paths


def numbers_of(paths: dict[str, Path], **columns) -> dict:
    judgements = tables.read_frame(paths["judgements"]).with_columns(**columns)
    return report_quality.evaluate(judgements, tables.read_frame(paths["samples"]), seed=1)


def value(measure: dict) -> tuple:
    return measure["value"] if measure["value"] is None else pytest.approx(measure["value"]), measure["n"]


def test_rows_and_errors(cell):
    numbers = numbers_of(cell)
    assert (numbers["n"], numbers["readable"], numbers["failures"], numbers["groups"]) == (8, 7, {"no-json": 1}, 4)
    assert numbers["gold"] == {"n": 5, "rows": 4, "in_instruction": 0, "not_found": 0, "empty": 0}
    assert numbers["predicted"] == {"n": 7, "rows": 5, "in_instruction": 0, "not_found": 1, "empty": 0}


def test_spans_by_hand(cell):
    spans = numbers_of(cell)["spans"]
    for over, predicted in (("strict", 7), ("readable", 7), ("erroneous_strict", 5), ("erroneous_readable", 5)):
        exact, partial = spans[over]["exact"], spans[over]["partial"]
        assert value(exact["precision"]) == (3 / predicted, predicted)
        assert value(exact["recall"]) == (3 / 5, 5)
        assert value(exact["f1"]) == (6 / (predicted + 5), predicted + 5)
        assert value(partial["precision"]) == (3.4 / predicted, predicted)
        assert value(partial["recall"]) == (4 / 5, 5)
        assert partial["f1"]["value"] == pytest.approx(2 / (predicted / 3.4 + 5 / 4))
        assert exact["f1"]["low"] <= exact["f1"]["value"] <= exact["f1"]["high"]
    assert [spans[over]["rows"] for over in spans] == [8, 7, 4, 4]


def test_an_unreadable_answer_misses_the_gold_spans(cell):
    """Strict recall falls with it, precision does not; over readable rows neither does."""
    lost = pl.col("id") == "blend/a/0/wrong"
    spans = numbers_of(
        cell,
        report=pl.when(lost).then(None).otherwise(pl.col("report")),
        failure=pl.when(lost).then(pl.lit("truncated")).otherwise(pl.col("failure")),
    )["spans"]
    assert value(spans["strict"]["exact"]["recall"]) == (2 / 5, 5)
    assert value(spans["strict"]["exact"]["precision"]) == (2 / 6, 6)
    assert value(spans["readable"]["exact"]["recall"]) == (2 / 4, 4)


def test_place_severity_and_type_of_matched_errors(cell):
    agreement = numbers_of(cell)["agreement"]
    assert value(agreement["place"]) == (3 / 4, 4)
    assert value(agreement["severity"]) == (2 / 4, 4)
    assert agreement["severity"]["confusion"] == {"minor": {"minor": 1, "major": 1}, "major": {"minor": 1, "major": 1}}
    assert agreement["severity"]["one_severity"] == 0.5
    assert value(agreement["type"]) == (3 / 4, 4)
    assert agreement["type"]["one_type"] == 0.75
    assert agreement["type"]["common"][0] == {"gold": "incorrect answer", "predicted": "incorrect answer", "n": 2}
    assert agreement["type"]["not_listed"] == 0


def test_counts_and_scores(cell):
    numbers = numbers_of(cell)
    count = numbers["error_count"]  # 0, 0, +2, 0, 0, 0, 0 and a failure
    assert [value(count["all"][name]) for name in ("signed", "absolute", "exact", "exact_strict")] == [
        (2 / 7, 7), (2 / 7, 7), (6 / 7, 7), (6 / 8, 8),
    ]  # fmt: skip
    score = numbers["score"]  # 0, 0, -6, +4, 0, 0, -4
    assert [value(score["all"][name]) for name in ("signed", "absolute", "exact", "exact_strict")] == [
        (-6 / 7, 7), (14 / 7, 7), (4 / 7, 7), (4 / 8, 8),
    ]  # fmt: skip
    assert [value(score["erroneous"][name]) for name in ("signed", "absolute", "exact")] == [(0, 4), (2, 4), (0.5, 4)]


def test_explanations_by_hand(cell):
    numbers = numbers_of(cell)["explanations"]
    assert {name: numbers[name] for name in ("n", "detected", "missed", "unreadable", "soft")} == {
        "n": 3, "detected": 3, "missed": 0, "unreadable": 0, "soft": 1,
    }  # fmt: skip
    assert value(numbers["held"]) == (2 / 3, 3), "tea, and rice inside of 'rice cake'"
    assert value(numbers["outside"]) == (1 / 3, 3)
    assert (value(numbers["answer_shown"]), value(numbers["answer_not_shown"])) == ((1 / 2, 2), (1, 1))
    assert value(numbers["gold_held"]) == (1, 3)
    names = ("right_only", "right_and_wrong", "wrong_only", "neither")
    assert [numbers[name] for name in names] == [1, 0, 1, 1]


def test_missed_and_unreadable_count_against_strict_alone(cell):
    judgements = tables.read_frame(cell["judgements"])
    empty = pl.lit(record_files.report_json(Report()))
    missed, lost = pl.col("id") == "blend/b/0/wrong", pl.col("id") == "blend/c/0/wrong"
    judgements = judgements.with_columns(
        report=pl.when(missed).then(empty).when(lost).then(None).otherwise(pl.col("report")),
        failure=pl.when(lost).then(pl.lit("empty")).otherwise(pl.col("failure")),
    )
    numbers = report_quality.evaluate(judgements, tables.read_frame(cell["samples"]), seed=1)["explanations"]
    assert (numbers["detected"], numbers["missed"], numbers["unreadable"]) == (1, 1, 1)
    assert (value(numbers["held"]), value(numbers["strict"])) == ((1, 1), (1 / 3, 3))


def test_twins_by_hand(cell):
    twins = numbers_of(cell)["twins"]
    assert value(twins["pairs"]) == (2 / 4, 4)
    assert twins["pairs"]["independent"] == pytest.approx(2 / 4 * 4 / 4)
    assert {name: twins[name] for name in ("both_right", "right_row_only", "wrong_row_only", "neither")} == {
        "both_right": 2, "right_row_only": 0, "wrong_row_only": 2, "neither": 0,
    }  # fmt: skip
    assert twins["rows_without_twin"] == 0
    one_base = numbers_of(cell, base=pl.lit("blend/z"))["twins"]["bases"]
    assert value(one_base) == (0, 1), "a base sample counts only when all its pairs do"
    assert one_base["independent"] == pytest.approx(0.5**4)


def test_a_row_without_its_twin_is_counted_and_left_out(cell):
    keep = pl.col("id") != "blend/a/0/right"
    judgements, samples = (tables.read_frame(cell[name]).filter(keep) for name in ("judgements", "samples"))
    twins = report_quality.evaluate(judgements, samples, seed=1)["twins"]
    assert (twins["rows_without_twin"], value(twins["pairs"])) == (1, (1 / 3, 3))


def test_perfect_reports_are_perfect(tmp_path):
    samples = samples_of()
    verdicts = [Verdict(len(s.report.errors), float(s.score), report=s.report) for s in samples]
    record_files.write_samples(tmp_path / "s.parquet", samples)
    record_files.write_judgements(tmp_path / "j.parquet", samples, verdicts)
    numbers = numbers_of({"judgements": tmp_path / "j.parquet", "samples": tmp_path / "s.parquet"})
    spans = [numbers["spans"][over][kind]["f1"]["value"] for over in numbers["spans"] for kind in ("exact", "partial")]
    assert spans == [1.0] * 8
    assert [numbers["agreement"][name]["value"] for name in ("place", "severity", "type")] == [1, 1, 1]
    assert [numbers["explanations"][name]["value"] for name in ("held", "outside", "strict")] == [1, 1, 1]
    assert numbers["score"]["all"]["absolute"]["value"] == numbers["error_count"]["all"]["absolute"]["value"] == 0
    assert numbers["twins"]["bases"]["value"] == 1


def test_nothing_could_be_read(cell):
    numbers = numbers_of(cell, report=pl.lit(None, pl.String), failure=pl.lit("no-json"))
    assert numbers["spans"]["strict"]["exact"]["f1"]["value"] == 0
    assert numbers["spans"]["strict"]["exact"]["precision"] == {"value": None, "low": None, "high": None, "n": 0}
    assert numbers["spans"]["readable"]["exact"]["f1"]["value"] is None
    assert (value(numbers["explanations"]["held"]), value(numbers["explanations"]["strict"])) == ((None, 0), (0, 3))
    assert value(numbers["twins"]["pairs"]) == (0, 4)


def test_intervals_draw_whole_groups(cell):
    """With one group there is nothing to draw, however many rows it has."""
    several, single = numbers_of(cell), numbers_of(cell, group=pl.lit("g"))
    for place in (
        ("spans", "strict", "exact", "f1"),
        ("spans", "strict", "exact", "recall"),
        ("score", "all", "signed"),
    ):
        there, gone = several, single
        for key in place:
            there, gone = there[key], gone[key]
        assert there["low"] < there["value"] < there["high"]
        assert (gone["value"], gone["low"], gone["high"]) == (there["value"], None, None)


def test_rows_that_do_not_belong_together_are_refused(cell):
    judgements, samples = (tables.read_frame(cell[name]) for name in ("judgements", "samples"))
    broken = [
        (judgements.head(7), samples),
        (judgements, samples.head(7)),
        (pl.concat([judgements, judgements.head(1)]), samples),
        (judgements, samples.with_columns(score=pl.col("score") - 1)),  # judged before the gold rows changed
        (judgements.with_columns(report=pl.lit(None, pl.String)), samples),  # a judge without reports
        (judgements.head(0), samples.head(0)),
    ]
    for judged_rows, other in broken:
        with pytest.raises(InputInvalid) as problem:
            report_quality.evaluate(judged_rows, other, seed=1)
        assert "\n" not in str(problem.value)


# --- scripts


@pytest.fixture
def outcome(tmp_path, monkeypatch) -> tuple[dict, list[dict[str, str]], str]:
    """The cell of two datasets, the lines of the table, its page."""
    monkeypatch.chdir(tmp_path)
    parts = [write(Path(), name) for name in ("blend", "include")]
    target = "results/reports/m/all/report/all/test.json"
    options = ["--judgements", *(str(p["judgements"]) for p in parts), "--samples", *(str(p["samples"]) for p in parts)]
    evaluate_reports([*options, "--seed", "1", "--numbers", target])
    claims = str(ROOT / "paper/claims.csv")
    table_reports(["--cells", target, "--printed-claims", claims, "--numbers", "r.csv", "--page", "r.md"])
    with Path("r.csv").open(newline="", encoding="utf-8") as stream:
        lines = list(csv.DictReader(stream))
    return json.loads(Path(target).read_text()), lines, Path("r.md").read_text(encoding="utf-8")


def test_datasets_add_up_to_all(outcome):
    cell, lines, _ = outcome
    assert len(cell["inputs"]) == 4
    assert set(cell["by_dataset"]) == {"blend", "include"}
    n = {(line["dataset"], line["measure"]): int(line["n"]) for line in lines}
    assert len(n) == len(lines), "each number is there once"
    for (dataset, measure), count in n.items():
        if dataset == "all":
            assert count == n["blend", measure] + n["include", measure], measure
    assert {line["dataset"]: (line["rows"], line["failures"]) for line in lines} == {
        "all": ("16", "2"), "blend": ("8", "1"), "include": ("8", "1"),
    }  # fmt: skip


def test_every_line_has_its_denominator_and_its_cell(outcome):
    for line in outcome[1]:
        assert line["n"]
        assert line["of"]
        assert line["over"]
        assert (line["model"], line["trained_on"], line["judge"]) == ("m", "all", "report")
        assert line["cell"] == "results/reports/m/all/report/all/test.json"
        assert not line["low"] or float(line["low"]) <= float(line["value"]) <= float(line["high"])


def test_the_page_shows_numbers_and_the_papers(outcome):
    cell, _, page = outcome
    assert "48 percent for gemma3; 42 percent for phi3" in page
    held = cell["explanations"]["held"]
    shown = f"{held['value']:.3f} [{held['low']:.3f}, {held['high']:.3f}] (n = 6)"
    assert shown in page
    assert "| m/all/report, include |" in page
    for block in page.split("\n## ")[1:]:
        table = [line for line in block.splitlines() if line.startswith("|")]
        assert len({line.count("|") for line in table}) == 1


def test_same_seed_same_bytes(tmp_path, monkeypatch, cell):
    monkeypatch.chdir(tmp_path)
    options = ["--judgements", str(cell["judgements"]), "--samples", str(cell["samples"]), "--seed", "3", "--numbers"]
    for name in ("one.json", "two.json"):
        evaluate_reports([*options, name])
    assert Path("one.json").read_bytes() == Path("two.json").read_bytes()
