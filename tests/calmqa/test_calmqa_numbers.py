"""S by hand, the table, the paper's printed numbers, and the regressions of ratings beside statsmodels called directly."""

import math
from pathlib import Path

import numpy as np
import pytest
from excam_commands import refusal
from json_lines import write_rows
from one_line_errors import line_of

from excam.calmqa import numbers, pages, printed, ratings, source
from excam.calmqa.numbers import AnswerFindings
from excam.core import tables
from excam.core.exceptions import InputInvalid
from excam.pages import claims
from excam.stats import regression

ROOT = Path(__file__).parents[2]
PAPER = ROOT / "excam/calmqa/paper"


def judged(claims=4, supported=2, surface=1, relevance=0.5, **more):
    fields = {"answer": "s/q/en", "subject": "s", "group": "q", "language": "en", "type": "specific"} | more
    return AnswerFindings(surface=surface, claims=claims, supported=supported, relevance=relevance, **fields)


@pytest.mark.parametrize(
    ("row", "k", "how", "s", "note"),
    [
        (judged(4, 4, 1, 1.0), 4, {}, 1.0, "all of K supported"),
        (judged(4, 2, 1, 1.0), 4, {}, 0.5, "P 1/2, R 1/2"),
        (judged(4, 2, 1, 0.5), 4, {}, 0.25, "half as relevant"),
        (judged(4, 4, 0, 1.0), 4, {}, 0.0, "wrong language or loops"),
        (judged(2, 2, 1, 1.0), 4, {}, 2 / 3, "P 1, R 1/2"),
        (judged(8, 4, 1, 1.0), 4, {}, 2 / 3, "P 1/2, R 1: more claims than K are no more recall"),
        (judged(8, 8, 1, 0.75), 4, {}, 0.75, "R stays at 1"),
        (judged(4, 4, 1, 0.0), 4, {}, 0.0, "about something else"),
        (judged(3, 0, 1, 1.0), 4, {}, 0.0, "nothing is supported"),
        (judged(0, 0, 1, 1.0), 4, {}, 0.0, "no claim scores 0"),
        (judged(4, 2, 1, 1.0), 0, {}, 2 / 3, "K 0 counts as 1: R 1, P 1/2"),
        (judged(8, 4, 1, 1.0), 4, {"factuality": "precision"}, 0.5, "precision in place of F1"),
        (judged(4, 2, None, 1.0), 4, {}, None, "a language that is not decidable"),
        (judged(4, 2, 1, None, failure="relevance: two-answers"), 4, {}, None, "a judge failed"),
        (judged(0, 0, 0, 0.0, empty=True), 4, {}, 0.0, "a refusal is 0"),
    ],
)
def test_scores_by_hand(row, k, how, s, note):
    score = numbers.score(row, k, **how)["s"]
    assert score == (None if s is None else pytest.approx(s)), note


K_OF = [([3], 3), ([1, 9], 9), ([5, 1, 3], 3), ([1, 2, 3, 4], 3), ([], 0), ([0, 0, 7], 0)]


@pytest.mark.parametrize(("counts", "k"), K_OF)
def test_k_is_the_upper_median(counts, k):
    assert numbers.upper_median(counts) == k


def test_k_is_of_a_language_and_type_over_all_subjects():
    rows = [
        judged(2, 1, answer="a", subject="a"),
        judged(6, 1, answer="b", subject="b"),
        judged(9, 1, answer="c", type="agnostic"),
        judged(1, 1, answer="d", language="de"),
        judged(50, 1, answer="e", failure="claims: no-claims-list"),  # not counted: nobody knows how many it has
        judged(50, 1, answer="f", language="fr", failure="claims: truncated"),
    ]
    assert [row["k"] for row in numbers.scores(rows)] == [6, 6, 9, 1, 6, 0]


def test_the_table_counts_every_answer_and_means_are_over_the_same_rows():
    rows = numbers.scores(
        [
            judged(2, 2, 1, 1.0, answer="1", group="1"),
            judged(2, 2, 0, 1.0, answer="2", group="2"),
            judged(2, 2, None, 1.0, answer="3", group="3"),
            judged(2, 2, 1, None, answer="4", group="4", failure="relevance: refused"),
            judged(0, 0, 1, 0.0, answer="5", group="5", type="agnostic", empty=True),
        ]
    )
    lines = {(line["language"], line["type"]): line for line in numbers.table(rows, seed=0)}
    whole = lines["all", "all"]
    counts = {name: whole[name] for name in ("answers", "scored", "undecidable", "failed", "empty", "no_claims")}
    assert counts == {"answers": 5, "scored": 3, "undecidable": 1, "failed": 1, "empty": 1, "no_claims": 0}
    assert whole["s"] == pytest.approx(1 / 3)
    assert whole["surface"] == pytest.approx(2 / 3)
    assert whole["factuality"] == pytest.approx(2 / 3)
    assert whole["product_of_means"] == pytest.approx((2 / 3) ** 3)
    assert (whole["low"], whole["high"]) == (None, None), "five questions"
    assert list(lines) == [(language, kind) for language in ("all", "en") for kind in ("all", "agnostic", "specific")]
    assert lines["en", "agnostic"]["s"] == 0
    assert lines["all", "specific"]["scored"] == 2


@pytest.mark.parametrize("row", [judged(2, 2, 0, 1.0), judged(2, 0, 1, 1.0), judged(2, 2, 1, 0.0)])
def test_a_part_of_mean_0_makes_the_product_of_means_0(row):
    assert numbers.table(numbers.scores([row]), seed=0)[0]["product_of_means"] == 0


def test_an_answer_whose_claims_are_not_known_is_not_in_the_mean_of_claims():
    failed = judged(0, 0, 1, 0.5, answer="2", group="2", failure="claims: truncated")
    other = judged(2, 0, 1, 0.5, answer="3", group="3", failure="verdicts: refused")
    (line, *_) = numbers.table(numbers.scores([judged(4, 2), failed, other]), seed=0)
    assert (line["answers"], line["failed"], line["mean_claims"]) == (3, 2, 3)


# --- what the paper prints


def claims_printed():
    return {line["id"]: line["printed"] for line in tables.read_lines(PAPER / "claims.csv")}


def claim(name):
    return float(claims_printed()[name])


def question(language, kind="specific", group="q"):
    return source.Question(f"{group}/{language}", group, language, kind, "Why?", "", "", "")


def answer(subject, language, right, **more):
    row = {"subject": subject, "language": language, "wrong_language": not right, "surface": int(right)}
    return row | {"decidable": True, "type": "specific", "s": None, "factuality": None} | more


def ours(rows=(), gaps=(), human=(), questions=(), languages=()):
    asked = {asked.id: asked for asked in questions}
    settings = {"models": ["a"], "repetition": {"tokens": 20, "times": 4}}
    answered = printed.answers(asked, rows, gaps, languages, human, settings)
    return answered | {"cost": printed.cost(claims_printed())}


def test_every_claim_has_a_line_and_no_line_is_without_a_claim():
    lines = claims.stated(tables.read_lines(PAPER / "claims.csv"))
    empty = claims.beside(lines, ours())
    rated = claims.beside(lines, ours(human=ratings.read(ROOT / "mini/calmqa-answers/ratings.csv")))
    assert all(line["note"] for line in [*empty, *rated])
    assert sum(line["ours"] == "" for line in empty) > sum(line["ours"] == "" for line in rated)


def test_the_printed_costs_do_not_reach_their_printed_sum():
    assert ours()["cost"].value == f"{1427 + 29 * 7 + 548 * 0.65:.0f} to {1427 + 29 * 7 + 548:.0f}"
    assert claim("cost") > 1427 + 29 * 7 + 548


def test_afar_is_written_reliably_by_who_is_right_in_nine_of_ten():
    rows = [answer("good", "aa", at > 0) for at in range(10)] + [answer("bad", "aa", at > 1) for at in range(10)]
    rows += [answer("bad", "de", True)] * 50
    afar = ours(rows)["afar"]
    assert (afar.value, afar.note.split(": ")[1]) == (1, "bad 8 of 10, good 9 of 10")
    unknown = ours([row | {"decidable": False, "surface": None} for row in rows])["afar"]
    assert unknown.value == ""
    assert "20 answers" in unknown.note


def test_wrong_language_is_of_low_resource_languages_and_of_the_named_model_if_there():
    rows = [answer("Llama 3", "fo", False), answer("Llama 3", "fo", True), answer("Llama 3", "de", True)]
    rows += [answer("worse", "wo", False), answer("GPT 4o", "wo", True)]
    our_answers = ours(rows)
    assert (our_answers["wrong-language-llama"].value, our_answers["wrong-language-gpt4o"].value) == (50, 0)
    others = ours([row for row in rows if row["subject"] == "worse"])
    assert (others["wrong-language-llama"].value, others["wrong-language-llama"].note[:5]) == (100, "worse")


def test_sizes_are_of_the_questions_by_resources():
    asked = [*map(question, ("de", "fo")), question("de", group="p")]
    our_answers = ours(questions=[*asked, *(question(name, "agnostic", "n") for name in ("de", "wo"))])
    names = ("questions", "questions-low", "questions-high", "languages-low", "languages-high", "neutral")
    assert [our_answers[name].value for name in (*names, "neutral-translated")] == [3, 1, 2, 2, 1, 1, 1]


# --- regressions


def made_up(n=120, seed=3):
    generator = np.random.default_rng(seed)
    marks = generator.choice(["none", "minor", "major"], n)
    neutral = generator.integers(0, 2, n)
    hidden = np.array([{"none": 2.0, "minor": 0.5, "major": -1.0}[mark] for mark in marks]) + 0.6 * neutral
    grades = np.clip(np.round(3 + hidden + generator.normal(0, 1.2, n)), 1, 5).astype(int)
    return list(marks), neutral, grades


def test_regressions_equal_statsmodels_called_directly():
    """By its formula interface, where ours passes matrices."""
    import pandas as pd
    import statsmodels.api as sm
    import statsmodels.formula.api as smf
    from statsmodels.miscmodels.ordinal_model import OrderedModel

    marks, neutral, grades = made_up()
    frame = pd.DataFrame({"y": grades, "high": (grades >= 4).astype(int), "mark": marks, "neutral": neutral})
    frame["q"] = np.arange(len(frame)) // 3
    columns = regression.dummies(marks)
    assert regression.ols_r2(grades, columns) == pytest.approx(smf.ols("y ~ C(mark)", frame).fit().rsquared, abs=1e-12)
    binary = smf.logit("high ~ C(mark)", frame).fit(disp=0)
    ours = regression.logit_r2(frame["high"], columns)
    assert ours.mcfadden == pytest.approx(binary.prsquared, abs=1e-9)
    assert ours.cox_snell == pytest.approx(1 - np.exp(2 * (binary.llnull - binary.llf) / 120), abs=1e-9)
    most = 1 - np.exp(2 * binary.llnull / 120)
    assert ours.nagelkerke == pytest.approx(ours.cox_snell / most, abs=1e-9)
    ordered = frame.assign(y=pd.Categorical(frame["y"], ordered=True))
    ordinal = OrderedModel.from_formula("y ~ C(mark)", ordered, distr="logit")
    result = ordinal.fit(method="bfgs", disp=False, maxiter=500)
    assert regression.proportional_odds_r2(grades, columns).mcfadden == pytest.approx(result.prsquared, abs=1e-5)
    plain = smf.logit("high ~ neutral", frame).fit(disp=0)
    ratio = regression.odds_ratio(frame["high"], neutral)
    assert ratio.ratio == pytest.approx(np.exp(plain.params["neutral"]), rel=1e-6)
    assert ratio.p_value == pytest.approx(plain.pvalues["neutral"], rel=1e-6)
    assert [ratio.low, ratio.high] == pytest.approx(np.exp(plain.conf_int().loc["neutral"]).tolist(), rel=1e-6)
    gee = smf.gee("high ~ neutral + C(mark)", "q", frame, family=sm.families.Binomial()).fit()
    gee_ratio = regression.gee_odds_ratio(frame["high"], neutral, list(frame["q"]), columns)
    assert gee_ratio.ratio == pytest.approx(np.exp(gee.params["neutral"]), rel=1e-6)
    assert gee_ratio.p_value == pytest.approx(gee.pvalues["neutral"], rel=1e-6)


RATING = {"rating": "4", "model": "m", "type": "cult", "language": "de", "question": "q", "omissions": "none"}
RATING |= {"factuality": "minor"}


def ratings_file(folder, rows):
    path = folder / "ratings.csv"
    tables.write_lines(path, list(rows[0]), rows)
    return path


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"rating": "6"}, "expected 1 to 5"),
        ({"rating": "12"}, "expected 1 to 5"),
        ({"omissions": "some"}, "none, minor or major"),
        ({"type": "neutral"}, "cult or non-cult"),
        ({"model": ""}, "absent: model"),
    ],
)
def test_an_invalid_rating_is_one_line(tmp_path, change, problem):
    assert problem in line_of(InputInvalid, ratings.read, ratings_file(tmp_path, [RATING | change]))


def test_a_row_that_is_cut_is_one_line(tmp_path):
    path = ratings_file(tmp_path, [RATING])
    path.write_text(path.read_text(encoding="utf-8").rpartition(",")[0])
    assert line_of(InputInvalid, ratings.read, path).endswith("; absent: factuality")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ([{"annotation_id": "7"}] * 2, "2: annotation 7 rates m again, as "),
        ([{"annotation_id": 7}, {"annotation_id": "7"}], "annotation 7 rates m again"),
        ([{"annotation_id": "7", "annotator": "ada"}] * 2, "annotation 7 rates m again"),
        ([{"annotator": "ada"}] * 2, "annotator ada rates m again"),
        ([{"question": {"a": 1}}], "question: found dict, \"{'a': 1}\"; expected text"),
        ([{"language": math.nan}], "language: found float, 'nan'; expected text"),
        ([{"model": "\ud83d"}], "model: found str, '\\ud83d'; expected text"),
        ([{"model": "  "}], "absent: model"),
        ([{"rating": True}], "rating: found bool"),
        ([{"rating": 6}], "rating: found int, '6'; expected text"),
        ([{"annotator": ["ada"]}], "annotator: found \"['ada']\"; expected a name or a number"),
    ],
)
def test_repeated_ratings_and_other_types_are_one_line(tmp_path, changes, words):
    path = tmp_path / "r.jsonl"
    write_rows(path, [RATING | change for change in changes])
    assert words in line_of(InputInvalid, ratings.read, path)
    refusal("calmqa", "report", path, "--to", tmp_path / "report")


def test_different_ratings_of_one_question_are_read(tmp_path, capsys):
    """Another annotator, another model or another annotation; without names nobody can say that a row is a repetition."""
    named = [{"annotator": "ada"}, {"annotator": "eve"}, {"annotator": "ada", "model": "n"}, {}, {}]
    numbered = [{"annotation_id": at, "rating": 3.0, "annotator": math.nan} for at in (1, 2.0, "3")]
    path = write_rows(tmp_path / "r.jsonl", [RATING | change for change in (*named, *numbered)])
    read_ratings = ratings.read(path)
    assert [rating.annotator for rating in read_ratings] == ["ada", "eve", "ada", "", "", "", "", ""]
    assert {rating.rating for rating in read_ratings[5:]} == {3}
    copies = [RATING | {"annotation_id": str(at), "annotator": "ada" + " " * at} for at in range(3)]
    assert len(ratings.read(write_rows(tmp_path / "r.jsonl", copies))) == 1
    assert "2 rows that repeat another under a new id are left out." in capsys.readouterr().err


def test_guards_of_a_table_are_no_part_of_a_name(tmp_path):
    tables.write_lines(tmp_path / "r.csv", list(RATING), [RATING | {"model": "=m", "question": "- why?"}])
    assert [(rating.model, rating.question) for rating in ratings.read(tmp_path / "r.csv")] == [("=m", "- why?")]


def test_the_page_of_our_ratings():
    mini_ratings = ratings.read(ROOT / "mini/calmqa-answers/ratings.csv")
    lines = ratings.r2_lines(mini_ratings)
    assert sum(0 < (line["r2"] or 0) < 1 for line in lines if line["variant"] == "binary logit, McFadden") == 3
    page = pages.regression_page(mini_ratings, ratings.ranks(mini_ratings), lines)
    assert "**Made up**: the ratings by made-up-de, made-up-en, made-up-es, made-up-ja." in page
    assert "careful*" in page, "fewer than 30"
    assert "| **printed in the paper** | 0.740 | 0.560 |" in page


def test_ratings_that_do_not_vary(tmp_path):
    path = write_rows(tmp_path / "r.jsonl", [[1]])
    assert "found list; expected an object" in line_of(InputInvalid, ratings.read, path)
    same = [RATING | {"model": name} for name in "ab"]
    assert "not all equal" in line_of(InputInvalid, ratings.r2_lines, ratings.read(ratings_file(tmp_path, same)))
    varied = [RATING | {"model": name, "rating": str(4 + (name > "b"))} for name in "abcd"]
    high = ratings.read(ratings_file(tmp_path, varied))
    lines = {line["variant"]: line["r2"] for line in ratings.r2_lines(high) if line["predictor"] == "model"}
    assert lines["binary logit, McFadden"] is None
    assert lines["least squares"] == pytest.approx(1)
    assert "Only one type of question" in pages.regression_page(high, ratings.ranks(high), ratings.r2_lines(high))


def rated(kind, *grades, model="m"):
    return [ratings.Grading(grade, model, kind, "en", f"{kind} {n}", "none", "none") for n, grade in enumerate(grades)]


def test_the_odds_of_neutral_and_specific_questions_by_hand():
    odds = ratings.odds([*rated("agnostic", 4, 5, 4, 3), *rated("specific", 4, 3, 2, 1)])
    assert (odds["neutral"], odds["specific"], odds["times"]) == (0.75, 0.25, 3)
    for model in ("logit", "logit with model and language", "GEE by question"):
        assert odds[model].ratio == pytest.approx(9), "odds of 3 and of 1/3"
    never = ratings.odds([*rated("agnostic", 4, 1), *rated("specific", 3, 2)])
    assert (never["specific"], never["times"], never["logit"]) == (0, None, None)
    assert ratings.odds(rated("specific", 4, 3)) is None
    assert ratings.odds([*rated("agnostic", 4), *rated("specific", 5)]) is None


def test_the_odds_of_questions_within_each_model():
    """Both models have odds of 9 times; their answers thrown together have 6 / .75."""
    of_a = [*rated("agnostic", 5, 5, 5, 1, model="a"), *rated("specific", 5, 1, 1, 1, model="a")]
    of_b = [*rated("agnostic", *[5] * 9, 1, model="b"), *rated("specific", *[5] * 5, *[1] * 5, model="b")]
    odds = ratings.odds([*of_a, *of_b])
    assert odds["logit"].ratio == pytest.approx(8)
    assert odds["logit with model and language"].ratio == pytest.approx(9)


def test_models_are_ranked_by_mean_rating_with_the_lead_of_each():
    low, high = rated("specific", 1, 2, 3, model="low"), rated("specific", 3, 4, 5, model="high")
    first, second = ratings.ranks([*low, *high])
    assert (first["model"], first["mean"], first["ahead"], first["n"]) == ("high", 4, 2, 3)
    assert first["ahead_low"] is None, "every draw of questions gives 2: no interval"
    assert (second["model"], second["mean"], second["ahead"]) == ("low", 2, None)


def test_specific_questions_are_compared_with_agnostic_ones():
    kinds = ["specific", "specific", "agnostic", "agnostic"] * 2
    rows = [
        {"subject": "m", "type": kind, "group": str(n), "s": 0.5, "precision": value, "factuality": value}
        for n, (kind, value) in enumerate(zip(kinds, (0.2, 0.4, 0.5, 0.9) * 2, strict=True))
    ]
    rows.append({**rows[0], "s": None, "precision": None, "factuality": None, "group": "undecidable"})
    gaps = {gap["part"]: gap for gap in numbers.type_gaps(rows, 0)}
    assert gaps["precision"]["difference"] == pytest.approx(0.3 - 0.7)
    assert gaps["precision"]["low"] < -0.4 < gaps["precision"]["high"]
    assert gaps["s"]["difference"] == pytest.approx(0)
    assert (gaps["s"]["specific"], gaps["s"]["agnostic"]) == (4, 4)
    assert numbers.type_gaps(rows[:2], 0) == [], "no agnostic answer"
