"""Ways of asking a model about a sample: one module each, prompt and reader together. The directory is the registry.

load("report").judge(sample)    a generator: yields requests, receives completions, returns a Verdict
"""

from __future__ import annotations

import importlib
from typing import cast

from excam.config import modules_in
from excam.exceptions import ConfigInvalid
from excam.judges.base import Judge


def available() -> tuple[str, ...]:
    """Names of the judges, sorted: the modules of this folder, with `-` for `_`."""
    return modules_in("judges")


def load(name: str) -> Judge:
    """The module `excam.judges.<name>`. Raises ConfigInvalid, naming the known judges, when there is none."""
    if name not in available():
        known = ", ".join(available())
        raise ConfigInvalid(f"judges: no such judge {name!r}; known: {known}; add excam/judges/<name>.py for a new one")
    return cast(Judge, importlib.import_module(f"{__name__}.{name.replace('-', '_')}"))
