"""Ways of comparing a text with what the evidence says: one module each. The folder is the registry.

load("containment").compare(case)    a generator: yields requests, receives answers, returns a Comparison
"""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from typing import cast

from excam.config import modules_in
from excam.core.exceptions import ConfigInvalid
from excam.error_reports.comparators.base import Comparator


def available() -> tuple[str, ...]:
    """Return names of the comparators, sorted: the modules of this folder, with `-` for `_`."""
    return modules_in("error_reports/comparators")


def installed() -> tuple[str, ...]:
    """Return names of the comparators that can run here: those whose `PACKAGE`, if they name one, is installed."""
    packages = {name: str(getattr(load(name), "PACKAGE", "")) for name in available()}
    return tuple(name for name, package in packages.items() if not package or find_spec(package.replace("-", "_")))


def load(name: str) -> Comparator:
    """Return the module of this folder with that name.

    Raises ConfigInvalid, listing the known comparators, if there is none.
    """
    if name not in available():
        known = ", ".join(available())
        raise ConfigInvalid(
            f"comparators: no such comparator {name!r}; known: {known}; "
            "add excam/error_reports/comparators/<name>.py for a new one"
        )
    return cast(Comparator, importlib.import_module(f"{__name__}.{name.replace('-', '_')}"))
