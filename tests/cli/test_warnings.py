"""Warnings: each from the closed list; an untested language always has one."""

import csv
from pathlib import Path

import pytest

from excam.core import languages
from excam.scoring import metric, warnings
from excam.scoring.families import families
from excam.scoring.manifests import AdapterManifest
from excam.scoring.metric import Row
from excam.scoring.opened_model import OpenedModel
from excam.scoring.warnings import WarningRules

EXCAM = metric.load("excam")
ROOT = Path(__file__).parents[2]
JUDGE = WarningRules(languages.tested_languages(), families("gemma3-27b"))
ENGLISH = "Guests in Japan keep their shoes on when they enter a home, which is considered polite."
YORUBA = "Bawo ni o se wa loni, mo fe lo si oja lati ra ounje fun idile mi"
TURKISH = "Türkiye'de misafirler eve girerken ayakkabılarını çıkarır ve ev sahibine küçük bir hediye getirir."
detects = pytest.mark.skipif(not languages.can_detect(), reason="needs py3langid")


PAIR = ("instruction", "output")


def of(output: str = ENGLISH, failure: str | None = None, judge: WarningRules = JUDGE, **more: str) -> set[str]:
    instruction = more.pop("instruction", "Name a Greek dish.")
    texts = {"instruction": instruction} if instruction else {}
    texts["output"] = output
    codes = judge.codes(Row("1", texts, more), PAIR, failure)
    assert list(codes) == [code for code in warnings.LINES if code in codes], "in the order of the list"
    return set(codes)


def test_a_control_token_is_warned_about():
    assert of(f"{ENGLISH} <|im_end|>", language="English") == {"control-tokens"}
    assert not of(f"{ENGLISH} <b> a|b [INS] </p>", language="English")


def test_the_tested_languages_are_those_of_appendix_e():
    rows = csv.DictReader((ROOT / "paper/appendix-e-languages.csv").open(encoding="utf-8"))
    assert languages.tested_languages() == {row["name"] for row in rows}


@pytest.mark.parametrize("language", ["Turkish", "turkish", " TR ", "tr-TR", "tur", "tr_Latn_TR", "Turkish (Turkey)"])
def test_a_language_is_known_however_it_is_told(language):
    assert languages.language_name(language) == "Turkish"
    assert not of(language=language)


@pytest.mark.parametrize(
    "language", ["Yoruba", "yo", "zh-yue", "Cantonese", "Klingon", "Old English", "Turkmen", "tk", "?"]
)
@pytest.mark.parametrize("output", ["", "x", ENGLISH, YORUBA])
def test_every_row_told_to_be_outside_the_list_is_warned_about(language, output):
    assert "language-untested" in of(output, language=language)


@detects
@pytest.mark.parametrize(
    ("output", "instruction", "codes"),
    [
        (ENGLISH, "Name a Greek dish.", set()),
        (TURKISH, "Name a Greek dish.", set()),
        (YORUBA, "Name a Greek dish.", {"language-untested"}),
        (ENGLISH, YORUBA, {"language-untested", "language-differs"}),  # errors in the instruction count too
        ("Option B: sushi", ENGLISH, {"language-unknown"}),  # the instruction's language is not the output's
        ("Option B: sushi", YORUBA, {"language-unknown", "language-untested"}),
        (" ", "", {"language-unknown", "empty-text"}),  # by a metric that scores it as such
        ("1234567890 " * 20, "", {"language-unknown"}),
        ("qzx vvk jjp wwq xkz " * 5, "", {"language-unknown"}),
    ],
)
def test_a_language_that_is_not_told_is_detected_or_said_to_be_unknown(output, instruction, codes):
    assert of(output, instruction=instruction) == codes


def test_without_a_detector_every_row_that_tells_nothing_is_warned_about(monkeypatch):
    monkeypatch.setattr(languages, "can_detect", lambda: False)
    assert of(ENGLISH) == of(YORUBA) == {"language-unknown"}
    assert of(YORUBA, language="Yoruba") == {"language-untested"}
    assert not of(judge=WarningRules(JUDGE.tested, JUDGE.families, "en"))
    assert of(judge=WarningRules(JUDGE.tested, JUDGE.families, "yo")) == {"language-untested"}


@detects
def test_few_letters_decide_nothing():
    text = "A home in Japan is entered without any shoes on."  # 38 letters
    assert languages.detect_language(text) is None
    assert languages.detect_language(text + " So") == "English"


def test_an_adapter_may_tell_what_it_was_trained_on():
    adapter = OpenedModel(None, "", tuned=AdapterManifest.model_construct(languages=["Yoruba", "en"]))
    judge = WarningRules.of_judge(["m", "Qwen/Qwen3-14B", None], EXCAM.tested_languages(adapter))
    assert judge.tested == {"yoruba", "English"}
    assert not of(language="yoruba", judge=judge)
    assert of(language="Turkish", judge=judge) == {"language-untested"}
    silent = OpenedModel(None, "", tuned=AdapterManifest.model_construct(languages=None))
    for other in (None, OpenedModel(None, ""), silent):
        assert EXCAM.tested_languages(other) == languages.tested_languages()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("google/gemma-3-27b-it", {"gemma"}),
        ("Qwen2.5-72B-Instruct", {"qwen"}),
        ("ｑｗｅｎ_3", {"qwen"}),
        ("deepseek-ai/DeepSeek-R1-Distill-Llama-70B", {"deepseek", "llama"}),
        ("Mixtral-8x7B", {"mistral"}),
        ("Phi-3-medium-4k-instruct", {"phi"}),
        ("gpt-4o", {"gpt"}),
        ("o1-mini", {"gpt"}),
        ("claude-sonnet-4-5", {"claude"}),
        ("dolphin-2.9", set()),  # holds the letters of phi
        ("philosophy", set()),
        ("model-o12", set()),
        ("", set()),
    ],
)
def test_families_of_names(name, expected):
    assert families(name) == expected


@pytest.mark.parametrize("model", ["ds-r1-14b", "x"])
def test_a_judge_is_of_its_bases_family_whatever_it_is_called(model):
    judge = WarningRules.of_judge([model, "deepseek-ai/DeepSeek-R1-Distill-Qwen-14B"], JUDGE.tested)
    assert of(language="English", system="Qwen3-8B", judge=judge) == {"same-family"}
    assert of(language="English", system="deepseek-v3", judge=judge) == {"same-family"}
    assert of(language="English", system="gemma-2-9b", judge=judge) == set()


def test_a_judge_and_a_system_of_no_known_family_are_not_the_same():
    assert of(language="English", system="mine", judge=WarningRules(languages.tested_languages(), frozenset())) == set()


def test_a_cut_report_is_warned_about():
    assert of(language="English", failure="truncated") == {"truncated"}
    assert of(language="English", failure="no-json") == set()


@detects
def test_a_metric_that_names_no_languages_warns_of_none():
    judge = WarningRules.of_judge(["gemma3-27b"], metric.load("rubric").tested_languages(None))
    assert of(YORUBA, judge=judge) == set()
    assert of(language="Klingon", judge=judge) == set()
    assert of(language="Klingon", system="gemma-2", judge=judge) == {"same-family"}


def test_a_metric_without_an_instruction_and_its_text_has_no_language_to_warn_of():
    row = Row("1", {"translation": YORUBA}, {"language": "Klingon", "system": "gemma-2"})
    assert JUDGE.codes(row, None, None) == ("same-family",)


def test_a_row_that_nothing_was_asked_about_has_no_warning():
    row = Row("1", {"instruction": ENGLISH, "output": YORUBA}, {"system": "gemma-2"}, "not-text-language")
    assert JUDGE.codes(row, PAIR, row.failure) == ()
