"""Models and adapters of the hub by their names: fetched into its cache, laid out as the workflow lays models out."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from excam.config import CHAT_TEMPLATES
from excam.core import extras, hashing, offline, provenance
from excam.core.exceptions import ArtifactBroken, ModelInvalid
from excam.core.folders import files_below
from excam.core.provenance import say, sha256, write_json
from excam.inference.sources import DUPLICATE_WEIGHTS, LOADED, PICKLED, hub_errors, matches_any

# A revision has no more dots than v1.2.0, so that it is not taken for the address of a server.
HUB_NAME = re.compile(
    r"(?P<id>[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*)(@(?P<revision>refs/pr/\d+|[\w-]+(\.\d+){0,2}))?", re.ASCII
)
CONFIGS = ("config.json", "adapter_config.json")  # a repository of the hub has one of them


@cache
def of_hub(name: str, chat_template: str | None = None) -> Path:
    """Return the folder of a model or an adapter of the hub, `ORG/NAME[@REVISION]`, laid out as the workflow does.

    Its files are links into the hub's cache; of a model they are in `files`, beside the manifest with the commit.
    Raises ModelInvalid for one that cannot be used, SourceInvalid if it cannot be fetched, ArtifactBroken if a file is
    not the one that the hub lists.
    """
    extras.require_extra("inference", "huggingface_hub")
    from huggingface_hub import constants

    parts = HUB_NAME.fullmatch(name)
    assert parts, "callers match HUB_NAME"
    hub, revision = parts["id"], parts["revision"] or "main"
    refused = offline.is_on() or (constants.HF_HUB_OFFLINE and "HF_HUB_OFFLINE" not in provenance.SET_HERE)
    digests: dict[str, str] = {}
    facts: dict[str, Any] = {"licence": "the model's"}
    with hub_errors(f"{hub}@{revision}"):
        if refused:
            snapshot = _cached(hub, revision)
            files = _used(name, [path.relative_to(snapshot).as_posix() for path in files_below(snapshot)])
        else:
            snapshot, files, digests, facts["licence"] = _from_hub_cache(hub, revision)
    commit, is_adapter = snapshot.name, "adapter_model.safetensors" in files
    place = Path(constants.HF_HOME, "excam", "-".join(filter(None, (commit, chat_template))), hub)
    manifest = place / "manifest.json"
    if manifest.is_file():
        return place
    below = place if is_adapter else place / "files"
    digests_here = {
        path.relative_to(snapshot).as_posix(): digest
        for path, digest in hashing.digests(snapshot / file for file in files).items()
    }
    for file, digest in digests.items():
        if digests_here[file] != digest:
            (snapshot / file).resolve().unlink()
            raise ArtifactBroken(
                f"{hub}@{commit}: {file}: sha256 {digests_here[file]}; expected {digest}; run again to fetch it anew"
            )
    shutil.rmtree(place, ignore_errors=True)
    for file in files:
        (below / file).parent.mkdir(parents=True, exist_ok=True)
        if file != manifest.name or not is_adapter:
            (below / file).symlink_to((snapshot / file).absolute())
    if is_adapter:
        if manifest.name not in files:
            raise ModelInvalid(f"{hub}@{commit}: no {manifest.name}; expected an adapter that ExCAM trained")
        trained = provenance.read_json(snapshot / manifest.name, "outputs")
        outputs = {file: digest for file, digest in trained["outputs"].items() if file in files}
        write_json(manifest, trained | {"outputs": outputs})  # without its card, which its owner may edit
        return place
    if chat_template:
        (below / "chat_template.jinja").unlink(missing_ok=True)
        shutil.copyfile(CHAT_TEMPLATES / f"{chat_template}.jinja", below / "chat_template.jinja")
        digests_here["chat_template.jinja"] = sha256(below / "chat_template.jinja")
    settings = {"hub": hub, "revision": commit, "chat_template": chat_template}
    write_json(
        manifest, {**facts, "revision": commit, "origin": f"hub {hub}", "settings": settings, "outputs": digests_here}
    )
    return place


def commit_of(folder: Path) -> str:
    """Return the commit in the place of a model that `of_hub` returned."""
    return folder.parents[1].name.partition("-")[0]


def _cached(hub: str, revision: str) -> Path:
    """Return the folder of a repository in the hub's cache. Raise OfflineModeIsEnabled if it is not there."""
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import OfflineModeIsEnabled

    for config in CONFIGS:
        if isinstance(file := try_to_load_from_cache(hub, config, revision=revision), str):
            return Path(file).parent
    raise OfflineModeIsEnabled(hub)


def _from_hub_cache(hub: str, revision: str) -> tuple[Path, list[str], dict[str, str], str]:
    """Fetch what is used of a repository of the hub, at its commit, into the hub's cache.

    Returns the folder, named by the commit; names of files; the sha256 of those whose sha256 the hub lists; the
    licence. What cannot be used is refused before its weights are fetched.
    """
    from huggingface_hub import HfApi, constants, hf_hub_download, snapshot_download

    before, constants.HF_HUB_OFFLINE = constants.HF_HUB_OFFLINE, False  # what `quiet_libraries` set
    try:
        info = HfApi().model_info(hub, revision=revision, files_metadata=True)
        commit, listed = str(info.sha), {sibling.rfilename: sibling for sibling in info.siblings or ()}
        files = _used(f"{hub}@{revision}", listed)
        size = sum(listed[file].size or 0 for file in files)
        licence = str((info.card_data or {}).get("license") or "not stated")
        say(f"{hub}@{commit}: {size / 1e6:,.1f} MB, licence {licence}; kept in {constants.HF_HUB_CACHE}")
        if "config.json" in files:
            _refuse_remote_code(f"{hub}@{commit}", Path(hf_hub_download(hub, "config.json", revision=commit)))
        snapshot = snapshot_download(hub, revision=revision, allow_patterns=files, max_workers=4)
    finally:
        constants.HF_HUB_OFFLINE = before
    large = {file: lfs.sha256 for file in files if (lfs := listed[file].lfs)}
    return Path(snapshot), files, large, licence


def _used(name: str, listed: Iterable[str]) -> list[str]:
    """Return which of the files of a repository are used. Raises ModelInvalid if none of them has weights."""
    plain = [file for file in listed if "/" not in file or file.startswith("additional_chat_templates/")]
    used = sorted(file for file in plain if matches_any(file, LOADED) and not matches_any(file, DUPLICATE_WEIGHTS))
    if not any(file.endswith(".safetensors") for file in used):
        other = [file for file in plain if file.endswith((".bin", ".gguf")) or matches_any(file, PICKLED)]
        what = f"found {other[0]}" if other else "found no weights"
        then = "name a revision that has them, or save it again (`save_pretrained`)"
        if other and other[0].endswith(".gguf"):
            then = "let a server read it, such as Ollama, and name the model there"
        raise ModelInvalid(f"{name}: {what}; expected *.safetensors; {then}")
    return used


def _refuse_remote_code(name: str, config: Path) -> None:
    """Raise ModelInvalid for a model that needs program code of its repository (`auto_map`): that is never run."""
    from transformers import CONFIG_MAPPING

    settings = provenance.read_json(config)
    if settings.get("auto_map") and settings.get("model_type") not in CONFIG_MAPPING:
        raise ModelInvalid(
            f"{name}: needs code of its repository (`auto_map`), which is not run; expected a model that transformers "
            "knows; start a server with it, and give --model NAME@ADDRESS"
        )
