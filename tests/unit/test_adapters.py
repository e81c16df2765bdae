"""The gate before any judging with an adapter: one at work passes, a dead one stops, whichever way it died."""

import json

import pytest
import tiny
from safetensors.torch import load_file, save_file

from excam.config import Model
from excam.exceptions import ModelInvalid
from excam.inference import adapters, opening
from excam.inference.backends import transformers

FILE = "adapter_model.safetensors"


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    """Manifest of a base model with room for the canary's questions."""
    folder = tmp_path_factory.mktemp("base")
    tiny.model(folder / "files")
    config = folder / "files/config.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), "max_position_embeddings": 1024}))
    return manifest(folder)


@pytest.fixture
def adapter(weights, tmp_path):
    """Manifest of a LoRA in every linear layer."""
    tiny.adapter(weights.parent / "files", tmp_path)
    return manifest(tmp_path)


def manifest(folder):
    path = folder / "manifest.json"
    path.write_text(json.dumps({"outputs": {}}))
    return path


def verify(weights, adapter, **fields):
    model = Model(backend="transformers", licence="MIT", dtype="float32", **fields)
    return adapters.verify("tiny/all", model, weights, adapter)


def changed(adapter, change):
    """Rewrite the weights: `change(name, tensor) -> (name, tensor)`."""
    stored = load_file(adapter.parent / FILE)
    save_file(dict(change(name, value) for name, value in stored.items()), adapter.parent / FILE)


@pytest.mark.parametrize("serve", ["lora", "merged"])
def test_an_adapter_at_work_passes(weights, adapter, serve):
    proof = verify(weights, adapter, serve=serve)
    assert proof.modules == 14  # seven linear layers in each of two blocks
    assert proof.moved > 0.1
    assert proof.apart < 1e-3 < proof.from_base
    assert proof.answers == 2 * len(adapters.PAIRS)


def test_one_that_was_never_trained_is_refused(weights, adapter):
    changed(adapter, lambda name, value: (name, value * 0 if "layers.1.mlp.up_proj.lora_B" in name else value))
    with pytest.raises(ModelInvalid, match=r"LoRA modules: 1 of 14 hold zeros only, e.g. .*layers.1.mlp.up_proj"):
        verify(weights, adapter)
    changed(adapter, lambda name, value: (name, value * 1e-9 + 1e-12))
    with pytest.raises(
        ModelInvalid, match=r"not at work: it changes log-probabilities by 0.0000 a token.*learned noth"
    ):
        verify(weights, adapter)


def test_renamed_weights_are_refused(weights, adapter):
    changed(adapter, lambda name, value: (name.replace("model.layers", "model.language_model.layers"), value))
    with pytest.raises(ModelInvalid, match="LoRA weights without a counterpart"):
        verify(weights, adapter)


def test_an_engine_that_leaves_it_out_is_found(weights, adapter, monkeypatch):
    """What vLLM did with Gemma 3: the weights are accepted and never applied."""
    base = transformers.Backend(weights.parent / "files", dtype="float32")
    monkeypatch.setattr(opening.Lazily, "_open", lambda _: base)
    with pytest.raises(ModelInvalid, match=r"the serving engine answers like the base .*never applies it; nothing was"):
        verify(weights, adapter)


def test_an_engine_that_applies_half_of_it_is_found(weights, adapter, monkeypatch, tmp_path_factory):
    half = tmp_path_factory.mktemp("half")
    (half / "adapter_config.json").write_bytes((adapter.parent / "adapter_config.json").read_bytes())
    stored = load_file(adapter.parent / FILE)
    save_file({name: value * (0 if "layers.1" in name else 1) for name, value in stored.items()}, half / FILE)
    served = transformers.Backend(weights.parent / "files", half, dtype="float32")
    monkeypatch.setattr(opening.Lazily, "_open", lambda _: served)
    with pytest.raises(ModelInvalid, match=r"a token from PEFT; expected at most 0.25 of the change"):
        verify(weights, adapter)


def test_an_engine_that_gives_no_probabilities_is_refused(weights, adapter, monkeypatch):
    short = transformers.Backend(weights.parent / "files", adapter.parent, dtype="float32", context=128)
    monkeypatch.setattr(opening.Lazily, "_open", lambda _: short)
    with pytest.raises(ModelInvalid, match="gave no log-probabilities of a fixed answer"):
        verify(weights, adapter)


def test_the_same_adapter_trained_again_is_asked_nothing_twice(weights, adapter):
    """Its card tells of times and speeds, so it differs; the journal finds answers by what decides them."""

    model = Model(backend="transformers", licence="MIT")

    def identity(**outputs):
        manifest = adapter.with_name("again.json")
        manifest.write_text(json.dumps({"outputs": {FILE: "1", "adapter_config.json": "2", **outputs}}))
        return opening.lazily("tiny", model, weights, manifest).identity

    first = identity(**{"README.md": "3", "loss.csv": "4"})
    assert identity(**{"README.md": "5", "loss.csv": "6"}) == first
    assert identity(**{"README.md": "3", "loss.csv": "4", FILE: "7"}) != first
