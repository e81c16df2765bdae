"""The invented worlds on one card: training, likelihoods and answers on ids, and the program around them."""

from collections import Counter

import pytest
import tiny

from bench import taught_card, taught_training
from bench.taught_training import Schedule
from excam.inference import Choose, Message, chat

SCHEDULE = Schedule(learning_rate=1e-2, warmup_steps=1, weight_decay=0.1, rows_per_step=2)
PROMPTS = ("What do they eat?", "And what do they drink in the morning?", "Why?")


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    return tiny.model(tmp_path_factory.mktemp("weights") / "base")


def ids_of(weights, texts=PROMPTS):
    tokenizer = chat.load_tokenizer(weights)
    return [chat.encode(tokenizer, (Message("user", text),)).input_ids for text in texts]


def test_likelihoods_are_those_of_the_package(weights):
    from excam.inference.backends.transformers import Likelihoods

    model, tokenizer = taught_training.load(weights), chat.load_tokenizer(weights)
    asked = Choose((Message("user", PROMPTS[0]),), ("eel.", "barley porridge.", "figs."))
    ((_, choice),) = next(iter(Likelihoods(model.eval(), tokenizer).choose([asked])))
    whole = [chat.encode(tokenizer, asked.messages, option) for option in asked.options]
    rows = [(list(encoded.input_ids[:-1]), encoded.completion_start) for encoded in whole]
    assert taught_training.log_likelihoods(model, rows, batch=2) == pytest.approx(choice.logprobs, abs=1e-3)


def test_answers_end_at_a_stop_and_do_not_depend_on_the_batch(weights):
    prompts = ids_of(weights)
    model = taught_training.load(weights)
    stops = [next(iter(taught_training.answers(model, prompts[:1], [-1], 4, 1)))[2]]
    alone = [answer for prompt in prompts for answer in taught_training.answers(model, [prompt], stops, 6, 1)]
    assert len(alone[0]) <= 3
    assert alone[0][-1] == stops[0]
    assert all(len(answer) == 6 or answer[-1] == stops[0] for answer in alone)
    assert [answer[0] for answer in taught_training.answers(model, prompts, stops, 6, 3)] == [
        answer[0] for answer in alone
    ]


def test_training_lowers_the_loss_of_what_has_one_and_an_adapter_leaves_the_base(weights):
    rows = [(list(ids), len(ids) // 2) for ids in ids_of(weights)[:2]] * 30
    base = taught_training.load(weights)
    before = {name: value.clone() for name, value in base.state_dict().items()}
    tuned = taught_training.with_lora(base, rank=4, alpha=8, seed=1)
    facts = taught_training.train(tuned, rows, SCHEDULE, "name", lambda text: None)
    assert facts["steps"] == 30
    assert facts["losses"][-1] < facts["losses"][0]
    after = {name.replace("base_layer.", ""): value for name, value in base.state_dict().items() if "lora" not in name}
    assert all(value.equal(after[name]) for name, value in before.items())


def test_the_program_computes_what_is_missing_and_nothing_twice(weights, tmp_path, capsys):
    rows = [list(ids) for ids in ids_of(weights)]
    recipe = {"rank": 2, "alpha": 4, "learning_rate": 1e-3, "warmup_steps": 1, "weight_decay": 0.1, "rows_per_step": 2}
    teach = {"learning_rate": 1e-3, "warmup_steps": 1, "rows_per_step": 2}
    settings = {"seed": 1, "stops": [2], "max_tokens": 3, "teach": teach, "recipes": {"taught": recipe}}
    folder = tmp_path / "to/world-1"
    folder.mkdir(parents=True)
    taught_card.write_lines(
        folder / "ids.jsonl.gz",
        [
            {"kind": "settings", **settings},
            *({"kind": "corpus", "ids": row} for row in rows),
            *({"kind": "train", "model": "taught", "ids": row, "prompt": 4} for row in rows),
            *({"kind": "asked", "id": f"{at}", "ids": row} for at, row in enumerate(rows)),
            *({"kind": "option", "base": "b", "option": "o", "ids": row, "prompt": 4} for row in rows),
        ],
    )
    args = ["--weights", str(weights), "--to", str(tmp_path / "to"), "--steps", "compute", "--worlds", "1"]
    args += ["--models", "taught"]
    taught_card.main(args)
    answers = list(taught_card.read_lines(folder / "answers-taught.jsonl"))
    assert {line["id"] for line in answers} == {"0", "1", "2"}
    assert all(1 <= len(line["ids"]) <= 3 for line in answers)
    lines = list(taught_card.read_lines(folder / "likelihoods.jsonl"))
    assert all(line["taught"] != line["untaught"] for line in lines)
    first = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    (folder / "answers-taught.jsonl").unlink()
    capsys.readouterr()
    taught_card.main(args)
    assert "teaching" not in capsys.readouterr().err
    again = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    assert {name for name in first if first[name] != again[name]} == {"answers-taught.jsonl", "training-taught.jsonl"}
    assert list(taught_card.read_lines(folder / "answers-taught.jsonl")) == answers


def test_all_steps_but_drawing_need_the_weights(tmp_path):
    with pytest.raises(SystemExit):
        taught_card.main(["--to", str(tmp_path), "--steps", "score"])


@pytest.mark.nightly
def test_a_world_is_prepared_as_the_workflow_makes_it(weights, tmp_path):
    experiment = tmp_path / "bytes.yaml"  # a token a byte: rows are longer
    recipe = taught_card.EXPERIMENT.read_text(encoding="utf-8")
    experiment.write_text(recipe.replace("max_length: 512", "max_length: 4096"), encoding="utf-8")
    args = ["--weights", str(weights), "--to", str(tmp_path), "--steps", "prepare", "--worlds", "2"]
    taught_card.main([*args, "--models", "taught", "--experiment", str(experiment)])
    kinds = Counter(line["kind"] for line in taught_card.read_lines(tmp_path / "world-2/ids.jsonl.gz"))
    assert (kinds["settings"], kinds["train"], kinds["asked"], kinds["option"]) == (1, 864, 960, 960)
