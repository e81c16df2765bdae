"""A package of this name in which everything is found and nothing works, for vLLM on a CPU (`bench.architectures`).

vLLM's classes of models that see import torchvision, which has no build beside vLLM for a CPU. Texts never come to
where it would be used.
"""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

__version__ = "0.28.0"


class Named(type):
    """A class that has every attribute: another such class."""

    def __getattr__(cls, name: str) -> Any:
        return __getattr__(name)


class Everywhere:
    """Finds any module below this package."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        return ModuleSpec(name, self, is_package=True) if name.startswith(f"{__name__}.") else None  # pyright: ignore

    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        module.__getattr__ = __getattr__


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return Named(name, (), {})


sys.meta_path.append(Everywhere())  # pyright: ignore[reportArgumentType]
