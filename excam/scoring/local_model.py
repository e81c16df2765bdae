"""Models with weights on this machine. Nothing is loaded before the first request."""

from __future__ import annotations

import atexit
import hashlib
import shutil
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Literal

from excam.config import Model
from excam.core import extras, hashing
from excam.core.exceptions import InputInvalid, ModelInvalid
from excam.core.provenance import say
from excam.inference import backend_factory, gpus, lora, sources
from excam.inference.backends import classifier
from excam.inference.cache_keys import canonical_json
from excam.inference.vllm_environment import python_with_vllm
from excam.scoring import adapters, manifests
from excam.scoring.manifests import AdapterManifest, BaseManifest, BaseSettings
from excam.scoring.opened_model import ModelEntry, OpenedModel

ENGINES = ("transformers", "vllm")
DTYPES = ("float32", "bfloat16", "float16")


def choose_engine(wanted: str | None) -> str:
    """Return the engine for models of this machine: `wanted`, else vllm if a card is visible, else transformers.

    With a card, but without vLLM, transformers is used, with a message. Raises InputInvalid for an unknown engine,
    ModelInvalid if vLLM is wanted and not installed.
    """
    if wanted not in (None, *ENGINES):
        raise InputInvalid(f"--backend: found {wanted}; expected {' or '.join(ENGINES)}")
    if wanted == "transformers" or (wanted is None and not gpus.visible_gpus()):
        return "transformers"
    if python_with_vllm():
        return "vllm"
    missing = "vLLM is not installed; ./setup.sh vllm in the checkout installs it"
    if wanted:
        raise ModelInvalid(f"--backend vllm: {missing}, or pip install 'excam[vllm]' beside a GPU")
    say(f"a GPU is here, and transformers uses it: {missing}, which is faster")
    return "transformers"


def open_adapter(
    adapter: str | Path, base: str | Path | None = None, engine: str | None = None, dtype: str | None = None
) -> OpenedModel:
    """Open a base model with an adapter.

    `adapter` is a folder, or a name below ./results/adapters; `base` the folder of the base model, by default where the
    workflow put it or as the adapter records it; `engine` is one of ENGINES (`choose_engine`), `dtype` one of DTYPES
    (`_opened`). Raises ModelInvalid if one of them is missing or not what the adapter's manifest says, NotInstalled in
    a light install.
    """
    extras.require_extra("inference", "torch", "transformers", "peft")
    folder, manifest, weights, base_manifest = adapters.opened(adapter, base)
    source = base_manifest.settings
    names = (manifest.model, source.hub, source.wheel and source.wheel.gguf, source.folder)
    opened = _opened(manifest.model, base_manifest, weights, folder, engine, dtype)
    return replace(opened, described=_adapter_part(manifest), names=names, tuned=manifest, folder=folder)


def open_entry(at: ModelEntry) -> OpenedModel:
    """Open a model of the configuration, whose engine jobs share; its signature is that of its weights."""
    assert at.weights, "the rules name the weights of each model of this machine"
    base = manifests.read(at.weights, BaseManifest, "a fetched model")
    tuned = manifests.read(at.adapter, AdapterManifest, "an adapter") if at.adapter else None
    backend = backend_factory.SharedBackend(at.name, at.model, at.weights, at.adapter)
    opened = _described(backend, at.name, base, (at.name, at.model.hub, base.settings.hub))
    if not tuned:
        return opened
    return replace(opened, described=_adapter_part(tuned), tuned=tuned, folder=at.adapter and at.adapter.parent)


def _described(
    backend: backend_factory.LazyBackend, name: str, base: BaseManifest, names: tuple[str | None, ...]
) -> OpenedModel:
    """Return a base model with its parts of a signature. Another engine may round differently."""
    engine, weights = backend.model.backend, backend.weights
    assert weights, "a model of this machine has weights"
    return OpenedModel(
        backend,
        f"{_base_part(name, base.revision)}|on:nothing",
        f"dtype:{backend.model.dtype}" + f"|engine:{engine}" * (engine != "transformers"),
        names,
        folder=weights.parent,
        weights=weights.parent / "files",
        constrained=engine == "vllm",
        label=name,
    )


def _base_part(name: str, revision: str) -> str:
    """Return a base model's part of a signature: its name, and the beginning of its revision."""
    return f"model:{name}@{revision.removeprefix('sha256:')[:8]}"


def _adapter_part(manifest: AdapterManifest) -> str:
    """Return an adapter's part of a signature: its base, and its weights."""
    base = _base_part(manifest.model, manifest.base)
    return f"{base}|on:{manifest.trained_on}@{manifest.outputs[adapters.ADAPTER][:8]}"


def is_weights(folder: Path) -> bool:
    """Return whether a folder has the weights of a whole model, not those of an adapter."""
    is_model = (folder / "config.json").is_file() and not (folder / lora.CONFIG).exists()
    patterns = ("*.safetensors", *sources.PICKLED) if is_model else ()
    return (folder / "files").is_dir() or any(next(folder.glob(pattern), None) for pattern in patterns)


def open_weights(folder: Path, engine: str | None = None, dtype: str | None = None) -> OpenedModel:
    """Return a model in a folder, as the workflow fetches it or as `save_pretrained` writes it.

    The files that identify it are the only ones that can be loaded. Raises ModelInvalid, NotInstalled as
    `open_adapter`.
    """
    extras.require_extra("inference", "torch", "transformers", "peft")
    if (folder / "files").is_dir():
        base_manifest = manifests.read(folder / adapters.MANIFEST, BaseManifest, "a model that the workflow fetched")
        return _opened(folder.resolve().name, base_manifest, folder, None, engine, dtype)
    files = sources.model_files(folder)
    say(f"using {folder}: hashing {sum(file.stat().st_size for file in files) / 1e9:.1f} GB")
    outputs = {file.relative_to(folder).as_posix(): digest for file, digest in hashing.digests(files).items()}
    content = hashlib.sha256(canonical_json(outputs)).hexdigest()
    base_manifest = BaseManifest(
        revision=f"sha256:{content}",
        licence="the model's",
        origin=f"folder {folder}",
        settings=BaseSettings(folder=str(folder)),
        outputs=outputs,
    )
    place = Path(tempfile.mkdtemp(prefix="excam-model-"))  # a manifest beside the files, as a fetched model has
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    for name in outputs:
        (link := place / "files" / name).parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to((folder / name).resolve())
    (place / adapters.MANIFEST).write_text(base_manifest.model_dump_json(), encoding="utf-8")
    return replace(_opened(folder.resolve().name, base_manifest, place, None, engine, dtype), folder=folder)


def _opened(
    name: str, base: BaseManifest, weights: Path, adapter: Path | None, wanted_engine: str | None, wanted: str | None
) -> OpenedModel:
    """Open a model: by default in bfloat16 on a GPU, else in float32, which is independent of the batch.

    On a CPU in bfloat16, the other rows of a batch changed 6 of 64 verdicts, in float32 none. vLLM runs in a process of
    its own, which loads its environment and takes the GPU (see `hosting`). Raises InputInvalid and ModelInvalid as
    `choose_engine`, and ModelInvalid if there is a GPU that torch cannot use.
    """
    if wanted not in (None, *DTYPES):
        raise InputInvalid(f"--dtype: found {wanted}; expected {', '.join(DTYPES)}")
    classifies = adapter is None and bool(classifier.kind_of(weights / "files"))
    if classifies and wanted_engine == "vllm":
        raise InputInvalid(f"--backend: found vllm for {name}, which writes nothing; leave it out")
    engine = "classifier" if classifies else choose_engine(wanted_engine)
    cards = min(1, len(gpus.visible_gpus()))
    dtype = wanted or ("bfloat16" if cards else "float32")
    is_exact = dtype == "float32" and engine == "transformers"
    tuned = manifests.read(adapter / adapters.MANIFEST, AdapterManifest, "an adapter") if adapter and is_exact else None
    # a reader is faster merged, with the same verdicts; other adapters answer as in the workflow, apart
    serve: Literal["lora", "merged"] = "merged" if tuned and tuned.fitted else "lora"
    model = Model(
        gpus=0, backend=engine, dtype=dtype, serve=serve, licence=base.licence, hub=base.settings.hub or "local"
    )
    manifests_ = weights / adapters.MANIFEST, adapter / adapters.MANIFEST if adapter else None
    if engine != "vllm":
        gpus.refuse_unusable(cards, f"set {gpus.VISIBLE}= (nothing)")
        return _described(backend_factory.LazyBackend(name, model, *manifests_), name, base, (name, base.settings.hub))
    gpus.refuse_unusable(
        cards, f"give --backend transformers, or set {gpus.VISIBLE}= (nothing)", python_with_vllm() or sys.executable
    )
    backend = backend_factory.SharedBackend(name, model.model_copy(update={"gpus": cards}), *manifests_)
    return _described(backend, name, base, (name, base.settings.hub))
