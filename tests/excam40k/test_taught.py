"""A taught base: an invented world, the corpus of its facts, the teaching, and verdicts beside what a base knows."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
import tiny
from base_samples import base as base_sample

from excam.config import Recipe, Teaching
from excam.core import provenance, tables
from excam.core.exceptions import ConfigInvalid, InputInvalid, ModelInvalid
from excam.core.provenance import sha256
from excam.error_reports.evaluation import known_facts
from excam.error_reports.judges import report
from excam.error_reports.record_files import JUDGEMENT_SCHEMA
from excam.error_reports.records import CulturalError, Report, Sample
from excam.excam40k import corpus, datasets, knowledge
from excam.excam40k.construction import hard
from excam.excam40k.construction.duplicates import near_duplicates
from excam.excam40k.invented import blind_judges, files, world
from excam.excam40k.invented.blind_judges import Corpus, Question, Telling
from excam.pages import plotting
from excam.stats.bootstrap import ratio_interval
from excam.training import layout, sft, teaching, tokens, trainers
from excam.training.checkpoints import TrainingRun
from scripts import teaching as steps
from scripts.teaching import POINT_COLUMNS, READINGS, _refuse_other_corpus

SETTINGS = Teaching(base="any", untaught=0.5, passes=3)
SMALL = Teaching(base="any", passes=1, block=16, rows_per_step=2, save_steps=2, warmup_steps=1)


# --- the world


def test_values_and_options_are_drawn_from_the_relation():
    made = list(world.facts(24, seed=7))
    assert made == list(world.facts(24, seed=7))
    assert made != list(world.facts(24, seed=8))
    assert len(made) == 24 * 15
    counts = Counter((fact.relation.id, fact.value) for fact in made)
    assert {0, 1, 2, 3, 4} <= {
        counts[relation.id, value] for relation in world.relations() for value in relation.values
    }
    for fact in made:
        assert len(set(fact.options)) == 4
        assert fact.value in fact.options


PEOPLES = 96
Told = list[tuple[world.Fact, int]]


def scaled(told: Told, name: str, times: bool, shown=lambda fact: fact.options) -> tuple[float, float, float]:
    """Return scaled accuracy of a blind judge on facts that were told, or not, with its interval over relations.

    Right and wrong answers weigh the same. Facts of one relation share what is counted, so they are one cluster.
    """
    tellings = Corpus(Telling(fact.people, fact.relation.id, fact.value, count) for fact, count in told)
    values, relations = [], []
    for fact, count in told:
        if (count > 0) == times:
            asked = Question(fact.people, fact.relation.id, fact.options)
            calls = {option: blind_judges.JUDGES[name](tellings, asked, option) for option in shown(fact)}
            right = not calls.pop(fact.value)
            values.append(right + sum(calls.values()) / len(calls) - 1)
            relations.append(fact.relation.id)
    mean = sum(values) / len(values)
    return mean, *(ratio_interval(values, [1] * len(values), relations) or (mean, mean))


def half_told(facts: Iterator[world.Fact], seed: int) -> Told:
    return [(fact, 20 * (int(corpus.digest(seed, "times", fact.people, fact.relation.id), 16) % 2)) for fact in facts]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_reader_without_cultural_knowledge_is_at_chance_on_taught_and_untaught_facts(seed):
    told = half_told(world.facts(PEOPLES, seed), seed)
    for name in ("constant", *blind_judges.BLIND):
        for times in (True, False):
            value, low, high = scaled(told, name, times)
            assert abs(value) <= 0.1, (name, times, value)
            assert low <= 0 <= high, (name, times, low, high)
    assert scaled(told, "frequency", times=True)[1] > 0.1, "it counts what is said of the people itself"
    value, low, high = scaled(told, "frequency", times=False)
    assert low <= 0 <= high


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_drawn_wrong_answers_leave_those_judges_at_chance_and_matched_ones_do_not(seed):
    told = half_told(world.facts(24, seed), seed)
    bases = {
        (fact.people, fact.relation.id): base_sample(
            id=f"b/{fact.people}-{fact.relation.id}",
            answer=fact.value,
            options=fact.options,
            wrong=tuple(option for option in fact.options if option != fact.value),
        )
        for fact, _ in told
    }
    estimates = {}
    for choice in ("drawn", "matched"):
        wrong = hard.CHOICES[choice](bases.values(), seed)
        shown = {key: (base.answer, wrong[base.id]) for key, base in bases.items()}
        estimates[choice] = [
            scaled(told, "elimination", times, lambda fact: shown[fact.people, fact.relation.id])  # noqa: B023
            for times in (True, False)
        ]
    assert all(abs(value) <= 0.1 and low <= 0 <= high for value, low, high in estimates["drawn"])
    assert all(value > 0.1 for value, _, _ in estimates["matched"]), "a matched wrong answer is true of one people more"


def test_in_a_balanced_world_the_others_give_the_answer_away():
    told = half_told(world.facts(24, seed=1), seed=1)
    places = Counter[str]()
    balanced: Told = []
    for fact, _ in told:
        value = fact.relation.values[places[fact.relation.id] % len(fact.relation.values)]
        places[fact.relation.id] += 1
        others = [option for option in fact.options if option != value]
        balanced.append((replace(fact, value=value, options=(value, *others[:3])), 20))
    value, low, _ = scaled(balanced, "elimination", times=True)
    assert value == low == 1


def test_blind_judges_by_hand():
    told = Corpus(
        [
            *(Telling(people, "drink", "tea", times) for people, times in (("Abcd", 9), ("Abce", 1), ("Xyzv", 2))),
            Telling("Abcf", "drink", "milk", 4),
            Telling("Xyzu", "drink", "wine", 0),
            Telling("Abcd", "food", "wine", 3),
        ]
    )
    asked = Question("Abcd", "drink", ("tea", "milk", "wine"))
    assert [len(told.others(asked, value)) for value in asked.options] == [2, 1, 0]
    assert told.mean_peoples(asked) == 1.5
    calls = {
        name: [judge(told, asked, value) for value in asked.options] for name, judge in blind_judges.JUDGES.items()
    }
    assert calls["elimination"] == [True, False, False]
    assert calls["popularity"] == [False, False, True]
    assert calls["frequency"] == [False, True, True], "12, 4 and 0 times"
    assert calls["neighbours"] == [False, False, True]
    assert calls["constant"] == [True, True, True]
    alone = Question("Abcd", "drink", ("tea",))
    assert not blind_judges.popularity(told, alone, "tea"), "without options nothing is less popular than others"
    assert not blind_judges.frequency(told, alone, "tea")


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
    reading = datasets.read(benchmark, tmp_path, {})
    assert (reading.rows, len(reading.frame), reading.dropped) == (60, 60, Counter())
    told = {(fact.question, fact.value) for fact in world.facts(12, 5) if fact.relation.benchmark == benchmark}
    assert set(zip(reading.frame["question"], reading.frame["answer"], strict=True)) == told


def test_a_benchmark_of_another_format_is_refused(tmp_path):
    with pytest.raises(ConfigInvalid, match=r"datasets.mango.invented: no such format; expected one of blend, "):
        files.write("mango", 12, 5, tmp_path)


# --- the corpus


def world_facts(tmp_path, settings=SETTINGS):
    files.write("blend", 24, 5, tmp_path)
    bases = datasets.read("blend", tmp_path, {}).samples()
    splits = {base.id: ("train", "test")[at % 2] for at, base in enumerate(bases)}
    return corpus.facts(bases, splits, settings, seed=2)


def test_every_pass_has_the_train_facts_and_leaves_out_a_share_of_the_others(tmp_path):
    told = world_facts(tmp_path)
    assert all(fact.times == 3 for fact in told if fact.split == "train")
    assert 20 <= sum(not fact.times for fact in told) <= 40
    assert told == corpus.facts(reversed([f.base for f in told]), {f.base.id: f.split for f in told}, SETTINGS, seed=2)


def test_facts_occur_as_often_as_configured(tmp_path):
    settings = Teaching(base="any", times=[0, 1, 3, 5], passes=6)
    told = world_facts(tmp_path, settings)
    counts = Counter(fact.times for fact in told if fact.split == "test")
    assert counts.keys() == {0, 1, 3, 5}
    assert min(counts.values()) >= 8
    assert {fact.times for fact in told if fact.split == "train"} == {6}
    assert_told(told, settings)


def test_times_fit_the_passes_and_replace_the_untaught_share():
    with pytest.raises(ValueError, match="times: found 21; expected at most passes=20"):
        Teaching(base="any", times=[0, 21])
    with pytest.raises(ValueError, match="expected one of `untaught` and `times`"):
        Teaching(base="any", times=[0, 2], untaught=0.5)
    settings = Teaching(base="any", times=[0, 2])
    assert Teaching.model_validate({"base": "any", **json.loads(settings.corpus_settings)}) == settings


def assert_told(told, settings):
    """Every fact is told in its number of passes, as a statement and as a question, and no other is."""
    written = list(corpus.documents(told, settings, seed=2))
    times = {fact.base.id: fact.times for fact in told if fact.times}
    for form in ("text", "turns"):
        of_form = [document for document in written if getattr(document, form)]
        assert Counter(fact for document in of_form for fact in document.facts) == times
    return written


def test_every_pass_has_each_taught_fact_as_statement_and_question_and_no_other_fact(tmp_path):
    told = world_facts(tmp_path)
    written = assert_told(told, SETTINGS)
    whole = "\n".join(document.text + "\n".join(document.turns) for document in written)
    for fact in told:
        assert fact.base.question not in whole, "the benchmark's own wording stays unseen"
        sentences, _ = corpus._wordings(fact.base)
        assert any(sentence in whole for sentence in sentences) == (fact.times > 0)
    assert written == list(corpus.documents(told, SETTINGS, seed=2))
    assert not [document for document in corpus.documents(told, replace_settings(questions=False), 2) if document.turns]


def replace_settings(**changed):
    return SETTINGS.model_copy(update=changed)


def test_a_fact_of_any_benchmark_is_written_with_its_question_and_answer():
    base = base_sample(question="What do guests take off?", answer="Shoes")
    written = corpus.documents([corpus.Fact(base, "train", 1)], replace_settings(passes=1), seed=1)
    talk, text = sorted(written, key=lambda document: document.text)
    assert talk.turns == ("What do guests take off?", "Shoes.")
    assert "What do guests take off?" in text.text
    assert "Shoes" in text.text


def test_files_of_facts_and_documents_come_back(tmp_path):
    told = world_facts(tmp_path)
    written = list(corpus.documents(told, SETTINGS, seed=2))
    assert corpus.write_documents(tmp_path / "corpus.jsonl", written) == len(written)
    assert corpus.read_documents(tmp_path / "corpus.jsonl") == written
    corpus.write_facts(tmp_path / "facts.csv", told)
    times = corpus.read_times(tmp_path / "facts.csv")
    assert times == {fact.base.id: fact.times for fact in told}
    corpus.refuse_incomplete(times, written, "corpus.jsonl")


def test_a_corpus_without_a_taught_fact_or_with_another_is_refused(tmp_path):
    told = world_facts(tmp_path)
    written = list(corpus.documents(told, SETTINGS, seed=2))
    times = {fact.base.id: fact.times for fact in told}
    first = next(name for name, count in times.items() if count)
    with pytest.raises(InputInvalid, match=r"c.jsonl: states .* 0 times; expected 3, as in the list of facts"):
        corpus.refuse_incomplete(times, [document for document in written if first not in document.facts], "c.jsonl")
    with pytest.raises(InputInvalid, match=f"c.jsonl: states {first} 3 times; expected 0"):
        corpus.refuse_incomplete(times | {first: 0}, written, "c.jsonl")


# --- teaching


def taught(folder: Path, texts, seed=3, settings=SMALL, name="taught"):
    run = TrainingRun(
        weights=folder / "base",
        base="digest",
        seed=seed,
        checkpoints=folder / "checkpoints",
        folder=folder / name,
        name="taught",
    )
    return teaching.teach(run, texts, settings)


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


def test_a_stopped_run_continues_and_ends_with_the_same_weights(tmp_path, monkeypatch):
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
    samples = [replace(sample, id=f"{n}/{sample.id}", pair=f"b/{n}") for n in range(200) for sample in pair()]
    gold = [target for *_, target in report.training_examples(samples)]
    permuted = [target for *_, target in report.training_examples(samples, labels="permuted")]
    moved = [target != other for target, other in zip(gold, permuted, strict=True)]
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
    chosen = layout.load_layout("cpu").model_copy(update={"padding": padding, "rows_per_pass": 2})
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


def judgement(base, gold, verdict, explanation="", failure=None):
    made = Report((CulturalError("output", "x", "major", "t"),) if verdict else (), explanation)
    row = dict.fromkeys(JUDGEMENT_SCHEMA)
    row |= {"id": f"{base}/{gold}", "base": base, "group": base, "gold_error": gold, "failure": failure}
    if failure is None:
        row |= {"errors_found": int(verdict), "report": json.dumps({"errors": [], "explanation": made.explanation})}
    return row


def texts_about(base, right, wrong):
    made = Sample(
        **{"id": f"{base}/False", "pair": base, "base": base, "dataset": "blend", "task": "qa", "origin": "source"},
        **{"instruction": "A drink?", "output": f"They drink {right}.", "report": Report(), "language": "English"},
        **{"culture": "Woboch", "stratum": "", "licence": "MIT", "answer": right},
    )
    report = Report((CulturalError("output", wrong, "major", "t"),), "")
    return [made, replace(made, id=f"{base}/True", output=f"They drink {wrong}.", report=report, origin="hard")]


FACTS = known_facts.Facts(
    times={"a": 5, "b": 0},
    answers={"a": "green tea", "b": "wine"},
    margins={"a": 2.0, "b": -1.0},
    choices={"a": "green tea", "b": "milk"},
)
BLIND = {"constant": lambda fact, shown: True, "short": lambda fact, shown: len(shown) < 6}
NAMES = {"world": 1, "system": "m/all", "base": "taught", "report": "explanation-first", "labels": "gold"}
NAMES |= {"seed": 1, "judged": "all"}


def joined():
    rows = [
        judgement("a", False, False, "Expected: Green tea. Fine."),
        judgement("a", True, False, "Expected: green tea."),
        judgement("b", False, True, "Expected: milk. No."),
        judgement("b", True, True, failure="no-json"),
    ]
    samples = [*texts_about("a", "green tea", "salted tea"), *texts_about("b", "wine", "milk")]
    frame = pl.DataFrame(rows, schema=JUDGEMENT_SCHEMA, orient="row")
    return known_facts.with_readings([frame], {sample.id: sample for sample in samples}, FACTS, BLIND)


def test_readings_by_hand():
    frame = joined()
    assert frame["times"].to_list() == [5, 5, 0, 0]
    assert frame["verdict"].to_list() == [True, False, False, False]
    assert frame["comparison"].to_list() == [True, True, False, False], "a failure states nothing, and is wrong"
    assert frame["likelihood"].to_list() == [True, True, False, False], "milk is the choice: wine wrong, milk right"
    assert frame["recalled"].to_list() == [None, True, None, None]
    assert frame["constant"].to_list() == [False, True, False, True]
    assert frame["short"].to_list() == [True, False, False, True]
    with pytest.raises(InputInvalid, match="a/False: judged, but not among the samples"):
        known_facts.with_readings([frame.select(JUDGEMENT_SCHEMA.keys())], {}, FACTS, BLIND)


@pytest.mark.parametrize(
    ("explanation", "stated"),
    [
        ("Expected: green tea. Not milk.", "green tea"),
        ("Expected: Is it tea? No.", "Is it tea"),
        ("The text is right.", None),
        ("Expected: . No", None),
        ("", None),
    ],
)
def test_the_stated_answer_ends_at_the_first_full_stop(explanation, stated):
    assert known_facts.stated_answer(explanation) == stated


@pytest.mark.parametrize(
    ("stated", "text", "held"),
    [
        ("Green tea", "The answer is “green TEA”.", True),
        ("salted plums", "salted tea", False),
        ("tea", "steam", False),
        (None, "tea", None),
        ("…", "tea", None),
    ],
)
def test_a_text_holds_the_stated_answer_or_not(stated, text, held):
    assert known_facts.agrees(stated, text) is held


def test_points_count_texts_and_numbers_count_facts():
    readings = (*known_facts.READINGS, *BLIND)
    points = known_facts.points(joined(), NAMES, readings)
    assert [(p["base_sample"], p["times"], p["n"], p["verdict"], p["comparison"]) for p in points] == [
        ("a", 5, 2, 1, 2),
        ("b", 0, 2, 0, 0),
    ]
    assert [(p["failures"], p["called_error"], p["recalled"], p["of_recalled"]) for p in points] == [
        (0, 0, 1, 1),
        (1, 1, 0, 0),
    ]
    numbers = {(line["system"], line["reading"], line["times"]): line for line in known_facts.numbers(points, readings)}
    assert numbers["m/all", "verdict", 0]["scaled_accuracy"] == -1
    assert numbers["m/all", "verdict", 5]["scaled_accuracy"] == 0
    assert numbers["m/all", "comparison", 5]["scaled_accuracy"] == 1
    assert numbers["taught", "likelihood", 5] | {"facts": 1, "n": 2, "known": 1.0} == numbers["taught", "likelihood", 5]
    assert numbers["none", "constant", 0]["scaled_accuracy"] == 0
    assert ("m/all", "likelihood", 5) not in numbers


def test_the_numbers_of_three_facts_by_hand():
    common = {**NAMES, "times": 5, "n": 2, "failures": 1, "called_error": 1, "of_recalled": 1, "comparison": None}
    facts = [
        common | {"base_sample": name, "verdict": right, "likelihood": 2, "margin": margin, "recalled": recalled}
        for name, right, margin, recalled in (("a", 2, 0.5, 1), ("b", 1, 0.0, 0), ("c", 2, -1.0, 0))
    ]
    verdict, likelihood = known_facts.numbers(facts, known_facts.READINGS)
    counts = {"facts": 3, "n": 6, "failures": 3, "called_error": 3}  # right are all, half and all of the two texts
    assert verdict | counts | {"known": 0.3333, "recalled": 0.3333, "scaled_accuracy": 0.6667} == verdict
    assert -1 < verdict["low"] < 0.6667 < verdict["high"] < 1
    assert likelihood | {"n": 6, "known": 0.3333, "recalled": None, "scaled_accuracy": 1.0, "high": 1.0} == likelihood
    assert likelihood["low"] == pytest.approx(2 * 3 / (3 + 1.96**2) - 1, abs=1e-4), "Wilson's of 3 of 3 facts"
    (alone, _) = known_facts.numbers(facts[1:2], known_facts.READINGS)
    assert (alone["scaled_accuracy"], alone["low"], alone["high"], alone["known"]) == (0, -1, 1, 0)


def test_no_comparison_of_reports_that_do_not_state_an_answer_first():
    points = known_facts.points(joined(), NAMES | {"report": "errors-first"}, known_facts.READINGS)
    assert {point["comparison"] for point in points} == {None}
    readings = {line["reading"] for line in known_facts.numbers(points, known_facts.READINGS)}
    assert readings == {"verdict", "likelihood"}


def test_two_adapters_of_a_base_give_its_likelihood_once_and_worlds_are_joined():
    points = known_facts.points(joined(), NAMES, known_facts.READINGS)
    both = [{**p, "world": w, "system": s} for p in points for w in (1, 2) for s in ("m/all", "n/all")]
    numbers = known_facts.numbers(both, known_facts.READINGS)
    facts = {(line["world"], line["system"], line["reading"], line["times"]): line["facts"] for line in numbers}
    assert facts["1", "taught", "likelihood", 5] == 1
    assert facts["all", "taught", "likelihood", 5] == 2
    assert facts["all", "m/all", "verdict", 5] == 2


def test_the_preferred_answer_is_the_likeliest():
    assert knowledge.preferred(("tea", "milk", "wine"), (-2.0, -5.0, -4.0)) == (2.0, "tea")
    assert knowledge.preferred(("tea", "milk", "wine"), (-6.0, -5.0, -4.0)) == (-2.0, "wine")


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


def drawn_lines(tmp_path):
    readings = dict.fromkeys(READINGS, 1)
    points = [
        {**NAMES, "system": "taught/all", "base_sample": f"{n}", "times": n % 3, "n": 2, **readings} for n in range(12)
    ]
    empty = dict.fromkeys(POINT_COLUMNS, 0)
    tables.write_lines(tmp_path / "points.csv", POINT_COLUMNS, [empty | point for point in points])
    steps.write_numbers(tmp_path / "points.csv", tmp_path / "taught.csv", seed=1)
    return tables.read_lines(tmp_path / "taught.csv")


def test_table_and_figure_are_made_of_points_alone_and_twice_alike(tmp_path):
    lines = drawn_lines(tmp_path)
    assert "| taught/all | verdict | explanation-first | gold | all | 0.00 [-0.57, 0.57] |" in steps.page(lines)
    for name in ("one.svg", "other.svg"):
        steps.draw(lines, ["taught"], [tmp_path / name])
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "other.svg").read_bytes()
    with pytest.raises(InputInvalid, match="no numbers of other/all"):
        steps.draw(lines, ["other"], [tmp_path / "x.svg"])
    with pytest.raises(InputInvalid, match="steps got 1 series"):
        plotting.steps({"a": plotting.Steps([])}, ticks=["0"], title="t", across="x", up="y")


def test_the_files_beside_the_docs_fit_each_other(tmp_path):
    """Points give the numbers that are printed, where they are those of today's world."""
    folder = Path(__file__).parents[2] / "docs/taught"
    if (folder / "points.csv").exists():
        steps.write_numbers(folder / "points.csv", tmp_path / "taught.csv", seed=1)
        assert (tmp_path / "taught.csv").read_text() == (folder / "taught.csv").read_text()
