"""Questions that speak of the options beside them, in every language of the benchmarks with options."""

import csv
import gzip
import random
import re
from pathlib import Path

import pytest
from base_samples import base

from excam.excam40k.construction import option_phrases, wrapping

EXAMS = Path(__file__).parents[3] / "shared/data/external/exams-humanities/exams_humanities_4opt.csv.gz"
ASKED = {  # language -> "Which of the following cities ...?" and the like
    "Albanian": "Cili nga qytetet e mëposhtme është kryeqytet?",
    "Arabic": "أي مما يلي يعد من أركان الإسلام؟",
    "Armenian": "Հետևյալ քաղաքներից ո՞րն է մայրաքաղաքը:",
    "Azerbaijani": "Aşağıdakılardan hansı milli bayramdır?",
    "Basque": "Hauetako zein da hiriburua?",
    "Belarusian": "Які з пералічаных гарадоў з'яўляецца сталіцай?",
    "Bengali": "নিচের কোনটি জাতীয় ফুল?",
    "Bulgarian": "Кой от посочените градове е столица?",
    "Chinese": "下列哪个城市是首都？",
    "Croatian": "Koji je od navedenih gradova glavni grad?",
    "Dutch": "Welke van de volgende steden is de hoofdstad?",
    "English": "Which of these cities is the capital?",
    "Estonian": "Milline järgmistest linnadest on pealinn?",
    "Finnish": "Mikä seuraavista kaupungeista on pääkaupunki?",
    "French": "Laquelle des villes suivantes est la capitale ?",
    "Georgian": "ჩამოთვლილთაგან რომელია დედაქალაქი?",
    "German": "Welche der folgenden Städte ist die Hauptstadt?",
    "Greek": "Ποια από τις παρακάτω πόλεις είναι πρωτεύουσα;",
    "Hebrew": "איזו מהערים הבאות היא הבירה?",
    "Hindi": "निम्नलिखित में से कौन सा शहर राजधानी है?",
    "Hungarian": "Az alábbi városok közül melyik a főváros?",
    "Indonesian": "Manakah dari kota berikut yang merupakan ibu kota?",
    "Italian": "Quale delle seguenti città è la capitale?",
    "Japanese": "次のうち首都はどれですか。",
    "Kazakh": "Төмендегі қалалардың қайсысы астана?",
    "Korean": "다음 중 수도는?",
    "Lithuanian": "Kuris iš išvardytų miestų yra sostinė?",
    "Macedonian": "Кој од долунаведените градови е главен град?",
    "Malay": "Antara berikut, yang manakah ibu negara?",
    "Malayalam": "താഴെ പറയുന്നവയിൽ തലസ്ഥാനം ഏത്?",
    "Nepali": "तलका मध्ये कुन सहर राजधानी हो?",
    "Persian": "کدام گزینه پایتخت است؟",
    "Polish": "Które z poniższych miast jest stolicą?",
    "Portuguese": "Qual das seguintes cidades é a capital?",
    "Russian": "Какой из перечисленных городов является столицей?",
    "Serbian": "Који је од наведених градова главни град?",
    "Spanish": "¿Cuál de las siguientes ciudades es la capital?",
    "Tagalog": "Alin sa mga sumusunod ang kabisera?",
    "Tamil": "பின்வருவனவற்றுள் தலைநகரம் எது?",
    "Telugu": "క్రింది వాటిలో రాజధాని ఏది?",
    "Turkish": "Aşağıdakilerden hangisi başkenttir?",
    "Ukrainian": "Яке з наведених міст є столицею?",
    "Urdu": "درج ذیل میں سے کون سا شہر دارالحکومت ہے؟",
    "Uzbek": "Quyidagi shaharlarning qaysi biri poytaxt?",
    "Vietnamese": "Thành phố nào sau đây là thủ đô?",
}
ALONE = (  # need no options
    "What is the capital of France?",
    "What do people do in the week following the wedding?",
    "Was ist die Hauptstadt von Österreich?",
    "Quelle est la capitale du Sénégal ?",
    "¿Cuál es la capital de Chile?",
    "Столица Казахстана — это какой город?",
    "Jaka jest stolica Polski?",
    "Ibu kota Indonesia adalah",
    "Türkiye'nin başkenti neresidir?",
    "日本の首都はどこですか。",
    "대한민국의 수도는 어디인가?",
    "پایتخت ایران کجاست؟",
    "Thủ đô của Việt Nam là gì?",
    "Di manakah letak Candi Borobudur?",
    "¿A qué grupo pertenece el mate?",
    "من أين هذه العادة؟",
    "भारत की राजधानी कौन सी है?",
    "한국에서 이 중요한 날은 언제인가요?",
    "18岁以上的中国人喝什么？",
    "Apa makanan di antara waktu makan siang dan malam?",
    "Welche Partei wählen junge Leute in Österreich?",
    "Πού ανήκει η Κέρκυρα;",
)
TOLD = (  # in the words of the exams' own languages, "of the following" and "from the list"
    r"nào sau đây|sau đây,|aşağıda|seguent[ei] (?:afferma|stat)|\bnavedenih|\bnavedene|долунавед|наведених|изброените|"
    r"посочените|alábbi|mëposhtme|seguintes (?:afirm|altern)|مما يلي|folgenden|suivantes|siguientes|išvardyt|nurodyt"
)


@pytest.mark.parametrize("language", ASKED)
def test_of_the_following_in_every_language(language):
    question = ASKED[language]
    assert re.search(option_phrases.phrases()[language], question, re.I), "by its own language's phrases"
    assert option_phrases.question_needs_options(question)
    assert wrapping.variants(base(question=question), "hard") == ("options",)


def test_every_language_of_the_list_is_tested():
    assert list(option_phrases.phrases()) == list(ASKED), "sorted, each once"
    assert sorted(ASKED) == list(ASKED)


@pytest.mark.parametrize("question", ALONE)
def test_a_question_that_needs_no_options_keeps_its_freeform_version(question):
    assert not option_phrases.question_needs_options(question)
    assert wrapping.variants(base(question=question), "hard") == ("options", "freeform")


@pytest.mark.parametrize(
    "question",
    [
        "What is served to guests?\nRead the following statements and select the option that includes all of them.",
        "All of these are dances except:", "Which statement about tea is true?", "How do people NOT greet each other?",
        "La monnaie …", "Who ruled? A Aristocrats. B Farmers. C Workers.",
        "De las ciudades que aparecen abajo, ¿cuál es la capital?", "¿Cuál de las palabras no pertenece al grupo?",
        "Elige la respuesta.", "من بين هذه المدن، أيها العاصمة؟", "أي الجمل صحيحة؟",
        "दिए गए शहरों में राजधानी कौन सी है?", "बेमेल शब्द छाँटिए", "이 중 수도는 어디입니까?", "어느 것이 수도입니까?", "这些城市中哪个是首都？",
        "哪种说法对？", "Kota mana di antara ini yang merupakan ibu kota?", "Was gehört nicht dazu?",
        "Welche von den Städten ist die Hauptstadt?", "Τι δεν ανήκει στην ομάδα;",
    ],
)  # fmt: skip
def test_other_questions_without_sense_alone(question):
    assert option_phrases.question_needs_options(question)


def test_real_exam_questions_do_not_slip_through():
    if not EXAMS.exists():
        pytest.skip("no exam questions beside the repository")
    with gzip.open(EXAMS, "rt", encoding="utf-8") as stream:
        questions = [row["question"] for row in csv.DictReader(stream)]
    drawn = random.Random(1).sample(questions, 1000)
    alone = [question for question in drawn if not option_phrases.question_needs_options(question)]
    assert 650 < len(alone) < 850
    assert not [question for question in alone if re.search(TOLD, question, re.I)]
