"""What an open model is, and how an entry of the configuration names one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from excam.inference import Generate, Sampling

if TYPE_CHECKING:
    from excam.config import Model
    from excam.inference.backend_factory import LazyBackend
    from excam.scoring.manifests import AdapterManifest


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """An entry of `models:` by its name, with the manifests of its weights and of its adapter, if they are here."""

    name: str
    model: Model
    weights: Path | None = None
    adapter: Path | None = None


@dataclass(frozen=True, slots=True)
class OpenedModel:
    """A model that can be asked, and what signatures, warnings and metrics need to know of it."""

    backend: LazyBackend
    described: str  # its part of a signature: what answers
    computed: str = ""  # its part of a signature: how answers are computed
    names: tuple[str | None, ...] = ()  # by which its family is known
    tuned: AdapterManifest | None = None  # of an adapter
    folder: Path | None = None  # of an adapter, or of a whole model
    weights: Path | None = None  # the folder with the files of the base model
    constrained: bool = False  # whether answers follow a JSON Schema
    probabilities: bool = True  # whether the log-probabilities of texts are known
    label: str = ""  # its name for tables and figures

    def is_another(self, answered_by: str) -> bool:
        """Return whether an answer is by another model than this one, as the server says (`Completion.answered_by`)."""
        from excam.inference.backends.openai import is_another

        return bool(answered_by) and all(is_another(answered_by, name) for name in self.names if name)


Probe = Callable[[OpenedModel], tuple[Generate, Sampling]]  # returns what a model will be asked first
