"""An adapter added to the weights: the same answers, and no files left behind."""

import tempfile
from pathlib import Path

import pytest
from conftest import ADAPTER, MODEL, SMALL, asked, assert_same, gathered

from excam.config import Model
from excam.core.exceptions import ModelInvalid
from excam.inference import Sampling
from excam.inference.backends import transformers, vllm


def test_merged_agrees_with_peft(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    entry = Model(licence="Apache-2.0", dtype="float32", context=256, serve="merged", engine=SMALL, gpus=0)
    backend = vllm.open_model("tiny", entry, MODEL, ADAPTER, "who")
    (folder,) = tmp_path.glob("excam-merged-*")
    assert {"config.json", "tokenizer.json", "chat_template.jinja"} < {file.name for file in Path(folder).iterdir()}
    answers = gathered(backend.generate(asked(), Sampling(max_tokens=16)))
    assert (backend.settings["serve"], backend.settings["max_lora_rank"]) == ("merged", None)
    assert backend.identity == "who"
    backend.close()
    assert not list(tmp_path.glob("excam-*"))
    reference = transformers.Backend(MODEL, ADAPTER, dtype="float32", context=256)
    assert_same(answers, gathered(reference.generate(asked(), Sampling(max_tokens=16))))


def test_where_nothing_can_be_merged_nothing_is_left(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(ModelInvalid, match=r"no adapter_config\.json"):
        vllm.Backend(MODEL, tmp_path, serve="merged", engine=SMALL)
    assert not list(tmp_path.glob("excam-*"))
