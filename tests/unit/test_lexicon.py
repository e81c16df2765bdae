"""The stand-in generator: its table, its slips near and far, the traps of words with two meanings."""

import json
from collections import Counter
from dataclasses import replace
from importlib import resources

import pytest
import regex

from excam.construction import generator, lexicon, lexicon_words, soft
from excam.records import Report, Sample

ROWS = [
    line.split("\t")
    for line in resources.files("excam.construction").joinpath("lexicon.tsv").read_text(encoding="utf-8").splitlines()
]


def right(answer, language="English", culture="Japan", question="What is it like?", pair="d/1/minor", lead="Answer: "):
    return Sample(
        id=f"{pair}/right",
        pair=pair,
        base="d/1",
        dataset="d",
        task="freeform",
        instruction=f"Give your answer to: '{question}'.",
        output=lead + answer,
        report=Report(),
        origin="source",
        language=language,
        culture=culture,
        stratum=culture,
        licence="MIT",
        answer=answer,
    )


def outputs(sample, severity, seeds=range(12)):
    """The different answers (without lead-in) over some seeds; none where nothing could be swapped."""
    made = [soft.soft_error(sample, severity, lexicon.answer(sample, severity, seed), "strict") for seed in seeds]
    return {one.output.removeprefix("Answer: ") for one in made if isinstance(one, Sample)}


def test_the_table_is_whole():
    header, *rows = ROWS
    assert header == ["kind", "culture", "language", "surface"]
    assert len(rows) >= 600
    assert all(len(row) == 4 and all(cell and cell == cell.strip() for cell in row) for row in rows)
    assert max(Counter((kind, language, surface) for kind, _, language, surface in rows).values()) == 1
    assert min(Counter((kind, language) for kind, _, language, _ in rows).values()) >= 2
    languages = Counter(language for _, _, language, _ in rows)
    assert len(languages) == 15
    assert min(languages.values()) >= 80
    families = {kind.partition("/")[0] for kind, *_ in rows}
    assert families == set(lexicon_words.TYPES) == set(lexicon_words.EXPLANATIONS) - {"verdict", "generic drink"}
    assert {language for language, _ in lexicon_words.GUARDS} <= set(languages)


def test_every_word_is_found_where_it_stands_alone():
    missed = [
        (entry.language, entry.surface)
        for entry in lexicon.entries()
        if (entry.language, entry.surface) not in lexicon_words.GUARDS
        and not (entry.language in lexicon_words.UNSPACED and len(entry.surface) == 1)
        and not lexicon._shape(entry.surface, entry.language).search(entry.surface)
    ]
    assert missed == []


@pytest.mark.parametrize(
    ("culture", "answer", "severity", "expected"),
    [
        ("Japan", "At home we eat sushi.", "minor", {"kimchi", "congee", "dim sum", "bulgogi", "mapo tofu"}),
        ("Japan", "At home we eat sushi.", "major", {"paella", "tacos", "haggis", "pizza", "injera"}),
    ],
)
def test_a_minor_slip_is_near_and_a_major_one_far(culture, answer, severity, expected):
    found = {text.removeprefix("At home we eat ").rstrip(".") for text in outputs(right(answer), severity, range(150))}
    assert found & expected
    homes = {e.culture for e in lexicon.entries() if e.surface in found and e.kind == "dish"}
    near = {lexicon_words.REGIONS[home] == lexicon_words.REGIONS[culture] for home in homes}
    assert near == {severity == "minor"}
    assert culture not in homes


def test_nothing_becomes_right_by_a_swap():
    foreign = right("They also like kimchi.", culture="Japan")
    for severity in ("minor", "major"):
        for text in outputs(foreign, severity, range(60)):
            assert not any(e.culture == "Japan" and e.surface in text for e in lexicon.entries() if e.kind == "dish")


def test_one_small_slip_and_up_to_three_plain_ones():
    sample = right(
        "Sushi is eaten in Tokyo with green tea. It is polite to bow. Guests always bring flowers. "
        "The yen is used. People wear a kimono in summer, and many like sumo."
    )
    counts = {"minor": set(), "major": set()}
    for severity, seen in counts.items():
        for seed in range(40):
            wrong = soft.soft_error(sample, severity, lexicon.answer(sample, severity, seed), "strict")
            seen.add(len(wrong.report.errors))
    assert counts == {"minor": {1}, "major": {1, 2, 3}}


@pytest.mark.parametrize(
    ("language", "answer", "severity", "one_of"),
    [
        ("English", "It is polite to bow.", "major", {"It is impolite to bow."}),
        ("English", "Always take off your hat in there.", "major", {"Never take off your hat in there."}),
        ("English", "Guests should wait.", "major", {"Guests should not wait."}),
        ("English", "It is not acceptable to shout.", "major", {"It is acceptable to shout."}),
        ("Chinese", "中国人过春节。", "major", {"中国人过感恩节。", "中国人过万圣节。", "中国人过排灯节。"}),
        ("Chinese", "很多人在八月回家。", "minor", {"很多人在九月回家。", "很多人在七月回家。", "很多人在三月回家。"}),
        ("Japanese", "夏は浴衣を着ます。", "minor", {"夏はチャイナドレスを着ます。", "夏はチマチョゴリを着ます。"}),
        ("Korean", "설날에는 떡국을 먹는다.", "minor", {"춘절에는 떡국을 먹는다.", "설날에는 라멘을 먹는다."}),
        ("Arabic", "نشرب القهوة كل يوم", "minor", {"نشرب الحليب كل يوم", "نشرب الشاي كل يوم"}),
        ("Hebrew", "אוכלים מצות בפסח", "major", {"אוכלים מצות באוקטוברפסט", "אוכלים מצות בחג ההודיה"}),
        ("Hungarian", "Februárban van a bál.", "minor", {"Márciusban van a bál.", "Júliusban van a bál."}),
        ("Russian", "Праздник отмечают в мае.", "minor", {"Праздник отмечают в июле.", "Праздник отмечают в марте."}),
        ("German", "Das rote Ei ist üblich.", "minor", {"Das blaue Ei ist üblich.", "Das gelbe Ei ist üblich."}),
        ("Turkish", "Mart'ta kutlanır.", "minor", {"Ocak'ta kutlanır.", "Aralık'ta kutlanır."}),
        ("Bengali", "আমরা ঢাকায় থাকি না, ঢাকার বাইরে থাকি", "minor", {"আমরা ঢাকায় থাকি না, কলকাতার বাইরে থাকি"}),
        ("Hindi", "लोग दिवाली मनाते हैं", "major", {"लोग हैलोवीन मनाते हैं", "लोग ईद मनाते हैं"}),
        ("Nepali", "हामी तिहार मनाउँछौं", "minor", {"हामी ओणम मनाउँछौं", "हामी पोंगल मनाउँछौं"}),
        ("Assamese", "ৰঙা ফুল", "minor", {"নীলা ফুল", "বগা ফুল"}),
        ("Spanish", "La bandera roja", "minor", {"La bandera negra", "La bandera blanca"}),
    ],
)
def test_languages(language, answer, severity, one_of):
    found = outputs(right(answer, language, culture=""), severity, range(60))
    assert found & one_of, found


@pytest.mark.parametrize(
    ("language", "answer"),
    [
        ("English", "It was in may; we march on for a second."),
        ("English", "They roast a turkey for the sake of peace and wear Polish."),
        ("English", "Blackmail, whitening, reddish, tenderness"),
        ("English", "The White Rabbit and the New Yorker"),
        ("Hebrew", "משקל כבד"),
        ("Chinese", "十一月的可能性"),
        ("Japanese", "アイドルとナンバー"),
        ("Korean", "감사합니다"),
        ("Kirundi", "Abarundi baranywa inzoga."),
    ],
)
def test_words_of_two_meanings_and_unknown_languages_are_left(language, answer):
    sample = right(answer, language, question="?")
    for severity in ("minor", "major"):
        assert outputs(sample, severity, range(30)) == set()


def test_unchanged_texts_are_dropped_as_no_change():
    sample = right("Qwrt.", question="Zxcv?")
    text = lexicon.answer(sample, "major", 0)
    assert generator.read(text).output == sample.output
    assert soft.soft_error(sample, "major", text, "paper").reason == "no-change"


def test_lead_ins_and_frames_are_left_alone():
    sample = right("Tea is served.", lead="The appropriate answer, polite and acceptable: ", question="Is tea polite?")
    for seed in range(20):
        said = generator.read(lexicon.answer(sample, "major", seed))
        assert said.output == sample.output
        assert said.instruction in {f"Give your answer to: 'Is tea {word}?'." for word in ("impolite", "rude")}
    framed = replace(
        sample, task="impersonation", instruction="Never lie. Context: 'It is polite.' Task: 'Is it rude?'"
    )
    said = generator.read(lexicon.answer(framed, "major", 0))
    assert said.instruction == "Never lie. Context: 'It is polite.' Task: 'Is it polite?'"


def test_a_verdict_flips_only_at_the_head():
    verdict = "Yes, explanation: There is No drama here, Yes."
    assert outputs(right(verdict), "major") == {"No, explanation: There is No drama here, Yes."}
    both = outputs(right("No, explanation: It is polite to bow."), "major", range(40))
    assert "Yes, explanation: It is impolite to bow." in both


def test_articles_particles_and_capitals_fit():
    assert outputs(right("She held an orange fan in a red bag."), "minor", range(40)) <= {
        f"She held an orange fan in a {c} bag."
        for c in ("black", "white", "yellow", "green", "blue", "purple", "golden", "pink")
    }
    assert all(text[0].isupper() for text in outputs(right("Tea is served."), "minor", range(20)))
    assert all("을" in text for text in outputs(right("떡국을 먹는다.", "Korean", ""), "minor", range(20)))


def test_answers_are_deterministic_and_differ_by_seed_pair_and_severity():
    sample = right("Sushi, ramen and mochi are eaten in Tokyo; it is polite, and everyone always bows.")
    assert lexicon.answer(sample, "major", 3) == lexicon.answer(sample, "major", 3)
    assert len({lexicon.answer(sample, "major", seed) for seed in range(10)}) > 3
    assert len({lexicon.answer(replace(sample, pair=f"d/{n}"), "minor", 0) for n in range(10)}) > 3


def test_the_explanation_keeps_to_the_rules_of_table_7():
    banned = regex.compile(
        r"\b(modif\w*|now|original\w*|swap\w*|replac\w*|introduc\w*|instruction)\b", regex.IGNORECASE
    )
    for phrasings in lexicon_words.EXPLANATIONS.values():
        assert len(phrasings) >= 2
        for phrasing in phrasings:
            assert "{new}" in phrasing
            assert not banned.search(phrasing)
    sample = right("We eat sushi.", culture="Japan")
    said = generator.read(lexicon.answer(sample, "major", 1))
    new = regex.search(r"We eat (.*)\.", said.output)[1]
    (home,) = {e.culture for e in lexicon.entries() if (e.kind, e.language, e.surface) == ("dish", "English", new)}
    assert new in said.explanation
    assert home in said.explanation
    assert said.error_type == "incorrect information about food"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{src} {0} %s \\1 \"tea\" 'tea' {", None),
        ("tea \x00 👩‍👧 \u202e tea", "control-characters"),  # no row of a benchmark holds them
        ("tea " * 20_000, "too-long"),
    ],
)
def test_hostile_texts(text, reason):
    sample = right(text, culture="}{")
    text = lexicon.answer(sample, "minor", 0)
    assert json.loads(text.removeprefix("OUTPUT: "))["Cultural Content"] == "Yes"
    made = soft.soft_error(sample, "minor", text, "strict")
    assert made.reason == reason if reason else isinstance(made, Sample)
