"""Render the chat templates of a request on stdin, within the limits that it states; `rendering` starts this file.

The sandbox and its additions are those of transformers, which defines the format: importing it takes ten times as long.
Nothing of the package is imported either.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from datetime import datetime
from typing import Any

import jinja2.ext
from jinja2 import Environment, TemplateError, nodes
from jinja2.exceptions import SecurityError
from jinja2.ext import Extension
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Namespace

# The current time for templates (`strftime_now`, in Mistral Small's and Llama's). It is constant because answers would
# otherwise depend on the date.
NOW = datetime(2025, 1, 1, 12)
# What a template raises that is refused, or that uses a value as what it is not.
FAILURES = (
    TemplateError,
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    OSError,
    RuntimeError,  # RecursionError
    TypeError,
    ValueError,
)


def _main() -> None:
    request = json.load(sys.stdin)
    environment = _environment()
    seconds, memory, longest = request["limits"]
    _set_limit(resource.RLIMIT_CPU, int(time.process_time()) + seconds)
    _set_limit(resource.RLIMIT_AS, memory)
    _set_limit(resource.RLIMIT_CORE, 0)
    texts = [_text(environment, request, conversation, longest) for conversation in request["conversations"]]
    print(json.dumps(texts))


def _set_limit(what: int, most: int) -> None:
    _, hard = resource.getrlimit(what)
    resource.setrlimit(what, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _text(environment: Environment, request: dict[str, Any], conversation: dict[str, Any], longest: int) -> str | None:
    try:
        text = environment.from_string(request["template"]).render(
            messages=conversation["messages"],
            tools=None,
            documents=None,
            add_generation_prompt=conversation["ask"],
            **request["tokens"],
            **conversation["variables"],
        )
    except FAILURES:
        return None
    return text if len(text) <= longest else None


def _environment() -> Environment:
    """Return jinja's sandbox with what transformers adds to it for chat templates."""
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[_Generation, jinja2.ext.loopcontrols]
    )
    environment.filters["tojson"] = _to_json
    environment.globals |= {
        "dict": _Dict(),
        "namespace": _Namespace,
        "raise_exception": _raise,
        "strftime_now": NOW.strftime,
    }
    return environment


class _Generation(Extension):
    """`{% generation %}`, which marks an answer for training: its text as it is."""

    tags = {"generation"}  # noqa: RUF012 # as jinja declares it

    def parse(self, parser: Parser) -> list[nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


class _Dict:
    """`dict(...)` without the attributes of Python's class."""

    def __call__(self, *args: Any, **fields: Any) -> dict[Any, Any]:
        return dict(*args, **fields)

    def fromkeys(self, *args: Any) -> dict[Any, Any]:
        return dict.fromkeys(*args)


class _Namespace(Namespace):
    """`namespace(...)` without names that begin with an underscore, which lead into Python itself."""

    def __init__(self, /, *args: Any, **fields: Any) -> None:
        names = dict(*args, **fields)
        for name in names:
            _refuse_private(name)
        super().__init__(names)

    def __setitem__(self, name: str, value: Any) -> None:
        _refuse_private(name)
        super().__setitem__(name, value)


def _refuse_private(name: str) -> None:
    if str(name).startswith("_"):
        raise SecurityError(f"a namespace takes no name with an underscore first, but got {name!r}")


def _raise(message: str) -> None:
    raise TemplateError(message)


def _to_json(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    """Return JSON without the escapes for HTML that jinja's own filter writes."""
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


if __name__ == "__main__":
    _main()
