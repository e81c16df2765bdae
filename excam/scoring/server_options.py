"""How a model behind a server is asked: settings, and the options of commands for them. Loads nothing heavy."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any

import typer

from excam.core.exceptions import InputInvalid

if TYPE_CHECKING:
    from excam.config import Server

MODEL = Annotated[str, typer.Option(help="a folder with weights, an adapter, or NAME@http://host/v1")]
ENGINE = Annotated[str | None, typer.Option("--backend", help="vllm or transformers, for a model of this machine")]
OMITTED = ("temperature", "top_p", "seed", "logprobs", "schema", "system")  # what people may leave out of requests
SETTINGS: dict[str, dict[str, Any]] = {  # without a part of requests that is no field to omit
    "schema": {"structure": False},
    "system": {"system": False},
    "limit": {"limit_field": "max_completion_tokens"},  # it gets another name
}


def without(server: Server, *parts: str) -> Server:
    """Return the settings of a server without these parts of requests: of OMITTED, the limit, or an answer at once."""
    for name in parts:
        changed = SETTINGS.get(name) or {"omit": [*server.omit, name]}
        if name == "stream":
            changed = {"request_fields": {**server.request_fields, "stream": True}}
        server = server.model_copy(update=changed)
    return server


@dataclass(frozen=True, slots=True)
class Serving:
    """How a server is asked, beside what is found out with the first request. None or () is not given."""

    concurrency: int | None = None  # open requests at most
    rate: int | None = None  # requests a minute
    timeout: float | None = None  # seconds for an answer
    omit: tuple[str, ...] = ()  # of OMITTED
    limit_field: str | None = None  # the field of a request for the longest answer

    def checked(self) -> Serving:
        """Return itself. Raise InputInvalid for a value that it cannot have."""
        for name, value in (("concurrency", self.concurrency), ("rate", self.rate)):
            if value is not None and (not isinstance(value, int) or value < 1):
                raise InputInvalid(f"--{name}: found {value}; expected a whole number from 1")
        if self.timeout is not None and not 0 < self.timeout < math.inf:
            raise InputInvalid(f"--timeout: found {self.timeout}; expected seconds above 0")
        if unknown := [name for name in self.omit if name not in OMITTED]:
            raise InputInvalid(f"--omit: found {unknown[0]}; expected {', '.join(OMITTED)}")
        if self.limit_field is not None and not re.fullmatch(r"[a-z_]+", self.limit_field):
            raise InputInvalid(
                f"--limit-field: found {self.limit_field}; expected the name of a field, such as max_completion_tokens"
            )
        return self

    @property
    def given(self) -> list[str]:
        """Return the names of the options that are given."""
        return [item.name for item in fields(self) if getattr(self, item.name) != item.default]

    def applied(self, server: Server) -> Server:
        """Return the settings of a server with these."""
        named = {"concurrency": self.concurrency, "requests_per_minute": self.rate, "timeout": self.timeout}
        named["limit_field"] = self.limit_field
        changed: dict[str, Any] = {name: value for name, value in named.items() if value is not None}
        return without(server.model_copy(update=changed), *self.omit)


OPTIONS: dict[str, Any] = {  # by their names in `Serving`
    "concurrency": Annotated[
        int | None,
        typer.Option(
            min=1, help="requests open at a server at once, at most; by default 64, fewer while it is busy or slow"
        ),
    ],
    "rate": Annotated[int | None, typer.Option(min=1, help="requests to a server in a minute, at most")],
    "timeout": Annotated[float | None, typer.Option(help="seconds to wait for an answer of a server, 600 by default")],
    "omit": Annotated[
        list[str] | None,
        typer.Option(
            help="what is left out of requests to a server: temperature, top_p, seed, logprobs, schema or system; "
            "repeat the option for several; what a server refuses is left out without it"
        ),
    ],
    "limit_field": Annotated[
        str | None, typer.Option(help="the field for the longest answer, such as max_completion_tokens")
    ],
}


def with_options(
    parameter: str, options: Mapping[str, Any], make: Callable[..., Any], **defaults: Any
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that gives a command `options` in place of a parameter, which is what `make` returns for them.

    `options` are what typer reads of each, by its name; one that is None, by default or given, is left out, and lists
    become tuples. An option that the command has itself, under the same name, stays its own.
    """

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(command, eval_str=True)
        own = signature.parameters
        added = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=defaults.get(name), annotation=option)
            for name, option in options.items()
            if name not in own
        ]

        @wraps(command)
        def with_added(**values: Any) -> None:
            chosen = {item.name: value for item in added if (value := values.pop(item.name)) is not None}
            chosen = {name: tuple(value) if isinstance(value, list) else value for name, value in chosen.items()}
            command(**values, **{parameter: make(**chosen)})

        parameters: list[inspect.Parameter] = []  # typer reads the signature
        for item in own.values():
            parameters += added if item.name == parameter else [item.replace(kind=inspect.Parameter.KEYWORD_ONLY)]
        with_added.__signature__ = signature.replace(parameters=parameters)  # pyright: ignore[reportAttributeAccessIssue]
        with_added.__annotations__ = {item.name: item.annotation for item in parameters} | {"return": None}
        return with_added

    return decorated


with_server_options = with_options("serving", OPTIONS, Serving)
