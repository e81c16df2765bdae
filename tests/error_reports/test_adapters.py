"""The gate before any judging with an adapter: one at work passes, a dead one stops, whichever way it died."""

import json

import pytest
import tiny
from late import safetensors
from one_line_errors import line_of

from excam.config import Model
from excam.core.exceptions import ModelInvalid
from excam.core.provenance import sha256
from excam.error_reports import adapter_check, fixed_answers
from excam.inference import backend_factory
from excam.inference.backends import transformers
from excam.training import sft

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
    """Manifest of a LoRA in every linear layer, with what training leaves there."""
    tiny.adapter(weights.parent / "files", tmp_path)
    return as_trained(weights, tmp_path)


def as_trained(weights, folder):
    trained = transformers.Backend(weights.parent / "files", folder, dtype="float32")
    return manifest(folder, fixed_answers=sft._fixed_answers(trained.model, trained.tokenizer, fixed_answers.scores))


def manifest(folder, **facts):
    path = folder / "manifest.json"
    files = [path for path in (folder / FILE, *(folder / "files").glob("*")) if path.exists()]
    path.write_text(json.dumps({"outputs": {file.name: sha256(file) for file in files}, **facts}))
    return path


def verify(weights, adapter, **fields):
    model = Model(backend="transformers", licence="MIT", dtype="float32", **fields)
    return adapter_check.verify("tiny/all", model, weights, adapter)


def changed(adapter, change):
    """Rewrite the weights: `change(name, tensor) -> (name, tensor)`."""
    stored = safetensors.load_file(adapter.parent / FILE)
    safetensors.save_file(dict(change(name, value) for name, value in stored.items()), adapter.parent / FILE)
    manifest(adapter.parent, fixed_answers=json.loads(adapter.read_text())["fixed_answers"])


@pytest.mark.variants
@pytest.mark.parametrize("serve", ["lora", "merged"])
def test_an_adapter_at_work_passes(weights, adapter, serve):
    proof = verify(weights, adapter, serve=serve)
    assert proof.modules == 14  # seven linear layers in each of two blocks
    assert proof.moved > 0.1
    assert proof.apart < 1e-3 < proof.from_base
    assert proof.answers == 2 * len(fixed_answers.PAIRS)


def test_one_that_was_never_trained_is_refused(weights, adapter):
    changed(adapter, lambda name, value: (name, value * 0 if "layers.1.mlp.up_proj.lora_B" in name else value))
    with pytest.raises(ModelInvalid, match=r"LoRA modules: 1 of 14 hold zeros only, e.g. .*layers.1.mlp.up_proj"):
        verify(weights, adapter)
    changed(adapter, lambda name, value: (name, value * 1e-9 + 1e-12))
    as_trained(weights, adapter.parent)
    learned = r"not at work: it changes log-probabilities by 0.0000 a token.*it learned nothing"
    with pytest.raises(ModelInvalid, match=learned):
        verify(weights, adapter)


def test_renamed_weights_are_refused(weights, adapter):
    changed(adapter, lambda name, value: (name.replace("model.layers", "model.language_model.layers"), value))
    assert "LoRA weights without a counterpart" in line_of(ModelInvalid, verify, weights, adapter)


def test_an_engine_that_leaves_it_out_is_found(weights, adapter, monkeypatch):
    """What vLLM did with Gemma 3: the weights are accepted and never applied."""
    base = transformers.Backend(weights.parent / "files", dtype="float32")
    monkeypatch.setattr(backend_factory.SharedBackend, "_open", lambda _: base)
    with pytest.raises(ModelInvalid, match=r"the serving engine answers like the base .*never applies it; nothing was"):
        verify(weights, adapter)


def test_an_engine_that_applies_half_of_an_adapter_is_found(weights, adapter, monkeypatch, tmp_path_factory):
    half = tmp_path_factory.mktemp("half")
    (half / "adapter_config.json").write_bytes((adapter.parent / "adapter_config.json").read_bytes())
    stored = safetensors.load_file(adapter.parent / FILE)
    safetensors.save_file({key: value * (0 if "layers.1" in key else 1) for key, value in stored.items()}, half / FILE)
    served = transformers.Backend(weights.parent / "files", half, dtype="float32")
    monkeypatch.setattr(backend_factory.SharedBackend, "_open", lambda _: served)
    assert "a token from PEFT; expected at most 0.25 of the change" in line_of(ModelInvalid, verify, weights, adapter)


def test_an_engine_that_gives_no_probabilities_is_refused(weights, adapter, monkeypatch):
    short = transformers.Backend(weights.parent / "files", adapter.parent, dtype="float32", context=128)
    monkeypatch.setattr(backend_factory.SharedBackend, "_open", lambda _: short)
    assert "no log-probabilities of a fixed answer" in line_of(ModelInvalid, verify, weights, adapter)


def test_one_without_scores_of_its_training_is_refused(weights, adapter):
    manifest(adapter.parent)
    with pytest.raises(ModelInvalid, match=r"manifest.json: no scores of the fixed answers; expected `fixed_answers`"):
        verify(weights, adapter)


def test_a_base_without_room_for_the_fixed_answers_leaves_none(tmp_path):
    short = tiny.model(tmp_path)
    backend = transformers.Backend(tmp_path, dtype="float32", context=128)
    assert backend.context == 128, short
    backend.model.config.max_position_embeddings = 128
    assert sft._fixed_answers(backend.model, backend.tokenizer, fixed_answers.scores) is None


def test_the_identity_of_an_adapter_is_of_its_weights_and_not_of_the_gpu(weights, tmp_path):
    """A card tells seconds: the same adapter trained once more is the same, and its journal holds."""

    def identity(**digests):
        path = tmp_path / "manifest.json"
        path.write_text(json.dumps({"outputs": {FILE: "a", "README.md": "b", "loss.csv": "c"} | digests}))
        return backend_factory.LazyBackend("tiny", Model(backend="transformers", licence="MIT"), weights, path).identity

    assert identity(**{"README.md": "other", "loss.csv": "other"}) == identity()
    assert identity(**{FILE: "other"}) != identity()
