"""Several metrics on the same rows: what each misses, and what changes with the language."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from json_lines import write_rows
from mini_calmqa import QUESTIONS, SHEETS
from mini_cult_eval import ROWS
from mini_macaron import BUILT
from one_line_errors import line_of

from excam import config
from excam.acre import errors
from excam.calmqa import ratings
from excam.core import tables
from excam.core.exceptions import ConfigInvalid, InputInvalid
from excam.crossing import columns, kinds, numbers, pages, rows, rows_page
from excam.crossing.rows import Row
from excam.excam40k.construction.hard import MISTAKES
from excam.excam40k.construction.lexicon_words import TYPES
from excam.rubric import checks, manual, responses
from excam.scoring import result_files
from excam.scoring.metric import Description
from excam.scoring.results import Result
from excam.scoring.spans import ErrorSpan, Report
from scripts.crossing import crossing_blind_spots, crossing_language_gap, crossing_pairs, crossing_score

MINI = Path(__file__).parents[2] / "mini"
STATEMENTS = list(rows.of_statements(BUILT.scenarios))
RESPONSES = responses.read([MINI / "rubric/responses.jsonl"])
RATINGS = checks.read(sorted((MINI / "rubric/ratings").glob("*.jsonl")), RESPONSES, [manual.load()]).ratings


def test_every_error_that_we_make_has_a_kind():
    of_reports = {*TYPES.values(), *(kind for kind, _ in MISTAKES.values())}
    assert {kinds.of_report(name) for name in of_reports} <= kinds.KINDS.keys() - {kinds.OTHER}
    assert kinds.OF_TRANSLATIONS.keys() == errors.ERRORS.keys()
    assert kinds.of_report("a type that a generator wrote") == kinds.OTHER


def test_rows_of_translations():
    table = list(rows.of_translations(ROWS))
    assert len(table) == 120
    assert sum(row.right for row in table) == 42
    assert all(row.right != bool(row.kinds) for row in table)
    assert sum("literal" in row.kinds for row in table) >= 24
    assert {row.cluster for row in table} == {f"cult-eval:{translation.item.id}" for translation in ROWS}


def test_statements_are_twins_in_one_language():
    assert len(STATEMENTS) == 4 * 40
    for row in STATEMENTS:
        twins = [twin for twin in STATEMENTS if twin.cluster == row.cluster]
        assert sorted(twin.right for twin in twins) == [False, True]
        assert len({twin.columns["instruction"] for twin in twins}) == 1
    assert {row.local for row in STATEMENTS} == {"", "Japanese", "Mexican Spanish", "Turkish", "Hindi", "Greek"}
    assert len({row.content for row in STATEMENTS}) == 40


def test_responses_are_right_or_flagged():
    rows_by_id = {row.id: row for row in rows.of_responses(RESPONSES, RATINGS)}
    assert rows_by_id["rubric:china-2"].kinds == ("stereotype",)
    assert rows_by_id["rubric:china-4"].kinds == ("factual",)
    assert rows_by_id["rubric:china-1"].right
    assert "rubric:mexico-2" not in rows_by_id  # no flag of an error, and rated below 4
    assert rows_by_id["rubric:china-1"].rating >= 4
    flagged = {rating.task_id for rating in RATINGS if rating.flags}
    assert not [row.id for row in rows_by_id.values() if row.right and row.id.removeprefix("rubric:") in flagged]
    refused = [replace(rated, flags=("refusal",)) if rated.task_id == "china-1" else rated for rated in RATINGS]
    assert "rubric:china-1" not in {row.id for row in rows.of_responses(RESPONSES, refused)}, "a flag that is no error"


RATING = {"model": "m", "question": "Why?", "language": "en", "type": "cult", "rating": "4"}
RIGHT = {"factuality": "none", "omissions": "none", "language_correct": "yes"}


def test_rated_answers_have_the_errors_that_any_rater_marked(tmp_path, capsys):
    path = tmp_path / "ratings.jsonl"
    marks = [
        RATING | RIGHT | {"answer": "Because.", "annotator": "a"},
        RATING | RIGHT | {"answer": "Because.", "annotator": "b", "omissions": "minor"},
        RATING | RIGHT | {"answer": "It is so.", "model": "n"},
        RATING | RIGHT | {"model": "without a text"},
    ]
    write_rows(path, marks)
    answer, other = rows.of_rated_answers([], [], ratings.read(path))
    assert "1 of 3 rated answers have no text" in capsys.readouterr().err
    assert answer.kinds == ("omission",)
    assert answer.said[1] == "factuality: none, omissions: minor, language correct: yes, rating: 4, by b"
    assert (other.right, other.cluster) == (True, answer.cluster)
    assert other.columns["answer"] == "It is so."
    assert other.columns["type"] == "specific"
    assert (answer.rating, other.rating) == (4.0, 4.0)
    write_rows(path, [RATING | RIGHT | {"language_correct": "si"}])
    line = line_of(InputInvalid, ratings.read, path)
    assert "1: language_correct: found si; expected yes, partially, no, or nothing" in line


def test_rated_answers_without_a_text_have_that_of_the_answers():
    table = list(rows.of_rated_answers(QUESTIONS.values(), SHEETS, ratings.read(MINI / "calmqa-answers/ratings.csv")))
    texts = {answer.id: answer.text for answer in SHEETS}
    assert table
    assert all(row.columns["output"] == texts[row.id.removeprefix("calmqa:")] for row in table)
    assert {row.cluster.removeprefix("calmqa:") for row in table} <= QUESTIONS.keys()


def test_drawn_rows_keep_their_twins_and_both_languages(capsys):
    sample = rows.drawn(STATEMENTS, 5, seed=1)
    assert len(sample) == 20
    assert len({row.content for row in sample}) == 5
    assert sample == rows.drawn(STATEMENTS, 5, seed=1)
    assert rows.drawn(STATEMENTS, None, seed=1) == STATEMENTS
    copies = [replace(row, id=f"z{row.id}", cluster=f"z{row.cluster}") for row in STATEMENTS]
    twice = [replace(row, id=f"y{row.id}") for row in STATEMENTS]
    assert rows.drawn([*copies, *twice, *STATEMENTS], None, seed=1) == STATEMENTS
    assert "crossing: 320 rows that repeat another under a new id are left out." in capsys.readouterr().err


def test_a_table_of_rows_is_read_as_written(tmp_path):
    table = list(rows.of_translations(ROWS))
    rows.write(tmp_path / "rows.parquet", table)
    read = rows.read(tmp_path / "rows.parquet")
    assert [(row.id, row.kinds, row.right) for row in read] == [(row.id, row.kinds, row.right) for row in table]
    assert read[0].columns["accepted"] == table[0].columns["accepted"]
    assert "occurs twice" in line_of(InputInvalid, rows.write, tmp_path / "rows.parquet", [table[0], table[0]])
    assert "0 rows" in line_of(InputInvalid, rows.write, tmp_path / "rows.parquet", [])


def cluster(at, lengths):
    """A right text, one with an omission and one with a wrong fact, of these lengths."""
    texts = zip(("right", "omission", "factual"), ((), ("omission",), ("factual",)), lengths, strict=True)
    return [Row(f"s:{at}/{name}", "s", f"s:{at}", not wrong, wrong, {"output": "x" * n}) for name, wrong, n in texts]


def planted(n=40):
    return [row for at in range(n) for row in cluster(at, [at + 1] * 3)]


def cells(table, column):
    return {cell["kind"]: cell for cell in numbers.blind_spots(table, {"m": column}, seed=1)}


def test_a_metric_that_misses_omissions():
    table = planted()
    column = {row.id: -5.0 if "factual" in row.kinds else 1.0 for row in table}
    spots = cells(table, column)
    assert spots["factual"]["auc"] == 1.0
    assert spots["omission"]["auc"] == 0.5
    assert spots["omission"]["low"] < 0.4 < 0.6 < spots["omission"]["high"], "all pairs alike say nothing of the width"
    counts = {"wrong": 40, "pairs": 40, "clusters": 40, "failures": 0, "alone": 0}
    assert {name: spots["factual"][name] for name in counts} == counts


def test_pairs_are_counted_by_hand():
    table = planted(6)
    scores = [(3, 1, 2), (1, 2, 2), (2, 2, 1), (4, 0, None), (None, 1, 1), (5, 5, 6)]
    column = {row.id: scores[at // 3][at % 3] for at, row in enumerate(table)}
    spots = cells(table, column)
    assert spots["omission"]["auc"] == pytest.approx((1 + 0 + 0.5 + 1 + 0.5) / 5)
    assert spots["factual"]["auc"] == pytest.approx((1 + 0 + 1 + 0) / 4)
    assert (spots["omission"]["failures"], spots["omission"]["alone"]) == (1, 1)  # the right text of the fifth
    assert (spots["factual"]["failures"], spots["factual"]["alone"]) == (2, 1)
    low, high = spots["factual"]["low"], spots["factual"]["high"]
    assert low <= spots["factual"]["auc"] <= high


def test_a_metric_that_cannot_score_a_kind_has_no_cell():
    table = planted()
    column = {row.id: 1.0 for row in table if "omission" not in row.kinds}
    assert "omission" not in cells(table, column)


def test_a_metric_that_reads_english_only():
    column = {row.id: float(row.right) if not row.local else 0.0 for row in STATEMENTS}
    first, *languages = numbers.language_gap(STATEMENTS, {"m": column}, seed=1)
    assert (first["english"], first["local"], first["difference"], first["scenarios"]) == (1.0, 0.5, -0.5, 40)
    assert [line["language"] for line in languages] == ["Greek", "Hindi", "Japanese", "Mexican Spanish", "Turkish"]
    assert sum(line["scenarios"] for line in languages) == 40

    failed = column | {STATEMENTS[0].id: None}
    (first, *_) = numbers.language_gap(STATEMENTS, {"m": failed}, seed=1)
    assert (first["scenarios"], first["failures"]) == (39, 1)


def test_the_gap_has_an_interval_over_scenarios():
    column = {row.id: float(row.right and at % (3 if row.local else 11) > 0) for at, row in enumerate(STATEMENTS)}
    first = next(numbers.language_gap(STATEMENTS, {"m": column}, seed=1))
    assert first["low"] < first["difference"] < first["high"] <= 0


def scored(path, scores, parts=None, direction="higher"):
    about = {"parts": parts or {}, "metric": Description(direction=direction), "signature": "m|1"}
    failed = {name: "x" if score is None else None for name, score in scores.items()}
    result_files.write(path, [Result(id=name, score=scores[name], failure=failed[name], **about) for name in scores])
    return path


def test_columns_of_scored_files(tmp_path):
    table = planted(2)
    scores = {row.id: float(at) for at, row in enumerate(table)} | {table[3].id: None}
    results = list(result_files.read(scored(tmp_path / "m.parquet", scores, {"half": 0.5}, "lower")))
    columns_by_name = columns.of_scores({"m": results}, {"m": ["half"]}, table)
    assert list(columns_by_name) == ["m", "m: half", "(length)"]
    assert columns_by_name["m"][table[1].id] == -1.0
    assert columns_by_name["m"][table[3].id] is None
    assert columns_by_name["m: half"][table[1].id] == 0.5
    clean = [replace(result, metric=Description(lists_errors=True)) for result in results if result.score is not None]
    assert {*columns.of_scores({"m": clean}, {}, table)["m"].values()} == {0.0}, "p(R) tells no text from another"
    assert columns_by_name["(length)"][table[3].id] == 2.0
    line = line_of(InputInvalid, columns.of_scores, {"m": results}, {"m": ["whole"]}, table)
    assert line.endswith("crossing.metrics.m.parts: whole: a number in no scored row")
    line = line_of(InputInvalid, columns.of_scores, {"m": results}, {}, table[:3])
    assert line.endswith("is not among the 3 rows; score them again")
    texts = [{"output": row.columns["output"]} for row in table]
    named = [replace(result, texts=text) for result, text in zip(results, texts, strict=True)]
    columns.of_scores({"m": named}, {}, table)
    for changed, said in (
        ([*named, named[0]], "is there twice"),
        ([replace(named[0], texts={"output": "other"}), *named[1:]], "has other texts"),
        (named[1:], r"none of row .* \(1 rows\)"),
    ):
        with pytest.raises(InputInvalid, match=said):
            columns.of_scores({"m": changed}, {}, table)


def test_pages_say_what_is_few():
    table = [*planted(5), *STATEMENTS]
    column = {row.id: float(row.right) for row in table} | {"s:0/right": None}
    lines = list(numbers.blind_spots(table, {"m*": column}, seed=1))
    page = pages.blind_spots(lines, ["Note."])
    length = f"{lines[0]['length']:.2f}".removeprefix("0")
    shown = f"1.00 [.96, 1.00], n = 84, length {length}, 1 failed | 1.00 [.51, 1.00], n = 4*, length .50, 1 failed"
    assert f"| m\\* | {shown} |" in page
    assert "Cells below one another may be of other rows" in page
    assert pages.figure_blind_spots(lines).get_size_inches()[0] > 2
    gap = list(numbers.language_gap(table, {"m*": column}, seed=1))
    assert "| m\\* | Greek | 1.00 | 1.00 | +.00 | 8* | 0 |" in pages.language_gap(gap, pages.cautions(gap))
    assert pages.figure_language_gap(gap).get_size_inches()[0] > 2
    for draw in (pages.figure_blind_spots, pages.figure_language_gap):
        assert "expected" in line_of(InputInvalid, draw, [])


def test_a_cell_says_what_the_length_reaches_on_its_pairs():
    """The erroneous texts are shorter here, so a metric that equals the length reaches the value of the length."""
    table = [row for at in range(8) for row in cluster(at, (9, 4, 9))]
    column = {row.id: None if row.id == "s:0/right" else float(len(row.columns["output"])) for row in table}
    lengths = columns.of_scores({}, {}, table)
    lines = list(numbers.blind_spots(table, {"m": column, "flat": dict.fromkeys(column, 1.0)} | lengths, seed=1))
    cell = {(line["metric"], line["kind"]): line for line in lines}
    for kind, share in (("factual", 0.5), ("omission", 1)):
        assert (cell["m", kind]["auc"], cell["m", kind]["length"]) == (share, share)
    assert (cell["m", "omission"]["pairs"], cell["flat", "omission"]["pairs"]) == (7, 8)
    page = pages.blind_spots(lines, [])
    assert "above the length of the text on the same pairs: m 0 of 2, flat 0 of 2." in page
    assert "In every cell exactly .5: flat." in page


def test_the_pairs_behind_a_cell_add_up_to_it():
    table = [*planted(5), *STATEMENTS, Row("s:9/factual", "s", "s:9", False, ("factual",), {"output": "alone"})]
    column = {row.id: float(row.right) for row in table} | {"s:0/right": None}
    pairs = [pair.line() for pair in numbers.pairs(table, {"m": column})]
    assert {tuple(pair) for pair in pairs} == {tuple(sorted(numbers.PAIRS, key=list(pairs[0]).index))}
    assert set(pairs[0]) == set(numbers.PAIRS)
    for cell in numbers.blind_spots(table, {"m": column}, seed=1):
        shares = [pair["share"] for pair in pairs if pair["kind"] == cell["kind"] and pair["share"] is not None]
        assert (cell["pairs"], cell["auc"]) == (len(shares), sum(shares) / len(shares))
    alone = [pair for pair in pairs if pair["right"] is None]
    assert [(pair["wrong"], pair["share"]) for pair in alone] == [("s:9/factual", None)]


def test_every_text_stands_beside_what_people_and_metrics_say(browser, tmp_path):
    table = list(rows.of_responses(RESPONSES, RATINGS))
    text = table[1].columns["output"]
    report = Report((ErrorSpan("output", text[:15], "major", "stereotyping", 0, 15),), "Too general.")
    scores = {
        table[1].id: Result(id=table[1].id, score=-5.0, report=report, parts={"half": 0.5}, signature="excam|m"),
        table[2].id: Result(id=table[2].id, score=None, failure="no-json", signature="excam|m"),
    }
    (tmp_path / "page.html").write_text(rows_page.page(table, {"excam": scores}, {"excam": ["half"]}), encoding="utf-8")
    browser.open((tmp_path / "page.html").as_uri())
    browser.wait("document.body.textContent.includes('Too general.')")
    shown = browser.js("document.body.textContent")
    assert "eva-made-up: accuracy 2" in shown
    assert "excam: no score, no-json" in shown
    assert "excam: score −5.00, half 0.50" in shown
    cells = "[...document.querySelectorAll('#rows thead th, #rows td[data-head]')]"
    heads = browser.js(f"{cells}.map((e) => e.dataset.head ?? e.textContent)")
    assert set(heads) == {"Row", "Texts", "Label", "Metrics"}, "a column for each of ten metrics is a letter wide"
    right, status = sum(row.right for row in table), browser.js("document.getElementById('status').textContent")
    assert status == f"Shown {len(table)} of {len(table)} rows: {right} right + {len(table) - right} wrong."
    marked = browser.js("[...document.querySelectorAll('mark')].map((one) => one.textContent).join('')")
    assert marked.startswith(text[:3])


MINE = """
from excam.scoring.metric import Metric, Outcome


class Mine(Metric):
    name, version, columns, asks = "mine", 1, ("instruction", "output"), "nothing"

    def flow(self, row):
        return Outcome(float("x" in row.texts["output"]))
        yield
"""
ADDED = ["--name", "added", "--judge", "none", "--model", "null", "--gpus", "0", "--pace", "{}", "--seed", "1"]


@pytest.mark.parametrize("metric", ["somebodys.metric", "somebodys/metric.py"])
def test_a_metric_added_as_one_entry_appears_in_both(tmp_path, monkeypatch, metric):
    """Through the jobs of the workflow: scores, then both pages and the pairs, which list what the entry is called."""
    (tmp_path / "somebodys").mkdir()
    (tmp_path / "somebodys/metric.py").write_text(MINE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    rows_file, scores = tmp_path / "rows.parquet", tmp_path / "added.parquet"
    rows.write(rows_file, [*planted(3), *STATEMENTS])
    files = ["--rows", str(rows_file), "--scores", str(scores), "--transcript", str(tmp_path / "t.jsonl")]
    files += ["--manifest", str(tmp_path / "m.json"), "--journal", str(tmp_path / "j.jsonl")]
    crossing_score([*ADDED, "--metric", metric, *files])
    for script in (crossing_blind_spots, crossing_language_gap, crossing_pairs):
        numbers_of = tmp_path / f"{script.name}.csv"
        options = ["--rows", str(rows_file), "--scores", str(scores), "--parts", "{}", "--numbers", str(numbers_of)]
        if script is not crossing_pairs:
            options += ["--seed", "1", "--page", str(tmp_path / "page.md"), "--pictures", str(tmp_path / "a.svg")]
        script(options)
        assert "added" in {line["metric"] for line in tables.read_lines(numbers_of)}


def test_a_metric_whose_columns_no_row_has_names_those_that_there_are(tmp_path):
    (tmp_path / "mine.py").write_text(MINE.replace('("instruction", "output")', '("question", "tone")'))
    rows.write(tmp_path / "rows.parquet", STATEMENTS)
    to = {name: str(tmp_path / name) for name in ("scores", "transcript", "manifest", "journal")}
    options = [word for name, path in to.items() for word in (f"--{name}", path)]
    options += ["--metric", str(tmp_path / "mine.py"), "--rows", str(tmp_path / "rows.parquet")]
    line = line_of(InputInvalid, crossing_score, [*ADDED, *options])
    assert "added: 0 rows have question, tone; expected some; the columns of rows are instruction, " in line
    assert "instruction, output, prompt, respon" in line


def test_a_crossing_that_cannot_be_made():
    base = {
        **{"seed": 1, "datasets": {"blend": {"folder": "x"}}, "generation": {"generator": "lexicon"}},
        "models": {"m": {"folder": "x", "licence": "MIT", "backend": "transformers", "gpus": 0}},
    }
    bleu, excam, calmqa = ({"metric": name} for name in ("bleu", "excam", "calmqa"))
    for metrics, line in (
        ({"a": excam | {"model": "n"}}, r"crossing\.metrics\.a\.model: no such model: `n`; known: m$"),
        ({"a": excam | {"model": "m", "trained_on": "all"}}, r"a: no such adapter: `m/all`; known: none; or `crossing"),
        ({"a": calmqa | {"evidence": True}}, r"a\.evidence: `calmqa` is switched off; expected its documents$"),
        ({}, "metrics"),
        ({"a": bleu}, r"crossing\.sets: rubric: no labelled rows; expected its section"),
    ):
        crossing = {"metrics": metrics} | ({"sets": ["rubric"]} if bleu in metrics.values() else {})
        with pytest.raises(ConfigInvalid, match=line):
            config.load(base | {"crossing": crossing})


def test_what_a_rater_copied_stands_behind_the_scores():
    findings = SimpleNamespace(stereotype_phrase="always", false_claim="")
    rating = SimpleNamespace(rater="eva", scores={"accuracy": 3}, flags=("tone",), findings=findings)
    assert rows._rating(rating) == "eva: accuracy 3; tone; always"
    assert rows._rating(SimpleNamespace(**{**vars(rating), "flags": ()})) == "eva: accuracy 3; always"
