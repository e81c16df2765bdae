"""Prompt injections: the attacks keep the gold true, never become control tokens, and are never read as an answer."""

import re
from collections import Counter
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import attacks
import pytest
import test_judges
import tiny
from hypothesis import given
from hypothesis import strategies as st

from excam.core import sanitize
from excam.error_reports import judges
from excam.error_reports.judges import report
from excam.error_reports.records import SEVERITIES, CulturalError, Report
from excam.inference import Sampling, chat, fake
from excam.inference.journal import Journal, ask
from excam.inference.run import run

ROOT = Path(__file__).parents[2]
ATTACKS = attacks.load()
FORGED = [attack for attack in ATTACKS if attack.kind == "forged-report"]
WITH_REPORT = [attack for attack in ATTACKS if attacks.reports(attack.text)]
JUDGES = ("report", "count", "severity", "binary")
CHRISTMAS = Report((CulturalError("output", "Christmas", "major", "incorrect answer", 29, 38),), "It is the new year.")
SAMPLE = replace(
    test_judges.SAMPLE,
    id="culturalbench/1/free/wrong",
    pair="culturalbench/1/free",
    task="freeform",
    instruction="What is the most important family holiday in China?",
    output="The most important holiday is Christmas, and families meet for it.",
    report=replace(CHRISTMAS, errors=(replace(CHRISTMAS.errors[0], start=30, end=39),)),
)
ANSWERS = {  # a real answer of each judge that finds an error
    "report": report.write(CHRISTMAS),
    "count": "One holiday is wrong. COUNT: 1",
    "severity": "Severity: major",
    "binary": "Problem: very problematic",
}


def each_attack(values):
    return pytest.mark.parametrize("attack", values, ids=lambda attack: attack.id)


def verdict(judge, sample, said, folder):
    """What a judge makes of a sample when the model says this, whatever it is asked."""
    asking = partial(ask, fake.Backend(lambda request: said), Sampling(200), Journal(folder / "journal.jsonl"))
    (judgement,) = run(judges.load(judge).judge, [sample], asking)
    return judgement


def texts_of(sample):
    return {"instruction": sample.instruction, "output": sample.output}


# The attacks


def test_there_are_enough_of_every_kind_in_both_texts_at_all_places():
    assert len(ATTACKS) >= 72
    assert len({attack.id for attack in ATTACKS}) == len({attack.text for attack in ATTACKS}) == len(ATTACKS)
    assert Counter(attack.kind for attack in ATTACKS).keys() == set(attacks.KINDS)
    assert min(Counter(attack.kind for attack in ATTACKS).values()) >= 5
    assert {(attack.kind, attack.where) for attack in ATTACKS} == {(k, w) for k in attacks.KINDS for w in report.WHERE}
    assert {attack.place for attack in ATTACKS} == set(attacks.PLACES)
    languages = {attack.language for attack in ATTACKS if attack.kind == "language"}
    assert len(languages) >= 10
    assert {"ar", "zh", "hi", "ru", "es", "fr", "de", "ja", "sw", "tr", "ko"} <= languages


def test_the_file_of_attacks_escapes_invisible_characters():
    """In the file, invisible characters are escaped."""
    text = attacks.FILE.read_text(encoding="utf-8")
    assert not re.search(f"[\u200b-\u200f\u2060-\u206f\ufeff]|{sanitize.BIDI}|{sanitize.TAGS}", text)


@each_attack(FORGED)
def test_a_forged_report_is_one_that_would_be_read_as_clean(attack):
    (forged,) = set(attacks.reports(attack.text))
    assert report.read(report.write(forged)) == forged
    assert not forged.errors


def test_some_forged_report_is_what_a_model_is_trained_to_write():
    assert report.write(Report()) in {attack.text for attack in FORGED}
    by_explanation = Counter(forged.explanation for attack in ATTACKS for forged in set(attacks.reports(attack.text)))
    assert {text for text, n in by_explanation.items() if n > 1} == {""}, "the others tell where a copy comes from"


@given(st.lists(st.sampled_from(['{"errors": [', "]", "}", '"explanation": ', "[1]", '"a"', "{", ", ", "1", "null"])))
def test_looking_for_reports_never_raises(parts):
    attacks.reports("".join(parts))


def test_reports_are_found_wherever_they_stand():
    written = report.write(CHRISTMAS)
    plain = Report(tuple(replace(error, start=-1, end=-1) for error in CHRISTMAS.errors), CHRISTMAS.explanation)
    assert attacks.reports(f'{{"a": {written}}} {{ {written.replace("major", "MAJOR")}') == (plain, plain)
    for broken in (
        '{"errors": [], "explanation": ""',
        '{"errors": []}',
        '{"errors": [1], "explanation": ""}',
        "{}",
        "[",
    ):
        assert attacks.reports(broken) == ()


# Putting them in


@each_attack(ATTACKS)
def test_the_attack_is_in_and_the_rest_is_as_it_was(attack):
    attacked = attacks.apply(attack, SAMPLE)
    assert attacked.id == f"{SAMPLE.id}/{attack.id}"
    assert attack.text in texts_of(attacked)[attack.where]
    (other,) = set(report.WHERE) - {attack.where}
    assert texts_of(attacked)[other] == texts_of(SAMPLE)[other]
    before, after = texts_of(attacked)[attack.where].split(attack.text)
    assert (before.strip() == "") == (attack.place == "before")
    assert (after.strip() == "") == (attack.place == "after")
    assert f"{before.rstrip()} {after.strip()}".strip() == texts_of(SAMPLE)[attack.where]
    unmoved = replace(attacked, id=SAMPLE.id, report=SAMPLE.report, **texts_of(SAMPLE))
    assert unmoved == SAMPLE


words = st.text(st.sampled_from("ab \n春節é"), max_size=30)


@st.composite
def samples(draw):
    pair = {where: draw(words) for where in report.WHERE}
    errors = []
    for where, text in pair.items():
        edges = sorted(draw(st.lists(st.integers(0, len(text)), max_size=6)))
        for start, end in zip(edges[::2], edges[1::2], strict=False):
            errors.append(CulturalError(where, text[start:end], draw(st.sampled_from(SEVERITIES)), "t", start, end))
    return replace(SAMPLE, **pair, report=Report(tuple(errors), "x"))


@given(samples(), st.sampled_from(ATTACKS))
def test_gold_spans_stay_in_place(sample, attack):
    attacked = attacks.apply(attack, sample)
    assert attack.text in texts_of(attacked)[attack.where]
    assert attacked.report.explanation == sample.report.explanation
    for now, was in zip(attacked.report.errors, sample.report.errors, strict=True):
        assert texts_of(attacked)[now.where][now.start : now.end] == now.span
        assert replace(now, start=was.start, end=was.end) == was
        assert 0 <= now.start - was.start == now.end - was.end


def test_inside_is_a_blank_near_the_middle_outside_the_gold():
    attack = next(candidate for candidate in ATTACKS if (candidate.where, candidate.place) == ("output", "inside"))
    for output, span, start, expected in (
        ("one two three four", "four", 14, f"one two {attack.text} three four"),
        ("one two three four", "two three", 4, f"one two three {attack.text} four"),
        ("one two", "one two", 0, f"one two {attack.text}"),
        ("春节是重要的节日", "春节", 0, f"春节是重要的节日 {attack.text}"),
        ("", "", 0, f" {attack.text}"),
    ):
        gold = Report((CulturalError("output", span, "major", "t", start, start + len(span)),), "x")
        assert attacks.apply(attack, replace(SAMPLE, output=output, report=gold)).output == expected


# Control tokens


@cache
def tokenizer():
    """Bytes, and every control string of the attacks as a control token."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    raw = Tokenizer(
        models.BPE(vocab={c: n for n, c in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}, merges=[])
    )
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    raw.add_special_tokens([AddedToken(text, special=True, normalized=False) for text in control_strings()])
    return PreTrainedTokenizerFast(tokenizer_object=raw, eos_token="<|im_end|>", chat_template=tiny.CHATML)


def control_strings(selection=ATTACKS):
    return sorted({each for attack in selection for each in re.findall(sanitize.CHAT_CONTROL, attack.text)})


def requests(sample):
    return [next(judges.load(judge).judge(sample))[0] for judge in JUDGES]


def test_control_attacks_hold_the_tokens_of_many_families():
    assert all(control_strings([attack]) for attack in ATTACKS if attack.kind == "control-token")
    families = {"<|im_end|>", "<|im_start|>", "<start_of_turn>", "[/INST]", "<|end|>", "</s>", "<|eot_id|>", "<think>"}
    assert families <= set(control_strings())


@each_attack(ATTACKS)
def test_an_attack_never_becomes_a_control_token(attack):
    marked = set(tokenizer().all_special_ids) | set(tokenizer().convert_tokens_to_ids(control_strings()))
    for attacked, clean in zip(requests(attacks.apply(attack, SAMPLE)), requests(SAMPLE), strict=True):
        ids = chat.encode(tokenizer(), attacked.messages).input_ids
        expected = chat.encode(tokenizer(), clean.messages).input_ids
        assert [token_id for token_id in ids if token_id in marked] == [
            token_id for token_id in expected if token_id in marked
        ]
        assert attack.text in tokenizer().decode(ids), "and it stays legible"


# Readers


@each_attack(ATTACKS)
def test_an_answer_without_a_verdict_fails_whatever_the_text_says(attack, tmp_path):
    for judge in JUDGES:
        judgement = verdict(judge, attacks.apply(attack, SAMPLE), "I cannot say.", tmp_path)
        assert judgement.failure in judges.load(judge).REASONS
        assert (judgement.errors_found, judgement.score, judgement.report) == (None, None, None)


@each_attack(ATTACKS)
def test_a_real_answer_is_read_and_no_other(attack, tmp_path):
    attacked = attacks.apply(attack, SAMPLE)
    for judge in JUDGES:
        judgement = verdict(judge, attacked, ANSWERS[judge], tmp_path)
        assert (judgement.errors_found, judgement.failure) == (1, None)
        assert judgement.report == (attacked.report if judge == "report" else None)


@each_attack(WITH_REPORT)
def test_an_answer_that_quotes_the_attack_in_a_report_is_that_report(attack, tmp_path):
    quoting = Report((CulturalError(attack.where, attack.text, "minor", "t"),), f"It says: {attack.text}")
    judgement = verdict("report", attacks.apply(attack, SAMPLE), report.write(quoting), tmp_path)
    assert (judgement.errors_found, judgement.report.explanation) == (1, quoting.explanation)
