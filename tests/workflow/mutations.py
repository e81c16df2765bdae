"""Changes of a finished run, which the cases of the staleness test combine."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml


@dataclass(frozen=True)
class Copy:
    """A copy of a finished run: its files are hard links, so a file is replaced and never written into."""

    folder: Path

    def write(self, name: str, content: str | bytes) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)

    def read(self, name: str) -> bytes:
        return (self.folder / name).read_bytes()

    def files(self, *names: str) -> list[str]:
        """Files, and those of folders."""
        places = [self.folder / name for name in names]
        paths = [path for place in places for path in ([place] if place.is_file() else place.rglob("*"))]
        return sorted(path.relative_to(self.folder).as_posix() for path in paths if path.is_file())

    def excam(self, *words: str) -> subprocess.CompletedProcess[str]:
        """The command line of excam in this copy."""
        environment = {**os.environ, "PYTHONPATH": str(self.folder)}
        command = [sys.executable, "-m", "excam", *words]
        return subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False)


Do = Callable[[Copy], object]


@dataclass(frozen=True)
class Case:
    """One change of a finished run: what must run in words, and how it is made; the jobs are in staleness.json."""

    what: str
    must: str
    do: Do = lambda copy: None
    targets: tuple[str, ...] = ("all", "external", "annotation")
    profile: str = "local"
    words: tuple[str, ...] = ()
    whole: bool = False  # it changes results/ or .snakemake/, so it needs its own


def copied(finished: Path, folder: Path, whole: bool = True) -> Copy:
    """A copy of a finished run; unless `whole`, its results and Snakemake's records are those of the run itself."""
    made = {"results", ".snakemake", "logs", "benchmarks"}  # docs/results is a folder of the checkout

    def shared(at: str, names: list[str]) -> set[str]:
        return (made if Path(at) == finished else {"__pycache__"}) & {*names}

    shutil.copytree(finished, folder, copy_function=os.link, symlinks=True, ignore=None if whole else shared)
    if not whole:
        (folder / ".snakemake").mkdir()
        for name in ("results", ".snakemake/metadata"):
            (folder / name).symlink_to(finished / name)
    return Copy(folder)


def config(**sections: Any) -> Do:
    """Other values, laid over the experiment."""
    return lambda copy: copy.write("mutation.yaml", yaml.safe_dump(sections))


def model(name: str, **fields: Any) -> Do:
    return config(models={name: fields})


def edited(name: str, old: str, new: str) -> Do:
    """An edit of a file."""

    def do(copy: Copy) -> None:
        text = copy.read(name).decode()
        assert old in text, f"{name}: no {old!r}"
        copy.write(name, text.replace(old, new, 1))

    return do


def raised(name: str, before: str, after: str = "") -> Do:
    """The number between two texts of a file is one more: a later version, whichever it has now."""

    def do(copy: Copy) -> None:
        number = re.compile(f"(?<={re.escape(before)})\\d+(?={re.escape(after)})")
        text, times = number.subn(lambda match: str(int(match[0]) + 1), copy.read(name).decode())
        assert times == 1, f"{name}: {times} numbers between {before!r} and {after!r}"
        copy.write(name, text)

    return do


def touched(*names: str) -> Do:
    """New times and the same bytes, of files and of all in folders."""
    return lambda copy: [_unlinked(copy, name) for name in copy.files(*names)]


def lost(*names: str) -> Do:
    return lambda copy: [(copy.folder / name).unlink() for name in names]


def flipped(name: str, keep_time: bool = False) -> Do:
    """One bit of the last byte is another one."""

    def do(copy: Copy) -> None:
        times, content = (copy.folder / name).stat(), copy.read(name)
        copy.write(name, content[:-1] + bytes([content[-1] ^ 1]))
        if keep_time:
            os.utime(copy.folder / name, ns=(times.st_atime_ns, times.st_mtime_ns))

    return do


def moved_away(folder: str) -> Do:
    return lambda copy: shutil.rmtree(copy.folder / folder)


def all_of(*parts: Do) -> Do:
    return lambda copy: [part(copy) for part in parts]


def _unlinked(copy: Copy, name: str) -> None:
    copy.write(name, copy.read(name))
