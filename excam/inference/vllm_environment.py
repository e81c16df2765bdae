"""The Python environment that has vLLM: this one, or `.venv-vllm` of the checkout, which `./setup.sh vllm` makes."""

from __future__ import annotations

import sys
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from excam.core.provenance import installed_version

FOLDER = Path(__file__).parents[2] / ".venv-vllm"


def python_with_vllm() -> Path | None:
    """Return the program `python` of that environment; None if vLLM is not installed."""
    if find_spec("vllm"):
        return Path(sys.executable)
    python = FOLDER / "bin" / "python"
    return python if python.exists() else None


def version_beside_vllm(package: str) -> str | None:
    """Return the version of a package in that environment; None if it is not installed there."""
    if find_spec("vllm") or python_with_vllm() is None:
        return installed_version(package)
    places = [str(place) for place in FOLDER.glob("lib/python*/site-packages")]
    distribution = next(iter(metadata.distributions(name=package, path=places)), None)
    return distribution and distribution.version
