"""Templates in the language of the row: spans, punctuation, letters, explanations, and which rows have none."""

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from base_samples import SEED, acting, base, wrapped
from build_excam40k import SHARES, script
from text_tables import table

from excam.core.exceptions import ConfigInvalid
from excam.error_reports.records import BaseSample, Sample
from excam.excam40k.audits import balance, views
from excam.excam40k.construction import hard, splits, templates, wrapping

LOCAL = sorted(templates.languages().keys() - {templates.ENGLISH})
TEXTS = table(__file__, "TEXTS")
CULTURES = {"ar": "Algeria", "de": "Austria", "el": "Greece", "es": "Mexico", "hi": "India", "id": "West Java"}
CULTURES |= {"ko": "South Korea", "zh": "China"}
TWICE = re.compile(r"[.?!。？！।؟;:：][)'\"»”’“]?[.?。？।؟]|[;；؛·]{2}|[,،，]{2}")


def local(code: str, number: int = 0, **changes) -> BaseSample:
    language, question, answer, wrong = TEXTS[code]
    fields = {"question": question, "answer": answer, "wrong": wrong, "options": (answer, *wrong)}
    return base(number, **{**fields, "language": language, "culture": CULTURES[code], **changes})


def of_task(code: str, task: str) -> BaseSample:
    if task == "qa":
        return local(code)
    role = acting(role="Age: 30", context=TEXTS[code][1]) if task == "impersonation" else base()
    return local(code, task=task, options=(), role=role.role, context=role.context)


def in_own(bases: list[BaseSample], seed: int = SEED) -> list[Sample]:
    where = dict.fromkeys((row.group or row.id for row in bases), "train")
    return wrapping.right_samples(bases, "hard", "MIT", seed, where, templates.languages())


def lines_of(code: str, task: str) -> list[tuple[str, ...]]:
    """Every template of a task at least once, beside others of its task."""
    slots = [slot for slot in templates.SLOTS if slot.startswith(f"{task}/")]
    names = [templates.names(templates.in_language(slot, code)) for slot in slots]
    numbers = range(max(map(len, names)))
    return [tuple(slot_names[number % len(slot_names)] for slot_names in names) for number in numbers]


def test_every_language_has_every_slot_and_says_who_read_it():
    assert len(LOCAL) == 8
    for code in LOCAL:
        assert templates.languages()[code].native_reader is None, "name the reader in languages.yaml"
        for slot in templates.SLOTS:
            names = templates.names(f"{code}/{slot}")
            assert len(names) == (1 if slot == "generation/output" else 12)
            assert all(templates.language_of(name) == code for name in names)
            assert not any(map(templates.printed_in_paper, names))


def test_ids_without_a_code_are_english():
    assert templates.language_of("qa/output/07") == templates.language_of("xx/qa/output/07") == "en"
    assert templates.in_language("qa/output", "en") == "qa/output"
    for unknown in ("xx/qa/output/01", "es/qa/output/13", "es/output/01", "es/es/qa/output/01", "en/qa/output/01"):
        with pytest.raises(ConfigInvalid, match="no such"):
            templates.paraphrase(unknown)


@pytest.mark.parametrize(("name", "code"), [("Spanish", "es"), ("Mandarin", "zh"), ("Kirundi", None), ("", None)])
def test_languages_are_known_by_their_names(name, code):
    assert templates.code_of(name) == code


@pytest.mark.parametrize("task", ["qa", "freeform", "generation", "impersonation"])
@pytest.mark.parametrize("code", LOCAL)
def test_every_template_renders_a_row_with_exact_spans(code, task):
    row = of_task(code, task)
    variant = "options" if task == "qa" else "single"
    for ids in lines_of(code, task):
        for answer in (row.answer, *row.wrong):
            instruction, output = wrapping.render(row, answer, variant, ids, SEED)
            start = wrapping.answer_start(row, answer, variant, ids, SEED)
            assert output[start : start + len(answer)] == answer
            assert row.question in instruction
            assert row.context in instruction
            assert not re.search(r"[{}]|  ", instruction + output)
            assert not TWICE.search(instruction), instruction


@pytest.mark.parametrize("code", LOCAL)
def test_explanations_name_both_answers_and_double_no_mark(code):
    row = local(code)
    for slot in (slot for slot in templates.SLOTS if slot.startswith("hard/")):
        for name in templates.names(templates.in_language(slot, code)):
            for wrong in row.wrong:
                text = templates.fill(templates.paraphrase(name), {"right": row.answer, "wrong": wrong})
                assert row.answer in text
                assert not re.search(r"[{}]|  ", text)
                assert not TWICE.search(text.replace(":", "")), text


@pytest.mark.parametrize("code", LOCAL)
def test_frames_are_written_in_the_script_of_the_language(code):
    """No line has words of another script, but for the letters of options."""
    script = {"ar": "؀-ۿ", "el": "Ͱ-Ͽἀ-῿", "hi": "ऀ-ॿ", "ko": "가-힣", "zh": "一-鿿"}.get(code, "A-Za-zÀ-ɏ")
    for slot in templates.SLOTS:
        for line in templates.paraphrases(f"{code}/{slot}"):
            words = re.sub(r"\{\w+\}", "", line)
            assert not re.search(rf"[^\W\d_{script}]", words), line
            assert code not in ("ar", "zh") or not re.search(r"[,;?]", words), line
            assert code != "zh" or not re.search(r"[.:]", words), line
            assert code != "hi" or not words.endswith("."), line


@pytest.mark.parametrize("code", LOCAL)
def test_the_error_of_a_local_row_is_exact_and_explained_in_its_language(code):
    bases = [local(code, number) for number in range(60)]
    right = in_own(bases)
    wrong, _ = hard.hard_errors(right, {row.id: row for row in bases}, SEED)
    kinds = [templates.names(f"{code}/hard/{kind}") for kind in ("explanation", "explanation_culture")]
    lines = [templates.paraphrase(name) for names in kinds for name in names]
    used = set()
    for sample in wrong:
        (error,) = sample.report.errors
        assert error.span == sample.output[error.start : error.end]
        values = {"right": TEXTS[code][2], "wrong": error.span}
        used |= {line for line in lines if templates.fill(line, values) == sample.report.explanation}
        assert all(templates.language_of(name) == code for name in sample.templates)
    assert len(used) > 12, "the question names its culture"


@pytest.mark.parametrize("code", LOCAL)
def test_a_culture_is_found_by_its_local_name(code):
    assert hard.names_culture(local(code))
    assert not hard.names_culture(local(code, culture="Peru"))
    assert not hard.names_culture(local(code, question="?"))


def test_local_templates_claim_no_majority_and_a_culture_only_where_english_ones_do():
    """Words that only the conditional lines may have."""
    claims = {
        "explanation": {
            "ar": "ثقاف|البلد", "de": "kultur|Land", "el": "πολιτισμ|χώρα", "es": "cultur|país", "hi": "संस्कृति|सांस्कृतिक|देश",
            "id": "budaya|negara", "ko": "문화|나라", "zh": "文化|国家",
        },
        "explanation_opinion": {
            "ar": "أغلبية|معظم|نصف|أقلية|السائد|الغالب", "de": "meisten|Mehrheit|Hälfte|Minderheit|typisch|vorherrsch",
            "el": "περισσότεροι|πλειοψηφία|μισ|μειοψηφία|τυπικ|επικρατ", "es": "mayor(?:ía|itari|parte)|mitad|minor|típic|predomin",
            "hi": "बहुमत|अधिकांश|ज़्यादातर|आधे|अल्पमत", "id": "mayoritas|kebanyakan|separuh|minoritas|tipikal|dominan",
            "ko": "과반|절반|다수|대부분|소수|전형", "zh": "多数|过半|一半|少数|典型|主流|主导",
        },
    }  # fmt: skip
    for kind, words in claims.items():
        for code in LOCAL:
            for line in templates.paraphrases(f"{code}/hard/{kind}"):
                assert not re.search(words[code], line, re.I), line
    for code in LOCAL:
        lines = templates.paraphrases(f"{code}/hard/explanation_culture")
        assert sum(re.search(claims["explanation"][code], line, re.I) is not None for line in lines) > 6, code


@pytest.mark.parametrize("code", LOCAL)
def test_audits_read_options_and_letters_of_every_language(code):
    samples = in_own([local(code, number) for number in range(40)])
    fields = [(sample.instruction, sample.output, list(sample.templates)) for sample in samples]
    rows = pl.DataFrame(fields, ["instruction", "output", "templates"], orient="row")
    shown, letters = views.options_shown(rows), views.letter(rows)
    for sample, count, letter in zip(samples, shown, letters, strict=True):
        assert count == (4 if sample.task == "qa" else 0)
        if sample.task == "qa":
            mark = templates.languages()[code].option
            assert templates.fill(mark, {"letter": letter[0], "option": TEXTS[code][2]}) in sample.instruction
    assert set(views.answers(rows)) == {TEXTS[code][2]}


def test_uses_of_local_templates_are_balanced_in_each_language():
    bases = [local(code, 100 * place + number) for place, code in enumerate(LOCAL) for number in range(30)]
    fields = [("blend", "train", sample.task, "source", list(sample.templates)) for sample in in_own(bases)]
    rows = pl.DataFrame(fields, ["dataset", "part", "task", "origin", "templates"], orient="row")
    used = balance.template_uses(rows)
    assert set(used["slot"].str.split("/").list.first()) == set(LOCAL)
    assert used["templates"].to_list() == [12] * used.height
    assert used.select((pl.col("most") - pl.col("least")).max()).item() <= 1


def test_pairs_of_local_rows_share_their_templates():
    bases = [local("ko", number) for number in range(30)]
    right = in_own(bases)
    wrong, _ = hard.hard_errors(right, {row.id: row for row in bases}, SEED)
    rows, left_out = splits.pair_up(right, wrong)
    assert not left_out
    assert len(rows) == 2 * len(right)
    uses = Counter((name, bool(row.report.errors)) for row in rows for name in row.templates)
    assert all(uses[name, True] == uses[name, False] for name, _ in uses)


def test_english_rows_are_the_same_with_and_without_local_templates():
    rows = [base(number) for number in range(40)] + [acting(number) for number in range(40)]
    assert in_own(rows) == wrapped(rows)
    mixed = in_own([*rows, *(local("zh", 500 + number) for number in range(10))])
    assert mixed[: len(wrapped(rows))] == wrapped(rows)


def test_rows_get_english_frames_by_default_and_in_other_languages():
    rows = [local("es", 1), base(2, language="Kirundi"), base(3), base(4, language="")]
    english = wrapped(rows)
    assert all(templates.language_of(name) == "en" for sample in english for name in sample.templates)
    assert wrapping.frames(english)["Spanish"] == {"en": 2}
    frames = wrapping.frames(in_own(rows))
    assert frames == {"": {"en": 2}, "English": {"en": 2}, "Kirundi": {"en": 2}, "Spanish": {"es": 2}}


@pytest.mark.parametrize(("template", "value", "filled"), table(__file__, "quotes_and_marks_of_every_script"))
def test_quotes_and_marks_of_every_script(template, value, filled):
    assert templates.fill(template, {"v": value}) == filled


@pytest.mark.parametrize(
    ("code", "options", "listed"),
    [
        ("zh", ("茶", "他喝水。", "酒"), "选项A：茶；选项B：他喝水。选项C：酒"),
        ("zh", ("茶；酒", "水"), "选项A：茶；酒。选项B：水"),
        ("ar", ("شاي", "يشرب الماء.", "لبن"), "الخيار A: شاي؛ الخيار B: يشرب الماء. الخيار C: لبن"),
        ("el", ("τσάι", "Νερό;", "γάλα"), "Επιλογή A: τσάι· Επιλογή B: Νερό; Επιλογή C: γάλα"),
        ("hi", ("चाय", "वह पानी पीता है।", "दूध"), "विकल्प A: चाय; विकल्प B: वह पानी पीता है। विकल्प C: दूध"),
        ("es", ("té", "¿Agua?", "leche"), "Opción A: té; Opción B: ¿Agua? Opción C: leche"),
    ],
)
def test_options_are_listed_as_the_language_writes_them(code, options, listed):
    row = local(code, options=options, answer=options[0], wrong=options[1:])
    seed = next(seed for seed in range(999) if wrapping.shuffled_options(row, seed) == options)
    ids = tuple(f"{code}/qa/{slot}/01" for slot in ("instruction", "options", "output"))
    assert wrapping.render(row, row.answer, "options", ids, seed)[0].endswith(listed)


@pytest.mark.parametrize("value", ["שלום (عَرَبِيّ)", "عربي {answer} «نص»", "\u202eabc\u2069"])
def test_right_to_left_values_stay_as_they_are(value):
    row = local("ar", question=value, answer=value, wrong=("x",), options=(value, "x"))
    for sample in in_own([row]):
        assert sample.output.endswith(value)
        assert sample.instruction.count(value) == (2 if sample.task == "qa" else 1)


def test_a_role_ends_with_the_stop_of_the_language():
    row = replace(of_task("zh", "impersonation"), role="年龄：30")
    (sample,) = in_own([row])
    assert "年龄：30。" in sample.instruction


MODULE = """
import polars as pl
from excam.excam40k.datasets import base

SOURCE = base.Source(licence="CC0-1.0", files=("a.csv",), title="Own", citation="Nobody 2026. Own")
TASK, ERRORS = "qa", "hard"


def read(folder, *, local_questions: int = 0):
    rows = base.table(base.find(folder, "own", SOURCE.files)[0], "own", ("key", "question", "language"))
    rows = rows if local_questions else rows.filter(pl.col("language") != "Spanish")
    rows = base.fields(rows, id="own/" + pl.col("key"), question=pl.col("question"), group=pl.lit("g"),
        answer=pl.lit("mate"), wrong=pl.concat_list(pl.lit("ouzo")), language=pl.col("language"),
        culture=pl.lit("Argentina"), stratum=pl.lit("all"))
    return base.gather("own", TASK, rows)
"""


@pytest.mark.parametrize(
    ("setting", "reading", "frames", "line"),
    [
        ("english", "{}", None, ""),
        ("local", "{}", {"English": {"en": 1}, "Welsh": {"en": 1}}, "in English ones: Welsh 1"),
        ("both", "{}", {"English": {"en": 1}, "Spanish": {"es": 1}, "Welsh": {"en": 1}}, "in English ones: Welsh 1"),
        ("both", '{"local_questions": 0}', {"English": {"en": 1}, "Welsh": {"en": 1}}, "in English ones: Welsh 1"),
    ],
)
def test_the_setting_decides_on_frames_and_local_questions(
    tmp_path, monkeypatch, capsys, setting, reading, frames, line
):
    monkeypatch.chdir(tmp_path)
    Path("data").mkdir()
    Path("own.py").write_text(MODULE)
    rows = ("key,question,language", "1,What is drunk?,English", "2,¿Qué se bebe?,Spanish", "3,Beth?,Welsh")
    Path("data/a.csv").write_text("\n".join(rows))
    named = {"dataset": "own", "module": "own.py"}
    script("fetch_source", **named, source=json.dumps({"folder": "data"}), manifest="sources/own/manifest.json")
    made = {"bases": "bases.jsonl", "samples": "right.parquet"}
    drawing = {"cap": 12, "cap_stage": "after", "allocation": "equal", "shares": SHARES, "seed": SEED}
    source = {"source": "sources/own/manifest.json", "counts": "counts.json"}
    script("build_samples", **named, **drawing, **made, **source, reading=reading, templates=setting)
    assert json.loads(Path("counts.json").read_text()).get("frames") == frames
    said = capsys.readouterr().err
    assert (line in said) if line else "in English ones" not in said
