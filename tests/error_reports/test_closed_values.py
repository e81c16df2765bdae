"""What two short answers say of each other: closed values agree or differ, and everything else is not known."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from excam.error_reports.closed_values import compared, without_options
from excam.error_reports.content_words import content, likely_language, not_held, opening, stem, unsupported, words

OPTIONS = "When do they eat? Choose from: Option A: at seven; Option B: at nine; Option C: 10 pm"
FACTS = [  # question, expected, right, other value, language
    ("How many toasts are there?", "There are 7 toasts.", "7", "9", "English"),
    ("How long does it take?", "Ten minutes.", "ten minutes", "twenty minutes", "English"),
    ("When was it built?", "1932", "1932", "1948", "English"),
    ("What is the population of France?", "The population of France is 67 million.", "67 million", "80 million", "en"),
    ("Who leads the toasts?", "The tamada leads the toasts.", "the tamada", "the bride", "English"),
    ("Is pork eaten there?", "Yes", "Yes", "No", "English"),
    ("When is the festival?", "3 October 1990", "3 October 1990", "5 May 1990", ""),
    (OPTIONS, "at nine", "B", "C", "English"),
    ("Wie viele Gäste kommen?", "12 Gäste", "12", "15", "German"),
    ("有多少客人?", "25", "25", "40", "Chinese"),
    ("كم عدد الضيوف؟", "٢٥", "25", "40", "Arabic"),
    ("Who never eats pork?", "Muslims never eat pork", "Muslims", "Christians", "English"),
]


@pytest.mark.parametrize(
    ("question", "expected", "text"),
    [
        ("", "kimchi", "The answer is: Kimchi."),
        ("", "21", "twenty-one"),
        ("", "67,000,000", "67.000.000"),
        ("How many days?", "3 days", "3"),
        ("", "3 October 1990", "October 3rd, 1990"),
        ("", "3 October 1990", "1990-10-03"),
        ("Wann ist das?", "3. Oktober 1990", "am 3 Oktober 1990"),
        ("Are shoes taken off?", "Yes", "Yes, shoes are taken off."),
        (OPTIONS, "at nine", "I decide on option B: at nine"),
        (OPTIONS, "at nine", "(B)"),
        ("What is the capital of France?", "Paris", "The capital of France is Paris."),
        ("Who leads the toasts at a feast?", "The tamada leads the toasts.", "Tamada"),
        ("", "It is called supra.", "It is called «supra» [1]."),
        ("When?", "2020-03-01", "1 March 2020"),
        ("What is the population of France?", "The population of France is 67 million.", "**67** million"),
    ],
)
def test_equal_values_and_equal_words_agree(question, expected, text):
    assert compared(expected, text, question).verdict == "agrees"


@pytest.mark.parametrize(
    ("question", "expected", "text", "marked"),
    [
        ("Is pork eaten?", "Yes", "**No**.", "No"),
        ("When?", "In 1893.", "In 1894.", "In 1894"),
        ("", "80 %", "20%", "20"),
        ("Wie viele Gäste kommen?", "12 Gäste", "Antwort: 15", "15"),
        ("When?", "3 October 1990", "It is 3 October 1991.", "3 October 1991"),
        (OPTIONS, "at nine", "The answer is option C: 10 pm", "C: 10 pm"),
    ],
)
def test_unlike_values_differ_and_are_marked(question, expected, text, marked):
    outcome = compared(expected, text, question)
    assert outcome.verdict == "differs"
    assert [text[start:end] for start, end in outcome.ranges] == [marked]


@pytest.mark.parametrize(
    ("question", "expected", "text"),
    [
        ("", "1932", "before 1932"),
        ("", "120 guests", "more than 120 guests"),
        ("", "3 km", "3 km²"),
        ("", "3 to 5 days", "3 to 6 days"),
        ("", "12", "1,200"),
        ("", "5 Mg", "5 mg"),
        ("", "5", "-\\boxed{5}"),
        ("", "5 km", "5 miles"),
        ("", "67 million", "67.4 million"),
        ("", "10 minutes", "half past ten"),
        ("", "3 October", "3 October 1990"),
        ("", "red", "green"),
        ("", "avó", "avô"),
        ("", "dessert", "desert"),
        ("", "Serie A", "Serie B"),
        ("", "his father", "her father"),
        ("", "abuelo", "abuela"),
        ("Do guests pay for the host?", "Yes", "The host pays for the guests."),
        ("Does the guest thank the host?", "Yes", "Yes, the host does thank the guest."),
        ("Who gives a gift to whom?", "The groom gives a gift to the bride.", "The bride gives a gift to the groom."),
        ("Do they eat meat or not?", "They do not eat pork", "they eat pork"),
        ("Do they eat pork?", "They eat pork.", "They don't eat pork."),
        ("靴を脱ぎますか", "靴を脱ぎます。", "靴を脱ぎません。"),
        ("Is it more than 10 or fewer?", "more than 10", "10"),
        (OPTIONS, "at nine", "A: at nine"),
        ("", "", "5"),
        ("", "5", " "),
    ],
)
def test_everything_else_is_not_known_and_a_reason_is_said(question, expected, text):
    outcome = compared(expected, text, question, "English")
    assert outcome.verdict is None
    assert outcome.reason


BEHIND = (  # ways to take back or change a value: V the right one, W another one
    "It is not true that {V}|Not {V}|{W}, not {V}|never {V}, but {W}|{V}. That is a myth.|{W} rather than {V}|{V} ({W})"
    "|many say {V}, in fact {W}|used to be {V}|{V}. Correction: {W}|hardly {V}|anything but {V}|{V} or {W}|{V} to {W}"
    "|# Myth\n{V}|**Not true**\n{V}|Wrong answers:\n{V}|{V}\n**That is wrong**|I don't know. {V}|The wrong answer is {V}"
    "|Sorry, I do not believe that. {V}|far from: {V}|should have been {V}|less than {V}|at least {V}|about {V}|No: {V}"
    "|❌ {V}|! {V}|!{V}|{V} 👎|[ ] {V}|!= {V}|¬{V}|~~{V}~~|<del>{V}</del>|<s>{V}</s>|<strike>{V}</strike>|{V}‽|{V}&#63;|{V} :("
    '|<span style="display:none">{V}</span>|≤ {V}|{V}+|~{V}|{V}–{W}|{V}/{W}|√{V}|{V}²|{V}‰|half {V}|Were it {V}'
    "|nicht {V}|nunca {V}|不是{V}|{V}ではない|ليس {V}|не {V}|{V} değil|{V} नहीं|non-{V}|1{V}|{V} 000|I hope it is not {V}"
)


@pytest.mark.parametrize("way", [*BEHIND.split("|"), "struck"])
def test_what_is_taken_back_never_agrees(way):
    for question, expected, right, wrong, language in FACTS:
        struck = "".join(f"{sign}\u0336" for sign in right)
        text = struck if way == "struck" else way.format(V=right, W=wrong)
        assert compared(expected, text, question, language).verdict != "agrees", text


AROUND = (
    '{}|{}.|{}!| {} |**{}**|`{}`|<b>{}</b>|<p>{}</p>|"{}"|«{}»|({})|{} [1]|The answer is {}|Here is my reply: {}|- {}'
    "|\ufeff{}|{}…|\n\n  The answer to use: {}\t\n|\r\n\u00a0{}\u3000\n|<answer>{}</answer>|```text\n{}\n```|1) {}"
    "|$${}$$|{} 😋|\\[{}\\]|1. {}|(1) {}|• {}|➤ {}|A: {}|### Answer\n{}|Answer:\n{}|---\n{}|\\boxed{{{}}}|The answer is $\\boxed{{{}}}$|{} 🙂"
    '|["{}"]|[ANSWER: {}]|{{"answer": "{}"}}|{{"answer": "The answer is: {}"}}'
    "|[{}](http://x.y)|&nbsp;{}|__{}__|\n\n{}\n|So, the answer is {}|It is {}|Antwort: {}|答案：{}|{} 🥟|# {}"
)


@pytest.mark.parametrize("around", [*AROUND.split("|"), "\u00ad", "\u200b", "\u2060", "NFD", "full width", "upper"])
def test_what_changes_no_meaning_turns_no_verdict(around):
    """In German "1. x" may be the first one, and the letter of an option is no label."""
    for question, expected, right, wrong, language in FACTS:
        for value, opposite in ((right, "differs"), (wrong, "agrees")):
            plain = compared(expected, value, question, language).verdict
            text = {
                "NFD": unicodedata.normalize("NFD", value),
                "full width": "".join(chr(ord(sign) + 0xFEE0) if "!" <= sign <= "~" else sign for sign in value),
                "upper": value.upper(),
            }.get(around) or (around.format(value) if "{}" in around else f"{value[0]}{around}{value[1:]}")
            verdict = compared(expected, text, question, language).verdict
            assert verdict != opposite
            assert verdict == plain or (around, language) == ("1. {}", "German") or around == "A: {}", text


@given(st.text(max_size=40), st.text(max_size=40), st.text(max_size=40))
def test_never_raises_marks_within_the_text_and_contradicts_no_equal_text(expected, text, question):
    assert all(0 <= start < end <= len(text) for start, end in compared(expected, text, question).ranges)
    assert compared(text, text, question).verdict != "differs"
    assert all(text[word.start : word.end] for word in words(text))


def test_words_keep_accents_endings_and_contractions():
    keys = [word.key for word in words("Don’t eat the Cre\u0300me br\u00adûlée's 1,200 £٢")]
    assert keys == ["don't", "eat", "the", "crème", "brûlée's", "1,200", "2"]
    assert [word.key for word in words("5km-walk 他们喝酒")] == ["5", "km", "walk", "他们", "喝酒"]


def test_content_is_what_no_function_word_or_announcement_is():
    assert [word.key for word in content("Here is my reply: They eat seven of dell'acqua Italy's fish.")] == [
        *("eat", "seven", "acqua", "italy", "fish")
    ]
    assert likely_language("Die Gäste essen kein Fleisch") == "de"
    assert [word.key for word in content("of the")] == ["of", "the"], "all, where nothing else is said"
    assert opening("Not the answer: tea") == opening("The wrong answer: tea") == 0
    assert opening("I choose option B: tea") == len("I choose option ")


def test_content_is_looked_up_in_any_form():
    text, passage = "The tamada was leading two joyful toasts", "A tamada leads each toast."
    assert [word.key for word in not_held(text, [passage])] == ["two", "joyful"]
    assert [text[start:end] for start, end in unsupported(text, [passage])] == ["two joyful"]
    assert (stem("김치를", "Korean"), stem("книги", "Russian"), stem("çayları", "Turkish")) == ("김치", "книг", "çayla")


def test_options_of_a_question():
    assert without_options(OPTIONS)[1] == {"A": "at seven;", "B": "at nine;", "C": "10 pm"}
    assert without_options("What is vitamin C: a food?") == ("What is vitamin C: a food?", {})


def test_none_and_some_are_not_known():
    assert compared("0 guests", "5 guests", "How many guests come?").verdict is None
