"""What number, date, clock time, unit or option a phrase says, by hand."""

import pytest

from excam.error_reports.comparators._lexicon import languages_of
from excam.error_reports.comparators._statements import LONG, contradiction, statement
from excam.error_reports.comparators._value import Value
from excam.error_reports.comparators._values import read_values
from excam.error_reports.comparators._words import words


def values_of(language: str, text: str) -> tuple[Value, ...]:
    known = words(text)
    return read_values(text, languages_of(known, language), known)


NUMBERS = [  # language, text, number
    ("Chinese", "二十一天", 21),
    ("Chinese", "三百零五人", 305),
    ("Chinese", "两万五千人", 25_000),
    ("Chinese", "一亿两千万人", 120_000_000),
    ("Chinese", "十人", 10),
    ("Chinese", "百人", 100),
    ("Chinese", "千人", 1000),
    ("Chinese", "万人", 10_000),
    ("Chinese", "三萬人", 30_000),
    ("Chinese", "三万零五人", 30_005),
    ("Chinese", "一人", 1),
    ("Chinese", "九人", 9),
    ("Japanese", "二億三千万人", 230_000_000),
    ("Korean", "삼백오십", 350),
    ("Korean", "천구백", 1900),
    ("Korean", "이십일", 21),
    ("Korean", "세 명", 3),
    ("English", "1,234.5", 1234.5),
    ("English", "1.234.567", 1_234_567),
    ("English", "1.234,5", 1234.5),
    ("English", "3,5", 3.5),
    ("English", "12 345", 12_345),
    ("English", "3.14", 3.14),
    ("English", "999", 999),
    ("English", "½", 0.5),
    ("English", "1½", 1.5),
    ("English", "2 ¾", 2.75),
    ("English", "2101", 2101),
    ("English", "1.5 million", 1_500_000),
    ("English", "twenty-one thousand", 21_000),
    ("English", "a hundred", 100),
    ("English", "one hundred and five", 105),
    ("English", "three hundred twenty-one", 321),
    ("English", "one hundred twenty thousand", 120_000),
    ("English", "three hundred and five thousand", 305_000),
    ("English", "a thousand and one", 1001),
    ("English", "five thousand two hundred", 5200),
    ("English", "five thousand two hundred and one", 5201),
    ("English", "two million five hundred thousand", 2_500_000),
    ("English", "two crore five lakh", 20_500_000),
    ("Hindi", "दो करोड़ पाँच लाख", 20_500_000),
    ("Hindi", "एक हज़ार पाँच सौ", 1500),
    ("Spanish", "mil quinientos cincuenta", 1550),
    ("Spanish", "dos mil quinientos millones", 2_500_000_000),
    ("Portuguese", "mil e quinhentos", 1500),
    ("French", "quatre-vingt mille deux cents", 80_200),
    ("French", "cent cinq", 105),
    ("German", "drei Millionen zweihundert", 3_000_200),
    ("German", "zweihundert fünfzig", 250),
    ("Dutch", "driehonderd", 300),
    ("Russian", "двести пятьдесят", 250),
    ("Turkish", "iki yüz elli", 250),
    ("Indonesian", "dua ribu lima ratus", 2500),
    ("Hindi", "डेढ़ सौ", 150),
    ("Hindi", "ढाई हज़ार", 2500),
    ("Hindi", "साढ़े तीन सौ", 350),
    ("Hindi", "सवा सौ", 125),
    ("English", "two and a half", 2.5),
    ("German", "zweieinhalb", 2.5),
    ("Portuguese", "dois e meio", 2.5),
]


@pytest.mark.parametrize(("language", "text", "number"), NUMBERS)
def test_numerals(language, text, number):
    (value,) = values_of(language, text)
    assert (value.kind, value.plain) == ("number", {number})


TYPED = [  # language, text, kind, what it may mean
    ("English", "1.000", "number", {1.0, 1000.0}),
    ("English", "5 km", "length", {5000.0}),
    ("English", "5 miles", "length", {8046.72}),
    ("English", "$5", "money-usd", {5.0}),
    ("English", "30 percent", "percent", {30.0}),
    ("Chinese", "百分之三十", "percent", {30.0}),
    ("English", "20°C", "temperature", {20.0}),
    ("English", "2 hours", "duration", {7200.0}),
    ("English", "3 years", "month-count", {36.0}),
    ("Chinese", "三年", "month-count", {36.0}),
    ("Chinese", "999年", "month-count", {11_988.0}),
    ("Chinese", "1999年", "year", {1999.0}),
    ("Chinese", "二〇二〇年", "year", {2020.0}),
    ("English", "1000", "year", {1000.0}),
    ("English", "2100", "year", {2100.0}),
    ("English", "2020-12-25", "date", {"12-25", "2020-12-25"}),
    ("English", "25/12/2020", "date", {"12-25", "2020-12-25"}),
    ("English", "3/4/2020", "date", {"3-4", "4-3", "2020-3-4", "2020-4-3"}),
    ("English", "12/12", "date", {"12-12"}),
    ("English", "12/5", "date", {"5-12", "12-5"}),
    ("English", "31/12", "date", {"12-31"}),
    ("English", "25.12.20", "date", {"12-25"}),
    ("English", "May 3rd", "date", {"5-3"}),
    ("English", "3rd of May", "date", {"5-3"}),
    ("English", "May 31", "date", {"5-31"}),
    ("English", "May 1", "date", {"5-1"}),
    ("Chinese", "5月3日", "date", {"5-3"}),
    ("Korean", "삼월 이십일일", "date", {"3-21"}),
    ("Korean", "십월", "month", {"10"}),
    ("English", "7 am", "clock", {420.0}),
    ("English", "7 pm", "clock", {1140.0}),
    ("English", "12 am", "clock", {0.0}),
    ("English", "12 pm", "clock", {720.0}),
    ("English", "7 o'clock", "clock", {420.0, 1140.0}),
    ("English", "13 o'clock", "clock", {780.0}),
    ("English", "19:30", "clock", {1170.0}),
    ("English", "7:05 pm", "clock", {1145.0}),
    ("English", "24:00", "clock", {0.0}),
    ("German", "19 Uhr", "clock", {1140.0}),
    ("German", "7.30 Uhr", "clock", {450.0, 1170.0}),
    ("Chinese", "三点", "clock", {180.0, 900.0}),
    ("French", "19h30", "clock", {1170.0}),
    ("Japanese", "19時30分", "clock", {1170.0}),
    ("Chinese", "九点半", "clock", {570.0, 1290.0}),
    ("Korean", "3시 반", "clock", {210.0, 930.0}),
    ("Indonesian", "pukul 8", "clock", {480.0, 1200.0}),
    ("Turkish", "saat 8", "clock", {480.0, 1200.0}),
    *(("English", text, "clock", {450.0, 1170.0}) for text in ("half past seven", "half past 7")),
    ("English", "quarter to eight", "clock", {465.0, 1185.0}),
    ("English", "quarter past 6 pm", "clock", {1095.0}),
    *(("German", text, "clock", {450.0, 1170.0}) for text in ("halb acht", "halb 8", "halb acht Uhr")),
    ("German", "viertel nach sieben", "clock", {435.0, 1155.0}),
    ("Dutch", "half acht", "clock", {450.0, 1170.0}),
    ("Spanish", "a las siete y media", "clock", {450.0, 1170.0}),
    ("Spanish", "a las ocho menos cuarto", "clock", {465.0, 1185.0}),
    ("Portuguese", "às sete e meia", "clock", {450.0, 1170.0}),
    ("Portuguese", "às sete horas", "clock", {420.0, 1140.0}),
    ("French", "à sept heures", "clock", {420.0, 1140.0}),
    ("French", "vers huit heures moins le quart", "clock", {465.0, 1185.0}),
    ("French", "19 heures 30", "clock", {1170.0}),
    ("Italian", "alle sette e mezza", "clock", {450.0, 1170.0}),
    ("Turkish", "saat yedi buçukta", "clock", {450.0, 1170.0}),
    ("Indonesian", "jam setengah delapan", "clock", {450.0, 1170.0}),
    ("Hindi", "साढ़े सात बजे", "clock", {450.0, 1170.0}),
    ("Hindi", "पौने दो बजे", "clock", {105.0, 825.0}),
    ("Hindi", "डेढ़ बजे", "clock", {90.0, 810.0}),
    ("Arabic", "الساعة السابعة والنصف", "clock", {450.0, 1170.0}),
    ("Arabic", "الساعة الثامنة إلا ربع", "clock", {465.0, 1185.0}),
    ("Russian", "в половине восьмого", "clock", {450.0, 1170.0}),
    ("French", "à sept heures de route", "duration", {25_200.0}),
    ("English", "two and a half hours", "duration", {9000.0}),
    ("Spanish", "dos horas y media", "duration", {9000.0}),
    ("Turkish", "iki buçuk saat", "duration", {9000.0}),
    ("Russian", "пять с половиной часов", "duration", {19_800.0}),
    ("French", "deux ans et demi", "month-count", {30.0}),
    ("Spanish", "dos kilos y medio", "mass", {2.5}),
    ("English", "-5 °C", "temperature", {-5.0}),
    ("English", "−5 °C", "temperature", {-5.0}),
    ("English", "minus 5 degrees", "temperature", {-5.0}),
    ("English", "5 degrees below zero", "temperature", {-5.0}),
    ("German", "fünf Grad unter null", "temperature", {-5.0}),
    ("Russian", "минус пять градусов", "temperature", {-5.0}),
    ("Japanese", "マイナス5度", "temperature", {-5.0}),
    ("Chinese", "零下5度", "temperature", {-5.0}),
    ("Korean", "영하 5도", "temperature", {-5.0}),
    ("English", "Option B", "option", {"B"}),
    ("English", "The answer is C.", "option", {"C"}),
    ("English", "May", "month", {"5"}),
    ("English", "Yes, they do", "yes-no", {"yes"}),
]


@pytest.mark.parametrize(("language", "text", "kind", "readings"), TYPED)
def test_typed_values(language, text, kind, readings):
    (value,) = values_of(language, text)
    assert (value.kind, value.values) == (kind, readings)


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("32/12", ["number", "number"]),
        ("13/13", ["number", "number"]),
        ("May 32", ["month", "number"]),
        ("They may come", []),
        ("day and night, 24/7", ["part-of-day", "number", "number"]),
        ("No. 1", ["number"]),
        ("No. It is not", ["yes-no"]),
        ("vitamin C.", []),
        ("3 million. One of them", ["number", "number"]),
        ("five hundred, six of them", ["number", "number"]),
        ("10-15 °C", ["number", "temperature"]),
        ("a quarter to share", []),
        ("half past", []),
        ("quarter to 30", ["number"]),
    ],
)
def test_what_is_no_date_no_letter_and_no_longer_numeral(text, kinds):
    assert [value.kind for value in values_of("English", text)] == kinds


@pytest.mark.parametrize(("text", "celsius"), [("10-15 °C", 15), ("10 -15 °C", 15), ("10 to -15 °C", -15)])
def test_a_hyphen_between_two_numbers_is_no_sign(text, celsius):
    assert values_of("English", text)[1].values == {celsius}


@pytest.mark.parametrize(
    ("language", "expected", "text", "differ"),
    [
        ("English", "They eat at 7:30 pm.", "They eat at half past seven.", False),
        ("English", "They eat at 7 pm.", "They eat at half past seven.", True),
        ("German", "Sie essen um 19:30 Uhr.", "Sie essen um halb acht.", False),
        ("German", "Sie essen um 8 Uhr.", "Sie essen um halb acht.", True),
        ("Hindi", "वे 7:30 बजे खाते हैं।", "वे साढ़े सात बजे खाते हैं।", False),
        ("Hindi", "वे 7 बजे खाते हैं।", "वे साढ़े सात बजे खाते हैं।", True),
        ("English", "It is 5 °C in winter.", "It is -5 °C in winter.", True),
        ("English", "It is 5 °C below zero in winter.", "It is -5 °C in winter.", False),
    ],
)
def test_half_hours_and_frost_decide_between_statements(language, expected, text, differ):
    contrast = contradiction(statement(expected, language), statement(text, language), statement("", language))
    assert (contrast is not None) is differ


@pytest.mark.parametrize(
    ("language", "text", "weak"),
    [
        ("English", "one", True),
        ("English", "zero", True),
        ("English", "first", True),
        ("English", "second", True),
        ("English", "1st", False),
        ("English", "two", False),
        ("English", "third", False),
        ("English", "one thousand", False),
        ("Chinese", "一个人", True),
        ("Chinese", "两个人", False),
    ],
)
def test_words_that_seldom_mean_their_number(language, text, weak):
    assert values_of(language, text)[0].weak is weak


def test_content_is_what_a_statement_says():
    assert [unit.key for unit in statement("They drink green tea.", "English").content()] == [
        "drink",
        "colour=green",
        "tea",
    ]


@pytest.mark.parametrize(("more", "decides"), [(LONG - 2, True), (LONG - 1, False)])
def test_a_colour_decides_between_statements_of_at_most_sixteen_words(more, decides):
    names = " ".join(f"{letter * 4}" for letter in "bcdfghjklmnpqrstvwxz"[:more])
    expected, text = statement("red", "English"), statement(f"white dress {names}", "English")
    assert len(text.content()) == more + 2
    assert (contradiction(expected, text, statement("", "English")) is not None) is decides
