"""Where an adapter lies, by folder or by name below the workflow's results, and where its base model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from excam.exceptions import ModelInvalid

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


def base_of(folder: Path, manifest: Mapping[str, Any]) -> Path:
    """The folder of the base model of an adapter: where the workflow put it, or beside the weights of a pulled one.

    Raises ModelInvalid where it is nowhere and the adapter says what it is and where it comes from.
    """
    name = manifest.get("weights", manifest["model"])
    kept = [*folder.resolve().parents][:3][-1] / "models" / name
    for place in (kept, folder / "base"):
        if (place / MANIFEST).is_file():
            return place
    if (folder / BASE).is_file():
        raise ModelInvalid(
            f"{folder}: its base model is not here: {described(recorded(folder))}; name its folder with --base, or let "
            "`excam pull ... --base recorded` fetch it"
        )
    return kept


def recorded(folder: Path) -> dict[str, Any]:
    """The manifest of the base model, as it was handed on with the adapter. Raises ModelInvalid where it is none."""
    try:
        value = json.loads((folder / BASE).read_text(encoding="utf-8"))
        if all(isinstance(value[key], str) for key in ("revision", "licence", "origin")) and _are_sums(
            value["outputs"]
        ):
            return value
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        pass
    raise ModelInvalid(f"{folder / BASE}: no manifest of a base model; expected what `excam push` wrote; pull it again")


def _are_sums(outputs: Any) -> bool:
    """Whether these are names of files with a sha256 each."""
    told = isinstance(outputs, dict) and outputs
    return bool(told) and all(isinstance(text, str) for pair in outputs.items() for text in pair)


def described(base: Mapping[str, Any]) -> str:
    """A base model in words: its name where it comes from, its revision and licence."""
    return f"{base['origin']} at revision {base['revision']} ({base['licence']})"
