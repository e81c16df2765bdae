"""The folder of an adapter, by path or by name below the workflow's results, and that of its base model."""

from __future__ import annotations

import difflib
from pathlib import Path

from excam.core.exceptions import ModelInvalid
from excam.core.paths import ADAPTERS
from excam.scoring.manifests import AdapterManifest, BaseManifest, read

BASE = "base.json"  # in a shared adapter: the manifest of its base model
MANIFEST = "manifest.json"
ADAPTER = "adapter_model.safetensors"


def folder(name: str | Path) -> Path:
    """Return the folder of an adapter: `name` itself, or `<model>/<trained on>` below ./results/adapters.

    Raises ModelInvalid, listing the available names, if there is neither.
    """
    path = Path(name)
    if path.exists():
        return path
    plain = not path.is_absolute() and ".." not in path.parts
    if plain and (ADAPTERS / path).exists():
        return ADAPTERS / path
    there = available()
    known = ", ".join(there[:8]) + (", …" if len(there) > 8 else "") if there else "none"
    close = difflib.get_close_matches(str(name), there, n=1)
    hint = f"; did you mean {close[0]}?" if close else ""
    raise ModelInvalid(
        f"{name}: no such model{hint}; expected the folder of a model or adapter, an adapter in ./{ADAPTERS} (there: "
        f"{known}), or NAME@http://host/v1"
    )


def available() -> list[str]:
    """Return the names of the adapters below ./results/adapters."""
    return sorted(path.parent.relative_to(ADAPTERS).as_posix() for path in ADAPTERS.glob(f"*/*/{MANIFEST}"))


def manifest(folder: Path) -> AdapterManifest:
    """Return the manifest in the folder of an adapter. Raises ModelInvalid if it is missing or invalid."""
    return read(folder / MANIFEST, AdapterManifest, "an adapter")


def base_of(folder: Path, manifest: AdapterManifest) -> Path:
    """Return the folder of an adapter's base model: where the workflow put it, or beside a pulled adapter's weights.

    Raises ModelInvalid if neither exists and the adapter records what the base model is.
    """
    name = manifest.weights or manifest.model
    kept = [*folder.resolve().parents][:3][-1] / "models" / name
    for place in (kept, folder / "base"):
        if (place / MANIFEST).is_file():
            return place
    if (folder / BASE).is_file():
        raise ModelInvalid(
            f"{folder}: its base model is not here: {recorded_base(folder).described}; name its folder with --base, or "
            "let `excam pull ... --base recorded` fetch it"
        )
    return kept


def recorded_base(folder: Path) -> BaseManifest:
    """Return the manifest of the base model that was shared with the adapter. Raises ModelInvalid if it is invalid."""
    return read(folder / BASE, BaseManifest, "a base model, as `excam push` writes it")
