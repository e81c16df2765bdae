"""A LoRA adapter beside the weights, against PEFT, in float32."""

import json
import shutil

import pytest
from conftest import ADAPTER, MODEL, SMALL, asked, assert_same, gathered
from safetensors.torch import load_file, save_file

from excam.core.exceptions import ModelInvalid
from excam.inference import Choose, Message, Sampling
from excam.inference.backends import transformers, vllm
from excam.inference.backends._vllm_engine import rank_slot

GREEDY = Sampling(max_tokens=16)


@pytest.fixture(scope="module")
def backend():
    opened = vllm.Backend(MODEL, ADAPTER, dtype="float32", context=256, engine=SMALL)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def tuned(backend):
    return gathered(backend.generate(asked(), GREEDY))


@pytest.fixture(scope="module")
def base(backend):
    """Answers of the same engine without the adapter."""
    adapter, backend._lora = backend._lora, None
    answers = gathered(backend.generate(asked(), GREEDY))
    backend._lora = adapter
    return answers


def test_it_moves_the_answers_and_agrees_with_peft(backend, tuned, base):
    assert sum(answer.text != other.text for answer, other in zip(tuned, base, strict=True)) >= 4
    reference = transformers.Backend(MODEL, ADAPTER, dtype="float32", context=256)
    assert_same(tuned, gathered(reference.generate(asked(), GREEDY)))
    choose = [Choose((Message("user", "Is Paris in France? Yes or No."),), ("Yes", "No", "Yes, it is"))]
    ours, expected = gathered(backend.choose(choose))[0], gathered(reference.choose(choose))[0]
    assert ours.logprobs == pytest.approx(expected.logprobs, abs=1e-3)
    assert backend.settings["max_lora_rank"] == 16


def copied(folder, rename=str, **config):
    """The adapter with other keys or settings."""
    shutil.copytree(ADAPTER, folder)
    tensors = load_file(folder / "adapter_model.safetensors")
    save_file({rename(name): tensor for name, tensor in tensors.items()}, folder / "adapter_model.safetensors")
    file = folder / "adapter_config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | config))
    return folder


def test_an_adapter_for_modules_that_are_not_there_is_loaded_and_does_nothing(backend, base, tmp_path):
    from vllm.lora.request import LoRARequest

    elsewhere = copied(tmp_path / "elsewhere", lambda name: name.replace("model.layers", "model.language_model.layers"))
    request = LoRARequest("elsewhere", 99, str(elsewhere))
    assert backend._engine.add_lora(request)  # this is what a gate has to catch
    adapter, backend._lora = backend._lora, request
    answers = gathered(backend.generate(asked(), GREEDY))
    backend._lora = adapter
    assert [answer.text for answer in answers] == [answer.text for answer in base]
    assert [answer.logprobs for answer in answers] == [pytest.approx(answer.logprobs, abs=1e-4) for answer in base]


def test_an_adapter_for_modules_of_an_unknown_kind_is_refused(backend, tmp_path):
    unknown = copied(tmp_path / "unknown", lambda name: name.replace("q_proj", "query"))
    with pytest.raises(ModelInvalid, match=r"vLLM cannot serve this adapter.*serve: merged"):
        backend.use(unknown, "unknown")
    assert backend._lora is None
    backend.use(ADAPTER, "again")


def test_adapters_take_turns_in_one_engine(tuned, base, tmp_path):
    """Each answers as if it were alone, whoever answered the same prompts before it: nothing cached is mixed up."""
    other = copied(tmp_path / "other", lora_alpha=1)
    shared = vllm.Backend(MODEL, rank=16, dtype="float32", context=256, engine=SMALL)
    answers = {}
    for name, adapter in (("", None), ("a", ADAPTER), ("o", other), ("a", ADAPTER), ("", None), ("o", other)):
        shared.use(adapter, name)
        answers.setdefault(name, []).append(gathered(shared.generate(asked(), GREEDY)))
    shared.close()
    assert all(first == second for first, second in answers.values())
    assert [answer.text for answer in answers["a"][0]] == [answer.text for answer in tuned]
    assert [answer.text for answer in answers[""][0]] == [answer.text for answer in base]
    assert answers["o"][0] != answers["a"][0]


def test_slots(capsys):
    assert rank_slot(ADAPTER, 16) == 16
    assert rank_slot(ADAPTER, 12) == 16
    assert "rank 12 is served in a slot of rank 16" in capsys.readouterr().err
    with pytest.raises(ModelInvalid, match=r"rank 1000; vLLM serves up to \d+; set models.*merged"):
        rank_slot(ADAPTER, 1000)


@pytest.mark.parametrize(
    ("changed", "said"),
    [({"rank_pattern": {"q_proj": 64}}, r"rank_pattern: found .*; expected a plain LoRA"), ({"r": None}, r"json: r: ")],
)
def test_an_adapter_that_is_no_plain_lora_is_refused_before_anything_is_loaded(tmp_path, changed, said):
    with pytest.raises(ModelInvalid, match=said):
        vllm.Backend(MODEL, copied(tmp_path / "odd", **changed), engine=SMALL)
