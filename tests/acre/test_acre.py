"""CulT-Eval and ACRE: items, translations, labels, errors, the judge without a model, the flow, campaigns, commands."""

import itertools
import json
import math
import re
from collections import Counter
from dataclasses import replace

import polars as pl
import pytest
from excam_commands import refusal, succeed
from exported_answers import answer_to, export
from json_lines import write_rows
from mini_cult_eval import ITEMS, MINI, ROWS
from one_line_errors import line_of
from text_tables import table

from excam.acre import (
    asks,
    campaign,
    candidates,
    equivalent,
    errors,
    items,
    judgements,
    numbers,
    source,
    study,
    translations,
)
from excam.acre import translate as translating
from excam.annotation.answers import open_points
from excam.annotation.answers import read as read_answer
from excam.annotation.form import SUBMITTED
from excam.core import counts, tables
from excam.core.exceptions import InputInvalid
from excam.inference import Choice, Choose, Completion
from excam.inference.run import run
from excam.scoring.metric import Row, load
from excam.scoring.rows import RowFile
from excam.scoring.scorer import Scorer

SYSTEMS = ("made-up-careful", "made-up-literal", "made-up-omitting", "made-up-explaining")


def completion(text, finish="stop"):
    return Completion(text, None, None, finish, 10, 5)


def agent_of(request):
    starts = {"You check": "validator", "You rate how faith": "fidelity", "You rate how clear": "nuance"}
    return next(name for start, name in starts.items() if request.messages[0].content.startswith(start))


class Judge:
    """A model that answers by agent, and counts its batches and requests."""

    def __init__(self, validator='{"valid": true}', fidelity='{"score": 4}', nuance='{"score": 5}', choices=None):
        self.answers = {"validator": validator, "fidelity": fidelity, "nuance": nuance}
        self.choices = choices
        self.batches, self.requests = 0, []

    def __call__(self, requests):
        self.batches += 1
        self.requests += requests
        return [self.answer(request) for request in requests]

    def answer(self, request):
        name = agent_of(request)
        if isinstance(request, Choose):
            return Choice(self.choices and self.choices[name], self.choices and (1,) * len(request.options), 10)
        answer = self.answers[name]
        answer = answer(request) if callable(answer) else answer
        return answer if isinstance(answer, Completion) else completion(answer)


def prompt(agent, case, variant):
    return "\n\n".join(message.content for message in asks.messages(agent, replace(case, variant=variant)))


def verdict_of(judge, variant="full", mode="text", case=None):
    return run(asks.acre, [replace(case or asks.case(ROWS[0]), variant=variant, mode=mode)], judge)[0]


# --- our own data


def test_a_vowel_sign_ends_no_word():
    assert equivalent.tokens("का क") == ["का", "क"]


def test_the_equivalents_of_mini_hold_in_the_references_and_glosses_do_not():
    for item in ITEMS.values():
        assert equivalent.judge(item, item.reference).reason == "equivalent", item.id
        for gloss in item.literal:
            assert equivalent.judge(item, f"There was {gloss} here.").reason == "literal"


def test_example_of_one_shot_prompts_is_not_in_the_test_set(tmp_path):
    example = items.held_out(ITEMS, MINI / "example.jsonl")
    assert example.id not in ITEMS
    for changed in (first_row(), first_row(id="other")):
        path = write_rows(tmp_path / "e.jsonl", [changed])
        assert "not in the test set" in line_of(InputInvalid, items.held_out, ITEMS, path)


# --- items: bad input


def first_row(**changes):
    row = json.loads((MINI / "items.jsonl").read_text(encoding="utf-8").splitlines()[0])
    return row | changes


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"source_start": 10, "source_end": 12}, "expected term '旗袍'; it stands at 9:11"),
        ({"source_start": -1}, "is ''; expected term"),
        ({"source": "\ud83d旗袍"}, "source: found '\\ud83d旗袍'; expected text"),
        ({"id": {"a": "b" * 999}}, "...; expected text"),
        ({"term": "qipao"}, "it stands in reference"),
        ({"term": "旗袍子"}, "check simplified and traditional characters"),
        ({"target": "\uff51\uff49\uff50\uff41\uff4f"}, "full-width and half-width"),
        ({"reference": first_row()["source"], "target": "旗袍", "target_start": 9, "target_end": 11}, "same text"),
        ({"category": "Food"}, "category: found Food; expected Material, Social, Religious, Ecological, Linguistic"),
        ({"protocol": "C"}, "protocol: found C; expected A, B"),
        ({"source": "  "}, "source: found '  '; expected text"),
        ({"source_start": "9"}, "expected a whole number"),
        ({"explication": 3}, "explication: found 3; expected text or null"),
        ({"accepted": "cheongsam"}, "accepted: found cheongsam; expected a list of texts"),
    ],
)
def test_a_bad_item_is_one_line_that_names_the_row(tmp_path, changes, words):
    path = write_rows(tmp_path / "items.jsonl", [first_row(id="good"), first_row(**changes)])
    line = line_of(InputInvalid, items.read, path)
    assert line.startswith(f"{path}:2: ")
    assert words in line


def test_items_twice_none_or_no_objects_are_refused(tmp_path):
    for rows, words in ([[first_row(), first_row()], "occurs twice"], [[], "0 items"]):
        assert words in line_of(InputInvalid, items.read, write_rows(tmp_path / "items.jsonl", rows))


def test_an_item_without_explication_is_read_and_a_protocol_can_be_given(tmp_path):
    path = write_rows(tmp_path / "i.jsonl", [first_row(explication=None, protocol="B", other="ignored")])
    item = items.read(path)["qipao"]
    assert (item.explication, item.route) == ("", "B")


def test_routing_table():
    expected = {"Material": "A", "Social": "A", "Religious": "A", "Ecological": "A", "Linguistic": "B"}
    assert {category: items.route(category) for category in items.CATEGORIES} == expected


# --- translations and labels: bad input


def cell(column, value):
    """A change of the first row's cell in a column, whose type is that of the value."""

    def change(frame):
        rows = frame.to_dicts()
        rows[0][column] = value
        return pl.DataFrame(rows, schema_overrides={"protocol": pl.String}, strict=False)

    return change


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda frame: pl.concat([frame, frame]), "row 3: qipao/made-up-careful/0 is there twice; expected rows"),
        (lambda frame: frame.clear(), "0 rows; expected rows, made by `excam acre rows`"),
        (lambda frame: frame.select("id"), "no item, system"),
        (cell("source_end", 99), "source[9:99] is ''; expected term '旗袍'; it stands at 9:11"),
        (cell("source_start", -1), "source[-1:11] is ''; expected term"),
        (cell("target_end", None), "target_end: found None; expected a whole number"),
        (cell("category", "Food"), "category: found Food"),
        (cell("translation", None), "row 1: no translation"),
    ],
)
def test_damaged_rows_are_one_line(tmp_path, change, words):
    of_two = [row for row in ROWS if row.item.id == "qipao"][:2]
    tables.write_frame(tmp_path / "rows.parquet", change(translations.to_frame(of_two)))
    assert words in line_of(InputInvalid, translations.from_frame, tmp_path / "rows.parquet")
    for verb in (("judge", "--model", "equivalent"), ("draw", "--form", "translation_errors")):
        assert words in refusal("acre", verb[0], tmp_path / "rows.parquet", *verb[1:], "--to", tmp_path / "to")
        assert not (tmp_path / "to").exists()


def test_options_of_a_model_are_refused_without_one(tmp_path):
    path = tmp_path / "rows.parquet"
    tables.write_frame(path, translations.to_frame(ROWS[:3]))
    for option, value in (("--by", "choose"), ("--variant", "full")):
        words = ("judge", path, "--model", "equivalent", option, value, "--to", tmp_path / "to.parquet")
        assert f"{option}: not for equivalent, which asks no model; leave it out" in refusal("acre", *words)
    assert not (tmp_path / "to.parquet").exists()


def test_rows_in_two_files_are_refused(tmp_path):
    paths = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    for path in paths:
        tables.write_frame(path, translations.to_frame(ROWS[:3]))
    assert "b.parquet: translation: qipao/" in line_of(InputInvalid, study.read, paths)
    verdicts = [tmp_path / "v.parquet", tmp_path / "w.parquet"]
    for path in verdicts:
        tables.write_frame(path, judgements.equivalent_frame(ROWS[:3]))
    line = line_of(InputInvalid, study.read, paths[:1], judged=verdicts)
    assert "w.parquet: verdict of equivalent, full: qipao/" in line
    assert "is in another file too (3 rows)" in line
    assert len(study.read(paths[:1], judged=verdicts[:1]).judged["equivalent", "full"]) == 3
    twice = pl.concat([tables.read_frame(verdicts[0])] * 2)
    for frame, words in ((twice, "is there twice; expected verdicts"), (twice.clear(), "0 rows; expected verdicts")):
        tables.write_frame(verdicts[0], frame)
        assert words in line_of(InputInvalid, study.read, paths[:1], judged=verdicts[:1])


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (lambda row: [row, row], "id qipao occurs twice; expected unique ids"),
        (lambda row: [row, row | {"id": "x", "reference": "Another."}], "the sentence of qipao with another reference"),
        (lambda row: [row | {"id": 3}], "expected texts under id, source, reference, domain, licence"),
        (lambda row: [row | {"licence": "\ud83d"}], "expected texts under id, source"),
        (lambda row: [], "0 sentences"),
    ],
)
def test_repeated_sentences_are_refused_or_counted(tmp_path, rows, words):
    path = write_rows(tmp_path / "s.jsonl", rows(first_row()))
    assert words in line_of(InputInvalid, campaign.marking, path, 1, 0)
    write_rows(path, [first_row(), first_row(id="another expression of it")])
    done = succeed("acre", "draw", path, "--form", "culture_spans", "--to", tmp_path / "c.json")
    assert "1 tasks, each for 2 annotators; rows with the sentence of another 1" in done.output


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([{"id": "a", "source": "x"}] * 2, "expected a unique id and text"),
        ([{"id": {"a": 1}, "source": "x"}], "id {'a': 1}, 'x'; expected a unique id"),
        ([{"id": "a", "source": "x", "note": "\ud83d"}], "note: found '\\ud83d'; expected what JSON can hold"),
        ([], "0 sentences"),
    ],
)
def test_bad_sentences_of_a_corpus_are_one_line(tmp_path, rows, words):
    assert words in line_of(InputInvalid, candidates.read, write_rows(tmp_path / "s.jsonl", rows))


@pytest.mark.parametrize(("said", "finish"), [({}, "stop"), ({"finish": "length"}, "length")])
def test_how_a_translation_ended_is_kept(tmp_path, said, finish):
    rows = write_rows(tmp_path / "ours.jsonl", [{"id": "qipao", "translation": "<think>Hm.</think>a"} | said])
    assert [(row.translation, row.finish) for row in translations.read(rows, ITEMS)] == [("a", finish)]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([{"id": "nobody", "translation": "x"}], "expected the id of an item"),
        ([{"id": "qipao"}], "translation 'None'; expected"),
        ([{"id": "qipao", "translation": "a"}, {"id": "qipao", "translation": "b"}], "qipao/ours/0 is there twice"),
        ([], "0 translations"),
        ([{"id": "qipao", "translation": "\ud83d"}], "id 'qipao', translation '\\ud83d'"),
        ([{"id": ["qipao"], "translation": "a"}], "id ['qipao'], translation 'a'; expected the id"),
        (
            [{"id": "qipao", "translation": "a", "system": {"a": 1}}],
            "system: found {'a': 1}; expected text, or nothing",
        ),
        ([{"id": "qipao", "translation": "a", "finish": 3}], "finish: found 3; expected text, or nothing"),
        *(
            ([{"id": "qipao", "translation": "a", "shots": shots}], f"1: shots: found {shots}; expected a whole number")
            for shots in ("one", 1.7, -1, True, [1], "²", 10**5)
        ),
    ],
)
def test_a_bad_translation_is_one_line(tmp_path, rows, words):
    assert words in line_of(InputInvalid, translations.read, write_rows(tmp_path / "ours.jsonl", rows), ITEMS)


def test_a_system_in_two_files_is_refused(tmp_path):
    row = {"id": "qipao", "translation": "x", "system": "ours"}
    paths = [write_rows(tmp_path / name, [row]) for name in ("a.jsonl", "b.jsonl")]
    assert "qipao/ours/0 is in another file too" in line_of(InputInvalid, source.written, paths, ITEMS)


@pytest.mark.parametrize(("label", "words"), table(__file__, "a_label_that_contradicts_itself_is_refused"))
def test_a_label_that_contradicts_itself_is_refused(tmp_path, label, words):
    path = write_rows(tmp_path / "labels.jsonl", [{"id": "qipao", "system": "made-up-careful"} | label])
    assert words in line_of(InputInvalid, translations.read_labels, path)


def test_shots_are_read_from_numbers_and_digits(tmp_path):
    rows = [{"id": "qipao", "translation": "a", "shots": shots} for shots in (0, "1", 2)]
    assert [row.shots for row in translations.read(write_rows(tmp_path / "ours.jsonl", rows), ITEMS)] == [0, 1, 2]


def test_two_labels_and_labels_without_a_row_are_refused(tmp_path):
    row = {"id": "qipao", "system": "made-up-careful", "correct": True, "errors": []}
    path = write_rows(tmp_path / "l.jsonl", [row, row])
    assert "has two labels" in line_of(InputInvalid, translations.read_labels, path)
    write_rows(path, [row | {"system": "nobody"}])
    assert "a label without its translation" in line_of(InputInvalid, translations.with_labels, ROWS, path)


# --- errors and quality


def test_the_primary_error_is_the_first_of_the_priority():
    order = list(errors.ERRORS)
    assert order == [
        "omission", "literalization", "sense-error", "neutralization", "mis-substitution", "pragmatic-shift",
        "over-interpretation",
    ]  # fmt: skip
    assert errors.primary(()) is None
    for size in range(1, 8):
        for some in itertools.combinations(order, size):
            for error_names in (some, some[::-1]):
                assert errors.primary(error_names) == some[0]
    assert "found typo" in line_of(InputInvalid, errors.primary, ["omission", "typo"])


@pytest.mark.parametrize(("fidelity", "clarity", "quality"), [(5, 5, 1.0), (1, 1, 0.2), (4, 5, 0.9), (2.5, 3.5, 0.6)])
def test_quality_by_hand(fidelity, clarity, quality):
    assert asks.quality(fidelity, clarity) == pytest.approx(quality)


# --- the judge without a model

LOCK = ITEMS["longevity-lock"]


@pytest.mark.parametrize(("translation", "reason"), table(__file__, "equivalent_by_hand"))
def test_equivalent_by_hand(translation, reason):
    verdict = equivalent.judge(LOCK, translation)
    assert verdict.reason == reason
    assert verdict.valid == (reason in ("equivalent", "explication"))


def test_two_of_five_words_of_the_explication_are_enough():
    item = replace(LOCK, equivalent=None, accepted=(), literal=(), explication="red lamp water garden door")
    assert equivalent.judge(item, "A red stone bridge.").reason == "none"
    assert equivalent.judge(item, "A red stone over water.").reason == "explication"


def test_equivalent_needs_something_to_compare_with():
    bare = replace(LOCK, explication="", equivalent=None, accepted=())
    assert "no equivalent and no explication" in line_of(InputInvalid, equivalent.judge, bare, "x")
    assert not equivalent.judge(replace(LOCK, explication=""), "a lock").valid


# --- the flow

VALID = {True: '{"valid": true}', False: '{"valid": false}'}


@pytest.mark.parametrize("variant", asks.VARIANTS)
@pytest.mark.parametrize("valid", [True, False])
def test_gate_and_ablation_truth_table(variant, valid):
    judge = Judge(validator=VALID[valid])
    verdict = verdict_of(judge, variant)
    gated = variant != "no-gate"
    assert (verdict.failure, verdict.valid) == (None, valid)
    if valid or not gated:
        assert (verdict.fidelity, verdict.clarity, verdict.quality, verdict.acre) == (4, 5, 0.9, 0.9)
        assert Counter(map(agent_of, judge.requests)) == {"validator": 1, "fidelity": 1, "nuance": 1}
    else:
        assert (verdict.fidelity, verdict.clarity, verdict.quality, verdict.acre) == (None, None, None, 0.0)
        assert [agent_of(request) for request in judge.requests] == ["validator"]
    assert judge.batches == (1 if not gated or not valid else 2)
    assert verdict.protocol == (None if variant == "no-routing" else "A")


def test_what_each_variant_shows_to_whom():
    case = asks.case(ROWS[0])
    agents = (asks.VALIDATOR, asks.FIDELITY, asks.NUANCE)
    texts = {(agent.name, v): prompt(agent, case, v) for agent in agents for v in asks.VARIANTS}
    for (agent, variant), text in texts.items():
        assert (case.explication in text) == (agent != "nuance" and variant != "no-explication")
        assert (case.reference in text) == (agent == "nuance" and variant != "no-reference")
        assert "{" not in re.sub(r'\{"(valid": (true|false)|score": [15])\}', "", text)
    assert texts["validator", "full"] == texts["validator", "no-gate"] == texts["validator", "no-reference"]
    assert texts["fidelity", "full"] == texts["fidelity", "no-reference"]
    assert texts["nuance", "full"] == texts["nuance", "no-explication"] == texts["nuance", "no-routing"]
    other = replace(case, category="Linguistic")
    for agent in (asks.VALIDATOR, asks.FIDELITY):
        assert prompt(agent, case, "full") != prompt(agent, other, "full")
        assert prompt(agent, case, "no-routing") == prompt(agent, other, "no-routing")
    assert prompt(asks.VALIDATOR, replace(other, protocol="A"), "full") == prompt(asks.VALIDATOR, case, "full")


def test_requests_are_rows_plus_twice_the_valid_ones_in_two_batches():
    def validator(request):
        return VALID[agent_of(request) == "validator" and hash_of(request) % 3 == 0]

    def hash_of(request):
        return sum(map(ord, request.messages[1].content))

    judge = Judge(validator=validator)
    tasks = asks.tasks(ROWS, ["full"], "text")
    verdicts = run(asks.acre, tasks, judge)
    valid = sum(bool(verdict.valid) for verdict in verdicts)
    assert 20 < valid < 100
    assert len(judge.requests) == len(ROWS) + 2 * valid
    assert judge.batches == 2
    everything = run(asks.acre, asks.tasks(ROWS, asks.VARIANTS, "text"), many := Judge(validator=validator))
    assert many.batches == 2, "all variants together"
    assert everything[: len(ROWS)] == verdicts


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"), ("good", "no-json"), ('{"score": 6}', "out-of-range"), ('{"score": 0}', "out-of-range"),
        ('{"score": -1}', "out-of-range"), ('{"score": 4.5}', "no-value"), ('{"score": "4"}', "no-value"),
        ('{"score": true}', "no-value"), ('{"score": null}', "no-value"), ('{"valid": true}', "no-value"),
        ('{"score": 4} {"score": 2}', "several-objects"), ('{"score": 4, "score": 5}', "key-twice"),
        ('{"score": NaN}', "no-value"), (f'{{"score": {"9" * 5000}}}', "no-value"), ("<think>five", "in-thought"),
        (completion('{"score": 4, "rat', "length"), "truncated"), (completion("", "refused"), "refused"), ("[4]", "no-json"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("agent", ["fidelity", "nuance"])
def test_one_failed_critic_is_a_failure_never_half_a_score(agent, text, reason):
    verdict = verdict_of(Judge(**{agent: text}))
    assert verdict.failure == f"{agent}: {reason}"
    assert (verdict.quality, verdict.acre) == (None, None)
    other = verdict.clarity if agent == "fidelity" else verdict.fidelity
    assert other is not None, "what was said is kept"


def test_validator_reads_only_true_and_false():
    for text in ('{"valid": 1}', '{"valid": "true"}', '{"valid": null}'):
        assert verdict_of(Judge(validator=text)).failure == "validator: no-value"
    both = verdict_of(Judge(validator='{"valid": true} {"valid": false}'))
    assert both.failure == "validator: several-objects"
    neither = verdict_of(Judge(validator="I cannot say."))
    assert (neither.acre, neither.valid, neither.failure) == (None, None, "validator: no-json")


def test_a_row_without_explication_is_refused_where_it_decides_and_judged_without_it():
    case = replace(asks.case(ROWS[0]), explication="")
    for variant in asks.VARIANTS:
        judge = Judge()
        verdict = verdict_of(judge, variant, case=case)
        refused = variant != "no-explication"
        expected = ("no-explication", None, 0) if refused else (None, 0.9, 3)
        assert (verdict.failure, verdict.acre, len(judge.requests)) == expected


def test_an_empty_translation_is_invalid_without_a_request():
    judge = Judge()
    verdict = verdict_of(judge, case=replace(asks.case(ROWS[0]), translation=" \n"))
    assert (verdict.valid, verdict.acre, verdict.failure, judge.requests) == (False, 0.0, None, [])


def test_choices_give_a_verdict_and_mean_ratings():
    choices = {"validator": (-1.0, -2.0), "fidelity": (-9.0, -9.0, -9.0, 0.0, 0.0), "nuance": (0.0,) * 5}
    judge = Judge(choices=choices)
    verdict = verdict_of(judge, mode="choose")
    assert verdict.valid is True
    assert verdict.valid_certainty == pytest.approx(1 / (1 + math.exp(-1)))
    assert verdict.fidelity == pytest.approx(4.5, abs=1e-2)
    assert verdict.clarity == pytest.approx(3)
    assert judge.batches == 2
    assert all(isinstance(request, Choose) for request in judge.requests)
    invalid = verdict_of(Judge(choices=choices | {"validator": (-2.0, -1.0)}), mode="choose")
    assert (invalid.valid, invalid.acre) == (False, 0.0)


def test_a_server_without_likelihoods_is_asked_for_texts():
    judge = Judge()
    assert verdict_of(judge, mode="choose").acre == 0.9
    assert judge.batches == 4


def test_a_verdict_that_was_edited_is_refused(tmp_path):
    tasks = asks.tasks(ROWS[:1], ["full"], "text")
    frame = judgements.to_frame("m", ROWS, tasks, run(asks.acre, tasks, Judge()))
    first = ROWS[0].id
    for changes, words in (
        ({"acre": math.nan}, "row 1: acre is nan; expected a finite number"),
        ({"judge": "people"}, "a rater, system or judge is called 'people'"),
        ({"asked": "0"}, f"{first}: its texts have changed since"),
        ({"id": "qipao/x/0"}, "qipao/x/0: none of the 120 translations"),
    ):
        changed = frame.with_columns(pl.lit(value).alias(name) for name, value in changes.items())
        tables.write_frame(tmp_path / "j.parquet", changed)
        assert words in line_of(InputInvalid, judgements.read, tmp_path / "j.parquet", {row.id: row for row in ROWS})
    assert counts.failures([asks.Grades(None, failure=reason) for reason in "bab"]) == "a 1, b 2"


# --- as a metric of `excam score`


TEXT, CHOICE = load("acre"), load("acre-choice")


def test_metric_is_found_and_scores_a_row():
    for metric, mode in ((TEXT, "text"), (CHOICE, "choose")):
        assert "prompts:ours" in metric.signature
        asked = "texts" if mode == "text" else "likelihoods"
        assert (metric.mode, metric.structured, metric.asks) == (mode, mode == "text", asked)
    assert TEXT.signature != CHOICE.signature
    case = asks.case(ROWS[0])
    values = {name: getattr(case, name) for name in (*TEXT.columns, "explication")}
    row = Row(case.id, values)
    (outcome,) = run(TEXT.flow, [row], Judge(fidelity='{"score": 4, "rationale": "near"}'))
    assert (outcome.score, outcome.failure, outcome.explanation) == (0.9, None, "near")
    assert outcome.parts["valid"] is True
    (failed,) = run(TEXT.flow, [row], Judge(nuance="?"))
    assert (failed.score, failed.failure) == (None, "nuance: no-json")
    wrong = Row("a", values | {"category": "Food"})
    assert "category: found Food" in line_of(InputInvalid, run, TEXT.flow, [wrong], Judge())
    results = run(Scorer(TEXT, None).flow, [wrong, row], Judge())
    food = "category: found Food; expected Material, Social, Religious, Ecological, Linguistic"
    assert [result.failure for result in results] == [food, None]


def test_the_protocol_of_a_row_overrides_that_of_its_category():
    case = asks.case(ROWS[0])
    texts = {name: getattr(case, name) for name in (*TEXT.columns, "explication")}
    for metric in (TEXT, CHOICE):
        assert metric.optional == ("explication", "protocol")
        for protocol in ("A", "B", None):
            wanted = next(asks.acre(replace(case, protocol=protocol, mode=metric.mode)))
            assert next(metric.flow(Row(case.id, texts | {"protocol": protocol}))) == wanted
    assert next(TEXT.flow(Row("a", texts))) != next(TEXT.flow(Row("a", texts | {"protocol": "B"})))
    line = line_of(InputInvalid, next, TEXT.flow(Row("a", texts | {"protocol": "C"})))
    assert "a: protocol: found C; expected A, B" in line


def test_a_row_without_explication_is_refused_and_not_its_file(tmp_path):
    rows = [{name: getattr(asks.case(row), name) for name in ("id", *TEXT.columns, "explication")} for row in ROWS[:2]]
    path = write_rows(tmp_path / "rows.jsonl", [rows[0] | {"explication": None}, rows[1]])
    outcomes = run(TEXT.flow, list(RowFile(path, TEXT)), Judge())
    assert [(outcome.score, outcome.failure) for outcome in outcomes] == [(None, "no-explication"), (0.9, None)]


def test_the_judge_without_a_model_refuses_a_row_that_it_cannot_compare(tmp_path):
    bare = replace(ROWS[0], item=replace(ROWS[0].item, explication="", equivalent=None, accepted=()))
    table = translations.to_frame([bare, ROWS[1]]).with_columns(pl.col("explication").replace("", None))
    tables.write_frame(tmp_path / "rows.parquet", table)
    frame = judgements.equivalent_frame(translations.from_frame(tmp_path / "rows.parquet"))
    assert frame["failure"].to_list() == ["no-explication", None]
    assert frame["acre"].is_null().to_list() == [True, False]


# --- translating, candidates


def test_translation_prompts_with_and_without_example():
    first_item, example = ROWS[0].item, items.held_out(ITEMS, MINI / "example.jsonl")
    plain, shown = translating.prompt(first_item, None), translating.prompt(first_item, example)
    assert first_item.source in plain
    assert example.source in shown
    assert example.reference in shown
    assert plain.startswith("Translate the Chinese text into English.")
    assert plain.endswith("\nEnglish translation:")
    german = replace(first_item, target_language="German")
    assert translating.prompt(german, example).count("German translation:") == 2
    for text in (plain, shown):
        assert first_item.reference not in text
        assert first_item.explication not in text

    def translated(answer, *how):
        (row,) = run(
            lambda item: translating.translate(item, "m", *how), [first_item], lambda asked: [*map(answer, asked)]
        )
        return row

    row = translated(lambda request: completion(f" {request.messages[0].content[:3]} "), "plain")
    assert (row.translation, row.shots, row.id) == (first_item.source[:3], 0, f"{first_item.id}/m/0")
    row = translated(lambda _: completion("<think>hm", "length"), "prompt", example)
    assert (row.translation, row.shots, row.finish) == ("", 1, "length")


@pytest.mark.parametrize(
    ("text", "terms", "absent", "failure"),
    [
        ('{"expressions": ["旗袍", "巷口", "旗袍"]}', ["旗袍", "巷口"], 0, None),
        ('{"expressions": ["qipao", "旗袍"]}', ["旗袍"], 1, None),
        ('{"expressions": []}', [], 0, None),
        ('{"expressions": "旗袍"}', [], 0, "no-list"),
        ("none", [], 0, "no-json"),
        ("<think>", [], 0, "in-thought"),
    ],
)
def test_candidates_are_spans_of_the_sentence(text, terms, absent, failure):
    sentence = candidates.Sentence("s", ROWS[0].item.source, {"licence": "CC0"})
    extraction = candidates.parse(sentence, completion(text))
    spans = {row["id"]: row["term"] for row in extraction.rows}
    assert spans == {f"s/{at}": term for at, term in enumerate(terms, 1)}
    assert all(sentence.source[row["source_start"] : row["source_end"]] == row["term"] for row in extraction.rows)
    assert (extraction.absent, extraction.failure) == (absent, failure)


# --- campaigns


def submitted(folder, drawn, annotator, values):
    """The file of what an annotator submits: these values of each task."""
    answers = [answer_to(drawn, task, annotator, values(task) | {SUBMITTED: True}) for task in drawn.tasks]
    return export(folder / f"{annotator}.json", drawn, answers)


def test_labels_come_back_from_a_campaign(tmp_path):
    drawn = campaign.labelling(ROWS, 2, 0)
    shown = json.dumps([task.shown for task in drawn.tasks])
    assert not any(system in shown for system in SYSTEMS), "systems are hidden"
    assert drawn.content["format"] == "excam-campaign/2"
    assert [task.id for task in drawn.tasks] != [task.id for task in campaign.labelling(ROWS, 2, 1).tasks]
    labels = {row.id: row.label for row in ROWS}

    def truth(task):
        label = labels[task.row]
        ticked = {field: error in label.errors for error, field in campaign.FIELDS.items()}
        return {"correct": "yes" if label.correct else "no", **ticked}

    def other(task):
        return truth(task) if task.row != ROWS[0].id else {"correct": "no", "omission": True}

    files = [submitted(tmp_path, drawn, "ada", truth), submitted(tmp_path, drawn, "eve", other)]
    rows, _, left_out = campaign.collect(files, drawn)
    assert (len(rows), left_out) == (119, {"annotators disagree": 1})
    path = write_rows(tmp_path / "labels.jsonl", rows)
    back = translations.with_labels(ROWS, path)
    assert [row.label and row.label.errors for row in back][1:] == [row.label.errors for row in ROWS][1:]
    assert back[0].label is None


def test_items_come_back_from_a_campaign(tmp_path):
    drawn, _ = campaign.marking(MINI / "items.jsonl", 1, 0)
    by_source = {item.source: item for item in ITEMS.values()}
    out = {"kang": "not_salient", "qipao": "transliterated"}

    def mark(task):
        item = by_source[task.shown["source"]]
        if item.id in out:
            return {"verdict": out[item.id]}
        return {
            "verdict": "keep",
            "source_span": [[item.source_start, item.source_end, item.category]],
            "target_span": [[item.target_start, item.target_end, "equivalent"]],
            "explication": item.explication,
            "equivalents": "\n".join(item.accepted),
        }

    rows, removed, left_out = campaign.collect([submitted(tmp_path, drawn, "ada", mark)], drawn)
    assert (len(rows), left_out) == (28, {"little salience": 1, "unglossed transliteration": 1})
    assert campaign.uneven([*rows, {**rows[0], "accepted": ["x"]}]) == [rows[0]["term"]]
    removed = write_rows(tmp_path / "removed.jsonl", removed)
    reasons = items.read_removed(removed, {row["id"] for row in rows})
    counted = {line["outcome"]: line["candidates"] for line in numbers.removals(28, reasons)}
    assert (counted["kept"], counted["not-salient"], counted["transliterated"], counted["all"]) == (28, 1, 1, 30)
    assert "that of no item" in line_of(InputInvalid, items.read_removed, removed, {"kang"})
    back = items.read(write_rows(tmp_path / "items.jsonl", rows))
    same = ("term", "target", "category", "domain", "explication", "accepted", "licence")
    for name, item in back.items():
        assert [getattr(item, field) for field in same] == [getattr(ITEMS[name], field) for field in same]


def test_a_sentence_that_annotators_mark_differently_is_no_item(tmp_path):
    drawn, _ = campaign.marking(MINI / "items.jsonl", 2, 0)
    texts = {"explication": "A custom.", "target_span": [[0, 4, "equivalent"]], "verdict": "keep"}

    def ada(task):
        return texts | {"source_span": [[0, 1, "Social"]], "equivalents": "first\nboth"}

    others = {drawn.tasks[0].id: {"verdict": "misaligned"}}
    others[drawn.tasks[1].id] = texts | {"source_span": [[0, 1, "Linguistic"]]}

    def eve(task):
        return others.get(task.id, ada(task) | {"equivalents": "both\nlast"})

    files = [submitted(tmp_path, drawn, "ada", ada), submitted(tmp_path, drawn, "eve", eve)]
    rows, _, left_out = campaign.collect(files, drawn)
    assert (len(rows), left_out) == (28, {"annotators disagree": 2})
    assert {tuple(row["accepted"]) for row in rows} == {("first", "both", "last")}
    assert campaign.collect(files[::-1], drawn) == (rows, [], left_out)


@pytest.mark.parametrize(
    ("change", "point"),
    [
        ({"source_span": []}, "Mark the expression in the source."),
        ({"target_span": []}, "Mark what stands for it in the translation"),
        ({"explication": ""}, "Write one sentence that says what it means here."),
        ({"explication": "A dress. It has a high collar."}, "sentences found 2; expected 1"),
    ],
)
def test_an_item_is_complete_and_a_candidate_that_is_left_out_has_a_reason(change, point):
    drawn, _ = campaign.marking(MINI / "items.jsonl", 1, 0)
    task = drawn.tasks[0]
    marked = drawn.form.empty() | {
        "verdict": "keep",
        "source_span": [[0, 1, "Social"]],
        "target_span": [[0, 1, "part"]],
        "explication": "It is a rest after childbirth.",
    }
    assert open_points(drawn.form, task, marked) == []
    (open_point,) = open_points(drawn.form, task, marked | change)
    assert point in open_point
    assert open_points(drawn.form, task, drawn.form.empty() | {"verdict": "misaligned"}) == []
    assert len(open_points(drawn.form, task, drawn.form.empty())) == 1


def test_an_expression_has_one_category():
    drawn, _ = campaign.marking(MINI / "items.jsonl", 1, 0)
    said = answer_to(drawn, drawn.tasks[0], "ada", {"source_span": [[0, 1, "Social"], [0, 1, "Linguistic"]]})
    assert "source_span has 2 marks; expected at most 1" in line_of(InputInvalid, read_answer, said.row(), drawn)


# --- commands


def test_from_translations_to_a_report(tmp_path):
    sheets = sorted((MINI / "translations").glob("*.jsonl"))
    rows = tmp_path / "rows.parquet"
    done = succeed("acre", "rows", *sheets, "--items", MINI / "items.jsonl", "--to", rows)
    assert "120 translations by made-up-careful, made-up-explaining, made-up-literal, made-up-omitting;" in done.output
    judged_file, measured = tmp_path / "equivalent.parquet", tmp_path / "metrics.parquet"
    succeed("acre", "judge", rows, "--model", "equivalent", "--to", judged_file)
    succeed("acre", "metrics", rows, "--to", measured)
    more = ("--judged", judged_file, "--measured", measured, "--to", tmp_path / "unlabelled")
    succeed("acre", "report", rows, *more)
    written = {path.name for path in (tmp_path / "unlabelled").iterdir()}
    assert written == {"table-3.csv", "table-3.md", "table-6.csv", "table-6.md"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("judge", "rows.parquet", "--model", "m", "--variant", "half", "--to", "x"), "--variant: found half"),
        (("judge", "rows.parquet", "--model", "m", "--by", "vote", "--to", "x"), "--by: found vote"),
        (("draw", "rows.parquet", "--form", "poll", "--to", "x"), "--form: found poll"),
        (("report", "rows.parquet", "--to", "x"), "found none of them"),
        (("report", "rows.parquet", "--scored", "a", "--to", "x"), "--scored: found a; expected NAME=FILE"),
    ],
)
def test_a_wrong_option_is_one_line(tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    tables.write_frame(tmp_path / "rows.parquet", translations.to_frame(ROWS[:2]))
    assert message in refusal("acre", *words)
