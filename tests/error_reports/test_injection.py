"""Prompt injections: the attacks keep the gold true, never become control tokens, and are never read as an answer."""

import re
from dataclasses import replace
from functools import cache, partial

import attacks
import pytest
import test_judges
import tiny

from excam.core import sanitize
from excam.error_reports import judges
from excam.error_reports.judges import report
from excam.error_reports.records import CulturalError, Report
from excam.inference import Sampling, chat, fake
from excam.inference.journal import Journal, ask
from excam.inference.run import run

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


# The attacks


@each_attack(FORGED)
def test_a_forged_report_is_one_that_would_be_read_as_clean(attack):
    (forged,) = set(attacks.reports(attack.text))
    assert report.read(report.write(forged)) == forged
    assert not forged.errors


# Putting them in


# Control tokens


@cache
def tokenizer():
    """Bytes, and every control string of the attacks as a control token."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    raw = Tokenizer(models.BPE(vocab={c: n for n, c in enumerate(alphabet)}, merges=[]))
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    raw.add_special_tokens([AddedToken(text, special=True, normalized=False) for text in control_strings()])
    return PreTrainedTokenizerFast(tokenizer_object=raw, eos_token="<|im_end|>", chat_template=tiny.CHATML)


def control_strings(selection=ATTACKS):
    return sorted({each for attack in selection for each in re.findall(sanitize.CHAT_CONTROL, attack.text)})


def requests(sample):
    return [next(judges.load(judge).judge(sample))[0] for judge in JUDGES]


def test_an_attack_never_becomes_a_control_token():
    for attack in ATTACKS:
        marked = set(tokenizer().all_special_ids) | set(tokenizer().convert_tokens_to_ids(control_strings()))
        for attacked, clean in zip(requests(attacks.apply(attack, SAMPLE)), requests(SAMPLE), strict=True):
            ids = chat.encode(tokenizer(), attacked.messages).input_ids
            expected = chat.encode(tokenizer(), clean.messages).input_ids
            assert [each for each in ids if each in marked] == [each for each in expected if each in marked]
            assert attack.text in tokenizer().decode(ids), "and it stays legible"


# Readers


def test_an_answer_without_a_verdict_fails_whatever_the_text_says(tmp_path):
    for attack in ATTACKS:
        for judge in JUDGES:
            judgement = verdict(judge, attacks.apply(attack, SAMPLE), "I cannot say.", tmp_path)
            assert judgement.failure in judges.load(judge).REASONS
            assert (judgement.errors_found, judgement.score, judgement.report) == (None, None, None)


def test_a_real_answer_is_read_and_no_other(tmp_path):
    for attack in ATTACKS:
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
