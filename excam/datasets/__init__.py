"""Benchmarks by name: `load(name)` gives the module of this folder, `available()` lists the folder."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import cast

from excam.datasets.base import Benchmark
from excam.exceptions import ConfigInvalid


def available() -> tuple[str, ...]:
    """Names of all benchmarks, sorted: the files of this folder except `base.py` and private ones."""
    names = (path.stem for path in Path(__file__).parent.glob("*.py"))
    return tuple(sorted(name for name in names if name != "base" and not name.startswith("_")))


def load(name: str) -> Benchmark:
    """The benchmark module `name`. Raises ConfigInvalid for an unknown name."""
    if name not in available():
        raise ConfigInvalid(
            f"datasets.{name}: no such benchmark; known: {', '.join(available())}; add excam/datasets/{name}.py"
        )
    return cast(Benchmark, import_module(f"excam.datasets.{name}"))
