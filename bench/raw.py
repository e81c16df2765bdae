"""Synthetic raw files of all nine benchmarks, as many rows and in the layout and schema of the official releases.

    python -m bench.raw FOLDER --scale 1 --seed 1

Sizes and columns are those of shared/data/README.md, lengths of texts and shares of cultures like those of real rows
where they are known. The same seed gives the same bytes. What the texts say is nonsense.
"""

from __future__ import annotations

import argparse
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from bench import raw_hard, raw_soft

WRITERS: Mapping[str, Callable[[Path, float, np.random.Generator], int]] = {
    "blend": raw_hard.blend,
    "culturalbench": raw_hard.culturalbench,
    "include": raw_hard.include,
    "mango": raw_soft.mango,
    "globalopinionqa": raw_hard.globalopinionqa,
    "nativqa": raw_soft.nativqa,
    "normad": raw_soft.normad,
    "calmqa": raw_soft.calmqa,
    "epic": raw_hard.epic,
}


def write(folder: Path, scale: float = 1.0, seed: int = 1) -> dict[str, int]:
    """Write `<folder>/<dataset>/...` for all nine; rows written of each (of GlobalOpinionQA questions)."""
    rows = {}
    for name, writer in WRITERS.items():
        rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
        rows[name] = writer(folder / name, scale, rng)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    for name, rows in write(args.folder, args.scale, args.seed).items():
        print(f"{name:<16} {rows:>8,}")


if __name__ == "__main__":
    main()
