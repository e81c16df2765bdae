"""The models that score: an address is parsed once, and opened. Nothing is loaded before the first request."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from excam.config import Model
from excam.core.addresses import identified, without_secrets
from excam.core.exceptions import InputInvalid
from excam.core.provenance import say
from excam.inference import Generate, Sampling, backend_factory
from excam.inference.backends.openai import is_another
from excam.inference.budget import Budget
from excam.scoring import adapters, local_model, manifests, served_model
from excam.scoring.manifests import AdapterManifest, BaseManifest
from excam.scoring.server_options import Serving

EXAMPLE = "NAME@http://host/v1"
_SERVED = re.compile(r"(?P<name>.+)@(?P<endpoint>https?://.+)", re.IGNORECASE)  # a name may hold an @ itself
_WITHOUT_SCHEME = re.compile(r"(?P<name>.+)@(?P<host>[\w.\-]+(:\d+)?(/.*)?)")


@dataclass(frozen=True, slots=True)
class Address:
    """A parsed `--model`: an adapter, a folder with a whole model, or a model behind a server."""

    text: str
    name: str  # as the server calls it; else the text
    endpoint: str = ""  # of a server

    def __str__(self) -> str:
        return self.text

    @property
    def label(self) -> str:
        """Return the model's name for tables and figures: never an address, and of a folder the last parts."""
        if self.endpoint:
            return self.name
        path = Path(self.text).absolute()
        path = path.parent if path.name == "files" else path  # as the workflow keeps the files of a model
        return path.name if local_model.is_weights(Path(self.text)) else f"{path.parent.name}/{path.name}"

    @property
    def shown(self) -> str:
        """Return the text for people: of a server without what may be a key."""
        return f"{self.name}@{without_secrets(self.endpoint)}" if self.endpoint else self.text

    @property
    def identified(self) -> str:
        """Return the text for files: of a server with a digest instead of what may be a key."""
        return f"{self.name}@{identified(self.endpoint)}" if self.endpoint else self.text


def parse(model: str | Path | Address) -> Address:
    """Return the address in the value of `--model`. Raises InputInvalid for one that is half a server's."""
    if isinstance(model, Address):
        return model
    text = str(model)
    if served := _SERVED.fullmatch(text):
        return Address(text, served["name"], served["endpoint"])
    if re.match(r"https?://", text, re.IGNORECASE):
        expected = served_model.without_name(text)
        raise InputInvalid(f"--model: {without_secrets(text)}: no name before it; expected {expected}")
    if not Path(text).exists() and (half := _WITHOUT_SCHEME.fullmatch(text)) and ("." in half["host"] or half[3]):
        if "?" in text or re.search("@.*:", half["name"]):  # a query or a password, which may be secret
            raise InputInvalid(f"--model: no http:// in the address; expected {EXAMPLE}")
        raise InputInvalid(f"--model: {text}: no http:// in it; expected {half['name']}@http://{half['host']}")
    if Path(text).exists() or text in adapters.available():
        return Address(text, text)
    if address := served_model.address_of(text):
        say(f"{text}: no folder or adapter of this name; it is asked for at {without_secrets(address)}")
        return Address(text, text, address)
    if line := served_model.hint(text):
        raise InputInvalid(f"--model: {text}: no folder or adapter of this name; {line}")
    return Address(text, text)


@dataclass(frozen=True, slots=True)
class OpenedModel:
    """A model that can be asked, and what signatures, warnings and metrics need to know of it."""

    backend: backend_factory.LazyBackend
    described: str  # its part of a signature: what answers
    computed: str = ""  # its part of a signature: how answers are computed
    names: tuple[str | None, ...] = ()  # by which its family is known
    tuned: AdapterManifest | None = None  # of an adapter
    folder: Path | None = None  # of an adapter, or of a whole model
    weights: Path | None = None  # the folder with the files of the base model
    constrained: bool = False  # whether answers follow a JSON Schema
    probabilities: bool = True  # whether the log-probabilities of texts are known
    served: bool = False

    def is_another(self, answered_by: str) -> bool:
        """Return whether an answer is by another model than this one, as the server says (`Completion.answered_by`)."""
        return bool(answered_by) and all(is_another(answered_by, name) for name in self.names if name)


Probe = Callable[[OpenedModel], tuple[Generate, Sampling]]  # returns what a model will be asked first


def open_model(
    model: str | Path | Address,
    base: str | Path | None = None,
    engine: str | None = None,
    budget: Budget | None = None,
    serving: Serving | None = None,
    *,
    dtype: str | None = None,
    probe: Probe | None = None,
) -> OpenedModel:
    """Open a model. `base` is the folder of an adapter's base model, `engine` one of `local_model.ENGINES`, `dtype` one
    of `local_model.DTYPES`, in which a model of this machine computes.

    `budget` limits a model behind a server, `serving` says how that is asked. Where that is asked for texts, `probe`
    returns the request with which it is found out what the server takes. Raises ModelInvalid if there is no such model,
    InputInvalid for an option that it cannot have, NotInstalled in a light install.
    """
    address = parse(model)
    if address.endpoint:
        for option, value in (("--backend", engine), ("--base", base), ("--dtype", dtype)):
            if value is not None:
                raise InputInvalid(f"{option}: found {value} for {address.name}, behind a server; leave it out")
        return _served(address, budget, serving, probe)
    if serving and serving.given:
        options = ", ".join(f"--{name.replace('_', '-')}" for name in serving.given)
        raise InputInvalid(f"{options}: found for {address}, on this machine; leave it out")
    if local_model.is_weights(folder := Path(address.text)):
        if base is not None:
            raise InputInvalid(f"--base: found {base} for {folder}, a whole model; expected an adapter; leave it out")
        opened = local_model.open_weights(folder, engine, dtype)
        return OpenedModel(
            opened.backend,
            f"{_base_part(folder.resolve().name, opened.base.revision)}|on:nothing",
            opened.computed,
            (folder.resolve().name, opened.base.settings.hub),
            folder=folder,
            weights=_files_of(opened.backend),
            constrained=opened.engine == "vllm",
        )
    folder, manifest, opened = local_model.open_adapter(address.text, base, engine, dtype)
    source = opened.base.settings
    return OpenedModel(
        opened.backend,
        adapter_part(manifest),
        opened.computed,
        (manifest.model, source.hub, source.wheel and source.wheel.gguf, source.folder),
        tuned=manifest,
        folder=folder,
        weights=_files_of(opened.backend),
    )


def of_entry(
    name: str, entry: Model, backend: backend_factory.LazyBackend, weights: Path | None, adapter: Path | None
) -> OpenedModel:
    """Return the model of an entry of the configuration, by the manifests of its weights and of its adapter."""
    if not entry.is_local or weights is None:
        server = entry.server
        return OpenedModel(
            backend,
            f"model:{(server and server.name) or entry.hub or name}|on:served",
            names=(name, entry.hub, server and server.name),
            constrained=bool(server and server.structure),
            served=True,
        )
    base_manifest = manifests.read(weights, BaseManifest, "a fetched model")
    tuned = manifests.read(adapter, AdapterManifest, "an adapter") if adapter else None
    engine = f"|engine:{entry.backend}" if entry.backend != "transformers" else ""
    return OpenedModel(
        backend,
        adapter_part(tuned) if tuned else f"{_base_part(name, base_manifest.revision)}|on:nothing",
        f"dtype:{entry.dtype}{engine}",
        (name, entry.hub, base_manifest.settings.hub),
        tuned=tuned,
        folder=adapter.parent if adapter else weights.parent,
        weights=weights.parent / "files",
        constrained=entry.backend == "vllm",
    )


def _files_of(backend: backend_factory.LazyBackend) -> Path | None:
    return backend.weights.parent / "files" if backend.weights else None


def _base_part(name: str, revision: str) -> str:
    """Return a base model's part of a signature: its name, and the beginning of its revision."""
    return f"model:{name}@{revision.removeprefix('sha256:')[:8]}"


def adapter_part(manifest: AdapterManifest) -> str:
    """Return an adapter's part of a signature: its base, and its weights."""
    base = _base_part(manifest.model, manifest.base)
    return f"{base}|on:{manifest.trained_on}@{manifest.outputs[adapters.ADAPTER][:8]}"


def _served(address: Address, budget: Budget | None, serving: Serving | None, probe: Probe | None) -> OpenedModel:
    """Open a model behind a server. Its version is unknown: the signature says so, and what the server does not take.

    Where another model than the one asked for answers, it says both.

    A server that ignores a schema or log-probabilities in silence counts as having them: its answers are parsed like
    any other.
    """
    name = address.name
    opened = served_model.open_server(name, address.endpoint, budget, serving)
    model = OpenedModel(opened, f"model:{name}|on:served", names=(name,), constrained=True, served=True)
    if probe is None:
        return replace(model, computed=opened.left_out(Generate(())))
    request, sampling = probe(model)
    negotiated = opened.with_what_it_takes(request, sampling)
    answered = negotiated.answered_by.partition(" (")[0]
    return replace(
        model,
        described=f"model:{name} by {answered}|on:served" if is_another(answered, name) else model.described,
        backend=negotiated,
        computed=negotiated.left_out(request),
        constrained=bool(request.schema) and negotiated.server.structure,
        probabilities="logprobs" not in negotiated.server.omit,
    )
