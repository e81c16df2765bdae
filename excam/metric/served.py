"""A metric whose model is behind a server that speaks OpenAI's chat completions: `vllm serve`, say, with an adapter."""

from __future__ import annotations

import os

from pydantic import ValidationError

from excam import offline
from excam.config import Model, Server
from excam.exceptions import ModelInvalid
from excam.inference import opening
from excam.judges import report
from excam.records import WEIGHTS

KEY = "EXCAM_ENDPOINT_KEY"


def backend(name: str, endpoint: str) -> opening.Lazily:
    """The model or adapter that the server calls `name`. Nothing is asked yet.

    Raises InputInvalid where --offline is set, ModelInvalid for what is no address. The key, where the server wants
    one, is in EXCAM_ENDPOINT_KEY: not that of `excam serve`, which is another's affair.
    """
    offline.refuse(f"{name} at a server", endpoint)
    try:
        server = Server(endpoint=endpoint, name=name, key_env=KEY if os.environ.get(KEY) else None)
    except ValidationError:
        raise ModelInvalid(f"{name}: the server has no address; expected one like http://127.0.0.1:8000/v1") from None
    return opening.lazily(name, Model(gpus=0, backend="openai", server=server, licence="the server's"), None)


def described(name: str) -> str:
    """What a signature says of the judge; what the server has under that name is its own affair, and is said to be."""
    return f"model:{name}|on:served|{asked()}"


def asked() -> str:
    """What a signature says of any judge: prompt and reader by their versions, and how a report becomes a score."""
    weights = ",".join(f"{severity}{-weight}" for severity, weight in WEIGHTS.items())
    return f"judge:report.{report.VERSION.asks}.{report.VERSION.reads}|sev:{weights}|tie:certainty"
