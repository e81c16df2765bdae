"""Validate the configuration of a LoRA adapter before a library reads it.

PEFT reads from this file regular expressions, classes to import, paths to open and changes to the base model. Our
adapters use none of these, so they are refused in adapters from elsewhere too.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from excam.config import ModuleName, first_error
from excam.core.exceptions import ModelInvalid

CONFIG = "adapter_config.json"
WEIGHTS = "a LoRA adapter in safetensors for this base"
VISION_MODULES = r".*(vision_tower|multi_modal_projector).*"  # of Gemma 3: not trained, since training has only texts
# Values that our training and PEFT write into fields that a plain LoRA does not use.
UNUSED = {"exclude_modules": VISION_MODULES, "megatron_core": "megatron.core", "qalora_group_size": 16}


class Lora(BaseModel):
    """A plain LoRA. `read` refuses any other field that is not empty."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)

    peft_type: Literal["LORA"]
    r: int = Field(ge=1, le=1024)
    lora_alpha: float = Field(ge=0, allow_inf_nan=False)
    target_modules: Literal["all-linear"] | Annotated[list[ModuleName], Field(min_length=1, max_length=1000)]
    task_type: Literal["CAUSAL_LM"] | None = None
    lora_dropout: float = Field(default=0, ge=0, lt=1)
    bias: Literal["none"] = "none"
    fan_in_fan_out: bool = False
    inference_mode: bool = True
    init_lora_weights: bool = True
    use_rslora: bool = False
    # texts that PEFT writes, and reads only with fields that are refused
    base_model_name_or_path: str | None = Field(default=None, max_length=1000)
    peft_version: str | None = Field(default=None, max_length=100)


def read(adapter: Path) -> Lora:
    """Return the configuration of the adapter in a folder. Raise ModelInvalid if it is not a plain LoRA."""
    file = adapter / CONFIG
    if not file.is_file():
        raise ModelInvalid(f"{adapter}: no {CONFIG}; expected the folder of a LoRA adapter")
    return parse(file.read_bytes(), str(file))


def parse(text: bytes, name: str) -> Lora:
    """Return the configuration in a JSON text; `name` is its name in messages. Raise ModelInvalid if invalid."""
    try:
        lora = Lora.model_validate_json(text)
    except ValidationError as problem:
        raise ModelInvalid(f"{name}: {first_error(problem)}; expected that of a plain LoRA adapter") from None
    for field, value in (lora.model_extra or {}).items():
        if not (value is None or value is False or value in ([], {}) or value == UNUSED.get(field)):
            detail = f"{field[:60]}: found {json.dumps(value)[:60]}"
            raise ModelInvalid(f"{name}: {detail}; expected a plain LoRA adapter, which leaves it empty")
    return lora
