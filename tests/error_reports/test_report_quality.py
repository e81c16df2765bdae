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
from excam.stats import bootstrap
from scripts.reports import evaluate_reports, table_reports

ROOT = Path(__file__).parents[2]


def error(start, end, where="output", severity="major", kind="incorrect answer"):
    return CulturalError(where, "x" * max(end - start, 0), severity, kind, start, end)


LOST = CulturalError("output", "nowhere", "major", "t")


# --- bootstrap


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
    assert bootstrap.ratio_interval([1, 2, 0], [3, 4, 0], ["a", "a", "b"]) is None, "one cluster holds everything"
    assert bootstrap.ratio_interval([0] * 50, [1] * 50) is None, "all alike: 0 of 50 is not certainly 0"
    assert bootstrap.ratio_interval([0.1] * 50, [0.3] * 50) is None


# --- spans


def test_each_span_is_used_once():
    for at in (error(4, 4), error(0, 5)):  # a position, as for a deletion; ours mark the word beside it
        assert report_agreement.count_spans([at], [at]) == report_agreement.SpanCounts(1, 1, 1, 1.0, 1.0)
    elsewhere = report_agreement.count_spans([error(0, 5), LOST], [error(0, 5, where="instruction"), LOST])
    assert elsewhere == report_agreement.SpanCounts(2, 2, 0, 0, 0)
    assert report_agreement.count_spans([error(0, 4)], [error(0, 4), error(0, 4)]) == report_agreement.SpanCounts(
        1, 2, 1, 1.0, 1.0
    )
    counts = report_agreement.count_spans([error(0, 10)], [error(0, 4), error(4, 10)])  # the longer part is matched
    assert (counts.exact, counts.of_gold, counts.of_predicted) == (0, pytest.approx(0.6), 1.0)
    whole = report_agreement.count_spans([error(0, 4), error(6, 10)], [error(0, 10)])
    assert (whole.of_gold, whole.of_predicted) == (1.0, pytest.approx(0.4))


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


# --- explanations


def test_the_wrong_answer_does_not_hold_the_right_one():
    explanation = report_agreement.explanation(
        "'October 5' is wrong.", "October", ["October 5"], "When? October or October 5?"
    )
    assert explanation == report_agreement.Explanation(held=True, right=False, wrong=True, shown=True)
    explanation = report_agreement.explanation("Not 'October 5' but October.", "October", ["October 5"], "When?")
    assert explanation == report_agreement.Explanation(held=True, right=True, wrong=True, shown=False)
    explanation = report_agreement.explanation("It is 'October 5'.", "October 5", ["October"], "When?")
    assert explanation == report_agreement.Explanation(held=True, right=True, wrong=False, shown=False)


def test_gold_explanations_of_hard_errors_hold_the_answer():
    """What the templates write is found whatever the answer looks like, so the ceiling is 1."""
    answers = ["tea", "Tea (green)", "5", "红色", "St. Patrick’s Day!", "दशैं", "25%", "The text is ironic.", "'quoted'"]
    made = [
        BaseSample(f"blend/{n}", "blend", "qa", f"Of {n}?", answer, "English", "China", "s", (answer, "no"), ("no",))
        for n, answer in enumerate(answers)
    ]
    wrong = hard.hard_errors(split_up(made), {base.id: base for base in made}, 7)[0]
    assert len(wrong) >= len(answers)
    assert all(report_agreement.mentions(sample.report.explanation, sample.answer) for sample in wrong)


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
    assert (numbers["explanations"]["n"], numbers["explanations"]["soft"]) == (3, 1)


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
        assert exact["precision"]["low"] <= exact["precision"]["value"] <= exact["precision"]["high"]
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


def test_nothing_could_be_read(cell):
    numbers = numbers_of(cell, report=pl.lit(None, pl.String), failure=pl.lit("no-json"))
    assert numbers["spans"]["strict"]["exact"]["f1"]["value"] == 0
    assert numbers["spans"]["strict"]["exact"]["precision"] == {"value": None, "low": None, "high": None, "n": 0}
    assert numbers["spans"]["readable"]["exact"]["f1"]["value"] is None
    assert (value(numbers["explanations"]["held"]), value(numbers["explanations"]["strict"])) == ((None, 0), (0, 3))


def test_intervals_are_over_whole_groups(cell):
    """One group says nothing of others, however many rows it has."""
    numbers = numbers_of(cell), numbers_of(cell, group=pl.lit("g"))
    several, single = (of["spans"]["strict"]["exact"]["recall"] for of in numbers)
    assert 0 < several["low"] < several["value"] < several["high"] < 1
    assert (single["value"], single["low"], single["high"]) == (several["value"], 0, 1)
    assert numbers[0]["score"]["all"]["signed"]["low"] is None, "a mean of few groups"


def test_rows_that_do_not_belong_together_are_refused(cell):
    judgements, samples = (tables.read_frame(cell[name]) for name in ("judgements", "samples"))
    broken = [
        (judgements.head(7), samples, "judge the gold rows again"),
        (judgements, samples.head(7), "judge the gold rows again"),
        (pl.concat([judgements, judgements.head(1)]), samples, "judge the gold rows again"),
        (judgements, samples.with_columns(score=pl.col("score") - 1), "judge it again"),  # gold changed
        (judgements.with_columns(report=pl.lit(None, pl.String)), samples, "expected one of them"),  # no reports
        (judgements.head(0), samples.head(0), "0 rows"),
    ]
    for judged_rows, other, said in broken:
        with pytest.raises(InputInvalid, match=said) as problem:
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
    assert f"{held['value']:.3f} [{held['low']:.3f}, {held['high']:.3f}] (n = 6)" in page
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
