"""Synthetic raw files of all nine benchmarks, as many rows and in the layout and schema of the official releases.

    python -m bench.raw FOLDER --scale 1 --seed 1

Sizes and columns are those of the official releases, lengths of texts and shares of cultures like those of real rows
where they are known. The same seed gives the same bytes. What the texts say is nonsense.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from bench.raw import hard, soft

WRITERS: Mapping[str, Callable[[Path, float, np.random.Generator], int]] = {
    "blend": hard.blend,
    "culturalbench": hard.culturalbench,
    "include": hard.include,
    "mango": soft.mango,
    "globalopinionqa": hard.globalopinionqa,
    "nativqa": soft.nativqa,
    "normad": soft.normad,
    "calmqa": soft.calmqa,
    "epic": hard.epic,
}


def write(folder: Path, scale: float = 1.0, seed: int = 1) -> dict[str, int]:
    """Write `<folder>/<dataset>/...` for all nine; rows written of each (of GlobalOpinionQA questions)."""
    rows = {}
    for name, writer in WRITERS.items():
        rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
        rows[name] = writer(folder / name, scale, rng)
    return rows
