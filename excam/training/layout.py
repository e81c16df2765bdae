"""Layouts: on what an adapter is trained. Each is a YAML file in this folder, chosen by name as `training.layout`.

A layout decides speed and memory, not what is learnt: rows of an optimizer step, their order and the loss are the
recipe's. What stands in it is recorded with the adapter.
"""

from __future__ import annotations

from typing import Any, Literal

import yaml
from pydantic import Field, ValidationError, model_validator

from excam.config import LAYOUTS, Name, Section
from excam.exceptions import ConfigInvalid


class Layout(Section):
    """Processes, and what each of them does with its rows."""

    processes: int = Field(ge=1, description="on one machine; on GPUs one each")
    device: Literal["gpu", "cpu"]
    rows_per_pass: int = Field(ge=1, description="rows of a forward pass in one process")
    tokens_per_pass: int | None = Field(
        default=None, ge=1, description="rows of a pass that hold more, end to end in one process, go in several passes"
    )
    padding: Literal["padded", "free"] = Field(description="rows filled up to the longest, or laid end to end")
    checkpointing: Literal["full", "half", "off"] = Field(
        description="layers whose activations are computed again in the backward pass: all, every other, none"
    )
    attention: str = Field(default="sdpa", description="as transformers names it")
    deepspeed: dict[str, Any] | None = Field(default=None, description="DeepSpeed's own configuration")
    fsdp: dict[str, Any] | None = Field(default=None, description="accelerate's settings of FSDP2")

    @model_validator(mode="after")
    def _one_way_to_share(self) -> Layout:
        if self.deepspeed and self.fsdp:
            raise ValueError("deepspeed and fsdp together; expected one of them")
        return self

    @model_validator(mode="after")
    def _parted_alone(self) -> Layout:
        # padded rows have `rows_per_pass` for it, and processes that wait for each other need as many passes each
        if self.tokens_per_pass and (self.padding != "free" or self.processes > 1):
            raise ValueError("tokens_per_pass with padded rows or several processes; expected padding: free in one")
        return self

    def passes(self, rows_per_step: int) -> int:
        """Forward passes of a process in one optimizer step. Raises ConfigInvalid when the rows do not go in."""
        passes, rest = divmod(rows_per_step, self.processes * self.rows_per_pass)
        if rest or not passes:
            raise ConfigInvalid(
                f"training.rows_per_step={rows_per_step} with {self.processes} processes of {self.rows_per_pass} rows; "
                f"expected a multiple of {self.processes * self.rows_per_pass}; choose another training.layout"
            )
        return passes


def load(name: Name) -> Layout:
    """The layout of this name. Raises ConfigInvalid when there is none, or its file does not hold one."""
    path = LAYOUTS / f"{name}.yaml"
    try:
        return Layout.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise ConfigInvalid(f"training.layout: no layout {name!r}; expected a file of excam/training/layouts") from None
    except ValidationError as problem:
        first = problem.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise ConfigInvalid(f"{path.name}: {place or 'layout'}: {first['msg'].lower()}") from None
