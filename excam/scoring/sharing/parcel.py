"""The files of a shared adapter: a few plain files and `checksums.txt` with the sha256 of each.

Files from elsewhere are checked as data first: only the names listed here, no links, no folders, weights as
safetensors, and nothing that runs code. A file with another checksum is refused before anything is used.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from excam.core.exceptions import ArtifactBroken, InputInvalid
from excam.core.provenance import disk_full_names, sha256, write_json, write_text
from excam.inference import lora
from excam.inference.lora import CONFIG
from excam.scoring import adapters, manifests
from excam.scoring.adapters import ADAPTER, BASE, MANIFEST
from excam.scoring.manifests import AdapterManifest, BaseManifest

CHECKSUMS, CARD = "checksums.txt", "README.md"
NEEDED = (ADAPTER, CONFIG, MANIFEST, BASE, CARD)
OPTIONAL = ("verified.json",)  # what `verify_adapter` measured
LINE = re.compile(r"([0-9a-f]{64})  (.+)")
LARGEST_TEXT = 1 << 20  # bytes; cards, manifests and configurations have thousands
LARGEST_WEIGHTS = 64 << 30  # bytes; rank 1024 in all layers of a model of 27 billion parameters takes half of it


def largest(name: str) -> int:
    """Return the most bytes that a file of this name may have."""
    return LARGEST_WEIGHTS if name == ADAPTER else LARGEST_TEXT


def pack(adapter: Path, base: BaseManifest, card: str, into: Path) -> None:
    """Fill the folder `into` with all files of an adapter.

    Raises ArtifactBroken if the adapter is not what its manifest says, ModelInvalid for an invalid manifest,
    InputInvalid if a file is a link.
    """
    manifest = adapters.manifest(adapter)
    for name in (ADAPTER, CONFIG, *OPTIONAL):
        if (adapter / name).is_file() or name not in OPTIONAL:
            copy(adapter / name, into / name, largest(name))
    for name in (ADAPTER, CONFIG):
        actual, expected = sha256(into / name), manifest.outputs.get(name)
        if actual != expected:
            raise ArtifactBroken(
                f"{adapter / name}: sha256 {actual}; expected {expected}, as in its manifest; train it again"
            )
    write_text(into / CARD, card)
    write_json(into / BASE, base.model_dump(mode="json", exclude_unset=True))
    outputs = {name: sha256(into / name) for name in (ADAPTER, CONFIG, CARD)}
    write_json(into / MANIFEST, {**manifest.model_dump(mode="json", exclude_unset=True), "outputs": outputs})
    refuse_unsound(into)
    names = sorted(path.name for path in into.iterdir())
    write_text(into / CHECKSUMS, "".join(f"{sha256(into / name)}  {name}\n" for name in names))


def listed(checksums: Path) -> dict[str, str]:
    """Return names and digests of `checksums.txt`. Raises InputInvalid for an invalid line or another name.

    Only names that `pack` writes are accepted, so that none can be a path, a pickle or code.
    """
    text = checksums.read_bytes().decode("utf-8", errors="replace")
    digests: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        parts = LINE.fullmatch(line)
        if not parts:
            raise InputInvalid(f"{checksums.name}:{number}: {line[:80]!r}; expected a sha256, two spaces and a name")
        digest, name = parts.groups()
        if name not in (*NEEDED, *OPTIONAL) or name in digests:
            what = (
                "is there twice" if name in digests else f"is not taken; expected only {', '.join(NEEDED + OPTIONAL)}"
            )
            raise InputInvalid(f"{checksums.name}:{number}: {name[:80]!r}: {what}")
        digests[name] = digest
    if lacking := [name for name in NEEDED if name not in digests]:
        raise InputInvalid(f"{checksums.name}: no {', '.join(lacking)}; expected an adapter that `excam push` wrote")
    return digests


def verify(folder: Path, expected: Mapping[str, str]) -> None:
    """Compare the files of a folder with their digests, and check their content without loading anything.

    Raises ArtifactBroken naming a file that is missing or has another digest, InputInvalid or ModelInvalid if a file is
    not one of an adapter.
    """
    for name, digest in expected.items():
        file = folder / name
        actual = sha256(file) if file.is_file() and not file.is_symlink() else "no such file"
        if actual != digest:
            raise ArtifactBroken(
                f"{name}: expected sha256 {digest}, as in {CHECKSUMS}; found {actual}; nothing was used"
            )
    refuse_unsound(folder)


def refuse_unsound(folder: Path) -> None:
    """Check the files of an adapter as data.

    Raises InputInvalid if the weights are not safetensors, ModelInvalid if the configuration is not that of a plain
    LoRA or a manifest is invalid.
    """
    safetensors(folder / ADAPTER)
    lora.parse((folder / CONFIG).read_bytes(), CONFIG)
    manifests.parse((folder / MANIFEST).read_bytes(), AdapterManifest, MANIFEST)
    manifests.parse((folder / BASE).read_bytes(), BaseManifest, BASE)


def safetensors(file: Path) -> None:
    """Raise InputInvalid if a file does not begin like safetensors: a length, then a JSON object of that length."""
    with file.open("rb") as stream:
        length = int.from_bytes(stream.read(8), "little")
        head = stream.read(length) if length <= min(file.stat().st_size, 100 << 20) else b""
    try:
        is_header = isinstance(json.loads(head), dict)
    except (ValueError, RecursionError):
        is_header = False
    if not is_header:
        raise InputInvalid(f"{file.name}: no safetensors file; expected weights in that format, never a pickle")


def refuse_larger(name: str, size: int | None, most: int) -> None:
    """Raise InputInvalid if a file has more than `most` bytes, or an unknown size."""
    if size is None or size > most:
        raise InputInvalid(f"{name}: {'unknown size' if size is None else f'{size} bytes'}; expected at most {most}")


def copy(source: Path, target: Path, most: int) -> None:
    """Copy a plain file of at most `most` bytes. Raises InputInvalid if it is larger, a link, or not a file."""
    if source.is_symlink() or not source.is_file():
        kind = "a link" if source.is_symlink() else "no file"
        raise InputInvalid(f"{source}: is {kind}; expected a plain file")
    copy_bytes(source, target, most)


def copy_bytes(source: Path, target: Path, most: int) -> None:
    """Copy the content of a file or of a link to one. Raises InputInvalid for more than `most` bytes."""
    refuse_larger(str(source), source.stat().st_size, most)
    with disk_full_names(target):
        shutil.copyfile(source, target)
