"""The program that a step is: a typed function whose parameters are the options of a command line."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import fields, is_dataclass
from inspect import Parameter, signature
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from excam.core.exceptions import InputInvalid

SHOWN = {Path: "FILE", int: "N", float: "N"}  # in the help, by type


class StepProgram:
    """A program made of a function: it takes the words of a command line, and each parameter is an option.

    The option has the parameter's name, without `_path`, `_paths` or `_json` at its end. The annotation says what it
    takes: a type, a `Literal` of choices, a `Sequence` of several values (one at least, unless there is a default). In
    `Annotated` stand the help (a text), what reads the value (a function), or the choices (any other collection). A
    parameter whose type is a dataclass stands for the fields of that class.
    """

    def __init__(self, function: Callable[..., None], version: int) -> None:
        self.function, self.version, self.name = function, version, function.__name__

    def __call__(self, argv: Sequence[str] | None = None) -> None:
        parser = argparse.ArgumentParser(
            f"python -m scripts {self.name}", description=self.function.__doc__, allow_abbrev=False
        )
        hints = get_type_hints(self.function, include_extras=True)
        bundles: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
        options = dict(_options(self.function))
        for name, (hint, default) in options.items():
            parser.add_argument(_flag(name), dest=name, **_reading(hint, default))
        words = sys.argv[1:] if argv is None else argv
        parsed, left = parser.parse_known_args(words)
        if left:
            _refuse_several(words, left[0], options)
            parser.error(f"unrecognized arguments: {' '.join(left)}")
        values = vars(parsed)
        for name, bundle in bundles.items():
            values[name] = bundle(**{field.name: values.pop(field.name) for field in fields(bundle)})
        self.function(**values)


def step(version: int, **page: Any) -> Callable[[Callable[..., None]], StepProgram]:
    """Make a step of a function. `page` declares what page it makes; `excam/core/steps.py` reads it from the text."""
    return lambda function: StepProgram(function, version)


def _options(function: Any) -> Iterator[tuple[str, tuple[Any, Any]]]:
    """Yield name, annotation and default of each option of a function, or of a dataclass."""
    has_options: Any = function.__init__ if is_dataclass(function) else function
    hints = get_type_hints(has_options, include_extras=True)
    first = int(is_dataclass(function))  # behind `self`
    for name, parameter in list(signature(has_options).parameters.items())[first:]:
        hint = hints[name]
        if is_dataclass(hint):
            yield from _options(hint)
        else:
            yield name, (hint, parameter.default)


def _flag(name: str) -> str:
    return "--" + re.sub("_(paths?|json)$", "", name).replace("_", "-")


def _refuse_several(words: Sequence[str], left: str, options: Collection[str]) -> None:
    """Raise InputInvalid if a word is left over because its option takes one value."""
    flags = [word for word in words[: words.index(left)] if word.startswith("--")]
    name = next((name for name in options if flags[-1:] == [_flag(name)]), None)
    if name and not left.startswith("-"):
        behind = words[words.index(_flag(name)) + 1 :]
        count = next((at for at, word in enumerate(behind) if word.startswith("--")), len(behind))
        raise InputInvalid(
            f"{_flag(name)}: found {count} values; expected one, or {name}: Sequence[...] to take several"
        )


def _reading(hint: Any, default: Any) -> dict[str, Any]:
    """Return the settings of argparse for an annotation and a default."""
    settings: dict[str, Any] = {"required": True} if default is Parameter.empty else {"default": default}
    if get_origin(hint) is Annotated:
        hint, *more = get_args(hint)
        for extra in more:
            if isinstance(extra, str):
                settings["help"] = extra
            elif callable(extra):
                settings["type"] = extra
            elif isinstance(extra, Collection):
                settings["choices"] = list(extra)
    if get_origin(hint) is Sequence:
        settings["nargs"] = "+" if default is Parameter.empty else "*"
        (hint,) = get_args(hint)
    if isinstance(hint, UnionType):  # a type or None
        hint = get_args(hint)[0]
    if get_origin(hint) is Literal:
        settings["choices"] = get_args(hint)
        hint = str
    metavar = {} if "choices" in settings else {"metavar": SHOWN.get(hint, "TEXT")}
    return {"type": hint} | metavar | settings
