"""Models and adapters of the hub, by name: fetched from a hub on this machine; what cannot be used is one line."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import fake_hub
import pytest
import small_adapters
import tiny
from fake_hub import COMMIT
from small_adapters import WEIGHTS, answer

import excam
from excam.core.exceptions import ExcamError, ModelInvalid
from excam.inference import backend_factory, fake, hub_models
from excam.scoring import adapters

ROOT = Path(__file__).parents[2]
TOKEN = "hf_" + "canary" * 6


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("texts.jsonl").write_text('{"instruction": "A?", "output": "Sushi."}\n')
    return tmp_path


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def score(hub, *words, **environment):
    """`excam score` as its user runs it, with the hub's own library and this hub."""
    env = {**os.environ, "HF_ENDPOINT": hub.url, "HF_HOME": "cache", "HF_TOKEN": TOKEN, "PYTHONPATH": str(ROOT)}
    env = {name: text for name, text in (env | environment).items() if name != "HF_HUB_OFFLINE" or environment}
    command = [sys.executable, "-P", "-m", "excam", "score", "texts.jsonl", "--max-tokens", "8", *words]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    assert TOKEN not in done.stdout + done.stderr
    return done


def test_a_model_of_the_hub_by_its_name(here):
    repository = files(tiny.model(here / "made")) | {"modeling.py": b"raise SystemExit", "pytorch_model.bin": b"x"}
    with fake_hub.served(tiny=repository) as hub:
        first = score(hub, "--model", "owner/tiny")
        asked = len(hub.asked)
        again = score(hub, "--model", "owner/tiny", HF_HUB_OFFLINE="1")
        offline = score(hub, "--model", "owner/tiny@main", "--offline")
        assert len(hub.asked) == asked
    assert f"owner/tiny@{COMMIT}: 0.2 MB, licence apache-2.0; kept in cache/hub\n" in first.stderr
    signature = json.loads(first.stdout)["signature"]
    assert signature.startswith("excam|model:tiny@cccccccc|on:nothing|")
    assert [json.loads(done.stdout)["signature"] for done in (again, offline)] == [signature] * 2
    assert f"Bearer {TOKEN}" in hub.tokens
    fetched = {path.name for path in Path("cache/hub").rglob("*") if path.is_symlink()}
    assert fetched == repository.keys() - {"modeling.py", "pytorch_model.bin"}


CODE = json.dumps({"auto_map": {"AutoModel": "code.Model"}, "model_type": "of_its_own"}).encode()


def test_what_cannot_be_used_is_one_line_with_what_to_do():
    settings = {"config.json": b"{}"}
    with fake_hub.served(
        pickled=settings | {"pytorch_model.bin": b"x"}, gguf={"m.gguf": b"x"}, plain=settings | {"model.safetensors": WEIGHTS},
        code={"config.json": CODE, "model.safetensors": WEIGHTS}, peft={"adapter_model.safetensors": WEIGHTS},
    ) as hub:  # fmt: skip
        for name, said in {
            "pickled": "found pytorch_model.bin; expected *.safetensors; name a revision that has them, or save it",
            "gguf": "found m.gguf; expected *.safetensors; let a server read it",
            "code": "needs code of its repository (`auto_map`), which is not run; expected a model that transformers",
            "gated": "is gated; expected the HF_TOKEN of an account that has accepted its terms",
            "none": "neither a folder here nor at the hub; expected the name of one; set HF_TOKEN for a private one",
            "plain@absent": "no such revision; expected a branch, a tag or a commit",
            "peft": "no manifest.json; expected an adapter that ExCAM trained",
        }.items():
            done = score(hub, "--model", f"owner/{name}")
            line = done.stderr.splitlines()[-1]
            assert (done.returncode, done.stdout) == (2, "")
            assert line.startswith(f"excam: owner/{name.partition('@')[0]}@")
            assert said in line
        assert not any("code/resolve" in line and "safetensors" in line for line in hub.asked), "refused before"
        hub.broken.add("model.safetensors")
        assert "cannot be fetched (peer closed" in score(hub, "--model", "owner/plain").stderr.splitlines()[-1]
        hub.broken.clear()
        hub.wrong.add("model.safetensors")
        assert "model.safetensors: sha256 " in score(hub, "--model", "owner/plain").stderr.splitlines()[-1]
    assert "cannot be fetched ([Errno 111]" in score(hub, "--model", "owner/plain").stderr.splitlines()[-1]


@pytest.fixture
def local_hub(here, monkeypatch):
    """An adapter and its base at a hub of this process, and no results here."""
    from huggingface_hub import constants

    folder = small_adapters.make(here / "results")
    manifest = json.loads((folder / "manifest.json").read_text())
    base = json.loads((here / "results/models/tiny/manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps(manifest | {"base_model": base}))
    with fake_hub.served(adapter=files(folder), tiny={"model.safetensors": WEIGHTS}) as hub:
        for name, value in {
            "ENDPOINT": hub.url, "HF_HUB_CACHE": "cache/hub", "HF_HOME": "cache", "HF_HUB_OFFLINE": False,
            "HUGGINGFACE_CO_URL_TEMPLATE": hub.url + "/{repo_id}/resolve/{revision}/{filename}",
        }.items():  # fmt: skip
            monkeypatch.setattr(constants, name, value)
        shutil.rmtree("results")
        hub_models.of_hub.cache_clear()
        yield hub
        hub_models.of_hub.cache_clear()


def test_an_adapter_of_the_hub_brings_its_base_model(local_hub, monkeypatch):
    monkeypatch.setattr(backend_factory.LazyBackend, "_open", lambda _: fake.Backend(answer))
    local_hub.repositories["adapter"]["README.md"] = b"# Edited by its owner\n"
    opened = excam.load("owner/adapter")
    (scored,) = opened.score([{"instruction": "A?", "output": "Sushi."}])
    assert scored.score == -5
    assert opened.signature.startswith(f"excam|model:tiny@cccccccc|on:all@{hashlib.sha256(WEIGHTS).hexdigest()[:8]}|")


def test_another_base_model_than_it_was_trained_on(local_hub):
    local_hub.repositories["tiny"]["model.safetensors"] = WEIGHTS[:-1] + b"\x08"
    with pytest.raises(ExcamError, match=r"model.safetensors: sha256 .* on which the adapter was trained"):
        excam.load("owner/adapter")


def test_a_name_is_looked_up_below_the_results_first(here):
    small_adapters.make(here / "results")
    assert adapters.folder("tiny/all") == Path("results/adapters/tiny/all")
    for name in ("tiny/al", "../adapters/tiny/all", "/tiny/all"):
        with pytest.raises(ModelInvalid, match=r"no such model(; did you mean tiny/all\?)?; .* \(there: tiny/all\)"):
            excam.load(name)


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        *(("adapter_config.json", changes) for changes in (
            {"r": "16"}, {"r": 5000}, {"peft_type": "XLORA"}, {"target_modules": "(([a-z_.0-9])+)+!"},
            {"target_modules": ["q"] * 1001}, {"lora_dropout": 1}, {"lora_alpha": float("inf")},
            {"exclude_modules": "(a+)+!"}, {"rank_pattern": {"(a+)+!": 4}}, {"layer_replication": [[0, 2]] * 2000},
            {"auto_mapping": {"parent_library": "os"}}, {"megatron_core": "evil"}, {"modules_to_save": ["lm_head"]},
            {"use_dora": True}, {"init_lora_weights": "pissa"}, {"bias": "all"}, {"some_path": "/etc/passwd"},
        )),
        *(("manifest.json", changes) for changes in (
            {"model": "tiny|judge:evil|v:9.9"}, {"model": "../../x"}, {"trained_on": "a\x1b[2J"}, {"base": "c|d"},
            {"outputs": []}, {"weights": "../../../x"}, {"languages": [{}]}, {"inputs": [1]},
            {"base_model": {"settings": {"hub": "https://x/y"}}}, {"base_model": {"settings": {"chat_template": "../x"}}},
        )),
    ],
)  # fmt: skip
def test_a_field_of_somebody_elses_adapter_is_checked(here, name, changes):
    folder = small_adapters.make(here / "results")
    file = folder / name
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))
    with pytest.raises(ModelInvalid, match=rf"{name}: .*expected") as refused:
        excam.load(folder)
    assert str(refused.value).isprintable()
