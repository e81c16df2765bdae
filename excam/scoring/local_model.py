"""Models with weights on this machine. Nothing is loaded before the first request."""

from __future__ import annotations

import atexit
import hashlib
import shutil
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

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

ENGINES = ("transformers", "vllm")
DTYPES = ("float32", "bfloat16", "float16")


@dataclass(frozen=True, slots=True)
class OpenedModel:
    """A base model that can be asked, its manifest, its number format, and one of ENGINES or "classifier"."""

    backend: backend_factory.LazyBackend
    base: BaseManifest
    dtype: str
    engine: str

    @property
    def computed(self) -> str:
        """The part of a signature that says how answers are computed. Another engine may round differently."""
        return f"dtype:{self.dtype}" + f"|engine:{self.engine}" * (self.engine != "transformers")


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
) -> tuple[Path, AdapterManifest, OpenedModel]:
    """Return the folder of an adapter, its manifest, and its base model with the adapter.

    `adapter` is a folder, or a name below ./results/adapters; `base` the folder of the base model, by default where the
    workflow or `excam pull` put it; `engine` is one of ENGINES (`choose_engine`), `dtype` one of DTYPES (`_opened`).
    Raises ModelInvalid if one of them is missing or not what the adapter's manifest says, NotInstalled in a light
    install.
    """
    extras.require_extra("inference", "torch", "transformers", "peft")
    folder = adapters.folder(adapter)
    manifest = adapters.manifest(folder)
    say(f"using {folder}")
    _check_weights(folder, manifest.outputs)
    lora.read(folder)
    weights = Path(base) if base else adapters.base_of(folder, manifest)
    base_manifest = manifests.read(
        weights / adapters.MANIFEST, BaseManifest, "its base model; name its folder with --base"
    )
    say(f"using {weights}")
    if base_manifest.revision != manifest.base:
        raise ModelInvalid(
            f"{weights}: base model at revision {base_manifest.revision}; the adapter was trained on {manifest.base}"
        )
    return folder, manifest, _opened(manifest.model, base_manifest, weights, folder, engine, dtype)


def is_weights(folder: Path) -> bool:
    """Return whether a folder has the weights of a whole model, not those of an adapter."""
    return (folder / "files").is_dir() or (
        (folder / "config.json").is_file() and not (folder / lora.CONFIG).exists() and _has_weights(folder)
    )


def _has_weights(folder: Path) -> bool:
    return any(next(folder.glob(pattern), None) for pattern in ("*.safetensors", *sources.PICKLED))


def open_weights(folder: Path, engine: str | None = None, dtype: str | None = None) -> OpenedModel:
    """Return a model in a folder, as the workflow fetches it or as `save_pretrained` writes it.

    The files that identify it are the only ones that can be loaded. Raises ModelInvalid, NotInstalled as
    `open_adapter`.
    """
    extras.require_extra("inference", "torch", "transformers", "peft")
    if (folder / "files").is_dir():
        base_manifest = manifests.read(folder / adapters.MANIFEST, BaseManifest, "a model that the workflow fetched")
        return _opened(folder.name, base_manifest, folder, None, engine, dtype)
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
    return _opened(folder.resolve().name, base_manifest, place, None, engine, dtype)


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
    model = Model(gpus=0, backend=engine, dtype=dtype, licence=base.licence, hub=base.settings.hub or "local")
    manifests_ = weights / adapters.MANIFEST, adapter / adapters.MANIFEST if adapter else None
    if engine != "vllm":
        gpus.refuse_unusable(cards, f"set {gpus.VISIBLE}= (nothing)")
        return OpenedModel(backend_factory.LazyBackend(name, model, *manifests_), base, dtype, engine)
    gpus.refuse_unusable(
        cards, f"give --backend transformers, or set {gpus.VISIBLE}= (nothing)", python_with_vllm() or sys.executable
    )
    backend = backend_factory.SharedBackend(name, model.model_copy(update={"gpus": cards}), *manifests_)
    return OpenedModel(backend, base, dtype, engine)


def _check_weights(folder: Path, outputs: Mapping[str, str]) -> None:
    """Raise ModelInvalid if the weights are not those of the manifest, because the signature would be wrong."""
    file = folder / adapters.ADAPTER
    expected = outputs.get(adapters.ADAPTER, "none")
    if actual := hashing.mismatches({file: expected}).get(file):
        actual = "no such file" if actual == hashing.GONE else actual
        raise ModelInvalid(f"{file}: expected sha256 {expected}, as in its manifest; found {actual}; train it again")
