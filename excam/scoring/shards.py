"""Folders of many files of rows ("shards"): found, and grouped into batches of like cost."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from excam.core.exceptions import InputInvalid
from excam.core.folders import files_below, is_hidden
from excam.core.paths import RESULTS
from excam.core.row_layouts import PACKED

TABLE = ".parquet"  # a scored shard
KINDS = (".parquet", ".jsonl", ".ndjson", ".csv", ".tsv", ".eval")  # .json and .arrow may be the parts of a data set
TEXT_PER_BYTE = dict.fromkeys((".parquet", ".eval", *PACKED), 3)  # of a compressed file, roughly


@dataclass(frozen=True, slots=True)
class Shard:
    """A file of rows. `name` is its path below the folder without suffix; `cost` is its size in bytes of text."""

    name: str
    path: Path
    cost: int

    def table(self, scores: Path) -> Path:
        """Return the file with its scored rows below the folder `scores`."""
        return scores / "shards" / f"{self.name}{TABLE}"

    def manifest(self, scores: Path) -> Path:
        """Return the file that says what the scored rows were made of, and their counts."""
        return scores / "shards" / f"{self.name}.json"


def component(name: str) -> str:
    """Return a folder's name for a folder, a metric or a model: its last two path components, of NAME@http://… NAME."""
    path = Path(name.split("@http")[0])
    return re.sub(r"[^\w.-]+", "-", f"{path.parent.name}-{path.name}").strip("-.") or "unnamed"


def find(folder: Path) -> list[Shard]:
    """Return the shards below a folder, by name. Hidden files and those of other kinds (`others`) are no shards.

    Raises InputInvalid if there is none, if two have one name, or if the folder overlaps that of the results.
    """
    if not folder.is_dir():
        raise InputInvalid(f"texts: {folder}: no such folder; expected one with shards ({', '.join(KINDS)})")
    ours, theirs = RESULTS.resolve(), folder.resolve()
    if ours == theirs or ours in theirs.parents or theirs in ours.parents:
        raise InputInvalid(f"texts: {folder}: overlaps the folder of results ({RESULTS}); expected a folder of its own")
    shards: dict[str, Shard] = {}
    for path in files_below(folder):
        below = path.relative_to(folder)
        kind = _kind(path)
        if kind is None or is_hidden(below):
            continue
        if not path.is_file():
            raise InputInvalid(f"texts: {path}: no file behind this name; expected a shard; fetch it, or remove it")
        name = below.as_posix()
        name = name[: name.rindex(kind)]
        if twin := shards.get(name):
            both = f"{twin.path.relative_to(folder)} and {below}"
            raise InputInvalid(f"texts: {folder}: {both} have one name; expected a name for each, without its suffix")
        size = path.stat().st_size
        shards[name] = Shard(name, path, size * TEXT_PER_BYTE.get(path.suffix, 1))
    if not shards:
        raise InputInvalid(f"texts: {folder}: 0 shards; expected files of the kinds {', '.join(KINDS)}")
    return list(shards.values())


def others(folder: Path) -> list[Path]:
    """Return the files below a folder that are no shards, without hidden ones."""
    return [path for path in files_below(folder) if _kind(path) is None and not is_hidden(path.relative_to(folder))]


def _kind(path: Path) -> str | None:
    """Return the suffix of a shard without that of packing; None for other files."""
    kind = Path(path.stem).suffix if path.suffix in PACKED else path.suffix
    return kind if kind in KINDS else None


def batches(shards: Iterable[Shard], most: int) -> dict[str, list[Shard]]:
    """Return shards in batches whose costs add up to `most` bytes or less; a larger shard is a batch of its own.

    Shards keep their order, so that a shard that is added last changes only the last batch. The name of a batch follows
    from its shards: on a machine that sees another folder, it has no other shards, it does not exist.
    """
    groups: list[list[Shard]] = []
    full = most
    for shard in shards:
        if not groups or full + shard.cost > most:
            groups.append([])
            full = 0
        groups[-1].append(shard)
        full += shard.cost
    return {_batch_name(group): group for group in groups}


def _batch_name(group: Sequence[Shard]) -> str:
    names = json.dumps([shard.name for shard in group])
    return hashlib.sha256(names.encode()).hexdigest()[:12]
