"""Ways of asking a model about a sample: one module each, with prompt and parser. The folder is the registry.

load("report").judge(sample)    a generator: yields requests, receives completions, returns a Verdict
"""

from __future__ import annotations

import importlib
from typing import cast

from excam.config import modules_in
from excam.core.exceptions import ConfigInvalid
from excam.error_reports.judges.base import Judge


def available() -> tuple[str, ...]:
    """Return names of the judges, sorted: the modules of this folder, with `-` for `_`."""
    return modules_in("error_reports/judges")


def load(name: str) -> Judge:
    """Return the module of this folder with that name.

    Raises ConfigInvalid, listing the known judges, if there is none.
    """
    if name not in available():
        known = ", ".join(available())
        raise ConfigInvalid(
            f"judges: no such judge {name!r}; known: {known}; add excam/error_reports/judges/<name>.py for a new one"
        )
    return cast(Judge, importlib.import_module(f"{__name__}.{name.replace('-', '_')}"))
