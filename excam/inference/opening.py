"""From an entry of `models:` to a backend that can be asked; nothing is loaded before the first question."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from excam.config import Model
from excam.inference import Backend, Completion, Generate, Sampling
from excam.provenance import installed
from excam.versions import stage_version


class Lazily:
    """A backend that is opened when it is first asked: a job whose answers are all in the journal loads no model."""

    def __init__(self, name: str, model: Model, weights: Path | None, adapter: Path | None) -> None:
        self.name, self.model, self.weights, self.adapter = name, model, weights, adapter
        self.identity = _identity(name, model, weights, adapter)
        self._backend: Backend | None = None

    def complete(self, requests: Sequence[Generate], sampling: Sampling) -> Iterator[Sequence[tuple[int, Completion]]]:
        """Open the backend if need be and hand the requests on."""
        if self._backend is None:
            self._backend = self._open()
        return self._backend.complete(requests, sampling)

    def _open(self) -> Backend:
        model = self.model
        if model.backend == "openai":
            from excam.inference import openai

            return openai.Backend(
                model.served_as or model.hub or self.name,
                str(model.endpoint),
                key_env=model.key_env,
                limit_field=model.limit_field,
                omit=tuple(model.omit),
                identity=self.identity,
            )
        assert self.weights is not None, "a local backend needs fetched weights"
        files = self.weights.parent / "files"
        adapter = self.adapter.parent if self.adapter else None
        if model.backend == "vllm":
            from excam.inference import vllm

            return vllm.Backend(
                files,
                adapter=adapter,
                identity=self.identity,
                tensor_parallel_size=max(1, model.gpus),
                quantization=model.quantization,
                max_model_len=model.context,
            )
        from excam.inference import transformers

        return transformers.Backend(files, adapter=adapter, identity=self.identity, context=model.context)


def lazily(name: str, model: Model, weights: Path | None, adapter: Path | None = None) -> Lazily:
    """A backend for an entry of `models:`; `weights` and `adapter` are the manifests of what was fetched or trained."""
    return Lazily(name, model, weights, adapter)


def described(settings: str, gpus: int) -> Model:
    """An entry of `models:` as rules pass it on: as JSON, without what does not decide an answer."""
    return Model.model_validate({"licence": "", **json.loads(settings), "gpus": gpus})


def sampling(model: Model, seed: int) -> Sampling:
    """The decoding settings of an entry of `models:`, with the experiment's seed."""
    return Sampling(seed=seed, **model.sampling.model_dump())


def _identity(name: str, model: Model, weights: Path | None, adapter: Path | None) -> str:
    """What the journal's keys hang on: everything that decides an answer, and not where it lies.

    Weights, tokenizer, chat template, adapter (by content), the settings of the engine, its version, and our own code
    that encodes and decodes.
    """
    decides = model.model_dump(mode="json", include={"backend", "endpoint", "served_as", "quantization", "context"})
    parts = [name if model.is_local else model.hub or name, json.dumps(decides, sort_keys=True)]
    for manifest in (weights, adapter):
        if manifest is not None:
            outputs = json.loads(manifest.read_text(encoding="utf-8"))["outputs"]
            parts += [f"{file}:{digest}" for file, digest in sorted(outputs.items()) if not file.endswith(".csv")]
    engine = {"transformers": ("torch", "transformers", "peft"), "vllm": ("vllm", "torch"), "openai": ()}[model.backend]
    parts += [f"{package}={installed(package)}" for package in engine]
    return "|".join([*parts, f"answers={stage_version('answers')}"])
