"""What the vLLM backend does without vLLM; `tests/engine` runs the engine."""

import json

import pytest

from excam.core.exceptions import ModelInvalid
from excam.inference.backends import vllm
from excam.inference.backends._vllm_engine import served_adapter


def test_vllm_says_how_to_install_it(tmp_path):
    try:
        from vllm import LLMEngine as _  # noqa: F401
    except ImportError:
        with pytest.raises(ModelInvalid, match=r"\./setup\.sh vllm.*pip install 'excam\[vllm\]'"):
            vllm.Backend(tmp_path)
    else:
        pytest.skip("vLLM is installed here")


LAYER = "layers.0.self_attn.q_proj.lora_A.weight"
TEXT_ONLY = {f"base_model.model.model.{LAYER}", "base_model.model.lm_head.lora_A.weight"}


def write_adapter_and_model(folder, keys, **config):
    torch = pytest.importorskip("torch")
    from safetensors.torch import save_file

    adapter, files = folder / "adapter", folder / "files"
    adapter.mkdir()
    files.mkdir()
    tensors = {key: torch.full((1, 2), float(at)) for at, key in enumerate(sorted(keys))}
    save_file(tensors, adapter / "adapter_model.safetensors")
    (adapter / "adapter_config.json").write_text('{"r": 1}')
    (files / "config.json").write_text(json.dumps(config))
    return adapter, files


MULTIMODAL = {"architectures": ["Gemma3ForConditionalGeneration"]}


@pytest.mark.parametrize("config", [MULTIMODAL | {"text_config": {}}, {"text_config": {"model_type": "gemma3_text"}}])
def test_an_adapter_of_the_text_model_is_renamed_for_the_multimodal_class(tmp_path, config):
    from safetensors.torch import load_file

    adapter, files = write_adapter_and_model(tmp_path, TEXT_ONLY, **config)
    with served_adapter(adapter, files) as folder:
        assert folder != adapter
        renamed = load_file(folder / "adapter_model.safetensors")
        assert json.loads((folder / "adapter_config.json").read_text()) == {"r": 1}
    assert not folder.exists()
    assert set(renamed) == {key.replace("model.layers", "model.language_model.layers") for key in TEXT_ONLY}
    stored = load_file(adapter / "adapter_model.safetensors")
    assert set(stored) == TEXT_ONLY
    contents = [sorted(tensor.tolist() for tensor in tensors.values()) for tensors in (renamed, stored)]
    assert contents[0] == contents[1]


@pytest.mark.parametrize(
    ("keys", "config"),
    [
        (TEXT_ONLY, {"architectures": ["LlamaForCausalLM"]}),
        (TEXT_ONLY, {"architectures": ["Gemma3ForCausalLM"], "text_config": {}}),
        ({f"base_model.model.model.language_model.{LAYER}"}, MULTIMODAL),
        ({f"base_model.model.language_model.model.{LAYER}"}, MULTIMODAL),
    ],
)
def test_any_other_adapter_is_served_as_it_is(tmp_path, keys, config):
    adapter, files = write_adapter_and_model(tmp_path, keys, **config)
    with served_adapter(adapter, files) as folder:
        assert folder == adapter


def test_an_incomplete_adapter_or_model_is_refused_in_one_line(tmp_path):
    adapter, files = write_adapter_and_model(tmp_path, TEXT_ONLY, architectures=["LlamaForCausalLM"])
    (adapter / "adapter_model.safetensors").unlink()
    with pytest.raises(ModelInvalid, match=r"no adapter_model\.safetensors"), served_adapter(adapter, files):
        pass
    (files / "config.json").write_text("{")
    with pytest.raises(ModelInvalid, match=r"cannot be used"), served_adapter(adapter, files):
        pass
