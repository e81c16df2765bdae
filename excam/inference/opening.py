"""From an entry of `models:` to a backend that can be asked; nothing is loaded before the first question."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from excam.config import Model
from excam.inference import Backend, Batch, Choice, Choose, Completion, Generate, Sampling, hosting, lora
from excam.provenance import installed, read_json, refuse_changed
from excam.versions import stage_version

TOLD = (".csv", ".md")  # an adapter's loss curve and card tell of its training, seconds too, and decide nothing


class Lazily:
    """A backend that is opened when it is first asked: a job whose answers are all in the journal loads no model."""

    def __init__(self, name: str, model: Model, weights: Path | None, adapter: Path | None) -> None:
        self.name, self.model, self.weights, self.adapter = name, model, weights, adapter
        self.identity = _identity(name, model, weights, adapter)
        self._backend: Backend | None = None
        self._checked = False

    def generate(self, requests: Sequence[Generate], sampling: Sampling) -> Iterator[Batch[Completion]]:
        """Open the backend if need be and hand the requests on."""
        return self._opened().generate(requests, sampling)

    def choose(self, requests: Sequence[Choose]) -> Iterator[Batch[Choice]]:
        """Open the backend if need be and hand the requests on."""
        return self._opened().choose(requests)

    @property
    def settings(self) -> Mapping[str, Any]:
        """How the engine really runs (device, context, its own defaults); empty where it was never opened."""
        return getattr(self._backend, "settings", {})

    def check(self) -> None:
        """Compare the files of weights and adapter with their manifests, once: they are large.

        Raises ArtifactBroken where one is gone or has other bytes.
        """
        if self._checked:
            return
        for manifest, below in ((self.weights, "files"), (self.adapter, "")):
            if manifest:
                refuse_changed(manifest, manifest.parent / below)
        self._checked = True

    def close(self) -> None:
        """Give the model's memory back; the next request opens it again."""
        self._backend = None

    def _opened(self) -> Backend:
        if self._backend is None:
            self._backend = self._open()
        return self._backend

    def _open(self) -> Backend:
        files = self.weights.parent / "files" if self.weights else None
        adapter = self.adapter.parent if self.adapter else None
        self.check()
        return backend(self.model).open_model(self.name, self.model, files, adapter, self.identity)


class Shared(Lazily):
    """A backend whose engine other jobs of this machine ask too, where it has one to share (`hosting`)."""

    def _open(self) -> Backend:
        if not shares(self.model):
            return super()._open()
        assert self.weights is not None, "an engine of this machine has weights"
        self.check()
        adapter = self.adapter.parent if self.adapter else None
        rank = lora.read(adapter).r if adapter else None
        content = _identity("", self.model, self.weights, None)  # the same for every job, whatever its name
        wanted = hosting.Wanted(self.name.split("/")[0], self.model, self.weights.parent / "files", rank, content)
        return hosting.Hosted(wanted, adapter, self.identity)


def shares(model: Model) -> bool:
    """Whether jobs share an engine of this model: then that process, and not the job, holds the cards."""
    return model.serve == "lora" and hasattr(backend(model), "open_shared")


def backend(model: Model) -> ModuleType:
    """The module of `backends/` that runs a model. It has `PACKAGES`, whose versions move answers, and `open_model`."""
    return importlib.import_module(f"excam.inference.backends.{model.backend.replace('-', '_')}")


def lazily(name: str, model: Model, weights: Path | None, adapter: Path | None = None) -> Lazily:
    """A backend for an entry of `models:`; `weights` and `adapter` are the manifests of what was fetched or trained."""
    return Lazily(name, model, weights, adapter)


def shared(name: str, model: Model, weights: Path | None, adapter: Path | None = None) -> Shared:
    """The same for a job of the workflow, beside which others ask the same base model."""
    return Shared(name, model, weights, adapter)


def described(settings: str, gpus: int, pace: str = "{}") -> Model:
    """An entry of `models:` as rules pass it on: JSON of what decides an answer, and apart from it how it is run."""
    entry = {"licence": "", **json.loads(settings), "gpus": gpus}
    if entry.get("server"):
        entry["server"] |= json.loads(pace)
    elif tuning := json.loads(pace):
        entry["engine"] = entry.get("engine", {}) | tuning
    return Model.model_validate(entry)


def sampling(model: Model, seed: int) -> Sampling:
    """The decoding settings of an entry of `models:`, with the experiment's seed."""
    return Sampling(seed=seed, **model.sampling.model_dump())


def _identity(name: str, model: Model, weights: Path | None, adapter: Path | None) -> str:
    """What the journal's keys hang on: everything that decides an answer, and not where it lies.

    Weights, tokenizer, chat template, adapter (by content), the settings of the engine, its version, and our own code
    that encodes and decodes. Not an adapter's loss curve and card: the card tells how long the training took, so the
    same weights trained once more would have been asked everything again.
    """
    parts = [name if model.is_local else model.hub or name, model.decides]
    for manifest in (weights, adapter):
        if manifest is not None:
            outputs = read_json(manifest, "outputs")["outputs"]
            parts += [f"{file}:{digest}" for file, digest in sorted(outputs.items()) if not file.endswith(TOLD)]
    parts += [f"{package}={installed(package)}" for package in backend(model).PACKAGES]
    return "|".join([*parts, f"answers={stage_version(f'answers.{model.backend}')}"])
