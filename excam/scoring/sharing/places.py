"""Places where adapters are shared: a folder, or a repository of the Hugging Face hub."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from excam.core import extras, offline
from excam.core.exceptions import InputInvalid, SourceInvalid, in_a_line
from excam.core.provenance import DISK_FULL, disk_full_names, say
from excam.scoring.sharing import parcel

HUB = re.compile(r"([A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*)(?:@([\w./-]+))?", re.ASCII)
TOKEN = "HF_TOKEN"  # noqa: S105 - the name of a variable, whose value is never shown


class Place(Protocol):
    """A place with files."""

    def pinned(self) -> Place:
        """Return this place at its current revision, independent of later changes."""
        ...

    def fetch(self, sizes: Mapping[str, int], into: Path) -> None:
        """Copy files into a folder. `sizes` are file names and limits in bytes, checked before copying.

        Raises InputInvalid or SourceInvalid if that fails.
        """
        ...

    def send(self, folder: Path) -> str:
        """Upload the files of a folder; return their address, with the revision if there is one."""
        ...


def place(name: str) -> Place:
    """Return the folder of this name if it exists, or if the name is no hub id (`./x`, `/x`, `x/y/z`); else the hub.

    Raises InputInvalid for a name that is neither, NotInstalled for the hub in a light install.
    """
    folder, hub = Path(name), HUB.fullmatch(name)
    if folder.exists() or not hub or name.startswith("."):
        if "@" in name and not folder.exists():
            raise InputInvalid(f"{name}: neither a folder nor a hub id; expected owner/name or owner/name@revision")
        return Folder(folder)
    if folder.parent.is_dir():
        raise InputInvalid(f"{name}: a folder {folder.parent} is here; write ./{name} for a folder in it")
    offline.refuse(name, os.environ.get("HF_ENDPOINT", ""))
    extras.require_extra("inference", "huggingface_hub")
    return Hub(hub[1], hub[2])


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder on a disk that both sides can access."""

    path: Path

    def pinned(self) -> Folder:
        """Return this folder: it has no revisions, and checksums show whether files belong together."""
        return self

    def fetch(self, sizes: Mapping[str, int], into: Path) -> None:
        """Copy plain files."""
        for name, most in sizes.items():
            parcel.copy(self.path / name, into / name, most)

    def send(self, folder: Path) -> str:
        """Create the folder atomically."""
        with atomic_directory(self.path) as new:
            for file in sorted(folder.iterdir()):
                parcel.copy(file, new / file.name, parcel.largest(file.name))
        return str(self.path)


@dataclass(frozen=True, slots=True)
class Hub:
    """A model repository of the hub; `revision` is a branch, a tag or a commit."""

    repository: str
    revision: str | None = None

    def pinned(self) -> Hub:
        """Return the repository at the commit that the revision names now."""
        from huggingface_hub import HfApi

        with _one_line(self.repository):
            commit = HfApi(token=_token()).repo_info(self.repository, revision=self.revision).sha
        say(f"{self.repository}: commit {commit}")
        return Hub(self.repository, commit)

    def fetch(self, sizes: Mapping[str, int], into: Path) -> None:
        """Download files."""
        from huggingface_hub import get_hf_file_metadata, hf_hub_download, hf_hub_url

        for name, most in sizes.items():
            with disk_full_names(into / name), _one_line(self.repository):
                url = hf_hub_url(self.repository, name, revision=self.revision)
                parcel.refuse_larger(f"{self.repository}/{name}", get_hf_file_metadata(url, token=_token()).size, most)
                hf_hub_download(self.repository, name, revision=self.revision, local_dir=into, token=_token())
        shutil.rmtree(into / ".cache", ignore_errors=True)

    def send(self, folder: Path) -> str:
        """Upload in one commit; a new repository is created as private."""
        from huggingface_hub import HfApi

        if not os.environ.get(TOKEN):
            raise InputInvalid(f"{self.repository}: {TOKEN} is not set; expected a token that may write there")
        with _one_line(self.repository):
            api = HfApi(token=_token())
            api.create_repo(self.repository, private=True, exist_ok=True)
            done = api.upload_folder(
                repo_id=self.repository, folder_path=folder, revision=self.revision, commit_message="ExCAM adapter"
            )
        return f"{self.repository}@{done.oid}"


def _token() -> str | bool:
    """Return the token of the environment, or False, so that no other token of this machine is used."""
    return os.environ.get(TOKEN) or False


@contextmanager
def _one_line(repository: str) -> Iterator[None]:
    from huggingface_hub.errors import HFValidationError, HTTPError  # pyright: ignore # of its own HTTP library

    try:
        yield
    except (HTTPError, HFValidationError, OSError) as problem:
        if isinstance(problem, OSError) and problem.errno in DISK_FULL:
            raise
        reason = in_a_line(problem)
        raise SourceInvalid(f"{repository}: {reason}; check the name, the connection and {TOKEN}") from None


@contextmanager
def atomic_directory(folder: Path) -> Iterator[Path]:
    """Yield a hidden folder that gets its own name at the end; on a failure it is removed.

    Raises InputInvalid if the name is taken.
    """
    if not folder.name:
        raise InputInvalid(f"{folder}: no name of a folder; expected a new one, such as ./metric")
    if folder.is_symlink() or (folder.exists() and (not folder.is_dir() or any(folder.iterdir()))):
        raise InputInvalid(f"{folder}: is there already; expected a new or an empty folder")
    hidden = folder.with_name(f".{folder.name}.{os.getpid()}.part")
    shutil.rmtree(hidden, ignore_errors=True)
    hidden.mkdir(parents=True)
    try:
        yield hidden
        hidden.replace(folder)
    finally:
        shutil.rmtree(hidden, ignore_errors=True)
