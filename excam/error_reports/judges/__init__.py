"""Ways of asking a model about a sample: one module each, with prompt and parser. The folder is the registry.

load("report").judge(sample)    a generator: yields requests, receives completions, returns a Verdict
"""

from __future__ import annotations

from excam.core.registries import load_module, modules_in
from excam.error_reports.judges.base import Judge


def available() -> tuple[str, ...]:
    """Return names of the judges, sorted: the modules of this folder, with `-` for `_`."""
    return modules_in("error_reports/judges")


def load(name: str) -> Judge:
    """Return the module of this folder with that name.

    Raises ConfigInvalid, listing the known judges, if there is none.
    """
    return load_module("error_reports/judges", name)
