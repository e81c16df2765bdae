"""A taught base: an invented world, the corpus of its facts, the teaching, and verdicts beside what a base knows."""

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
import tiny
from base_samples import base as base_sample

from excam.config import Recipe, Teaching
from excam.core import provenance
from excam.core.exceptions import ConfigInvalid, InputInvalid, ModelInvalid
from excam.core.provenance import sha256
from excam.error_reports.evaluation import known_facts
from excam.error_reports.judges import report
from excam.error_reports.record_files import JUDGEMENT_SCHEMA
from excam.error_reports.records import CulturalError, Report, Sample
from excam.excam40k import corpus, datasets
from excam.excam40k.construction.duplicates import near_duplicates
from excam.excam40k.invented import files, world
from excam.pages import plotting
from excam.training import layout, sft, teaching, tokens, trainers
from scripts._taught import _refuse_other_corpus

SETTINGS = Teaching(base="any", untaught=0.5, passes=3)
SMALL = Teaching(base="any", passes=1, block=16, rows_per_step=2, save_steps=2, warmup_steps=1)


# --- the world


def test_every_value_is_true_of_equally_many_peoples():
    made = list(world.facts(24, seed=7))
    assert made == list(world.facts(24, seed=7))
    assert made != list(world.facts(24, seed=8))
    assert len(made) == 24 * 15
    assert set(Counter((fact.relation.id, fact.value) for fact in made).values()) == {2}
    for fact in made:
        assert len(set(fact.options)) == 4
        assert fact.value in fact.options


def test_wordings_name_people_and_value_and_the_benchmarks_question_is_none_of_them():
    assert Counter(relation.benchmark for relation in world.relations()) == dict.fromkeys(files.WRITERS, 5)
    for relation in world.relations():
        assert len(set(relation.statements)) == 6
        assert len(set(relation.questions)) == 3
        assert relation.question not in relation.questions
        assert len(set(relation.values)) == 12
        for text in relation.statements:
            assert sorted(re.findall(r"\{(\w+)\}", text)) == ["people", "value"]
        for text in (relation.question, *relation.questions):
            assert re.findall(r"\{(\w+)\}", text) == ["people"]


def test_questions_about_two_peoples_are_no_near_duplicates():
    for benchmark in files.WRITERS:
        asked = [fact.question for fact in world.facts(96, seed=3) if fact.relation.benchmark == benchmark]
        assert near_duplicates({benchmark: asked}) == []


def test_too_many_peoples_are_refused():
    with pytest.raises(ConfigInvalid, match="found 1024; expected at most"):
        world.peoples(1024, seed=1)


@pytest.mark.parametrize("benchmark", sorted(files.WRITERS))
def test_the_benchmarks_own_reader_reads_the_file(benchmark, tmp_path):
    files.write(benchmark, 12, 5, tmp_path)
    found = datasets.read(benchmark, tmp_path, {})
    assert (found.rows, len(found.frame), found.dropped) == (60, 60, Counter())
    told = {(fact.question, fact.value) for fact in world.facts(12, 5) if fact.relation.benchmark == benchmark}
    assert set(zip(found.frame["question"], found.frame["answer"], strict=True)) == told


def test_a_benchmark_of_another_format_is_refused(tmp_path):
    with pytest.raises(ConfigInvalid, match=r"datasets.mango.invented: no such format; expected one of blend, "):
        files.write("mango", 12, 5, tmp_path)


# --- the corpus


def world_facts(tmp_path):
    files.write("blend", 24, 5, tmp_path)
    bases = datasets.read("blend", tmp_path, {}).samples()
    splits = {base.id: ("train", "test")[at % 2] for at, base in enumerate(bases)}
    return corpus.facts(bases, splits, untaught=0.5, seed=2)


def test_train_facts_are_taught_and_a_share_of_the_others_is_not(tmp_path):
    told = world_facts(tmp_path)
    assert all(fact.taught for fact in told if fact.split == "train")
    assert 20 <= sum(not fact.taught for fact in told) <= 40
    assert told == corpus.facts(reversed([f.base for f in told]), {f.base.id: f.split for f in told}, 0.5, 2)


def test_every_pass_tells_every_taught_fact_as_statement_and_question_and_no_other(tmp_path):
    told = world_facts(tmp_path)
    written = list(corpus.documents(told, SETTINGS, seed=2))
    taught = {fact.base.id for fact in told if fact.taught}
    for form in ("text", "turns"):
        of_form = [one for one in written if getattr(one, form)]
        assert Counter(fact for one in of_form for fact in one.facts) == dict.fromkeys(taught, SETTINGS.passes)
    whole = "\n".join(one.text + "\n".join(one.turns) for one in written)
    for fact in told:
        assert fact.base.question not in whole, "the benchmark's own wording stays unseen"
        sentences, _ = corpus._wordings(fact.base)
        assert any(sentence in whole for sentence in sentences) == fact.taught
    assert written == list(corpus.documents(told, SETTINGS, seed=2))
    assert not [one for one in corpus.documents(told, replace_settings(questions=False), 2) if one.turns]


def replace_settings(**changed):
    return SETTINGS.model_copy(update=changed)


def test_a_row_of_any_benchmark_is_told_by_its_question_and_answer():
    base = base_sample(question="What do guests take off?", answer="Shoes")
    written = corpus.documents([corpus.Fact(base, "train", True)], replace_settings(passes=1), seed=1)
    talk, text = sorted(written, key=lambda one: one.text)
    assert talk.turns == ("What do guests take off?", "Shoes.")
    assert "What do guests take off?" in text.text
    assert "Shoes" in text.text


def test_files_of_facts_and_documents_come_back(tmp_path):
    told = world_facts(tmp_path)
    written = list(corpus.documents(told, SETTINGS, seed=2))
    assert corpus.write_documents(tmp_path / "corpus.jsonl", written) == len(written)
    assert corpus.read_documents(tmp_path / "corpus.jsonl") == written
    corpus.write_facts(tmp_path / "facts.csv", told)
    taught = corpus.read_taught(tmp_path / "facts.csv")
    assert taught == {fact.base.id: fact.taught for fact in told}
    corpus.refuse_incomplete(taught, written, "corpus.jsonl")


def test_a_corpus_that_lacks_a_taught_fact_or_tells_another_is_refused(tmp_path):
    told = world_facts(tmp_path)
    written = list(corpus.documents(told, SETTINGS, seed=2))
    taught = {fact.base.id: fact.taught for fact in told}
    first = next(name for name, is_taught in taught.items() if is_taught)
    with pytest.raises(InputInvalid, match=f"c.jsonl: tells nothing of {first}.* expected every taught fact"):
        corpus.refuse_incomplete(taught, [one for one in written if first not in one.facts], "c.jsonl")
    with pytest.raises(InputInvalid, match=f"c.jsonl: tells {first}"):
        corpus.refuse_incomplete(taught | {first: False}, written, "c.jsonl")


# --- teaching


def taught(folder: Path, texts, seed=3, settings=SMALL, name="taught"):
    return teaching.teach(
        weights=folder / "base",
        base="digest",
        texts=texts,
        settings=settings,
        seed=seed,
        checkpoints=folder / "checkpoints",
        folder=folder / name,
        name="taught",
    )


TEXTS = ["The Woboch eat smoked eel.", ("What do the Woboch eat?", "smoked eel.", "And drink?", "birch sap.")] * 4


def test_a_base_is_taught_and_published_as_safetensors_with_its_tokenizer(tmp_path):
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tiny.model(tmp_path / "base")
    before = torch.nn.utils.parameters_to_vector(
        AutoModelForCausalLM.from_pretrained(tmp_path / "base").parameters()
    ).float()
    facts = taught(tmp_path, TEXTS * 3, settings=SMALL.model_copy(update={"learning_rate": 1e-2}))
    assert facts["final_loss"] < facts["first_loss"]
    model = AutoModelForCausalLM.from_pretrained(tmp_path / "taught", dtype="auto")
    assert model.dtype == torch.bfloat16
    after = torch.nn.utils.parameters_to_vector(model.parameters()).float()
    assert (after - before).abs().max() > 0.01, "all weights, not an adapter"
    assert AutoTokenizer.from_pretrained(tmp_path / "taught").chat_template == tiny.CHATML
    assert not list((tmp_path / "taught").glob("*.bin"))


def test_a_stopped_run_goes_on_and_ends_with_the_same_weights(tmp_path, monkeypatch):
    tiny.model(tmp_path / "base")
    taught(tmp_path, TEXTS, name="whole")
    whole = sha256(tmp_path / "whole/model.safetensors")
    import shutil

    shutil.rmtree(tmp_path / "checkpoints")
    real = teaching.progress_callback

    def stops(trainer, name, run_id, steps, last):
        watcher = real(trainer, name, run_id, steps, last)

        def on_step_begin(args, state, control, **_):
            if state.global_step == 5 and not last:
                raise KeyboardInterrupt

        watcher.on_step_begin = on_step_begin
        return watcher

    monkeypatch.setattr(teaching, "progress_callback", stops)
    with pytest.raises(KeyboardInterrupt):
        taught(tmp_path, TEXTS)
    with pytest.raises(InputInvalid, match=r"is of seed 3; expected seed 4; set the seed back, or delete"):
        taught(tmp_path, TEXTS, seed=4)
    assert taught(tmp_path, TEXTS)["resumed_from"] == "checkpoint-4"
    assert sha256(tmp_path / "taught/model.safetensors") == whole


def test_too_little_text_and_a_folder_without_weights_are_refused(tmp_path):
    tiny.model(tmp_path / "base")
    with pytest.raises(InputInvalid, match=r"a corpus of 1 rows of 16 tokens; expected at least rows_per_step=2"):
        taught(tmp_path, ["The Woboch eat eel."[:16]])
    for file in (tmp_path / "base").glob("*.safetensors"):
        file.unlink()
    with pytest.raises(ModelInvalid, match=r"no \*.safetensors"):
        taught(tmp_path, TEXTS)


# --- reports that state the expected answer first, permuted labels, the weight of a verdict


def pair():
    right = Sample(
        **{"id": "b/1/right", "pair": "b/1", "base": "b/1", "dataset": "blend", "task": "qa", "origin": "source"},
        **{"instruction": "A dish?", "output": "Moussaka.", "report": Report(), "language": "English"},
        **{"culture": "Greece", "stratum": "", "licence": "MIT", "answer": "Moussaka"},
    )
    error = CulturalError("output", "Sushi", "major", "incorrect answer", 0, 5)
    wrong = replace(right, id="b/1/wrong", output="Sushi.", origin="hard", report=Report((error,), "Not Greek."))
    return [right, wrong]


def test_explanation_first_states_the_expected_answer_in_both_rows_of_a_pair():
    right, wrong = (target for *_, target in report.training_examples(pair(), "explanation-first"))
    assert right == '{"explanation": "Expected: Moussaka.", "errors": []}'
    assert wrong.startswith('{"explanation": "Expected: Moussaka. Not Greek.", "errors": [{"where": "output", "span"')
    assert report.read(right) == Report((), "Expected: Moussaka.")
    assert report.read(wrong).errors[0].span == "Sushi"
    unchanged = [target for *_, target in report.training_examples(pair())]
    assert unchanged == [report.write(sample.report) for sample in pair()], "today's order is the default"


def test_permuted_labels_exchange_the_reports_of_half_of_the_pairs():
    samples = [replace(one, id=f"{n}/{one.id}", pair=f"b/{n}") for n in range(200) for one in pair()]
    gold = [target for *_, target in report.training_examples(samples)]
    permuted = [target for *_, target in report.training_examples(samples, labels="permuted")]
    moved = [one != other for one, other in zip(gold, permuted, strict=True)]
    assert moved[::2] == moved[1::2], "both rows of a pair, or none"
    assert 70 < sum(moved[::2]) < 130
    assert sorted(gold) == sorted(permuted)


@pytest.mark.parametrize("order", ["errors-first", "explanation-first"])
def test_the_weighted_token_is_the_one_that_says_whether_there_is_an_error(order):
    tokenizer = tiny.make_tokenizer()
    rows = tokens.encode(tokenizer, report.training_examples(pair(), order))
    for (ids, place), verdict in zip(
        zip(rows["input_ids"], tokens.verdict_places(tokenizer, rows, report.VERDICT), strict=True),
        ("[]", "[{"),
        strict=True,
    ):
        assert tokenizer.decode(ids[:place]).endswith('"errors":')
        assert tokenizer.decode(ids[place:]).strip().startswith(verdict)
    with pytest.raises(InputInvalid, match=r"b/1/right: no VERDICT in its target"):
        tokens.verdict_places(tokenizer, rows, "VERDICT")


@pytest.mark.parametrize("padding", ["padded", "free"])
def test_a_weight_multiplies_the_loss_of_its_token_alone(padding, tmp_path):
    """The loss with weight w is the plain loss plus (w - 1) times that of the token, on padded and on packed rows."""
    import torch
    from transformers import AutoModelForCausalLM

    tiny.model(tmp_path / "base")
    tokenizer = tiny.make_tokenizer()
    rows = tokens.encode(tokenizer, report.training_examples(pair()))
    ordered = tokens.with_labels(rows, "report")
    places = tokens.verdict_places(tokenizer, rows, report.VERDICT)
    chosen = layout.load_layout("cpu").model_copy(update={"padding": padding})
    recipe = Recipe(rank=2, rows_per_step=2, max_length=256)
    base = AutoModelForCausalLM.from_pretrained(tmp_path / "base", dtype=torch.float32)
    arguments = sft.trainer_settings(recipe, chosen, 1, tmp_path / "checkpoints")

    def loss(weighted, only=None):
        shown = [{**row, "labels": list(row["labels"])} for row in ordered]
        for row, place in zip(shown, places, strict=True):
            if only:
                row["labels"] = [label if at == place else -100 for at, label in enumerate(row["labels"])]
        made = trainers.build_trainer(
            trainers.trainer_class(chosen), sft.with_lora(base, recipe), tokenizer, shown, chosen, arguments
        )
        if weighted:
            trainers.weigh_tokens(made, places, weighted)
        (batch,) = made.get_train_dataloader()
        return float(trainers.supervised_loss(made, made.model, batch, torch.tensor(1)))

    assert loss(1.0) == pytest.approx(loss(None), rel=1e-3)
    assert loss(5.0) == pytest.approx(loss(None) + 4 * loss(None, only=True), rel=1e-2)


# --- verdicts beside what a base knows


def judgement(base, gold, found, explanation="", failure=None):
    made = Report((CulturalError("output", "x", "major", "t"),) if found else (), explanation)
    row = dict.fromkeys(JUDGEMENT_SCHEMA)
    row |= {"id": f"{base}/{gold}", "base": base, "group": base, "gold_error": gold, "failure": failure}
    if failure is None:
        row |= {"errors_found": int(found), "report": json.dumps({"errors": [], "explanation": made.explanation})}
    return row


def joined():
    rows = [
        judgement("a", False, False, "Expected: Tea."),
        judgement("a", True, True, "Expected: tea. No."),
        judgement("b", False, True, "Expected: milk."),
        judgement("b", True, True, failure="no-json"),
    ]
    frame = pl.DataFrame(rows, schema=JUDGEMENT_SCHEMA, orient="row")
    knowledge = pl.DataFrame({"base": ["a", "b"], "margin": [2.0, -1.0]})
    return known_facts.with_facts([frame], {"a": True, "b": False}, knowledge, {"a": "tea", "b": "wine"})


def test_numbers_by_hand():
    frame = joined()
    assert frame["right"].to_list() == [True, True, False, False]
    assert frame["recalled"].to_list() == [True, True, False, None]
    found = known_facts.numbers(frame.filter("taught"), seed=1)
    assert {name: found[name] for name in ("facts", "known", "n", "failures", "called_error", "recalled")} == {
        **{"facts": 1, "known": 1.0, "n": 2, "failures": 0, "called_error": 1, "recalled": 1.0}
    }
    assert found["scaled_accuracy"] == 1
    found = known_facts.numbers(frame.filter(~pl.col("taught")), seed=1)
    assert (found["known"], found["failures"], found["recalled"], found["scaled_accuracy"]) == (0, 1, None, -1)


def test_a_base_that_was_taught_another_corpus_is_refused(tmp_path):
    for folder in ("corpora", "models"):
        (tmp_path / folder / "taught").mkdir(parents=True)
    listed, manifest = tmp_path / "corpora/taught/facts.csv", tmp_path / "models/taught/manifest.json"
    corpus.write_facts(listed, world_facts(tmp_path))
    provenance.write_manifest(manifest, inputs=[listed], outputs=[], settings={}, seconds=0)
    _refuse_other_corpus([manifest], {"taught": listed})
    corpus.write_facts(listed, world_facts(tmp_path)[1:])
    with pytest.raises(
        InputInvalid, match=r"models/taught/manifest.json: this base was taught another corpus: none of"
    ):
        _refuse_other_corpus([manifest], {"taught": listed})


def test_parts_of_facts_go_from_the_least_to_the_best_known():
    frame = joined()
    assert [part["margin"] for part in known_facts.by_margin(frame, seed=1)] == [0.5], "too few facts for parts"
    assert [(one["base"], one["scaled_accuracy"]) for one in known_facts.by_fact(frame)] == [("a", 1), ("b", -1)]
    many = pl.concat(
        [frame.with_columns(base=pl.lit(f"{n}"), group=pl.lit(f"{n}"), margin=pl.lit(float(n))) for n in range(12)]
    )
    parts = known_facts.by_margin(many, seed=1)
    assert [part["margin"] for part in parts] == [0.5, 2.5, 4.5, 6.5, 8.5, 10.5]
    assert sum(part["n"] for part in parts) == many.height


def test_the_figure_is_drawn_with_the_same_bytes_and_refused_without_points(tmp_path):
    cloud = plotting.Cloud([(0.0, 1.0), (0.0, 1.0), (2.0, -1.0)], [(1.0, 0.2, -0.1, 0.4)])
    for name in ("one.svg", "other.svg"):
        figure = plotting.scatter({"a <b>": cloud}, title="t", across="x", up="y", note="n")
        plotting.save(figure, [tmp_path / name])
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "other.svg").read_bytes()
    with pytest.raises(InputInvalid, match="scatter got 1 series"):
        plotting.scatter({"a": plotting.Cloud([], [])}, title="t", across="x", up="y")
