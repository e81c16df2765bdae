"""Fine-tuning: what is learnt from, in which order, and a real run of a tiny model that a crash does not change."""

import csv
import hashlib
import json
import math
import random
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import build_excam40k
import polars as pl
import pytest
import tiny
import yaml
from one_line_errors import line_of
from pydantic import ValidationError

from excam import config
from excam.config import Recipe
from excam.core import tables
from excam.core.exceptions import ArtifactBroken, ConfigInvalid, ExcamError, InputInvalid, ModelInvalid
from excam.core.provenance import sha256, write_json
from excam.error_reports import fixed_answers, record_files
from excam.error_reports.judges import report
from excam.error_reports.records import CulturalError, Report, Sample, to_row
from excam.training import checkpoints, devices, layout, sft, tokens, trainers
from scripts import training as training_steps

SEED = 11
POSITIONS = 2048  # tokens that the tiny base model takes
SIZES = {"rank": 4, "alpha": 8, "warmup_steps": 2, "rows_per_step": 4, "max_length": 256, "save_steps": 2}
RECIPE = Recipe(learning_rate=1e-2, layout="cpu", **SIZES)
CPU = layout.load_layout("cpu")
ROOT = Path(__file__).parents[2]
CALMQA = ROOT.parent / "shared/data/calmqa"


@cache
def tokenizer_of():
    """A byte-level tokenizer that learnt a few hundred merges from our own prompt, and ChatML."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    texts = [report.SYSTEM, report.USER, *(report.write(sample.report) for sample in pair(0))]
    raw.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=500, initial_alphabet=alphabet, show_progress=False))
    special = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
    raw.add_special_tokens([AddedToken(text, special=True, normalized=False) for text in special])
    return PreTrainedTokenizerFast(
        tokenizer_object=raw, eos_token="<|im_end|>", pad_token="<|endoftext|>", chat_template=tiny.CHATML
    )


def pair(number: int, length: int = 5) -> list[Sample]:
    """A right sample and the wrong one of its pair; `length` words of instruction."""
    dish = ("Sushi", "Kebab", "Pasta", "Kimchi")[number % 4]
    right = Sample(
        **{"id": f"blend/{number}/right", "pair": f"blend/{number}", "base": f"blend/{number}", "dataset": "blend"},
        **{"task": "qa", "instruction": "dish " * length, "output": f"{dish}.", "report": Report(), "origin": "source"},
        **{"language": "English", "culture": "Greece", "stratum": "", "licence": "MIT", "answer": "Moussaka"},
    )
    error = CulturalError("output", dish, "major", "incorrect answer", 0, len(dish))
    wrong = replace(right, id=f"blend/{number}/wrong", origin="hard", report=Report((error,), f"{dish} is not Greek."))
    return [right, wrong]


def samples_of(pairs: int = 12) -> list[Sample]:
    return [sample for number in range(pairs) for sample in pair(number, number % 5 + 1)]


def encode(samples: Iterable[Sample]) -> pl.DataFrame:
    return tokens.encode(tokenizer_of(), report.training_examples(list(samples)))


def rows_of(samples: list[Sample], recipe: Recipe = RECIPE) -> list[tokens.Row]:
    kept = tokens.without_long_rows(encode(samples), recipe, POSITIONS).drop_nulls("input_ids")
    return tokens.with_labels(kept, recipe.loss)


# --- tokens


def test_loss_is_on_the_report_and_the_end_of_the_turn():
    tokenizer = tokenizer_of()
    right, wrong = pair(0)
    rows = rows_of([right, wrong])
    for sample, row in zip((right, wrong), rows, strict=True):
        assert len(row["labels"]) == len(row["input_ids"])
        start = row["labels"].count(-100)
        assert set(row["labels"][:start]) == {-100}
        assert row["labels"][start:] == row["input_ids"][start:]
        assert tokenizer.decode(row["input_ids"][start:]) == report.write(sample.report) + "<|im_end|>"
        prompt = tokenizer.decode(row["input_ids"][:start])
        assert prompt.endswith("<|im_start|>assistant\n")
        assert f"Text: {sample.output} Return" in prompt


def test_training_and_judging_share_the_prompt():
    from excam.inference import chat

    row, _ = rows_of(pair(0))
    asked = chat.encode(tokenizer_of(), report.messages(pair(0)[0].instruction, pair(0)[0].output))
    assert tuple(row["input_ids"][: row["labels"].count(-100)]) == asked.input_ids


def test_a_row_that_is_too_long_is_refused():
    refuse = RECIPE.model_copy(update={"overflow": "refuse"})
    line = line_of(InputInvalid, rows_of, [*pair(0), *pair(1, length=600)], refuse)
    assert line.startswith("blend/1/right: ")
    assert "tokens, the first of 2 rows over training.max_length=256 (longest: " in line
    assert line.endswith("set training.overflow to drop, or max_length to at most 2048")
    line = line_of(InputInvalid, tokens.without_long_rows, encode(pair(1, length=600)), refuse, RECIPE.max_length)
    assert line.endswith("set training.overflow to drop")  # the length cannot be raised


def test_what_is_dropped_goes_with_its_twin_and_is_counted():
    """A right row whose wrong row is too long would tip the balance; nothing is ever cut."""
    whole = rows_of([*pair(0), *pair(2)])
    longest = max(len(row["input_ids"]) for row in whole)
    only_wrong_too_long = pair(1)
    error = replace(only_wrong_too_long[1].report.errors[0], type="long " * 50)
    only_wrong_too_long[1] = replace(only_wrong_too_long[1], report=Report((error,), "x"))
    drop = RECIPE.model_copy(update={"max_length": longest})
    samples = [*pair(0), *only_wrong_too_long, *pair(2)]
    assert rows_of(samples, drop) == whole
    within = tokens.without_long_rows(encode(samples), drop, POSITIONS)
    counts = tokens.statistics(within)
    assert (counts["rows"], counts["too_long"], counts["longest"]) == (4, 2, longest)
    assert within["id"].to_list() == [sample.id for sample in samples], "what was dropped is known by name"


def test_loss_on_every_token():
    assert all(row["labels"] == row["input_ids"] for row in tokens.with_labels(encode(pair(0)), "conversation"))


def test_a_mixture_is_a_filter_of_what_was_tokenised_once(tmp_path):
    encoded = encode(samples_of())
    files = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    for file, part in zip(files, (encoded[:6], encoded[6:]), strict=True):
        tables.write_frame(file, part)
    wanted = [encoded["id"][at] for at in (20, 3, 7, 21, 6)]
    read = tokens.read(files, wanted)
    assert read.rows() == [encoded.row(at) for at in (20, 21, 3, 7, 6)], "pairs side by side"
    with pytest.raises(ArtifactBroken, match=r"4 rows of the mixture are in none of 1 tokenised sets, the first is "):
        tokens.read(files[:1], wanted)


def test_tokens_are_counted():
    encoded = encode(samples_of())
    counts = tokens.statistics(encoded)
    lengths = [len(ids) for ids in encoded["input_ids"]]
    assert (counts["rows"], counts["tokens"], counts["longest"]) == (24, sum(lengths), max(lengths))
    assert counts["mean"] == pytest.approx(sum(lengths) / 24, abs=0.05)
    assert tokens.statistics(encoded[:0]) == {"rows": 0, "too_long": 0}


@pytest.mark.nightly
@pytest.mark.skipif(not CALMQA.is_dir(), reason="no real rows here")
def test_the_papers_recipe_takes_real_rows(tmp_path):
    """CaLMQA's longest rows are dropped with their pairs and counted, with the tokenizer that splits most: bytes."""
    from scripts.training import tokenize_samples

    experiment = config.load(yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8")))
    limit = experiment.recipe("phi3-medium-4k").max_length
    results = build_excam40k.build(tmp_path, {"calmqa": CALMQA}, cap=experiment.datasets["calmqa"].cap)
    samples = results / "excam40k/calmqa/train.parquet"
    tiny.model(tmp_path / "base/files", positions=limit)
    (tmp_path / "base/manifest.json").touch()
    words = ["--weights", tmp_path / "base/manifest.json", "--samples", samples]
    words += ["--recipe", experiment.recipe("phi3-medium-4k").model_dump_json(include={"max_length", "overflow"})]
    tokenize_samples([*map(str, words), "--tokens", f"{tmp_path}/t.parquet", "--counts", f"{tmp_path}/t.json"])
    counts = json.loads((tmp_path / "t.json").read_text())
    assert counts["longest"] <= limit
    assert counts["too_long"] > 0
    wanted = [sample.id for sample in record_files.read_samples(samples)]
    kept = tokens.read([tmp_path / "t.parquet"], wanted)
    assert (kept.height, len(wanted) - kept.height) == (counts["rows"], counts["too_long"])
    assert set(Counter(kept["pair"]).values()) == {2}, "whole pairs"


# --- layouts


def test_every_layout_is_one():
    for path in sorted(config.LAYOUTS.glob("*.yaml")):
        assert layout.load_layout(path.stem).passes(8) >= 1, path.stem
    single, paper = layout.load_layout("single"), layout.load_layout("zero2")
    assert (single.processes, single.rows_per_pass, single.padding) == (1, 8, "free")
    assert (paper.processes, paper.rows_per_pass, paper.deepspeed["zero_optimization"]["stage"]) == (2, 4, 2)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("processes: 2", "one.yaml: device: field required"),
        ("device: tpu, padding: free", "one.yaml: device: input should be 'gpu' or 'cpu'"),
        ("device: gpu, padding: free, fsdp: {a: 1}, deepspeed: {a: 1}", "value error, deepspeed and fsdp together"),
        ("device: gpu, padding: padded, tokens_per_pass: 9", "tokens_per_pass with padded rows or several processes"),
        ("device: gpu, padding: padded, attention: rows", "attention: rows with padded rows; expected padding: free"),
    ],
)
def test_a_file_that_is_no_layout(tmp_path, monkeypatch, text, line):
    rest = "" if text == "processes: 2" else ", processes: 1, rows_per_pass: 1, checkpointing: full"
    (tmp_path / "one.yaml").write_text(f"{{{text}{rest}}}")
    monkeypatch.setattr(layout, "LAYOUTS", tmp_path)
    assert line in line_of(ConfigInvalid, layout.load_layout, "one")


# --- in_order


def made_rows(lengths: list[tuple[int, int]]) -> pl.DataFrame:
    """Rows of (prompt, report) lengths; every id of a row is its number."""
    rows = [(str(at), str(at), [at] * (prompt + answer), prompt) for at, (prompt, answer) in enumerate(lengths)]
    return pl.DataFrame(rows, schema=tokens.SCHEMA, orient="row")


def names(rows: pl.DataFrame) -> list[int]:
    return list(map(int, rows["id"]))


@pytest.mark.parametrize("order", ["random", "length"])
def test_every_row_once_an_epoch(order):
    rows = made_rows([(at % 7 + 1, 2) for at in range(24)])
    recipe = RECIPE.model_copy(update={"order": order, "epochs": 3})
    ordered, again, other = (names(sft.training_order(rows, recipe, seed)) for seed in (SEED, SEED, SEED + 1))
    epochs = [ordered[at : at + 24] for at in range(0, len(ordered), 24)]
    assert [sorted(epoch) for epoch in epochs] == [list(range(24))] * 3
    assert len({tuple(epoch) for epoch in epochs}) == 3, "each epoch in an order of its own"
    assert ordered == again != other
    assert epochs[0] != sorted(epochs[0])


@pytest.mark.parametrize(("epochs", "rows"), [(1, 20), (0.5, 8), (1.5, 32), (2, 44)])
def test_whole_steps_only(epochs, rows):
    made = made_rows([(3, 2)] * 22)
    assert len(sft.training_order(made, RECIPE.model_copy(update={"epochs": epochs}), SEED)) == rows


def test_steps_of_like_prompts():
    """Sorted by prompt length: with reports, the length of the row would separate right from wrong ones."""
    lengths = [(at // 2 + 1, 2 if at % 2 else 60) for at in range(24)]
    random.Random(3).shuffle(lengths)
    ordered = sft.training_order(made_rows(lengths), RECIPE.model_copy(update={"order": "length"}), SEED)
    prompts = ordered["prompt_tokens"].to_list()
    steps = [sorted(prompts[at : at + 4]) for at in range(0, 24, 4)]
    assert all(step[-1] - step[0] <= 1 for step in steps)
    assert sorted(steps) != steps, "steps in random order"
    reports = (ordered["input_ids"].list.len() - ordered["prompt_tokens"]).to_list()
    for at in range(0, 24, 4):
        assert Counter(reports[at : at + 4]) == {2: 2, 60: 2}, "the rows of a pair stay in one step"


# --- checkpoints


def test_the_last_whole_checkpoint_of_this_run(tmp_path):
    for step, run in ((9, "mine"), (10, "mine"), (11, None), (12, "other")):
        path = tmp_path / f"checkpoint-{step}"
        path.mkdir()
        if run:
            (path / checkpoints.MARK).write_text(json.dumps({"run": run}))
    last = tmp_path / "checkpoint-10"
    assert checkpoints.last_complete_checkpoint(tmp_path, "mine") == last, "10 comes after 9"
    assert list(tmp_path.iterdir()) == [last], "partial, foreign and older ones are removed"
    (last / "weights").touch()
    assert checkpoints.last_complete_checkpoint(tmp_path, "another") is None
    assert list(tmp_path.iterdir()) == []
    assert checkpoints.last_complete_checkpoint(tmp_path / "absent", "mine") is None


# --- a real run


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    """A random Llama of two layers, as a fetched model's folder."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    folder = tmp_path_factory.mktemp("weights")
    tokenizer = tokenizer_of()
    torch.manual_seed(0)
    heads = {"num_attention_heads": 4, "num_key_value_heads": 2, "num_hidden_layers": 2}
    sizes = {"vocab_size": len(tokenizer), "hidden_size": 32, "intermediate_size": 64, "initializer_range": 0.2}
    model = LlamaForCausalLM(LlamaConfig(max_position_embeddings=POSITIONS, **heads, **sizes))
    model.to(torch.bfloat16).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def train(weights: Path, place: Path, recipe: Recipe = RECIPE, **changes) -> dict:
    """A run on the CPU; its adapter is in `place/adapter`."""
    import torch

    options = {"layout": CPU, "probe": fixed_answers.scores} | changes
    named = {"base": options.pop("base", "digest"), "seed": options.pop("seed", SEED), "name": "tiny/all"}
    folders = {"weights": weights, "checkpoints": place / "checkpoints", "folder": place / "adapter"}
    run = checkpoints.TrainingRun(**folders, **named)
    rows = encode(options.pop("samples", samples_of()))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.cuda, "is_available", lambda: False)
        patch.setattr(torch.cuda, "device_count", lambda: 0)
        return sft.train(run, rows, recipe, **options)


def digests(place: Path) -> dict[str, str]:
    return {name: hashlib.sha256((place / "adapter" / name).read_bytes()).hexdigest() for name in sft.PUBLISHED}


def losses(place: Path, column: str = "loss") -> list[float]:
    with (place / "adapter" / "loss.csv").open(newline="", encoding="utf-8") as stream:
        return [float(row[column]) for row in csv.DictReader(stream)]


@pytest.fixture(scope="module")
def uninterrupted(weights, tmp_path_factory):
    place = tmp_path_factory.mktemp("uninterrupted")
    return place, train(weights, place)


def test_what_a_run_leaves(uninterrupted, weights):
    import torch

    place, facts = uninterrupted
    rows = rows_of(samples_of())
    assert sorted(path.name for path in (place / "adapter").iterdir()) == sorted(sft.PUBLISHED)
    assert (facts["steps"], facts["rows"], facts["resumed_from"]) == (6, 24, None)
    assert facts["tokens"] == sum(len(row["input_ids"]) for row in rows)
    assert facts["supervised_tokens"] == sum(label != -100 for row in rows for label in row["labels"])
    assert facts["device"] == "cpu"
    assert (facts["dtype"] == "bfloat16") == torch.ops.mkldnn._is_mkldnn_bf16_supported()
    assert facts["final_loss"] == losses(place)[-1]
    assert len(losses(place)) == 6
    config = json.loads((place / "adapter" / "adapter_config.json").read_text(encoding="utf-8"))
    assert (config["base_model_name_or_path"], config["r"], config["lora_alpha"]) == ("tiny", 4, 8)
    assert config["target_modules"] == sorted(config["target_modules"])
    assert str(weights) not in json.dumps(config), "no path of this machine"


class Killed(BaseException):
    """Replaces a signal: nothing of ours catches it."""


def killed(weights: Path, place: Path, step: int, **changes) -> None:
    """A run that dies in this step."""
    steps = iter(range(1, 100))
    advance = checkpoints.Progress.advance

    def dying(self, rows: int = 1) -> None:
        if next(steps) == step:
            raise Killed
        advance(self, rows)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpoints.Progress, "advance", dying)
        with pytest.raises(Killed):
            train(weights, place, **changes)
    assert not (place / "adapter").exists()


def test_a_crash_changes_no_bit(uninterrupted, weights, tmp_path):
    """The adapter and its losses are those of the run that was never interrupted."""
    killed(weights, tmp_path, step=5)
    facts = train(weights, tmp_path)
    assert (facts["resumed_from"], facts["steps"]) == ("checkpoint-4", 6)
    assert digests(tmp_path) == digests(uninterrupted[0])


def run_id(weights: Path, place: Path, **changes) -> str:
    """What a run's checkpoints are marked with; it ends before the first step."""
    seen = []

    def last(_: Path, run: str) -> None:
        seen.append(run)
        raise Killed

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sft, "last_complete_checkpoint", last)
        with pytest.raises(Killed):
            train(weights, place, **changes)
    return seen[0]


def test_whose_checkpoints_are_gone_on_from(weights, tmp_path):
    """Those of the same rows, base, seed and recipe; how often they are kept decides nothing."""
    ours = run_id(weights, tmp_path)
    assert run_id(weights, tmp_path) == ours
    assert run_id(weights, tmp_path, recipe=RECIPE.model_copy(update={"save_steps": 1})) == ours
    others = [{"seed": SEED + 1}, {"base": "another"}, {"recipe": RECIPE.model_copy(update={"weight_decay": 0.0})}]
    others += [{"samples": samples_of()[:-4]}, {"samples": [*samples_of()[:-2], *pair(99)]}]
    assert len({ours, *(run_id(weights, tmp_path, **change) for change in others)}) == 6


@pytest.fixture(scope="module")
def twenty(weights, tmp_path_factory):
    """Twenty steps of four rows, two rows a pass."""
    place = tmp_path_factory.mktemp("twenty")
    train(weights, place, samples=samples_of(40))
    return place


def trained(place: Path) -> dict:
    from safetensors.torch import load_file

    return load_file(place / "adapter" / "adapter_model.safetensors")


def apart(adapter: dict, expected: dict) -> float:
    """The distance of two adapters, as a share of how far training moved one from the other's start at zero."""
    import torch

    assert adapter.keys() == expected.keys()
    names = [name for name in expected if "lora_B" in name]  # they begin at 0
    moved = torch.cat([expected[name].flatten() for name in names])
    return float((torch.cat([adapter[name].flatten() for name in names]) - moved).norm() / moved.norm())


def plain_loop(weights: Path) -> tuple[list[float], dict]:
    """The same twenty steps in plain PyTorch: cross-entropy over all positions with a label, cosine with warm-up."""
    import torch
    from peft import LoraConfig, get_peft_model, get_peft_model_state_dict
    from peft.helpers import disable_input_dtype_casting
    from transformers import AutoModelForCausalLM, set_seed

    set_seed(SEED)
    is_native = torch.ops.mkldnn._is_mkldnn_bf16_supported()  # else the processor only emulates bfloat16
    dtype = torch.bfloat16 if is_native else torch.float32
    base = AutoModelForCausalLM.from_pretrained(weights, dtype=dtype, attn_implementation="eager")
    lora = LoraConfig(r=4, lora_alpha=8, target_modules="all-linear", task_type="CAUSAL_LM")
    model = get_peft_model(base, lora).train()
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=1e-2, betas=(0.9, 0.95), weight_decay=0.1)
    encoded = encode(samples_of(40))
    ordered = tokens.with_labels(sft.training_order(encoded, RECIPE, SEED), RECIPE.loss)
    step_losses = []
    for step in range(20):
        batch = ordered[step * 4 : step * 4 + 4]
        supervised = sum(label != -100 for row in batch for label in row["labels"])
        total = 0.0
        for part in (batch[at : at + CPU.rows_per_pass] for at in range(0, 4, CPU.rows_per_pass)):
            longest = max(len(row["input_ids"]) for row in part)
            pads = [longest - len(row["input_ids"]) for row in part]
            ids = torch.tensor([row["input_ids"] + [0] * pad for row, pad in zip(part, pads, strict=True)])
            mask = torch.tensor([[1] * (longest - pad) + [0] * pad for pad in pads])
            labels = torch.tensor([row["labels"] + [-100] * pad for row, pad in zip(part, pads, strict=True)])
            autocast = torch.autocast("cpu", dtype=torch.bfloat16, enabled=is_native)
            with autocast, disable_input_dtype_casting(model):
                logits = model(input_ids=ids, attention_mask=mask).logits[:, :-1].float()
            loss = torch.nn.functional.cross_entropy(
                logits.flatten(0, 1), labels[:, 1:].flatten(), ignore_index=-100, reduction="sum"
            )
            (loss / supervised).backward()
            total += loss.item() / supervised
        step_losses.append(total)
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        scale = step / 2 if step < 2 else 0.5 * (1 + math.cos(math.pi * (step - 2) / 18))
        for group in optimizer.param_groups:
            group["lr"] = 1e-2 * scale
        optimizer.step()
        optimizer.zero_grad()
    return step_losses, get_peft_model_state_dict(model)


def test_twenty_steps_are_those_of_a_plain_loop(twenty, weights):
    """Nothing hidden in the trainer changes the recipe: losses and weights."""
    expected, adapter = plain_loop(weights)
    assert losses(twenty) == pytest.approx(expected, abs=1e-5)
    assert apart(trained(twenty), adapter) < 1e-5
    assert losses(twenty)[-1] < 0.8 * losses(twenty)[0], "it learns"


def test_rows_end_to_end_give_the_weights_of_padded_ones(twenty, weights, tmp_path):
    train(weights, tmp_path, samples=samples_of(40), layout=CPU.model_copy(update={"padding": "free"}))
    assert losses(tmp_path) == pytest.approx(losses(twenty), abs=1e-2)
    assert apart(trained(tmp_path), trained(twenty)) < 0.01


def collated(rows: list[tokens.Row]) -> dict:
    """Rows end to end, as TRL lays them."""
    from trl.trainer.sft_trainer import DataCollatorForLanguageModeling

    return DataCollatorForLanguageModeling(pad_token_id=0, padding_free=True)([dict(row) for row in rows])


def test_a_long_step_is_parted_between_its_rows():
    import torch

    rows = rows_of(samples_of(4))
    lengths = [len(row["input_ids"]) for row in rows]
    most = max(sum(lengths[:3]), sum(lengths[3:5]))
    assert sum(lengths[:4]) > most < sum(lengths[3:6])
    for limit, groups in ((most, [3, 2]), (max(lengths), [1] * 8), (1, [1] * 8), (sum(lengths), [8]), (None, [8])):
        parts = trainers.split_batch(collated(rows), limit)
        sizes = [len(part["cu_seq_lens_q"]) - 1 for part in parts]
        assert sizes[: len(groups)] == groups
        assert sum(sizes) == 8
        at = 0
        for part, size in zip(parts, sizes, strict=True):
            expected = collated(rows[at : at + size])
            assert part.keys() == expected.keys()
            for name, value in expected.items():
                assert torch.equal(torch.as_tensor(part[name]), torch.as_tensor(value)), name
            at += size


def test_a_parted_step_learns_what_a_whole_one_does(weights, tmp_path):
    """Losses and gradients as they are logged: each part's sum is divided by the tokens of the step."""
    free = CPU.model_copy(update={"padding": "free", "rows_per_pass": 4})
    facts = {}
    for place, most, attention in (("whole", None, "sdpa"), ("parted", 1, "sdpa"), ("apart", 300, "rows")):
        parted = free.model_copy(update={"tokens_per_pass": most, "attention": attention})
        facts[place] = train(weights, tmp_path / place, samples=samples_of(4), layout=parted)
    for column in ("loss", "grad_norm"):
        whole, *others = (losses(tmp_path / place, column) for place in ("whole", "parted", "apart"))
        for series in others:
            assert series == pytest.approx(whole, rel=0.01), column
    assert facts["apart"]["attention"] == "rows one after the other"
    assert facts["apart"]["fixed_answers"].keys() == {"base", "tuned"}, "which are padded"


@pytest.mark.variants
@pytest.mark.parametrize("checkpointing", ["full", "half"])
def test_computing_activations_again_changes_nothing(uninterrupted, weights, tmp_path, checkpointing):
    train(weights, tmp_path, layout=CPU.model_copy(update={"checkpointing": checkpointing}))
    assert losses(tmp_path) == pytest.approx(losses(uninterrupted[0]), abs=1e-5)
    assert apart(trained(tmp_path), trained(uninterrupted[0])) < 1e-5


def test_tensorboard_follows_the_loss(uninterrupted, weights, tmp_path, monkeypatch):
    """The curve of loss.csv, and an adapter that does not change for being watched."""
    from tensorboardX.proto.event_pb2 import Event

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TENSORBOARD_LOGGING_DIR", "is put back after the test")
    train(weights, tmp_path, RECIPE.model_copy(update={"report_to": "tensorboard"}))
    (file,) = (tmp_path / "logs/tensorboard/tiny/all").glob("events.out.tfevents.*")
    raw, values = file.read_bytes(), []
    while raw:  # each event between its length (eight bytes, four of checksum) and four of checksum
        length = int.from_bytes(raw[:8], "little")
        values += Event.FromString(raw[12 : 12 + length]).summary.value
        raw = raw[16 + length :]
    computed = [value.simple_value for value in values if value.tag == "train/loss"]
    assert computed == pytest.approx(losses(tmp_path), abs=1e-4)
    assert digests(tmp_path) == digests(uninterrupted[0])


def test_the_layout_without_a_gpu_differs_in_devices_alone():
    """`zero2` of experiments/excam-paper.yaml, and what the nightly test runs in its place."""
    paper, tried = (layout.load_layout(name) for name in ("zero2", "zero2-cpu"))
    assert (paper.processes, paper.padding) == (tried.processes, tried.padding) == (2, "padded")
    assert (paper.device, tried.device) == ("gpu", "cpu")
    stage = paper.deepspeed["zero_optimization"]
    assert stage == tried.deepspeed["zero_optimization"] | {"overlap_comm": stage["overlap_comm"]}
    assert "offload_optimizer" not in stage, "without CPU offload (Appendix B)"
    assert paper.deepspeed == tried.deepspeed | {"bf16": {"enabled": "auto"}, "zero_optimization": stage}


@pytest.mark.nightly
def test_the_papers_layout_on_two_processes(weights, tmp_path):
    """DeepSpeed ZeRO-2 with real processes: the steps of one process that takes two rows a pass too."""
    train(weights, tmp_path / "one", layout=CPU.model_copy(update={"rows_per_pass": 2}))
    digest = sha256(weights / "config.json")
    base = {"revision": "0", "licence": "MIT", "settings": {"hub": None}, "outputs": {"config.json": digest}}
    write_json(tmp_path / "base/manifest.json", base)
    (tmp_path / "base/files").symlink_to(weights)
    tables.write_frame(tmp_path / "tokens.parquet", encode(samples_of()))
    (tmp_path / "train.jsonl").write_text("".join(json.dumps(to_row(sample)) + "\n" for sample in samples_of()))
    words = ["--model", "tiny", "--trained-on", "all", "--recipe", RECIPE.adapter_settings, "--layout", "zero2-cpu"]
    words += ["--weights", tmp_path / "base/manifest.json", "--mixture", tmp_path / "train.jsonl"]
    words += ["--tokens", tmp_path / "tokens.parquet", "--save-steps", 4, "--seed", SEED]
    words += ["--checkpoints", tmp_path / "checkpoints", "--adapter", tmp_path / "adapter"]
    command = [sys.executable, "-m", "scripts", "train_adapter", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert losses(tmp_path) == pytest.approx(losses(tmp_path / "one"), abs=1e-4)
    manifest = json.loads((tmp_path / "adapter/manifest.json").read_text(encoding="utf-8"))
    assert (manifest["settings"]["layout"]["processes"], manifest["steps"]) == (2, 6)
    assert (tmp_path / "checkpoints/checkpoint-4/whole.json").exists(), "they stay until the adapter is proven"


FAILING = "import os, sys, time; rank = os.environ['RANK']; rank in sys.argv[1:] and sys.exit('broken'); time.sleep(9)"
# exit status and standard error, by the process that was seen first; the other one is ended before or after its words
FIRST, SECOND, BOTH = (1, "broken\n"), ("process 1: broken", ""), ("process 1: broken", "broken\n")


@pytest.mark.parametrize(
    ("failing", "possible"),
    [(["0"], [FIRST]), (["0", "1"], [FIRST, SECOND, BOTH]), (["1"], [SECOND]), (["2"], [(0, "")])],
)
def test_a_process_that_fails_is_told_in_its_own_words(failing, possible, capfd):
    """None is lost; two that fail at once may both be told."""
    words = FAILING.replace("9", "0") if "2" in failing else FAILING
    status = devices._run_launcher(2, ["-c", words, *failing])
    assert (status, capfd.readouterr().err) in possible


@pytest.mark.parametrize("targets", ["q_proj", ".*_proj", ["(a+)+"], ["a b"], 5])
def test_target_modules_are_names(targets):
    """PEFT reads any other string as a pattern, which an adapter that is to be opened may not have."""
    with pytest.raises(ValidationError, match="targets"):
        RECIPE.model_validate(RECIPE.model_dump() | {"targets": targets})


@pytest.mark.parametrize(
    ("ask", "line"),
    [
        (lambda: tokens.without_long_rows(encode(pair(0)), RECIPE, 255), "training.max_length=256: the base model takes 255"),
        (lambda: layout.load_layout("zero2").passes(6), "rows_per_step=6 with 2 processes of 4 rows; expected a multiple of 8"),
        (lambda: layout.load_layout("two"), "no layout 'two'; expected a file of excam/training/layouts"),
        (lambda: sft.training_order(made_rows([(3, 2)] * 3), RECIPE, SEED), "3 training rows; expected at least training.rows_"),
        (lambda: sft.training_order(made_rows([]), RECIPE, SEED), "0 training rows; expected at least"),
        (lambda: trainers.split_batch(collated(rows_of(samples_of(4))) | {"mask": None}, 1), "holds mask, which cannot be"),
    ],
)  # fmt: skip
def test_what_no_training_can_take_is_one_line(ask, line):
    assert line in line_of(ExcamError, ask)


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"targets": ["no_such_module"]}, r"training\.targets: .*no_such_module"),
        # Trainer logs a loss of NaN as the mean of those before it, and would publish the weights
        ({"learning_rate": 1e30, "max_grad_norm": 1e30}, r"tiny/all: (loss|grad_norm) is (nan|inf) at step \d of 6; expected"),
        # on more GPUs than it has processes, Trainer would multiply the rows of a step
        ({"rows_per_step": 8, "layout": "single"}, r"0 GPUs visible; expected 1, .*choose another training\.layout"),
        ({"report_to": "trackio"}, r"training\.report_to: trackio: no package trackio; pip install trackio, or set it to none"),
        ({"memory": 1000}, r"weights of 0\.0 GiB to load, and 0\.0 GiB of memory are free; choose a"),
    ],
)  # fmt: skip
def test_a_training_that_cannot_end_well_publishes_no_adapter(weights, tmp_path, monkeypatch, changes, line):
    monkeypatch.setattr(sft, "find_spec", lambda _: None)
    if memory := changes.get("memory"):
        monkeypatch.setattr(devices, "_free_memory", lambda: memory)
    more = {"layout": layout.load_layout(changes["layout"])} if "layout" in changes else {}
    recipe = RECIPE.model_copy(update={name: value for name, value in changes.items() if name in Recipe.model_fields})
    assert re.search(line, line_of(ExcamError, train, weights, tmp_path, recipe, **more))
    assert not (tmp_path / "adapter").exists()


def test_out_of_memory_says_which_knob():
    import torch

    paper = layout.load_layout("zero2").model_copy(update={"checkpointing": "off"})
    with pytest.raises(ModelInvalid) as caught, devices.explain_out_of_memory(paper):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB")
    assert "a layout of fewer rows_per_pass, or checkpointing: full, or fsdp2 over two cards" in str(caught.value)


class Leaking:
    """Attention that sees every earlier token, whatever the positions say."""

    training = True

    def eval(self):
        self.training = False

    def train(self, mode):
        self.training = mode

    def __call__(self, input_ids, position_ids, use_cache, logits_to_keep):
        del position_ids, use_cache
        seen = input_ids.float().mul(input_ids.new_tensor(range(input_ids.shape[1]))).cumsum(-1)
        return SimpleNamespace(logits=seen[..., None][:, -logits_to_keep:])


def test_rows_that_see_each_other_are_refused(weights):
    """The real model keeps rows apart that are laid end to end; one that does not is found out, and not trained."""
    import torch
    from transformers import AutoModelForCausalLM

    ids = torch.tensor([[5, 6, 7, 8, 9, 10, 11, 12]])
    inputs = {"input_ids": ids, "labels": ids, "position_ids": torch.tensor([[0, 1, 2, 3, 0, 1, 2, 3]])}
    model = AutoModelForCausalLM.from_pretrained(weights, dtype=torch.float32, attn_implementation="sdpa")
    trainers.refuse_leak(model, inputs)
    for leaking in (Leaking(), CachingModel(model)):
        assert "rows laid end to end see each other" in line_of(ModelInvalid, trainers.refuse_leak, leaking, inputs)


def test_a_base_without_its_kernel_for_rows_end_to_end_is_refused():
    """Qwen3.5 where the package causal_conv1d is missing: transformers raises in the middle of the first step."""
    from importlib.util import find_spec

    import torch
    from transformers import Qwen3_5ForCausalLM, Qwen3_5TextConfig

    if find_spec("causal_conv1d"):
        pytest.skip("its kernel is installed here")
    config = Qwen3_5TextConfig(
        vocab_size=600, hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2,
        num_key_value_heads=1, head_dim=8, layer_types=["linear_attention"], linear_num_key_heads=1,
        linear_num_value_heads=1, linear_key_head_dim=8, linear_value_head_dim=8,
    )  # fmt: skip
    torch.manual_seed(0)
    line = line_of(ModelInvalid, trainers.refuse_leak, Qwen3_5ForCausalLM(config), collated(rows_of(samples_of(2))))
    assert re.search(r"causal_conv1d.*choose training\.layout single-padded", line)


def test_the_eyes_of_a_multimodal_base_get_no_adapter(tmp_path):
    """Gemma 3, a text model inside a class that sees: no text trains its vision tower."""
    import torch
    from transformers import Gemma3Config, Gemma3ForConditionalGeneration

    layers = {"intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "hidden_size": 16}
    text = {**layers, "vocab_size": 600, "num_key_value_heads": 1, "head_dim": 8, "max_position_embeddings": 64}
    torch.manual_seed(0)
    base = Gemma3ForConditionalGeneration(
        Gemma3Config(text_config=text, vision_config={**layers, "image_size": 56}, mm_tokens_per_image=4)
    )
    base.save_pretrained(tmp_path)
    model = sft._load_with_lora(tmp_path, RECIPE, CPU)
    assert any("vision_tower" in name for name, _ in model.named_parameters())
    adapted = {name.split(".lora_")[0] for name, parameter in model.named_parameters() if parameter.requires_grad}
    assert not [name for name in adapted if "vision" in name or "multi_modal" in name]
    assert {f"{x}_proj" for x in ("q", "k", "v", "o", "gate", "up", "down")} == {n.split(".")[-1] for n in adapted}


def test_where_weights_are_shared_out_the_adapter_alone_is_gathered(weights):
    """FSDP2, in one process; otherwise the complete base would come into the memory of the first at every checkpoint."""
    import torch
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard
    from torch.distributed.tensor import DTensor

    model = sft._load_with_lora(weights, RECIPE, CPU)
    expected = {name: tensor.detach().clone() for name, tensor in model.named_parameters() if tensor.requires_grad}
    torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
    try:
        fully_shard(model, mesh=init_device_mesh("cpu", (1,)))
        assert all(isinstance(parameter, DTensor) for parameter in model.parameters())
        adapter = trainers.adapter_weights(SimpleNamespace(model=model, is_fsdp_enabled=True))
    finally:
        torch.distributed.destroy_process_group()
    assert adapter.keys() == expected.keys()
    assert all(type(tensor) is torch.Tensor and torch.equal(tensor, expected[name]) for name, tensor in adapter.items())


@pytest.mark.parametrize(
    ("name", "user_variable", "computed"),
    [("single", None, "expandable_segments:True"), ("single", "PYTORCH_ALLOC_CONF", None), ("cpu", None, None)],
)
def test_memory_of_a_card_is_taken_in_segments_that_grow(monkeypatch, name, user_variable, computed):
    for variable in devices.ALLOCATOR:
        monkeypatch.setenv(variable, "")
        monkeypatch.delenv(variable)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    if user_variable:
        monkeypatch.setenv(user_variable, "max_split_size_mb:64")
    devices.launch_processes(layout.load_layout(name), "scripts", [], "tiny/all")
    assert devices.os.environ.get(devices.ALLOCATOR[0]) == computed


class CachingModel:
    """The same model with a cache, where transformers does not look at the positions any more."""

    def __init__(self, model) -> None:
        self.model, self.training = model, False
        self.eval, self.train = model.eval, model.train

    def __call__(self, use_cache, **inputs):
        del use_cache
        return self.model(use_cache=True, **inputs)


def test_two_jobs_never_train_one_adapter(weights, tmp_path):
    refused = pytest.raises(ModelInvalid, match="tiny/all: another job is training it; wait for that one")
    with checkpoints.exclusive_lock(tmp_path / "checkpoints", "tiny/all"), refused:
        train(weights, tmp_path)
    train(weights, tmp_path)


def test_what_a_left_out_dataset_may_not_hold(tmp_path):
    path = tmp_path / "train.jsonl"
    path.write_text("".join(json.dumps(to_row(sample)) + "\n" for sample in pair(0)))
    assert len(training_steps._mixture(path, "all")) == 2
    line = line_of(InputInvalid, training_steps._mixture, path, "without-blend")
    assert "2 rows of the left-out dataset, the first is blend/0/right; expected none" in line


def test_weights_that_are_none(tmp_path):
    tokenizer_of().save_pretrained(tmp_path / "empty")
    line = line_of(ModelInvalid, train, tmp_path / "empty", tmp_path)
    assert "no *.safetensors; expected the folder of a fetched model" in line
