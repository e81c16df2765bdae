"""Create the backend of an entry of `models:`; the model is loaded at the first request."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from excam.config import Model
from excam.core.exceptions import ArtifactBroken, ModelInvalid
from excam.core.provenance import installed_version, read_json, refuse_changed
from excam.inference import Backend, Batch, Choice, Choose, Completion, Generate, Sampling, hosting, lora
from excam.inference.sources import LOADED, matching_files
from excam.inference.vllm_environment import version_beside_vllm

if TYPE_CHECKING:
    from excam.inference.backends.openai import ServerWindow

PROCESSOR = Path("/proc/cpuinfo")  # of Linux; one without arithmetic in bfloat16 takes 4.4 times as long for a prompt
IGNORED_SUFFIXES = (".csv", ".md")  # an adapter's loss curve and card, which do not affect answers


class LazyBackend:
    """A backend that loads its model at the first request: a job with only cached answers loads none.

    `weights` and `adapter` are paths of manifests.
    """

    def __init__(self, name: str, model: Model, weights: Path | None, adapter: Path | None = None) -> None:
        self.name, self.model, self.weights, self.adapter = name, model, weights, adapter
        self.identity = _identity(name, model, weights, adapter)
        self._backend: Backend | None = None
        self._checked = False

    def generate(self, requests: Sequence[Generate], sampling: Sampling) -> Iterator[Batch[Completion]]:
        """Load the model if necessary and yield its answers."""
        return self._opened().generate(requests, sampling)

    def choose(self, requests: Sequence[Choose]) -> Iterator[Batch[Choice]]:
        """Load the model if necessary and yield its answers."""
        return self._opened().choose(requests)

    @property
    def has_window(self) -> bool:
        """Return whether rows may enter one after the other, as at a server; an engine here wants them in batches."""
        return not self.model.is_local

    def window(self, sampling: Sampling) -> ServerWindow:
        """Return a window of open requests at a server. Only for a backend that has one."""
        return getattr(self._opened(), "window")(sampling)  # noqa: B009  # not of every backend

    @property
    def settings(self) -> Mapping[str, Any]:
        """The effective settings of the engine (device, context, defaults); empty if it was never loaded."""
        return getattr(self._backend, "settings", {})

    def check(self) -> None:
        """Compare the files of weights and adapter with their manifests, only once because they are large.

        Raise ArtifactBroken if a file is missing or differs, or if weights have a file beside those of their manifest
        that a library would load too.
        """
        if self._checked:
            return
        for manifest, below in ((self.weights, "files"), (self.adapter, "")):
            if manifest:
                refuse_changed(manifest, manifest.parent / below)
        if self.weights:
            _refuse_unlisted(self.weights)
        self._checked = True

    def close(self) -> None:
        """Free the model's memory; the next request loads it again."""
        self._backend = None

    def _opened(self) -> Backend:
        if self._backend is None:
            self._backend = self._open()
        return self._backend

    def _open(self) -> Backend:
        files = self.weights.parent / "files" if self.weights else None
        adapter = self.adapter.parent if self.adapter else None
        self.check()
        return backend_module(self.model).open_model(self.name, self.model, files, adapter, self.identity)


class SharedBackend(LazyBackend):
    """A backend whose engine is shared with other jobs of this machine if it supports that (see `hosting`)."""

    def _open(self) -> Backend:
        if not shares_engine(self.model):
            return super()._open()
        assert self.weights is not None, "an engine of this machine has weights"
        self.check()
        adapter = self.adapter.parent if self.adapter else None
        rank = lora.read(adapter).r if adapter and self.model.backend == "vllm" else None
        content = _identity("", self.model, self.weights, None)  # without the name, so that it is equal for all jobs
        wanted = hosting.EngineSpec(self.name, self.model, self.weights.parent / "files", rank, content)
        return hosting.HostedBackend(wanted, adapter, self.identity)


def shares_engine(model: Model) -> bool:
    """Return whether jobs share an engine of this model; then the engine's process, not the job, holds the GPUs."""
    return model.serve == "lora" and hasattr(backend_module(model), "open_shared")


def backend_module(model: Model) -> ModuleType:
    """Return the module of `backends/` that runs a model; see the docstring of that package for its interface."""
    return importlib.import_module(f"excam.inference.backends.{model.backend.replace('-', '_')}")


def parse_model_spec(settings: str, gpus: int, pace: str = "{}") -> Model:
    """Return the entry of `models:` that a rule passes as JSON: `settings` affect answers, `pace` only speed.

    `dtype: auto` becomes that of this machine, which is thus part of every answer's identity.
    """
    entry = {"licence": "", **json.loads(settings), "gpus": gpus}
    if entry.get("server"):
        entry["server"] |= json.loads(pace)
    elif tuning := json.loads(pace):
        entry["engine"] = entry.get("engine", {}) | tuning
    if entry.get("dtype") == "auto":
        processor = PROCESSOR.read_text("utf-8") if PROCESSOR.exists() else ""
        entry["dtype"] = "bfloat16" if gpus or "bf16" in processor else "float32"
    return Model.model_validate(entry)


def sampling_for(model: Model, seed: int) -> Sampling:
    """Return the decoding settings of an entry of `models:`, with the experiment's seed."""
    return Sampling(seed=seed, **model.sampling.model_dump())


def _refuse_unlisted(manifest: Path) -> None:
    files, listed = manifest.parent / "files", read_json(manifest, "outputs")["outputs"]
    for file in matching_files(files, LOADED):
        if file.relative_to(files).as_posix() not in listed:
            raise ArtifactBroken(f"{file}: not in {manifest}; expected only its files; remove it, or fetch again")


def _identity(name: str, model: Model, weights: Path | None, adapter: Path | None) -> str:
    """Return a text with everything that determines an answer, for the keys of the response cache.

    That is weights, tokenizer, chat template and adapter (by content), settings and version of the engine, and the
    version of our code that encodes and decodes; not paths. The adapter's loss curve and card are left out: the card
    has the training time, so that retraining identical weights would invalidate the cache. Raise ModelInvalid for a
    manifest without weights, which would be identified by nothing.
    """
    parts = [name if model.is_local else model.hub or name, model.answer_settings]
    for manifest in (weights, adapter):
        if manifest is not None:
            outputs = read_json(manifest, "outputs")["outputs"]
            if not any(file.endswith(".safetensors") for file in outputs):
                raise ModelInvalid(f"{manifest}: lists no weights; expected *.safetensors; fetch or train it again")
            parts += [
                f"{file}:{digest}" for file, digest in sorted(outputs.items()) if not file.endswith(IGNORED_SUFFIXES)
            ]
    version = version_beside_vllm if model.backend == "vllm" else installed_version
    parts += [f"{package}={version(package)}" for package in backend_module(model).PACKAGES]
    return "|".join([*parts, f"answers={backend_module(model).VERSION}"])
