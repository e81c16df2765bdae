"""Benchmarks by name: `load(name)` gives the module of this folder, `available()` lists the folder."""

from __future__ import annotations

from importlib import import_module
from typing import cast

from excam.config import modules_in
from excam.datasets.base import Benchmark
from excam.exceptions import ConfigInvalid


def available() -> tuple[str, ...]:
    """Names of all benchmarks, sorted: the modules of this folder, with `-` for `_`."""
    return modules_in("datasets")


def load(name: str) -> Benchmark:
    """The benchmark module `name`. Raises ConfigInvalid for an unknown name."""
    if name not in available():
        raise ConfigInvalid(
            f"datasets.{name}: no such benchmark; known: {', '.join(available())}; add excam/datasets/{name}.py"
        )
    return cast(Benchmark, import_module(f"excam.datasets.{name.replace('-', '_')}"))
