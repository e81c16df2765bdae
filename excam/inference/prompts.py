"""Prompts that stand in files of a package: `prompts/NAME.txt`, with {names} of what is inserted."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import resources

import regex

NAME = regex.compile(r"\{(\w+)\}")


@cache
def template(package: str, name: str) -> str:
    """Return a prompt of a package."""
    return resources.files(package).joinpath("prompts", f"{name}.txt").read_text(encoding="utf-8").strip("\n")


def filled(package: str, name: str, values: Mapping[str, str]) -> str:
    """Return a prompt with its {names} replaced in one pass: inserted texts are never searched for names."""
    return NAME.sub(lambda match: values.get(match[1], match[0]), template(package, name))
