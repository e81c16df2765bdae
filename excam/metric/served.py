"""A metric whose model is behind a server that speaks OpenAI's chat completions: `vllm serve`, say, with an adapter."""

from __future__ import annotations

import os

from pydantic import ValidationError

from excam import offline
from excam.config import Model, Server
from excam.exceptions import ModelInvalid
from excam.inference import opening
from excam.judges import report

KEY = "EXCAM_SERVER_KEY"


def backend(name: str, endpoint: str) -> opening.Lazily:
    """The model or adapter that the server calls `name`. Nothing is asked yet.

    Raises InputInvalid where --offline is set, ModelInvalid for what is no address. The key, where the server wants
    one, is in EXCAM_SERVER_KEY.
    """
    offline.refuse(f"{name} at a server")
    try:
        server = Server(endpoint=endpoint, name=name, key_env=KEY if os.environ.get(KEY) else None)
    except ValidationError:
        raise ModelInvalid(f"{name}: the server has no address; expected one like http://127.0.0.1:8000/v1") from None
    return opening.lazily(name, Model(gpus=0, backend="openai", server=server, licence="the server's"), None)


def described(name: str) -> str:
    """What a signature says of the judge; what the server has under that name is its own affair, and is said to be."""
    asked = f"judge:report.{report.VERSION.asks}.{report.VERSION.reads}"
    return f"model:{name}|on:served|{asked}|sev:minor1,major5|tie:certainty"
