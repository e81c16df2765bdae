"""The generator without a model: its tables, what it exchanges and what it leaves out, with the reason."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import pytest
import regex
from text_tables import table

from excam.error_reports.records import Report, Sample
from excam.excam40k import datasets
from excam.excam40k.construction import generator, lexicon, lexicon_exchanges, lexicon_tables, norms, soft, wrapping
from excam.excam40k.construction.lexicon_words import EXPLANATIONS, HOMES, TYPES, UNSPACED

ROOT = Path(__file__).parents[2]
SOFT = ("calmqa", "mango", "nativqa", "normad")
FOLDERS = {
    f"{place.name}/{name}": place / name
    for place in (ROOT / "mini", ROOT.parent / "shared" / "data")
    for name in SOFT
    if any((place / name).glob("*"))
}
SEEDS = range(25)


def right_sample(
    answer, language="English", culture="Japan", task="generation", pair="d/1/minor", question="What is it?"
):
    return Sample(
        f"{pair}/right", pair, "d/1", "d", task, f"Give your answer to: '{question}'.", f"Answer: {answer}", Report(),
        "source", language, culture, culture, "MIT", answer,
    )  # fmt: skip


def free(answer, language, **fields):
    """A row as CaLMQA has it: no culture is named, the language stands for it."""
    return right_sample(answer, language, culture=language, task="freeform", **fields)


def made(sample, severity, seed=0, exchange=None):
    """The corrupted version, or the reason why there is none."""
    said = lexicon.answer(sample, severity, seed, exchange)
    if isinstance(said, lexicon.LeftOut):
        return said.reason
    outcome = soft.soft_error(sample, severity, said, "strict")
    assert isinstance(outcome, Sample), outcome
    return outcome


def outputs(sample, severity):
    """The answers, without lead-in, that some seeds give; none where the row is left out."""
    outcomes = [made(sample, severity, seed) for seed in SEEDS]
    return {outcome.output.removeprefix("Answer: ") for outcome in outcomes if isinstance(outcome, Sample)}


def base_samples(folder, seed):
    benchmark = datasets.load(folder.name)
    bases = list(benchmark.read(folder).samples())
    everywhere = {base.group or base.id: "train" for base in bases}
    return wrapping.right_samples(bases, benchmark.ERRORS, benchmark.SOURCE.licence, seed, everywhere)


@pytest.mark.parametrize("folder", FOLDERS.values(), ids=FOLDERS)
def test_what_holds_of_every_row(folder):
    kept = 0
    for seed in (1, 2):
        samples = list(base_samples(folder, seed))
        exchanges = norms.exchanges(samples, "minor", seed) | norms.exchanges(samples, "major", seed)
        for sample in samples:
            exchange = exchanges.get(sample.pair)
            wrong = made(sample, sample.pair.rpartition("/")[2], seed, exchange)
            if isinstance(wrong, str):
                continue
            kept += 1
            assert wrong.instruction == sample.instruction  # both versions share it
            assert {error.where for error in wrong.report.errors} == {"output"}
            assert len({error.type for error in wrong.report.errors}) == 1
            assert len(wrong.report.errors) <= (1 if wrong.origin == "soft-minor" else 2)
            start = sample.output.rfind(sample.answer)
            assert wrong.output[:start] == sample.output[:start]
            for error in wrong.report.errors:
                named = sample.answer.partition(",")[0] if exchange else error.span  # the verdict that the rule gives
                assert f"'{named}'" in wrong.report.explanation
                around = wrong.output[max(error.start - 1, 0) : error.start], wrong.output[error.end : error.end + 1]
                if sample.language not in UNSPACED:
                    assert not any(regex.match(r"[\p{L}\p{M}\p{N}]", character) for character in around)
    assert kept > 0 or "mango_sample.jsonl" in {path.name for path in folder.iterdir()}


def test_enough_rows_of_the_mini_benchmarks_are_kept():
    for name in SOFT:
        samples = base_samples(ROOT / "mini" / name, 0)
        outcomes = [made(sample, sample.pair.rpartition("/")[2]) for sample in samples]
        kept = {outcome.pair for outcome in outcomes if isinstance(outcome, Sample)}
        kept |= {pair for severity in ("minor", "major") for pair in norms.exchanges(samples, severity, 0)}
        assert len(kept) >= (0.25 if name == "normad" else 0.75) * len(outcomes), "of a story no word is negated"


def test_the_tables_are_whole():
    items = lexicon_tables.items()
    edits = [edit for language in HOMES for edit in lexicon_tables.edits_of(language)]
    assert len(items) == len(set(items))
    cues, languages = ({row[0] for row in lexicon_tables.table("lexicon_cues.tsv")}, {item.language for item in items})
    assert set(HOMES) == cues == languages >= {edit.language for edit in edits}
    assert {item.family for item in items} | {edit.kind for edit in edits} | {"year"} == set(TYPES)
    assert set(TYPES) == set(EXPLANATIONS)
    assert all(len(phrasings) == 2 for phrasings in EXPLANATIONS.values())
    kinds = {(item.language, item.kind): set() for item in items}
    for item in items:
        kinds[item.language, item.kind].add(item.culture)
    assert [kind for kind, cultures in kinds.items() if len(cultures) < 2] == []


def test_whole_words_only():
    for item in lexicon_tables.items():
        pattern = lexicon_tables.pattern_of(item)
        assert pattern.search(item.surface), item
        if item.language not in UNSPACED:
            letter = next(character for character in item.surface if character.isalpha())
            assert not pattern.search(f"{letter}{letter}{letter}{item.surface}"), item
            assert not pattern.search(f"{item.surface}{letter}{letter}{letter}"), item
            assert not pattern.search(f"{item.surface}-{letter}"), item


@pytest.mark.parametrize(("language", "answer"), table(__file__, "parts_of_words_and_dates_are_left"))
def test_parts_of_words_and_dates_are_left(language, answer):
    assert outputs(free(answer, language), "major") == set()


BRUSH = "Always brush your teeth after breakfast. Some dentists disagree."


@pytest.mark.parametrize(
    ("sample", "severity", "reason"),
    [
        (free("Abarundi baranywa inzoga.", "Kirundi"), "minor", "unknown-language"),
        (free("Coffee contains caffeine; tea contains less of it.", "English"), "major", "no-cultural-word"),
        (free(BRUSH, "English"), "minor", "no-cultural-word"),
        (free("Onions keep for weeks in a cold cellar in March.", "English"), "minor", "no-cultural-word"),
        (free("गायक का निधन शनिवार को हुआ।", "Hindi"), "minor", "no-cultural-word"),
        (free("It is one of the twenty bodies of the solar system.", "English"), "major", "no-cultural-word"),
        (free("The wedding was long.", "English"), "minor", "no-safe-exchange"),
        (right_sample("A dog barks."), "major", "no-safe-exchange"),
        (right_sample("They attend Mass at church."), "minor", "no-safe-exchange"),  # no article
        (right_sample("How are you, mate? Almost always fine."), "major", "no-safe-exchange"),
        (right_sample("Families often bow and usually wait."), "minor", "no-safe-exchange"),
        (right_sample("People eat sushi, ramen and tempura."), "major", "no-safe-exchange"),  # a list
    ],
)
def test_why_a_row_is_left_out(sample, severity, reason):
    assert {made(sample, severity, seed) for seed in SEEDS} == {reason}


@pytest.mark.parametrize(
    ("language", "answer", "severity", "one_of"),
    [
        ("German", "Das Oktoberfest ist Tradition.", "major", {"Das Diwali-Fest ist Tradition."}),
        ("German", "Es ist Brauch und höflich, zu warten.", "major", {"Es ist Brauch und unhöflich, zu warten."}),
        ("Spanish", "La mantilla es una prenda.", "major", {"La chilaba es una prenda.", "La abaya es una prenda."}),
        ("Russian", "На Масленицу пекут пироги.", "minor", {"На Тбилисобу пекут пироги."}),
        ("Hebrew", "אוכלים מצות בפסח", "major", {"אוכלים מצות ברמדאן"}),
        ("Hebrew", "לפי ההלכה הדבר אסור לכול", "major", {"לפי ההלכה הדבר מותר לכול"}),
        ("Arabic", "ولا يجوز الصلاة قبله", "major", {"ويجب الصلاة قبله"}),
        ("Arabic", "نصوم في شهر رمضان", "minor", {"نصوم في شهر شعبان", "نصوم في شهر رجب", "نصوم في شهر شوال"}),
        ("Hindi", "भगवान शिव की पूजा होती है", "minor", {"भगवान ब्रह्मा की पूजा होती है", "भगवान विष्णु की पूजा होती है"}),
        ("Hindi", "यह शुक्ल पक्ष में है", "minor", {"यह कृष्ण पक्ष में है"}),
        ("Hungarian", "A gulyás hagyomány.", "major", {"A ramen hagyomány.", "A szusi hagyomány."}),
        ("Korean", "설날에는 한복을 입는다.", "major", {"설날에는 킬트를 입는다.", "설날에는 사롱을 입는다."}),
        ("Japanese", "夏は浴衣を着ます。", "major", {"夏はサリーを着ます。"}),
        ("Chinese", "中国人过中秋节。", "minor", {"中国人过女儿节。", "中国人过秋夕。"}),
        ("Turkish", "Ramazan Bayramı'nda gidilir.", "major", {"Paskalya Bayramı'nda gidilir."}),
        ("Nepali", "हामी दशैंमा खान्छौं", "minor", {"हामी ओणममा खान्छौं"}),
        ("Bengali", "এটি জামদানি শাড়ি", "major", {"এটি বাটিক শাড়ি"}),
        ("Assamese", "ভোগালী বিহু উৎসৱ", "minor", {"দশাইন উৎসৱ"}),
    ],
)
def test_languages(language, answer, severity, one_of):
    assert outputs(free(answer, language), severity) & one_of


def test_form_and_agreement_are_kept():
    assert all(
        (word[0] in "aeiou") == (article == "an")
        for text in outputs(right_sample("She wears a kimono, they say."), "major")
        for article, word in [regex.search(r"wears (an?) (\w+)", text).groups()]
    )
    for text in outputs(free("한복을 입는 명절", "Korean"), "major"):
        word, particle = regex.match(r"(\p{L}+?)([을를]) ", text).groups()
        assert (lexicon_exchanges.final_sound(word[-1]) == "vowel") == (particle == "를")
    assert outputs(right_sample("Always bow."), "major") == {"Never bow."}
    assert outputs(right_sample("One must always bow, always."), "major") <= {"One must never bow, always."}
    assert outputs(right_sample("An elderly person eats."), "minor") == {"A young person eats."}


def test_an_instruction_with_listed_words_stays():
    sample = right_sample("Tea.", question="Is it polite to eat sushi with both hands at a wedding?")
    story = right_sample("Yes, explanation: At dinner she ate sushi.", task="impersonation")
    for severity in ("minor", "major"):  # what happened in the story is no custom; a verdict is not flipped alone
        assert made(sample, severity) == made(story, severity) == "no-safe-exchange"


def test_the_norm_that_judges_a_story_is_not_negated():
    sample = right_sample("No, explanation: Yes, it is polite to bow.", task="impersonation")
    assert outputs(sample, "major") == set()
    assert outputs(replace(sample, answer=f"{sample.answer[:-1]}, a sign of respect."), "minor") == set()
    assert outputs(replace(sample, task="generation"), "major") == {"No, explanation: Yes, it is impolite to bow."}


def test_nothing_of_the_culture_itself_is_put_in():
    named = right_sample("In Korea they eat sushi.", culture="Japan", question="And in India?")
    homes = {"Japan", "South Korea", "India"}
    for severity in ("minor", "major"):
        for text in outputs(named, severity):
            new = regex.search("eat (.*)[.]", text)[1]
            assert not homes & {item.culture for item in lexicon_tables.items() if item.surface == new}
    assert outputs(free("Los mexicanos comen sushi por tradición.", "Spanish"), "major") == set()  # not theirs


def test_a_minor_error_is_near_and_a_major_one_far():
    near = {item.surface for item in lexicon_tables.items() if item.culture in ("China", "South Korea", "Mongolia")}
    sample = right_sample("They drink matcha.")
    assert {text[11:-1] for text in outputs(sample, "minor")} <= near
    assert not {text[11:-1] for text in outputs(sample, "major")} & near
    assert not outputs(right_sample("They wear a yukata."), "minor"), "a foreign dress is no near miss"


@pytest.mark.parametrize(("answer", "severity", "kind"), table(__file__, "types"))
def test_types(answer, severity, kind):
    wrong = made(right_sample(answer), severity)
    assert {error.type for error in wrong.report.errors} == {kind}


def test_overgeneralisation_strengthens():
    edits = [edit for language in HOMES for edit in lexicon_tables.edits_of(language)]
    stronger = {"all", "always", "alle", "todos", "все", "सभी", "جميع", "모든", "所有人", "すべての", "minden", "সবাই"}
    assert {edit.new.lower() for edit in edits if edit.kind == "general"} <= stronger
    for weaker in ("All families bow.", "Families always bow, never sit.", "Everybody bows."):
        assert not isinstance(made(right_sample(weaker), "minor"), Sample)


def test_one_error_or_two_of_one_type():
    customs = "It is polite to bow. They celebrate Obon. One must wait. They wear a kimono. Always use your right hand."
    sample = right_sample(customs)
    counts = {"minor": set(), "major": set()}
    for severity, seen in counts.items():
        for seed in SEEDS:
            wrong = made(sample, severity, seed)
            seen.add(len(wrong.report.errors))
            assert len({error.type for error in wrong.report.errors}) == 1
    assert counts == {"minor": {1}, "major": {1, 2}}


def test_answers_are_deterministic_and_differ_by_seed_pair_and_severity():
    sample = right_sample("They celebrate Obon; it is polite to bow. Use your right hand, and always show respect.")
    assert lexicon.answer(sample, "major", 3) == lexicon.answer(sample, "major", 3)
    assert len({lexicon.answer(sample, "major", seed) for seed in SEEDS}) > 5
    assert len({lexicon.answer(replace(sample, pair=f"d/{n}"), "minor", 0) for n in range(20)}) > 2
    assert lexicon.answer(sample, "minor", 0) != lexicon.answer(sample, "major", 0)


def test_the_explanation_keeps_to_the_rules_of_table_7():
    words = r"(?i)\b(modif\w*|now|original\w*|swap\w*|replac\w*|introduc\w*|instruction|confus\w*)\b"
    banned = regex.compile(words)
    for phrasings in EXPLANATIONS.values():
        assert all("{new}" in phrasing and not banned.search(phrasing) for phrasing in phrasings)
    wrong = made(right_sample("They celebrate Obon."), "major", 1)
    (error,) = wrong.report.errors
    english = [item for item in lexicon_tables.items() if item.language == "English"]
    (home,) = {item.culture for item in english if item.surface == error.span}
    assert error.span in wrong.report.explanation
    assert home in wrong.report.explanation


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{src} {0} %s \\1 kimono 'tea' {", ""),
        ("kimono \x00 \u202e tea", "control-characters"),  # no row of a benchmark holds them
        ("kimono " * 12_000, "read-and-rejected"),
    ],
)
def test_hostile_texts(text, reason):
    said = lexicon.answer(right_sample(text, culture="}{"), "major", 0)
    if isinstance(said, lexicon.LeftOut):
        assert said.reason == (reason or "no-safe-exchange")
        return
    assert json.loads(said.removeprefix("OUTPUT: "))["Cultural Content"] == "Yes"
    assert generator.read(said).cultural
    outcome = soft.soft_error(right_sample(text, culture="}{"), "major", said, "strict")
    assert outcome.reason == reason if reason else isinstance(outcome, Sample)


def test_an_answer_that_was_read_and_rejected_is_left_out_by_lexicon_alone(monkeypatch):
    sample = free("Zu Ostern isst man in Deutschland Sauerkraut.", "German")
    assert lexicon.answer(sample, "minor", 1) != lexicon.LeftOut("read-and-rejected")
    digest = hashlib.sha256(sample.answer.encode()).hexdigest()[:16]
    monkeypatch.setattr(lexicon_tables, "_rejected", lambda: frozenset({digest}))
    assert lexicon.answer(sample, "minor", 1) == lexicon.LeftOut("read-and-rejected")
    monkeypatch.undo()
    assert {len(entry) for entry in lexicon_tables._rejected()} == {16}
