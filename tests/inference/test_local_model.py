"""A model in a folder is identified by the files that are loaded, also where they are links."""

import json
import shutil
from pathlib import Path

import pytest
import tiny
from late import safetensors
from one_line_errors import line_of

import excam
from excam.core.exceptions import ArtifactBroken, ModelInvalid
from excam.core.provenance import write_manifest
from excam.inference import sources
from excam.inference.backend_factory import LazyBackend
from excam.scoring import local_model
from excam.scoring.models import parse

PAIR = {"id": "1", "instruction": "Name a Greek dish.", "output": "Sushi."}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return tiny.model(tmp_path_factory.mktemp("model") / "tiny")


def with_other_weights(model, file):
    """Write the weights of a model, scaled, to `file`."""
    weights = safetensors.load_file(model / "model.safetensors")
    safetensors.save_file({name: tensor * 1.5 for name, tensor in weights.items()}, file, metadata={"format": "pt"})
    return file


def hub_cache(root, name, files):
    """Lay files out as the hub's cache does: blobs by content, and a snapshot of links that lead out of its folder."""
    home = root / f"models--owner--{name}"
    snapshot = home / "snapshots" / "c0ffee"
    (home / "blobs").mkdir(parents=True)
    snapshot.mkdir(parents=True)
    for number, (file, source) in enumerate(sorted(files.items())):
        shutil.copyfile(source, home / "blobs" / str(number))
        (snapshot / file).symlink_to(Path("../../blobs", str(number)))
    return snapshot


def test_snapshots_of_the_hubs_cache_have_signatures_of_their_own(model, tmp_path, monkeypatch):
    """The second model is asked itself, although the journal has the first one's answers."""
    files = {path.name: path for path in model.iterdir()}
    first = hub_cache(tmp_path / "a", "tiny", files)
    changed = with_other_weights(model, tmp_path / "other.safetensors")
    second = hub_cache(tmp_path / "b", "tiny", files | {"model.safetensors": changed})
    opened = []
    real = LazyBackend._open
    monkeypatch.setattr(LazyBackend, "_open", lambda self: opened.append(self.identity) or real(self))
    metrics = [excam.load(folder, judge="report", max_tokens=4) for folder in (first, second)]
    for metric in metrics:
        list(metric.score([PAIR], journal=tmp_path / "kept.jsonl"))
    assert len(set(opened)) == 2
    signatures = {metric.signature for metric in metrics}
    assert len(signatures) == 2
    assert not [signature for signature in signatures if "44136fa3" in signature], "the digest of no file"


def test_links_and_plain_files_of_one_model_are_one_model(model, tmp_path):
    linked = hub_cache(tmp_path, "tiny", {path.name: path for path in model.iterdir()})
    revisions = {
        local_model.open_weights(folder, "transformers").described.partition("@")[2] for folder in (model, linked)
    }
    assert len(revisions) == 1


def test_only_identified_files_can_be_loaded(model, tmp_path):
    """A file that no list knows is not seen by the library, since it is not linked into what is loaded."""
    folder = tmp_path / "model"
    shutil.copytree(model, folder)
    (folder / "modeling_other.py").write_text("raise SystemExit")
    (folder / "pytorch_model.bin").write_bytes(b"pickle")
    opened = local_model.open_weights(folder, "transformers")
    loaded = {path.name for path in (opened.backend.weights.parent / "files").iterdir()}
    assert loaded == {path.name for path in model.iterdir()}


def test_a_folder_without_weights_is_refused(model, tmp_path):
    shutil.copyfile(model / "config.json", tmp_path / "config.json")
    line = line_of(ModelInvalid, sources.model_files, tmp_path)
    assert line == f"{tmp_path}: no *.safetensors; expected the folder of a model with its weights"


def fetched(model, folder):
    shutil.copytree(model, folder / "files")
    facts = {"revision": "c" * 40, "licence": "MIT"}
    files = sorted((folder / "files").iterdir())
    write_manifest(folder / "manifest.json", inputs=[], outputs=files, settings={}, seconds=1, **facts)
    return folder


def test_a_file_beside_those_of_a_manifest_is_refused(model, tmp_path):
    folder = fetched(model, tmp_path / "tiny")
    backend = local_model.open_weights(folder, "transformers").backend
    backend.check()
    (folder / "files" / "vocab.json").write_text("{}")
    backend = local_model.open_weights(folder, "transformers").backend
    line = line_of(ArtifactBroken, backend.check)
    assert line.startswith(f"{folder}/files/vocab.json: not in {folder}/manifest.json")


def test_a_manifest_without_weights_identifies_nothing(model, tmp_path):
    folder = fetched(model, tmp_path / "tiny")
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps(manifest | {"outputs": {}}))
    line = line_of(ModelInvalid, local_model.open_weights, folder, "transformers")
    assert line.startswith(f"{folder}/manifest.json: lists no weights")


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("qwen3:14b@http://host/v1", "qwen3:14b"),
        ("claude@20240620@https://host/v1", "claude@20240620"),
        ("results/adapters/tiny/all", "tiny/all"),
        ("reader", "reader"),
    ],
)
def test_tables_name_a_model_and_never_its_address(text, label):
    assert parse(text).label == label
