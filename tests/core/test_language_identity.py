"""Languages by code and by text, and the warning about texts in another language than their instruction."""

import subprocess
import sys

import pytest
from one_line_errors import line_of

from excam.core import language_identity
from excam.core.exceptions import InputInvalid
from excam.core.language_identity import answers_in_another_language, identify, language_code
from excam.scoring import warnings

GERMAN = "Die Gäste zerschlagen Geschirr vor dem Haus der Braut, denn das soll Glück bringen."
ENGLISH = "Guests break dishes in front of the house of the bride, which should bring luck."
JAPANESE = "節分は立春の前日で、ふつう二月三日ごろです。鬼は外、福は内と言いながら豆をまき、年の数だけ豆を食べます。"


@pytest.mark.parametrize(
    ("name", "code"),
    [
        *[(name, "de") for name in ("German", "german", "de", "deu", "ger", "Deutsch", "de-AT", "de_CH", " German ")],
        *[(name, "zh") for name in ("Chinese", "zh-Hant", "cmn", "中文", "Mandarin", "Traditional Chinese")],
        *[(name, "he") for name in ("Hebrew", "iw", "he", "עברית")],
        *[("Kirundi", "rn"), ("Rundi", "rn"), ("Tswana", "tn"), ("Setswana", "tn"), ("Spanish (Mexico)", "es")],
        *[("quc", "quc"), ("xx", "xx")],
    ],
)
def test_a_language_has_many_names(name, code):
    assert language_code(name) == code


def test_an_unknown_name_is_refused():
    for name in ("", "Elvish of the north", "?", "english and german"):
        assert "expected its ISO 639 code" in line_of(InputInvalid, language_code, name)


def test_every_name_of_the_table_is_unambiguous():
    codes, names = language_identity._table()
    assert all(codes[name.casefold()] == code for code, others in names.items() for name in others)


@pytest.mark.parametrize("detector", ["cld2", "langid"])
@pytest.mark.parametrize(("text", "code"), [(GERMAN, "de"), (ENGLISH, "en"), (JAPANESE, "ja")])
def test_identify(detector, text, code):
    assert identify(text, detector) == code


@pytest.mark.parametrize("text", ["", "\0\0", "\ufffe", "\ud800", "\x07\x1b", "42 !?", "😀" * 50])
def test_texts_without_a_language(text):
    assert identify(text) == "und"


def test_a_text_is_never_read_as_html():
    tagged = f'<html lang="ja"><meta http-equiv="content-language" content="ja">{GERMAN}'
    assert identify(tagged) == "de"


@pytest.mark.parametrize(
    ("instruction", "output", "differs"),
    [
        ("Was ist ein Polterabend, und wie wird er in Deutschland gefeiert?", ENGLISH, True),
        ("Was ist ein Polterabend, und wie wird er in Deutschland gefeiert?", GERMAN, False),
        ("What is a Polterabend, and how do people in Germany celebrate it?", GERMAN, True),
        ("Explain in German what people do at a Polterabend before a wedding.", GERMAN, False),  # it asks for it
        ("Erkläre auf Englisch, was Gäste am Polterabend vor der Hochzeit tun.", ENGLISH, False),
        (f"Translate the following text into another language: {GERMAN}", GERMAN, False),  # it holds the language
        (
            "日本ではなぜ節分に豆をまくのですか。どのように行われ、子どもにもわかるように説明してください。",
            ENGLISH,
            True,
        ),
        ("Polterabend?", ENGLISH, False),  # too short to be sure
        ("Was ist ein Polterabend, und wie wird er in Deutschland gefeiert?", "Porcelain!", False),
        ("", ENGLISH, False),
    ],
)
def test_an_answer_in_another_language(instruction, output, differs):
    assert answers_in_another_language(instruction, output) == differs
    assert warnings.of_texts(instruction, output) == ("language-differs",) * differs


def test_without_pycld2_the_check_is_left_out_and_one_line_says_so():
    """In a process of its own, where the package cannot be found."""
    code = """
import sys
from importlib import util
find = util.find_spec
util.find_spec = lambda name, *rest: None if name == "pycld2" else find(name, *rest)
sys.modules["pycld2"] = None
from excam.scoring import warnings
print(warnings.of_texts(sys.argv[1], sys.argv[2]), warnings.unchecked_line(), sep="\\n")
"""
    command = [sys.executable, "-c", code, f"Was ist das? {GERMAN}", ENGLISH]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    first, second = done.stdout.splitlines()
    assert first == "()"
    assert second.startswith("pycld2 is not installed: ")
    assert warnings.unchecked_line() == ""
