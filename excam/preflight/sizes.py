"""How large things are, from the heads of safetensors files: no weights are loaded."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Iterator
from math import prod
from pathlib import Path

from excam.config import Recipe
from excam.core.exceptions import ArtifactBroken
from excam.inference.lora import VISION_MODULES

LONGEST_HEAD = 100 << 20  # bytes; safetensors' own limit
NOT_ADAPTED = re.compile(r"(embed|lm_head|wte|wpe|router|norm)")  # two-dimensional, and no linear layer with a LoRA
TRAINED_BYTES, PUBLISHED_BYTES = 12, 4  # of a trainable parameter: weight and Adam's two moments in float32; the weight


def shapes(file: Path) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield name and shape of each tensor of a file. Raises ArtifactBroken."""
    try:
        with file.open("rb") as stream:
            (length,) = struct.unpack("<Q", stream.read(8))
            if length > LONGEST_HEAD:
                raise ValueError(f"a head of {length} bytes")
            head = json.loads(stream.read(length))
        head.pop("__metadata__", None)
        yield from ((name, tuple(entry["shape"])) for name, entry in head.items())
    except (struct.error, ValueError, KeyError, TypeError, AttributeError) as problem:
        raise ArtifactBroken(f"{file}: no safetensors file ({problem}); expected one; fetch it again") from None


def parameters(file: Path) -> int:
    """Return the number of weights in a file."""
    return sum(prod(shape) for _, shape in shapes(file))


def trainable(weights: Path, recipe: Recipe) -> int:
    """Return about how many weights the recipe's LoRA has on this base: rank x (rows + columns) of each linear layer.

    Experts of a mixture that are stored in one 3-D tensor get no LoRA weights.
    """
    total = 0
    for file in sorted(weights.glob("*.safetensors")):
        for name, shape in shapes(file):
            module = name.removesuffix(".weight").rsplit(".", 1)[-1]
            wanted = recipe.targets == "all-linear" or module in recipe.targets
            if len(shape) == 2 and wanted and not NOT_ADAPTED.search(name) and not re.fullmatch(VISION_MODULES, name):
                total += recipe.rank * sum(shape)
    return total


def size(files: Path) -> int:
    """Return the bytes of a folder's files."""
    return sum(file.stat().st_size for file in files.rglob("*") if file.is_file())
