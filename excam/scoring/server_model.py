"""A model behind a server that speaks OpenAI's chat completions, such as `vllm serve` with an adapter."""

from __future__ import annotations

import os
from dataclasses import dataclass

from pydantic import ValidationError

from excam.config import Model, Server
from excam.core import offline
from excam.core.exceptions import InputInvalid, ModelInvalid
from excam.core.provenance import say
from excam.inference import Backend, Generate, Message, Missing, Sampling, backend_factory
from excam.inference.backends import openai
from excam.inference.budget import Budget

KEY = "EXCAM_ENDPOINT_KEY"
SCHEMES = ("http://", "https://")


def name_and_address(model: str) -> tuple[str, str] | None:
    """Return the parts of NAME@http://host/v1; None for anything else."""
    name, _, address = model.partition("@")
    return (name, address) if address.startswith(SCHEMES) else None


def refuse_engine(model: str, engine: str | None) -> None:
    """Raise InputInvalid if an engine of this machine is asked for: the server has its own."""
    if engine is not None:
        raise InputInvalid(f"--backend: found {engine} for {model}; expected a model of this machine; leave it out")


def backend(
    name: str, endpoint: str, structure: bool = True, budget: Budget | None = None
) -> backend_factory.LazyBackend:
    """Return the model or adapter that the server calls `name`. Nothing is requested yet, and nothing over the budget.

    Raises InputInvalid with --offline, ModelInvalid for an invalid address. The server's key, if it needs one, is in
    EXCAM_ENDPOINT_KEY; EXCAM_SERVER_KEY is that of `excam serve`.
    """
    offline.refuse(f"{name} at a server", endpoint)
    try:
        server = Server(endpoint=endpoint, name=name, structure=structure, key_env=KEY if os.environ.get(KEY) else None)
    except ValidationError:
        raise ModelInvalid(f"{name}: the server has no address; expected one like http://127.0.0.1:8000/v1") from None
    model = Model(gpus=0, backend="openai", server=server, licence="the server's")
    return _ServerBackend(name, model, budget)


class _ServerBackend(backend_factory.LazyBackend):
    """A model behind a server, within a budget if there is one."""

    def __init__(self, name: str, model: Model, budget: Budget | None) -> None:
        super().__init__(name, model, None, None)
        self._budget = budget

    def _open(self) -> Backend:
        return openai.open_model(self.name, self.model, None, None, self.identity, self._budget)


@dataclass(frozen=True, slots=True)
class ProbedServer:
    """A model behind a server, and whether the server takes a JSON Schema and gives log-probabilities."""

    backend: backend_factory.LazyBackend
    structure: bool
    logprobs: bool = True


def probed(name: str, endpoint: str, budget: Budget | None = None) -> ProbedServer:
    """Send short requests to find out what the server refuses: a JSON Schema, or log-probabilities.

    A server that ignores them in silence counts as having them: its answers are parsed like any other. Raises
    ModelInvalid as `backend`, and if a request gets no answer: results of an earlier run would otherwise be taken for
    those of another judge.
    """
    structure = logprobs = True
    while True:
        found = backend(name, endpoint, structure, budget)
        reason = _refusal(found, logprobs)
        if reason is None:
            return ProbedServer(found, structure, logprobs)
        if structure and openai.SCHEMA_REFUSED in reason:
            say(f"{name}: the server takes no JSON Schema; answers are plain text")
            structure = False
        elif logprobs and "logprobs" in reason.lower():
            say(f"{name}: the server gives no log-probabilities; p(R) is missing, and a clean report scores 0")
            logprobs = False
        else:
            raise ModelInvalid(f"{name}: {reason}; expected {_expected_instead(reason)}")


def _expected_instead(reason: str) -> str:
    """Return what is expected of a server that did not answer a short request for this reason."""
    if reason.startswith("HTTP 404"):
        return "an address that ends with /v1, and a name that /v1/models lists"
    return "an answer to a short request; run again"


def _refusal(found: backend_factory.LazyBackend, logprobs: bool) -> str | None:
    """Return why a short request got no answer; None if it got one."""
    probe = Generate((Message("user", "Answer with {}"),), '{"type": "object", "additionalProperties": false}')
    ((_, answer),) = (pair for batch in found.generate([probe], Sampling(8, logprobs=logprobs)) for pair in batch)
    return answer.reason if isinstance(answer, Missing) else None
