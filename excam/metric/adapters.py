"""Where an adapter lies, by folder or by name below the workflow's results, and where its base model."""

from __future__ import annotations

from pathlib import Path

from excam.exceptions import ModelInvalid
from excam.metric.manifests import AdapterManifest, BaseManifest, read

ADAPTERS = Path("results/adapters")
BASE = "base.json"  # in an adapter that was handed on: the manifest of its base model
MANIFEST = "manifest.json"


def found(name: str | Path) -> Path:
    """The folder of an adapter: the one that is named, or `<model>/<trained on>` below ./results/adapters.

    Raises ModelInvalid, listing what is there, where there is neither.
    """
    folder = Path(name)
    if folder.exists():
        return folder
    plain = not folder.is_absolute() and ".." not in folder.parts
    if plain and (ADAPTERS / folder).exists():
        return ADAPTERS / folder
    there = available()
    known = ", ".join(there[:8]) + (", …" if len(there) > 8 else "") if there else "none"
    raise ModelInvalid(f"{name}: no such folder; expected that of an adapter, or one of {ADAPTERS}: {known}")


def available() -> list[str]:
    """Names of the adapters below ./results/adapters."""
    return sorted(path.parent.relative_to(ADAPTERS).as_posix() for path in ADAPTERS.glob(f"*/*/{MANIFEST}"))


def manifest(folder: Path) -> AdapterManifest:
    """The manifest in the folder of an adapter. Raises ModelInvalid."""
    return read(folder / MANIFEST, AdapterManifest, "an adapter")


def base_of(folder: Path, manifest: AdapterManifest) -> Path:
    """The folder of the base model of an adapter: where the workflow put it, or beside the weights of a pulled one.

    Raises ModelInvalid where it is nowhere and the adapter says what it is and where it comes from.
    """
    name = manifest.weights or manifest.model
    kept = [*folder.resolve().parents][:3][-1] / "models" / name
    for place in (kept, folder / "base"):
        if (place / MANIFEST).is_file():
            return place
    if (folder / BASE).is_file():
        raise ModelInvalid(
            f"{folder}: its base model is not here: {recorded(folder).described}; name its folder with --base, or let "
            "`excam pull ... --base recorded` fetch it"
        )
    return kept


def recorded(folder: Path) -> BaseManifest:
    """The manifest of the base model, as it was handed on with the adapter. Raises ModelInvalid where it is none."""
    return read(folder / BASE, BaseManifest, "a base model, as `excam push` writes it")
