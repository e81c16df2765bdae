"""Training layouts (processes, devices, memory), each a YAML file in `layouts/`, selected by `training.layout`.

A layout affects speed and memory, not the result: rows of an optimizer step, their order and the loss are settings of
the recipe. The layout is recorded with the adapter.
"""

from __future__ import annotations

from typing import Any, Literal

import yaml
from pydantic import Field, ValidationError, model_validator

from excam.config import LAYOUTS, Name, Section
from excam.core.exceptions import ConfigInvalid

ROWS = "rows"  # our own attention, see `attention`


class Layout(Section):
    """Processes, and how each of them computes its rows."""

    processes: int = Field(ge=1, description="number of processes on one machine; one per GPU")
    device: Literal["gpu", "cpu"]
    rows_per_pass: int = Field(ge=1, description="rows of a forward pass in one process")
    tokens_per_pass: int | None = Field(
        default=None,
        ge=1,
        description="packed rows with more tokens are split into several passes; only with one process",
    )
    padding: Literal["padded", "free"] = Field(description="rows padded to the longest, or packed without padding")
    checkpointing: Literal["full", "half", "off"] = Field(
        description="layers whose activations are recomputed in the backward pass: all, every other, none"
    )
    attention: str = Field(
        default="sdpa", description="name in transformers; or `rows`: nothing is computed across packed rows"
    )
    deepspeed: dict[str, Any] | None = Field(default=None, description="DeepSpeed's own configuration")
    fsdp: dict[str, Any] | None = Field(default=None, description="accelerate's settings of FSDP2")

    @model_validator(mode="after")
    def _settings_fit(self) -> Layout:
        if self.deepspeed and self.fsdp:
            raise ValueError("deepspeed and fsdp together; expected one of them")
        # padded rows are limited by `rows_per_pass`, and synchronised processes need equal numbers of passes
        if self.tokens_per_pass and (self.padding != "free" or self.processes > 1):
            raise ValueError("tokens_per_pass with padded rows or several processes; expected padding: free in one")
        if self.attention == ROWS and self.padding != "free":
            raise ValueError("attention: rows with padded rows; expected padding: free")
        return self

    def passes(self, rows_per_step: int) -> int:
        """Return the forward passes per process and optimizer step. Raise ConfigInvalid if rows are not divisible."""
        passes, rest = divmod(rows_per_step, self.processes * self.rows_per_pass)
        if rest or not passes:
            raise ConfigInvalid(
                f"training.rows_per_step={rows_per_step} with {self.processes} processes of {self.rows_per_pass} rows; "
                f"expected a multiple of {self.processes * self.rows_per_pass}; choose another training.layout"
            )
        return passes


def load_layout(name: Name) -> Layout:
    """Return the layout of this name. Raise ConfigInvalid if there is none, or its file is invalid."""
    path = LAYOUTS / f"{name}.yaml"
    try:
        return Layout.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise ConfigInvalid(f"training.layout: no layout {name!r}; expected a file of excam/training/layouts") from None
    except ValidationError as problem:
        first = problem.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise ConfigInvalid(f"{path.name}: {place or 'layout'}: {first['msg'].lower()}") from None
