"""Libraries of tests whose import takes seconds, imported at their first use and not by each collection."""

import importlib
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Library:
    module: str

    def __getattr__(self, name):
        if name.startswith("_"):  # pytest looks for marks of its own
            raise AttributeError(name)
        return getattr(importlib.import_module(self.module), name)


inter_rater = Library("statsmodels.stats.inter_rater")
safetensors = Library("safetensors.torch")
stats = Library("scipy.stats")
torch = Library("torch")
transformers = Library("transformers")
