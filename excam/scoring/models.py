"""The models that score: an address is parsed once, and opened. Nothing is loaded before the first request."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import ValidationError

from excam.config import Model, Server
from excam.core import offline
from excam.core.exceptions import InputInvalid, ModelInvalid
from excam.core.provenance import say
from excam.inference import Backend, Generate, Sampling, backend_factory
from excam.inference.backends import openai
from excam.inference.budget import Budget
from excam.scoring import adapters, local_model, manifests, negotiation
from excam.scoring.manifests import AdapterManifest, BaseManifest

KEY = "EXCAM_ENDPOINT_KEY"
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
        path = Path(self.text)
        path = path.parent if path.name == "files" else path  # as the workflow keeps the files of a model
        return path.name if local_model.is_weights(Path(self.text)) else f"{path.parent.name}/{path.name}"


def parse(model: str | Path | Address) -> Address:
    """Return the address in the value of `--model`. Raises InputInvalid for one that is half a server's."""
    if isinstance(model, Address):
        return model
    text = str(model)
    if served := _SERVED.fullmatch(text):
        return Address(text, served["name"], served["endpoint"])
    if re.match(r"https?://", text, re.IGNORECASE):
        raise InputInvalid(f"--model: {_without_secrets(text)}: no name before it; expected {EXAMPLE}")
    if not Path(text).exists() and (half := _WITHOUT_SCHEME.fullmatch(text)) and ("." in half["host"] or half[3]):
        raise InputInvalid(f"--model: {text}: no http:// in it; expected {half['name']}@http://{half['host']}")
    return Address(text, text)


def _without_secrets(address: str) -> str:
    """Return an address without what may be a password or a key."""
    return re.sub(r"//[^/@]*@", "//", address.partition("?")[0])


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


Probe = Callable[[OpenedModel], tuple[Generate, Sampling]]  # returns what a model will be asked first


def open_model(
    model: str | Path | Address,
    base: str | Path | None = None,
    engine: str | None = None,
    budget: Budget | None = None,
    *,
    probe: Probe | None = None,
) -> OpenedModel:
    """Open a model. `base` is the folder of an adapter's base model, `engine` one of `local_model.ENGINES`.

    `budget` limits a model behind a server. Where that is asked for texts, `probe` returns the request with which it is
    found out what the server takes. Raises ModelInvalid if there is no such model, InputInvalid for an option that it
    cannot have, NotInstalled in a light install.
    """
    address = parse(model)
    if address.endpoint:
        for option, value in (("--backend", engine), ("--base", base)):
            if value is not None:
                raise InputInvalid(f"{option}: found {value} for {address.name}, behind a server; leave it out")
        return _served(address, budget, probe)
    if local_model.is_weights(folder := Path(address.text)):
        if base is not None:
            raise InputInvalid(f"--base: found {base} for {folder}, a whole model; expected an adapter; leave it out")
        opened = local_model.open_weights(folder, engine)
        return OpenedModel(
            opened.backend,
            f"{local_model.described(folder, opened)}|on:nothing",
            opened.computed,
            (folder.resolve().name, opened.base.settings.hub),
            folder=folder,
            weights=_files_of(opened.backend),
            constrained=opened.engine == "vllm",
        )
    folder, manifest, opened = local_model.open_adapter(address.text, base, engine)
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
    found = manifests.read(weights, BaseManifest, "a fetched model")
    tuned = manifests.read(adapter, AdapterManifest, "an adapter") if adapter else None
    engine = f"|engine:{entry.backend}" if entry.backend != "transformers" else ""
    return OpenedModel(
        backend,
        adapter_part(tuned) if tuned else f"model:{name}@{found.revision.removeprefix('sha256:')[:8]}|on:nothing",
        f"dtype:{entry.dtype}{engine}",
        (name, entry.hub, found.settings.hub),
        tuned=tuned,
        folder=adapter.parent if adapter else weights.parent,
        weights=weights.parent / "files",
        constrained=entry.backend == "vllm",
    )


def _files_of(backend: backend_factory.LazyBackend) -> Path | None:
    return backend.weights.parent / "files" if backend.weights else None


def adapter_part(manifest: AdapterManifest) -> str:
    """Return an adapter's part of a signature: its base, and its weights."""
    base = f"model:{manifest.model}@{manifest.base.removeprefix('sha256:')[:8]}"
    return f"{base}|on:{manifest.trained_on}@{manifest.outputs[adapters.ADAPTER][:8]}"


# --- models behind servers


class _ServerBackend(backend_factory.LazyBackend):
    """A model behind a server, within a budget if there is one."""

    def __init__(self, name: str, model: Model, budget: Budget | None) -> None:
        super().__init__(name, model, None, None)
        self._budget = budget

    def attempt(self, request: Generate, sampling: Sampling) -> None:
        """Send a request to see whether the server takes it, see `openai.Backend.attempt`."""
        self._opened_server().attempt(request, sampling)

    def _open(self) -> Backend:
        return self._opened_server()

    def _opened_server(self) -> openai.Backend:
        return openai.open_model(self.name, self.model, None, None, self.identity, self._budget)


def server_backend(address: Address, budget: Budget | None = None, settings: Server | None = None) -> _ServerBackend:
    """Return the model or adapter that a server calls `name`. Nothing is requested yet, and nothing over the budget.

    Raises InputInvalid with --offline, ModelInvalid for an invalid address. The server's key, if it needs one, is in
    EXCAM_ENDPOINT_KEY; EXCAM_SERVER_KEY is that of `excam serve`.
    """
    name = address.name
    offline.refuse(f"{name} at a server", address.endpoint)
    key = KEY if os.environ.get(KEY) else None
    try:
        server = settings or Server(endpoint=address.endpoint, name=name, key_env=key)
    except ValidationError:
        raise ModelInvalid(f"{name}: the server has no address; expected one like http://127.0.0.1:8000/v1") from None
    return _ServerBackend(name, Model(gpus=0, backend="openai", server=server, licence="the server's"), budget)


def _served(address: Address, budget: Budget | None, probe: Probe | None) -> OpenedModel:
    """Open a model behind a server. Its version is unknown: the signature says so, and what the server does not take.

    A server that ignores a schema or log-probabilities in silence counts as having them: its answers are parsed like
    any other. Raises ModelInvalid if the first request gets no answer: results of an earlier run would otherwise be
    taken for those of another judge.
    """
    name = address.name
    backend = server_backend(address, budget)
    opened = OpenedModel(
        backend, f"model:{name}|on:served", names=(name,), constrained=True, probabilities=True, served=True
    )
    if probe is None:
        return opened
    request, sampling = probe(opened)
    settings = backend.model.server
    assert settings is not None, "a model behind a server"
    try:
        found, lines = negotiation.negotiate(
            settings, request, sampling, lambda one: server_backend(address, budget, one).attempt(request, sampling)
        )
    except ModelInvalid as problem:
        reason = str(problem)
        raise ModelInvalid(f"{name}: {reason}; expected {_expected_instead(reason, settings.endpoint)}") from None
    for line in lines:
        say(f"{name}: {line}")
    return replace(
        opened,
        backend=server_backend(address, budget, found),
        computed=_left_out(found, bool(request.schema)),
        constrained=bool(request.schema) and found.structure,
        probabilities="logprobs" not in found.omit,
    )


def _left_out(server: Server, structured: bool) -> str:
    """Return the part of a signature that says what is left out of requests, since it may change answers."""
    omitted = ",".join(one for one in server.omit if one != "logprobs")  # the judge names that
    parts = (
        "" if server.limit_field == "max_tokens" else f"limit:{server.limit_field}",
        f"omit:{omitted}" if omitted else "",
        "" if server.system else "system:none",
        "structure:none" if structured and not server.structure else "",
    )
    return "|".join(filter(None, parts))


def _expected_instead(reason: str, endpoint: str) -> str:
    """Return what is expected of a server that did not answer the first request for this reason."""
    expected = {
        r"HTTP 404": "an address that ends with /v1, and a name that /v1/models lists",
        r"HTTP (401|402|403)|HTTP 429.*quota": "a key, and an account, that may ask this model",
        r"HTTP 4(?!08|09|25|29)": "a chat model that takes this request",
        r"not a chat completion": "an OpenAI-compatible server, at an address that ends with /v1",
        r"ConnectError": f"a server at {_without_secrets(endpoint)}; start it, or check the address",
    }
    return next((line for start, line in expected.items() if re.match(start, reason)), "an answer; run again")
