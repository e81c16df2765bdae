"""CulT-Eval: sentence metrics against direct calls, the numbers by hand, and the numbers that the paper prints."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from json_lines import write_rows
from mini_cult_eval import ITEMS, ROWS

from excam.acre import errors, judgements, metrics, misaligned, numbers, pages, sentence_metrics, study, translations
from excam.acre import printed as acre_printed
from excam.acre.asks import Grades
from excam.acre.sentence_metrics import texts
from excam.acre.study import AcreStudy
from excam.acre.translations import Label, Translated
from excam.config import Model
from excam.core import tables
from excam.core.exceptions import InputInvalid, ModelInvalid
from excam.inference.backend_factory import LazyBackend
from excam.pages import claims
from excam.scoring import files, metric
from excam.scoring.given_rows import rows_of
from excam.scoring.metric import Setup
from excam.scoring.opened_model import OpenedModel
from excam.scoring.scorer import Scorer

PAPER = Path(__file__).parents[2] / "excam/acre/paper"
ITEM = next(iter(ITEMS.values()))


def printed(name):
    return tables.read_lines(PAPER / f"{name}.csv")


# --- metrics of whole sentences


def test_bleu_and_chrf_are_those_of_sacrebleu():
    import sacrebleu

    bleu, chrf = sentence_metrics.bleu(texts(ROWS)), sentence_metrics.chrf(texts(ROWS))
    for row, b, c in zip(ROWS, bleu.scores, chrf.scores, strict=True):
        direct = sacrebleu.sentence_bleu(row.translation, [row.item.reference], use_effective_order=True)
        assert b == direct.score
        assert c == sacrebleu.sentence_chrf(row.translation, [row.item.reference], word_order=2).score
    assert "eff:yes" in bleu.signature
    assert "nw:2" in chrf.signature


def test_bleu_splits_a_text_as_its_language_is_written():
    from sacrebleu.metrics.bleu import BLEU

    languages = {"English": "13a", "Korean": "13a", "zh-Hant": "zh", "Japanese": "char", "th": "char"}
    assert {name: sentence_metrics.tokenizer(name) for name in languages} == languages
    target = {"translation": "他吃软不吃硬", "reference": "他很吃软不吃硬"}
    rows = [
        Translated(replace(ITEM, reference=target["reference"], target_language="Chinese"), "a", target["translation"]),
        Translated(ITEM, "a", "She wore a dress."),
    ]
    bleu = sentence_metrics.measure(rows)["bleu"]
    direct = BLEU(effective_order=True, tokenize="zh").sentence_score(target["translation"], [target["reference"]])
    assert bleu.scores[0] == direct.score > sentence_metrics.bleu(texts(rows)[:1]).scores[0] == 0
    assert "tok:13a" in bleu.signature
    assert "tok:zh" in bleu.signature


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    """A random BERT of two layers, with a tokenizer of words."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    folder = tmp_path_factory.mktemp("tiny-bert")
    texts = [text for row in ROWS for text in (row.translation, row.item.reference)]
    words = sorted({word.lower() for text in texts for word in re.findall(r"\w+|\S", text)})
    known = {word: at for at, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *words])}
    tokenizer = Tokenizer(models.WordLevel(known, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    ends = [("[CLS]", 2), ("[SEP]", 3)]
    tokenizer.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", special_tokens=ends)
    names = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=128, **names)
    fast.save_pretrained(folder)
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16}
    config = BertConfig(vocab_size=len(known), **sizes)
    BertModel(config).save_pretrained(folder)
    return folder


def test_bertscore_is_that_of_bert_score(encoder):
    from bert_score import score

    rows = ROWS[:12]
    column = sentence_metrics.bertscore(texts(rows), encoder, "tiny", 2)
    compared = [row.translation for row in rows], [row.item.reference for row in rows]
    _, _, f1 = score(*compared, model_type=str(encoder), num_layers=2, device="cpu", batch_size=32)
    assert column.scores == pytest.approx(f1.tolist(), abs=1e-6)
    assert column.signature == "bert-score:0.3.13|encoder:tiny|layer:2|idf:no|rescaled:no"


def test_bertscore_of_an_empty_translation_is_0(encoder):
    rows = [ROWS[0], Translated(ITEM, "empty", " "), ROWS[1]]
    first, empty, last = sentence_metrics.bertscore(texts(rows), encoder, "tiny", 2).scores
    assert empty == 0
    assert (first, last) == pytest.approx(sentence_metrics.bertscore(texts(ROWS[:2]), encoder, "tiny", 2).scores)
    assert sentence_metrics.bertscore(texts(rows[1:2]), encoder, "tiny", 2).scores == (0.0,)


def test_bertscore_as_a_metric_measures_all_rows_of_a_file_together(encoder, monkeypatch, tmp_path):
    monkeypatch.setattr(metrics, "BERTSCORE_LAYER", 2)
    monkeypatch.setattr("excam.scoring.scorer.BATCH", 2)
    measure = sentence_metrics.bertscore
    measured = []
    monkeypatch.setattr(
        sentence_metrics, "bertscore", lambda rows, *more: measured.append(len(rows)) or measure(rows, *more)
    )
    entry = Model(gpus=0, backend="transformers", licence="MIT", hub="owner/tiny")
    model = OpenedModel(LazyBackend("tiny", entry, None, None), "model:tiny|on:nothing", weights=encoder)
    judge = Scorer(metric.load("bertscore").prepared(Setup(model)), model)
    records = [{"id": row.id, "translation": row.translation, "reference": row.item.reference} for row in ROWS[:5]]
    records.insert(1, {"id": "bare", "translation": None, "reference": "x"})
    rows = list(rows_of(records, judge.metric)[0])
    results = list(files.results(judge, rows, len(rows), tmp_path / "scored.jsonl"))
    assert measured == [5], "once, without the row that failed"
    assert [result.failure for result in results] == [None, "missing-translation", *[None] * 4]
    wanted = measure(texts(ROWS[:5]), encoder, "tiny", 2).scores
    assert [result.score for result in results if result.score is not None] == pytest.approx(wanted)
    assert {result.signature for result in results} == {judge.for_rows(rows).signature}
    assert "|bert-score:0.3.13|layer:2|" in results[0].signature
    assert list(judge.score(records)) == results
    with pytest.raises(InputInvalid, match="needs the folder of an encoder"):
        metric.load("bertscore").for_rows(rows)


def test_a_folder_without_an_encoder_is_one_line(tmp_path):
    with pytest.raises(ModelInvalid, match=str(tmp_path)):
        sentence_metrics.bertscore(texts(ROWS[:1]), tmp_path, "none", 2)


# --- numbers by hand


def labelled_translation(item, system, correct, error_names=()):
    return Translated(replace(ITEM, id=item, source=item), system, "x", label=Label(correct, tuple(error_names)))


HAND = [
    labelled_translation("1", "a", True), labelled_translation("1", "b", True), labelled_translation("1", "c", False, ["omission"]),
    labelled_translation("2", "a", True), labelled_translation("2", "b", False, ["over-interpretation", "omission"]), labelled_translation("2", "c", False, ["sense-error"]),
    labelled_translation("3", "a", False, ["omission"]), labelled_translation("3", "b", False, ["literalization"]),
]  # fmt: skip
SCORES = {"1/a/0": 8, "1/b/0": 6, "1/c/0": 3, "2/a/0": 9, "2/b/0": 5, "2/c/0": None, "3/a/0": 1, "3/b/0": 2}


def test_sensitivity_by_hand():
    lines = {line["error"]: line for line in numbers.sensitivity(HAND, {"m": SCORES})}
    deviation = np.std([8, 6, 3, 9, 5, 1, 2], ddof=1)
    omission = lines["omission"]  # (7 - 3) and (9 - 5); item 3 has no right translation
    assert (omission["n"], omission["left_out"]) == (2, 1)
    assert omission["drop"] == pytest.approx(4 / deviation)
    assert (lines["sense-error"]["n"], lines["sense-error"]["left_out"]) == (0, 1)  # the metric failed
    assert lines["sense-error"]["drop"] is None
    assert lines["literalization"] == {
        "metric": "m", "error": "literalization", "drop": None, "low": None, "high": None, "penalised": None, "n": 0,
        "left_out": 1,
    }  # fmt: skip


DROPS = [(2.0, 0.1, 0.4, True), (0.5, 0.1, 0.1, False), (2.0, 8.0, 0.26, False)]


@pytest.mark.parametrize(("below", "noise", "drop", "penalised"), DROPS)
def test_a_drop_is_penalised_whose_interval_is_above_a_fifth_of_a_deviation(below, noise, drop, penalised):
    """Right ones score 0 or 10; wrong ones score about so much less, in a deviation of 5 or, with much noise, 7.7."""
    rows = [labelled_translation(str(n), "a", True) for n in range(40)]
    rows += [labelled_translation(str(n), "b", False, ["omission"]) for n in range(40)]
    right = {f"{n}/a/0": 10.0 * (n % 2) for n in range(40)}
    wrong = {f"{n}/b/0": 10.0 * (n % 2) - below + (noise if n % 4 < 2 else -noise) for n in range(40)}
    omission = numbers.sensitivity(rows, {"m": right | wrong})[0]
    assert omission["drop"] == pytest.approx(drop, abs=0.02)
    assert omission["penalised"] is penalised


def test_categories_are_counted_by_hand():
    tea_item, two = replace(ITEM, category="Social", term="茶", target="tea", source="喝茶。"), replace(ITEM, category="Social", term="茶馆儿", target="a shop", source="他去茶馆儿。")  # fmt: skip
    counted = numbers.counts([tea_item, two, replace(tea_item, category="Material"), tea_item])
    lines = {line["category"]: line for line in counted}
    assert lines["Social"] == {"category": "Social", "items": 3, "share": 75.0, "term_source": pytest.approx(5 / 3), "term_target": 4.0, "context_source": 4.0}  # fmt: skip
    assert (lines["Material"]["share"], lines["all"]["share"], lines["all"]["items"]) == (25.0, 100.0, 4)
    assert [lines["Religious"][name] for name in ("items", "share", "term_source")] == [0, 0.0, None]
    left_out = {line["outcome"]: line for line in numbers.removals(3, ["misaligned"])}
    assert (left_out["kept"]["share"], left_out["misaligned"]["share"], left_out["all"]["share"]) == (75.0, 25.0, 100.0)
    assert (left_out["all"]["candidates"], left_out["weak-context"]["candidates"]) == (4, 0)


def test_composition_and_systems_by_hand():
    lines = {line["system"]: line for line in numbers.composition(HAND)}
    assert (lines["a"]["n"], lines["a"]["correct"], lines["a"]["omission"]) == (3, 2, 1)
    assert (lines["b"]["omission"], lines["b"]["over-interpretation"], lines["b"]["literalization"]) == (1, 0, 1)
    verdicts = {row.id: Grades("A", True, fidelity=4, clarity=5, quality=0.9, acre=0.9) for row in HAND}
    verdicts |= {"1/a/0": Grades("A", False, acre=0.0), "2/a/0": Grades("A", True, failure="nuance: no-json")}
    (a, *_) = numbers.systems(HAND, {"m": verdicts})
    assert (a["system"], a["n"], a["failures"]) == ("a", 3, 1)
    assert a["validity"] == pytest.approx(100 * 2 / 3)
    assert a["acre"] == pytest.approx(0.45)
    assert (a["fidelity"], a["clarity"]) == (4, 5)


def test_systems_are_compared_on_common_items():
    scores = {"1/a/0": 0.9, "1/b/0": 0.0, "2/a/0": 0.8, "2/b/0": None, "3/a/0": 0.0, "3/b/0": 0.6}
    rows = [row for row in HAND if row.id in scores]
    verdicts = {row: Grades("A", acre=score, failure="x" if score is None else None) for row, score in scores.items()}
    (comparison,) = numbers.compare_systems(rows, verdicts)
    assert (comparison["a"], comparison["b"], comparison["n"]) == ("a", "b", 2)
    assert comparison["difference"] == pytest.approx(0.15)
    assert comparison["p"] == comparison["p_holm"] == 1.0
    many = [labelled_translation(str(item), system, True) for item in range(40) for system in "abc"]
    verdicts = {row.id: Grades("A", acre=0.9 if row.system == "a" else 0.5) for row in many}
    tests = {(line["a"], line["b"]): line for line in numbers.compare_systems(many, verdicts)}
    assert tests["a", "b"]["p_holm"] < 0.001
    assert tests["b", "c"]["p_holm"] == 1.0


def test_labels_must_be_of_both_kinds():
    right, wrong = ([row for row in HAND if row.label.correct is correct] for correct in (True, False))
    unlabelled = [replace(row, label=None) for row in HAND]
    for rows, counted in ((unlabelled, "0 of 0"), (right, "3 of 3"), (wrong, "0 of 5")):
        with pytest.raises(InputInvalid, match=f"{counted} labelled"):
            numbers.labelled(rows)


def test_comparisons_are_clustered_two_sided_and_corrected():
    metrics = {name: dict(zip([row.id for row in ROWS], values, strict=True)) for name, values in {
        "good": [float(row.label.correct) for row in ROWS],
        "noise": np.random.default_rng(0).random(len(ROWS)).tolist(),
        "constant": [1.0] * len(ROWS),
    }.items()}  # fmt: skip
    (comparison,) = numbers.compare_with(ROWS, metrics, "good")
    assert (comparison["b"], comparison["items"], comparison["n"], comparison["left_out"]) == ("noise", 30, 120, 0)
    assert comparison["p"] == comparison["p_holm"] < 0.01
    assert numbers.compare_with(ROWS, metrics, "constant") == []


# --- pages


FEW = [row for row in ROWS if row.item.id in list(ITEMS)[:8]]


def small_study():
    ids = [row.id for row in FEW]
    scores = {"BLEU": dict(zip(ids, sentence_metrics.bleu(texts(FEW)).scores, strict=True))}
    verdicts = dict(zip(ids, judgements.by_equivalents(FEW), strict=True))
    made_up = {row: replace(verdict, acre=verdict.acre and 0.9, quality=0.9) for row, verdict in verdicts.items()}
    judged = {("equivalent", "full"): verdicts, ("m", "full"): made_up, ("m", "no-gate"): verdicts}
    return AcreStudy(FEW, judged, scores)


def test_sentence_metrics_are_means_of_a_system_s_translations():
    import sacrebleu

    study = small_study()
    first = study.rows[0]
    name = translations.name(first)
    lost = replace(study, measured={"BLEU": {**study.measured["BLEU"], first.id: None}})
    lines = {(line["part"], line["system"]): line for line in pages.table_3(lost, 0)[0]}
    for part, kept in {
        "all": lambda item: True,
        first.item.category: lambda item: item.category == first.item.category,
        first.item.domain: lambda item: item.domain == first.item.domain,
    }.items():
        own = [row for row in study.rows if translations.name(row) == name and kept(row.item)]
        scores = [study.measured["BLEU"][row.id] for row in own if row is not first]
        line = lines[part, name]
        assert line["mean"] == pytest.approx(sum(scores) / len(scores))
        assert (line["n"], line["failures"]) == (len(scores), 1)
    page = pages.table_3(study, 0)[1]
    assert "Not measured here: chrF++, BERTScore, COMET, MetricX-QE" in page
    own = [row for row in study.rows if translations.name(row) == name]
    corpus = sacrebleu.corpus_bleu([row.translation for row in own], [[row.item.reference for row in own]]).score
    assert f"| {name} | {corpus:.2f} | {len(own)} |" in page


def test_every_table_prints_its_denominators():
    study = small_study()
    for make in (pages.table_2, pages.table_3, pages.table_5, pages.table_6, pages.ablations):
        lines, text = make(study, 0)
        assert lines
        assert all("n" in line for line in lines)
        assert text.startswith("# CulT-Eval: ")
    right = sum(row.label.correct for row in FEW)
    assert f" 32 | 0 | {right} |" in pages.table_2(study, 0)[1]
    omitted = sum(errors.primary(row.label.errors) == "omission" for row in FEW)
    assert f"omission ({omitted})*" in pages.table_5(study, 0)[1]
    assert "| made-up-careful | made-up-explaining |" in pages.table_6(study, 0)[1]


def test_a_judge_with_constant_verdicts_is_named():
    study = small_study()
    known = study.judged["m", "full"]
    valid = {row: replace(verdict, valid=True, quality=0.5, acre=0.5) for row, verdict in known.items()}
    flat = replace(study, judged={("m", "full"): valid, ("m", "no-gate"): valid})
    page = pages.table_6(flat, 0)[1]
    assert "- m calls every translation valid: that tells none apart." in page
    assert "- ACRE, m is the same for all translations on the labels (tau-b n/a, n = 32)" in page
    assert "No variant of m is better than chance" in pages.ablations(flat, 0)[1]
    correct = {row: translation.label.correct for row, translation in zip(valid, FEW, strict=True)}
    for right, said in ((1.0, ""), (0.0, "ACRE, m is below chance on the labels (tau-b −1.00")):
        verdicts = {row: replace(verdict, acre=right if correct[row] else 1 - right) for row, verdict in valid.items()}
        made = replace(study, judged={("m", "full"): verdicts, ("m", "no-gate"): verdicts})
        assert (said or "on the labels") in (page := pages.table_6(made, 0)[1]) or not said
        assert ("on the labels" in page) == bool(said)
        assert ("No variant of m" in pages.ablations(made, 0)[1]) == bool(said)
    all_right = [replace(translation, label=replace(translation.label, correct=True, errors=())) for translation in FEW]
    assert pages.table_6(replace(flat, rows=all_right), 0)[0], "labels of one value need no caution"
    without_model = replace(study, judged={("equivalent", "full"): study.full["equivalent"]})
    assert "## Cautions" not in pages.table_6(without_model, 0)[1]


def test_the_worst_misaligned_translations_stand_first():
    """How far a score is on the wrong side: 1 for a right translation below all others, a wrong one above them."""
    right, wrong = (next(row for row in FEW if row.label.correct is correct) for correct in (True, False))
    study = replace(small_study(), measured={"a": dict.fromkeys((right.id, wrong.id), 0.5)})
    for row, place, gap in ((right, 0.1, 0.9), (wrong, 0.8, 0.8)):
        shown = misaligned._row(row, study, {"a": {row.id: place}})
        assert shown.keys["gap"] == pytest.approx(gap)
        assert f"a: 0.50, above {100 * place:.0f} %" in str(shown)
        assert misaligned._row(row, study, {"a": {row.id: 1 - place}}) is None


@pytest.mark.parametrize(
    ("labels", "one_metric", "other_metric", "testable"),
    [
        ([0, 1], [1, 2], [2, 1], True),
        ([1, 1], [1, 2], [2, 1], False),
        ([0, 1], [1, 1], [2, 1], False),
        ([0, 1], [1, 2], [2, 2], False),
        ([0, 1, 1], [1, 2, 2], [2, None, 2], False),
        ([0, 1], [1, None], [2, 1], False),
        ([0, 1], [None, None], [2, 1], False),
    ],
)
def test_two_metrics_are_tested_where_both_and_the_labels_vary(labels, one_metric, other_metric, testable):
    """Over the rows that both scored."""
    assert numbers._testable(labels, one_metric, other_metric) is testable


def test_misaligned_page_holds_both_kinds_and_no_markup():
    hostile = [replace(row, translation="<script>alert(1)</script>") for row in FEW[:1]] + FEW[1:]
    text = misaligned.page(replace(small_study(), rows=hostile))
    assert misaligned.HIGH.capitalize() in text
    assert misaligned.LOW.capitalize() in text
    assert "<script>alert(1)" not in text


def test_a_study_refuses_scores_of_other_rows(tmp_path):
    tables.write_frame(tmp_path / "rows.parquet", translations.to_frame(ROWS))
    bleu = sentence_metrics.to_frame(ROWS[1:], {"bleu": sentence_metrics.bleu(texts(ROWS[1:]))})
    tables.write_frame(tmp_path / "m.parquet", bleu)
    with pytest.raises(InputInvalid, match=r"BLEU: no score for qipao/made-up-careful/0 \(1 of 120 rows\)"):
        study.read([tmp_path / "rows.parquet"], metrics=[tmp_path / "m.parquet"])


def test_scores_of_elsewhere_have_a_name_and_texts_of_their_own(tmp_path):
    tables.write_frame(tmp_path / "rows.parquet", translations.to_frame(ROWS[:1]))
    scored = tmp_path / "scored.jsonl"
    line = {"id": ROWS[0].id, "score": 1.0, "signature": "s", "texts": {"output": ROWS[0].translation}}
    write_rows(scored, [line | {"metric": {"direction": "lower"}}])
    known = study.read([tmp_path / "rows.parquet"], scores={"mine": scored})
    assert known.measured == {"mine": {ROWS[0].id: -1.0}}, "more is better"
    tables.write_frame(tmp_path / "v.parquet", judgements.equivalent_frame(ROWS[:1]))
    with pytest.raises(InputInvalid, match="equivalent is the name of another metric"):
        study.read([tmp_path / "rows.parquet"], judged=[tmp_path / "v.parquet"], scores={"equivalent": scored})
    write_rows(scored, [line | {"texts": {"output": "Another text."}}])
    with pytest.raises(InputInvalid, match="its texts have changed since"):
        study.read([tmp_path / "rows.parquet"], scores={"mine": scored})


def test_translations_that_repeat_others_are_left_out_and_sources_are_drawn_whole(tmp_path, capsys):
    copies = [replace(row, item=replace(row.item, id=f"z-{row.item.id}"), label=None) for row in ROWS]
    tables.write_frame(tmp_path / "rows.parquet", translations.to_frame([*copies, *ROWS]))
    known = study.read([tmp_path / "rows.parquet"]).rows
    assert [row.id for row in known] == [row.id for row in ROWS]
    assert "120 translations; without a label 0. 120 rows that repeat another" in capsys.readouterr().err
    scores = {row.id: 100.0 * number for number, row in enumerate(ROWS)}
    once = numbers.sentence_scores(ROWS, {"m": scores})[0]
    scores |= {copy.id: scores[row.id] for copy, row in zip(copies, ROWS, strict=True)}
    both = numbers.sentence_scores([*ROWS, *copies], {"m": scores})[0]
    assert (both["n"], both["low"], both["high"]) == (60, once["low"], once["high"])


# --- numbers of the paper


def test_every_printed_number_has_one_of_ours_and_the_reverse(tmp_path):
    """All files of excam/acre/paper, cell by cell; without labels, the reasons say so."""
    paper = sorted(PAPER.glob("*.csv"))
    cells = sum(len(set(line) - {"source", "reference", "translation"}) - 1 for path in paper
                if path.stem != "claims" for line in printed(path.stem))  # fmt: skip
    stated = acre_printed.claims(paper)
    assert len(stated) == cells + len(printed("claims"))
    tables_of_paper = {path.stem: printed(path.stem) for path in paper}
    of_study, names = small_study(), ("table-1", "removals", "table-2", "table-5", "ablations")
    labelled = [page(of_study, 0)[0] for page in (pages.table_2, pages.table_5, pages.ablations)]
    written = [pages.table_1(list(ITEMS.values()))[0], pages.removals(30, ["misaligned"])[0], *labelled]
    heads = (pages.TABLE_1, pages.REMOVALS, pages.TABLE_2, pages.TABLE_5, pages.ABLATIONS)
    for name, columns, lines in zip(names, heads, written, strict=True):
        tables.write_lines(tmp_path / f"{name}.csv", columns, lines)
    ours = {name: tables.read_lines(tmp_path / f"{name}.csv") for name in names}
    settings = {"models": {"nllb": "seq2seq", "m": "vllm"}, "shots": [0, 1]}
    lines = {line["id"]: line for line in claims.beside(stated, acre_printed.answers(tables_of_paper, ours, settings))}
    assert lines["candidates"]["ours"] == "31"
    assert lines["table-2/BLEU/pearson"]["difference"] != ""
    assert (lines["systems-mt"]["ours"], lines["table-4/low score and right/valid"]["ours"]) == ("1", "1")
    assert all(line["ours"] or line["note"] for line in lines.values())
    few = {name: ours[name] for name in ("table-1", "removals")}
    unlabelled = claims.beside(stated, acre_printed.answers(tables_of_paper, few, settings))
    (line,) = (line for line in unlabelled if line["id"] == "table-7/full/correlation")
    assert line["note"] == "no labels of people: labels.jsonl"


def test_translations_that_are_made_up_are_marked_in_the_figure():
    counted = {"n": 30, "correct": 12, **dict.fromkeys(errors.ERRORS, 2)}
    figure = pages.figure_3([{"system": name, **counted} for name in ("made-up-literal", "qwen3")])
    striped = {round(patch.get_y() + 0.5, 2) for patch in figure.axes[0].patches if patch.get_hatch()}
    assert len(striped) == 1, "one of two rows"
    assert "written for a demonstration" in " ".join(figure.texts[1].get_text().split())
